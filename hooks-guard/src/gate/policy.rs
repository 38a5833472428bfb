//! Policies of the gate's slots. In: the output of each hook. Out: one classification, or the
//! strictest restriction.

use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::{
    EntryMeta, Failure, FailurePolicy, HookError, HookFuture, Never, Policy, Step,
};
use tokio::time::Instant;

use super::hook::{DynClassify, DynRestrict, Restriction, on_failure};
use crate::classify::{Classification, CommandAnalysis};
use crate::request::PermissionRequest;
use crate::rules::{RuleDecision, RuleEffect};

/// The first hook with a classification decides. A failing hook ends the dispatch without a result,
/// because its classification is unknown.
pub(super) struct FirstClassification<'r> {
    request: &'r PermissionRequest,
    /// Deadline of all hooks.
    deadline: Instant,
    output: ClassifyOutput,
}

/// Result of the hooks that classify.
#[derive(Debug, Default)]
pub(super) struct ClassifyOutput {
    pub(super) judgement: Option<CommandAnalysis>,
    /// The last hook that failed, and its failure.
    pub(super) failure: Option<(Arc<str>, Failure)>,
    /// `true` if that failure ended the dispatch.
    pub(super) failed: bool,
}

impl<'r> FirstClassification<'r> {
    pub(super) fn new(request: &'r PermissionRequest, until: Instant) -> Self {
        let found = ClassifyOutput::default();
        Self {
            request,
            deadline: until,
            output: found,
        }
    }
}

impl<'h> Policy<dyn DynClassify + 'h> for FirstClassification<'_> {
    type HookOutput = Option<CommandAnalysis>;
    type Output = ClassifyOutput;
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &'static str {
        "classify"
    }

    fn invoke<'a>(
        &mut self,
        _: &'a EntryMeta,
        hook: &'a (dyn DynClassify + 'h),
        _: bool,
    ) -> HookFuture<'a, Self::HookOutput>
    where
        Self: 'a,
    {
        hook.start(self.request)
    }

    fn on_output(&mut self, _: &EntryMeta, answer: Self::HookOutput) -> Step<Self, Never<()>> {
        self.output.judgement = answer;
        match self.output.judgement {
            Some(_) => Step::Stop,
            None => Step::Next,
        }
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        self.output.failure = Some((entry.name_arc(), failure));
        self.output.failed = on_failure(entry) != FailurePolicy::Isolate;
        match self.output.failed {
            true => Step::Stop,
            false => Step::Next,
        }
    }

    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        Some(remaining(entry, self.deadline))
    }

    fn finish(self) -> ClassifyOutput {
        self.output
    }
}

/// Selects the strictest restriction; a denial stops the dispatch. If a hook fails, the request
/// needs confirmation, because the hook might have denied it; the remaining hooks still run.
pub(super) struct StrictestRestriction<'r> {
    request: &'r PermissionRequest,
    found: &'r Classification,
    /// Deadline of all hooks.
    deadline: Instant,
    output: RestrictOutput,
}

/// Result of the hooks that restrict.
#[derive(Debug, Default)]
pub(super) struct RestrictOutput {
    pub(super) verdict: Option<RuleDecision>,
    /// The last hook that failed, and its failure.
    pub(super) failure: Option<(Arc<str>, Failure)>,
}

impl<'r> StrictestRestriction<'r> {
    pub(super) fn new(
        request: &'r PermissionRequest,
        found: &'r Classification,
        until: Instant,
    ) -> Self {
        let output = RestrictOutput::default();
        Self {
            request,
            found,
            deadline: until,
            output,
        }
    }

    fn restrict(&mut self, verdict: RuleDecision) {
        self.output.verdict = Some(match self.output.verdict.take() {
            Some(before) => before.stricter(verdict),
            None => verdict,
        });
    }
}

impl<'h> Policy<dyn DynRestrict + 'h> for StrictestRestriction<'_> {
    type HookOutput = Result<Option<Restriction>, HookError>;
    type Output = RestrictOutput;
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &'static str {
        "restrict"
    }

    fn invoke<'a>(
        &mut self,
        _: &'a EntryMeta,
        hook: &'a (dyn DynRestrict + 'h),
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
            Ok(Some(Restriction::Ask(reason))) => (RuleEffect::Ask, reason),
            Ok(Some(Restriction::Deny(reason))) => (RuleEffect::Deny, reason),
            // `validate_output` has turned every error into a failure.
            Ok(None) | Err(_) => return Step::Next,
        };
        self.restrict(RuleDecision::from_hook(&entry.name(), effect, reason));
        match effect {
            RuleEffect::Deny => Step::Stop,
            _ => Step::Next,
        }
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        if on_failure(entry) != FailurePolicy::Isolate {
            self.restrict(RuleDecision::from_failed_hook(
                &entry.name(),
                failure.kind(),
            ));
        }
        self.output.failure = Some((entry.name_arc(), failure));
        Step::Next
    }

    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        Some(remaining(entry, self.deadline))
    }

    fn finish(self) -> RestrictOutput {
        self.output
    }
}

/// Returns the timeout of a hook: the remaining time of all hooks, but at most that of its
/// registration.
fn remaining(entry: &EntryMeta, until: Instant) -> Duration {
    let left = until.saturating_duration_since(Instant::now());
    entry.timeout().unwrap_or(left).min(left)
}
