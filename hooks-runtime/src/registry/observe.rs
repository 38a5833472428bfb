//! Policy of hooks that only receive: every hook runs, even if others fail.

use hooks_core::__private::drop_catching_panic;
use hooks_core::{EntryMeta, Failure, HookFuture, Never, Policy, Step};

use super::call::{Call, DynCall, admits, log_failure};
use crate::HookError;

/// One run of hooks that only receive. If it is concurrent, no hook waits for another.
pub(crate) struct Observe<'a, C: Call, const CONCURRENT: bool> {
    input: C::Input<'a>,
    /// The part of the input that filters receive.
    subject: &'a C::Subject,
}

impl<'a, C: Call, const CONCURRENT: bool> Observe<'a, C, CONCURRENT> {
    pub(crate) fn new(input: C::Input<'a>, subject: &'a C::Subject) -> Self {
        Observe { input, subject }
    }
}

impl<'a, 'h, C, const CONCURRENT: bool> Policy<dyn DynCall<C> + 'h> for Observe<'a, C, CONCURRENT>
where
    C: Call<Output = ()>,
{
    type HookOutput = Result<(), HookError>;
    type Output = ();
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;
    const CONCURRENT: bool = CONCURRENT;

    fn slot_name(&self) -> &str {
        C::SLOT
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn DynCall<C> + 'h)) -> bool {
        admits(hook, self.subject, entry)
    }

    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn DynCall<C> + 'h),
        _: bool,
    ) -> HookFuture<'b, Self::HookOutput>
    where
        Self: 'b,
    {
        hook.start(&self.input)
    }

    fn validate_output(&mut self, output: Self::HookOutput) -> Result<Self::HookOutput, Failure> {
        output.map(Ok).map_err(HookError::into_failure)
    }

    fn on_output(&mut self, _: &EntryMeta, _: Self::HookOutput) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        log_failure::<C>(entry, &failure);
        drop_catching_panic(failure);
        Step::Next
    }

    fn finish(self) {}
}
