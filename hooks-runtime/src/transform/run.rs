//! One run of transforms: the effects of outputs and failures.

use std::marker::PhantomData;
use std::sync::Arc;

use hooks_core::__private::drop_catching_panic;
use hooks_core::{EntryMeta, Failure, FailurePolicy, HookFuture, Never, Policy, Step};

use super::hook::{TransformHook, Transformed};
use super::outcome::{TransformError, TransformOutcome};
use crate::HookError;
use crate::error::text;
use crate::registry::call::{Call, DynCall, PlainHook, admits, log_failure};

/// The run of transforms: each receives the raw value and the current one.
pub(super) struct TransformCall<T: ?Sized>(PhantomData<fn(&T)>);

impl<T: ?Sized + 'static> Call for TransformCall<T> {
    type Input<'a> = TransformOutcome<T>;
    type Subject = T;
    type Output = Transformed<T>;

    const SLOT: &'static str = "transforms";
    const HOOK: &'static str = "transform";
}

impl<T, H> DynCall<TransformCall<T>> for PlainHook<H>
where
    T: ?Sized + Send + Sync + 'static,
    H: TransformHook<T>,
{
    fn start<'b, 'a: 'b>(
        &'b self,
        input: &TransformOutcome<T>,
    ) -> HookFuture<'b, Result<Transformed<T>, HookError>> {
        self.0.__start(&input.raw, &input.value)
    }
}

/// Returns the failure policy of a transform; the default is `Propagate`.
pub(super) fn policy(chosen: Option<FailurePolicy>) -> FailurePolicy {
    chosen.unwrap_or(FailurePolicy::Propagate)
}

/// Policy of a run.
pub(super) struct TransformPolicy<T: ?Sized> {
    outcome: Result<TransformOutcome<T>, TransformError>,
}

impl<T: ?Sized> TransformPolicy<T> {
    /// Creates the policy of a run on this value.
    pub(super) fn new(raw: Arc<T>) -> Self {
        TransformPolicy {
            outcome: Ok(TransformOutcome {
                value: Arc::clone(&raw),
                raw,
                changed_by: Vec::new(),
            }),
        }
    }
}

impl<'h, T: ?Sized + 'static> Policy<dyn DynCall<TransformCall<T>> + 'h> for TransformPolicy<T> {
    type HookOutput = Result<Transformed<T>, HookError>;
    type Output = Result<TransformOutcome<T>, TransformError>;
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &str {
        TransformCall::<T>::SLOT
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn DynCall<TransformCall<T>> + 'h)) -> bool {
        let outcome = self.outcome.as_ref();
        outcome.is_ok_and(|outcome| admits(hook, &outcome.value, entry))
    }

    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn DynCall<TransformCall<T>> + 'h),
        _: bool,
    ) -> HookFuture<'b, Self::HookOutput>
    where
        Self: 'b,
    {
        match &self.outcome {
            Ok(outcome) => hook.start(outcome),
            // An error ends the run.
            Err(_) => HookFuture::Ready(Ok(Transformed::Unchanged)),
        }
    }

    fn validate_output(&mut self, output: Self::HookOutput) -> Result<Self::HookOutput, Failure> {
        output.map(Ok).map_err(HookError::into_failure)
    }

    fn on_output(&mut self, entry: &EntryMeta, output: Self::HookOutput) -> Step<Self, Never<()>> {
        match (output, &mut self.outcome) {
            (Ok(Transformed::Changed(value)), Ok(outcome)) => {
                outcome.value = value;
                outcome.changed_by.push(entry.name_arc());
                Step::Next
            }
            (Ok(Transformed::Denied(reason)), _) => {
                let hook = entry.name_arc();
                self.outcome = Err(TransformError::Denied { hook, reason });
                Step::Stop
            }
            _ => Step::Next,
        }
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        let policy = policy(entry.on_failure());
        let hook = entry.name_arc();
        if policy == FailurePolicy::Propagate {
            self.outcome = Err(TransformError::Failed(HookError::of(hook, failure)));
            return Step::Stop;
        }
        log_failure::<TransformCall<T>>(entry, &failure);
        let reason = format!("hook `{hook}` {}", text(&failure));
        drop_catching_panic(failure);
        if policy == FailurePolicy::Isolate {
            return Step::Next;
        }
        // An unknown policy denies.
        self.outcome = Err(TransformError::Denied { hook, reason });
        Step::Stop
    }

    fn finish(self) -> Self::Output {
        self.outcome
    }
}
