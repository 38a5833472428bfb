//! The policies of the slots of the gate. In: what each hook returns. Out: one judgement, or the strictest
//! restriction.

use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::{
    EntryMeta, Failure, FailurePolicy, HookError, HookFuture, Never, Policy, Step,
};
use tokio::time::Instant;

use super::hook::{Classifies, Restriction, Restricts, on_failure};
use crate::classify::{Classification, Judgement};
use crate::request::PermissionRequest;
use crate::rules::{Effect, Verdict};

/// The first hook with a classification decides. A failing hook ends the dispatch without a result,
/// because its classification is unknown.
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
    pub(super) fault: Option<(Arc<str>, Failure)>,
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

impl<'h> Policy<dyn Classifies + 'h> for FirstJudgement<'_> {
    type HookOutput = Option<Judgement>;
    type Output = Found;
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &'static str {
        "classify"
    }

    fn invoke<'a>(
        &mut self,
        _: &'a EntryMeta,
        hook: &'a (dyn Classifies + 'h),
        _: bool,
    ) -> HookFuture<'a, Self::HookOutput>
    where
        Self: 'a,
    {
        hook.start(self.request)
    }

    fn on_output(&mut self, _: &EntryMeta, answer: Self::HookOutput) -> Step<Self, Never<()>> {
        self.found.judgement = answer;
        match self.found.judgement {
            Some(_) => Step::Stop,
            None => Step::Next,
        }
    }

    fn on_failure(&mut self, entry: &EntryMeta, fault: Failure) -> Step<Self, Never<()>> {
        self.found.fault = Some((entry.name_arc(), fault));
        self.found.failed = on_failure(entry) != FailurePolicy::Isolate;
        match self.found.failed {
            true => Step::Stop,
            false => Step::Next,
        }
    }

    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        Some(left(entry, self.until))
    }

    fn on_future_ready(&mut self, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn finish(self) -> Found {
        self.found
    }
}

/// The strictest restriction counts; nothing is stricter than to deny. A hook that fails has somebody
/// asked: it might have denied. The others are asked all the same, for one of them may.
pub(super) struct Strictest<'r> {
    request: &'r PermissionRequest,
    found: &'r Classification,
    /// The time of all hooks together.
    until: Instant,
    said: Said,
}

/// What the hooks say.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) verdict: Option<Verdict>,
    /// The last hook that failed, and how.
    pub(super) fault: Option<(Arc<str>, Failure)>,
}

impl<'r> Strictest<'r> {
    pub(super) fn new(
        request: &'r PermissionRequest,
        found: &'r Classification,
        until: Instant,
    ) -> Self {
        let said = Said::default();
        Self {
            request,
            found,
            until,
            said,
        }
    }

    fn say(&mut self, verdict: Verdict) {
        self.said.verdict = Some(match self.said.verdict.take() {
            Some(before) => before.or_stricter(verdict),
            None => verdict,
        });
    }
}

impl<'h> Policy<dyn Restricts + 'h> for Strictest<'_> {
    type HookOutput = Result<Option<Restriction>, HookError>;
    type Output = Said;
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &'static str {
        "restrict"
    }

    fn invoke<'a>(
        &mut self,
        _: &'a EntryMeta,
        hook: &'a (dyn Restricts + 'h),
        _: bool,
    ) -> HookFuture<'a, Self::HookOutput>
    where
        Self: 'a,
    {
        hook.start(self.request, self.found)
    }

    fn validate_output(&mut self, answer: Self::HookOutput) -> Result<Self::HookOutput, Failure> {
        answer.map(Ok).map_err(|error| error.failure().clone())
    }

    fn on_output(&mut self, entry: &EntryMeta, answer: Self::HookOutput) -> Step<Self, Never<()>> {
        let (effect, reason) = match answer {
            Ok(Some(Restriction::Ask(reason))) => (Effect::Ask, reason),
            Ok(Some(Restriction::Deny(reason))) => (Effect::Deny, reason),
            // `check` lets no error through.
            Ok(None) | Err(_) => return Step::Next,
        };
        self.say(Verdict::of_hook(&entry.name(), effect, reason));
        match effect {
            Effect::Deny => Step::Stop,
            _ => Step::Next,
        }
    }

    fn on_failure(&mut self, entry: &EntryMeta, fault: Failure) -> Step<Self, Never<()>> {
        if on_failure(entry) != FailurePolicy::Isolate {
            self.say(Verdict::of_failed_hook(&entry.name(), fault.kind()));
        }
        self.said.fault = Some((entry.name_arc(), fault));
        Step::Next
    }

    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        Some(left(entry, self.until))
    }

    fn on_future_ready(&mut self, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn finish(self) -> Said {
        self.said
    }
}

/// How long a hook may take: what is left for all of them, and no longer than its registration says.
fn left(entry: &EntryMeta, until: Instant) -> Duration {
    let left = until.saturating_duration_since(Instant::now());
    entry.timeout().unwrap_or(left).min(left)
}
