//! What the slots of the gate make of their hooks' answers.

use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::{Answer, Combine, EntryMeta, FailurePolicy, Fault, Never, Step};
use tokio::time::Instant;

use super::hooks::{Classifies, on_failure};
use crate::classify::Judgement;
use crate::request::PermissionRequest;

/// The first hook that knows decides; one that fails ends the dispatch without an answer, for
/// what it would have said is not known (P-08).
pub(super) struct FirstJudgement<'r> {
    request: &'r PermissionRequest,
    /// The time of all hooks together.
    until: Instant,
    found: Found,
}

/// What the hooks found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) judgement: Option<Judgement>,
    /// The last hook that failed, and how.
    pub(super) fault: Option<(Arc<str>, Fault)>,
    /// Whether that ended the dispatch.
    pub(super) failed: bool,
}

impl<'r> FirstJudgement<'r> {
    pub(super) fn new(request: &'r PermissionRequest, until: Instant) -> Self {
        let found = Found::default();
        Self {
            request,
            until,
            found,
        }
    }
}

impl<'h> Combine<dyn Classifies + 'h> for FirstJudgement<'_> {
    type Yield = Option<Judgement>;
    type Outcome = Found;
    type Wait = Never<()>;

    const GUARDED: bool = true;

    fn slot_name(&self) -> &'static str {
        "classify"
    }

    fn invoke<'a>(
        &mut self,
        _: &'a EntryMeta,
        hook: &'a (dyn Classifies + 'h),
        _: bool,
    ) -> Answer<'a, Self::Yield>
    where
        Self: 'a,
    {
        hook.start(self.request)
    }

    fn absorb(&mut self, _: &EntryMeta, answer: Self::Yield) -> Step<Self, Never<()>> {
        self.found.judgement = answer;
        match self.found.judgement {
            Some(_) => Step::Stop,
            None => Step::Next,
        }
    }

    fn fault(&mut self, entry: &EntryMeta, fault: Fault) -> Step<Self, Never<()>> {
        self.found.fault = Some((entry.shared_name(), fault));
        self.found.failed = on_failure(entry) != FailurePolicy::Isolate;
        match self.found.failed {
            true => Step::Stop,
            false => Step::Next,
        }
    }

    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        Some(left(entry, self.until))
    }

    fn waited(&mut self, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn finish(self) -> Found {
        self.found
    }
}

/// How long a hook may take: what is left for all of them, and no longer than its registration says.
fn left(entry: &EntryMeta, until: Instant) -> Duration {
    let left = until.saturating_duration_since(Instant::now());
    entry.timeout().unwrap_or(left).min(left)
}
