//! Policy of POST: every hook runs, even if others fail.

use hooks_core::__private::drop_catching_panic;
use hooks_core::{EntryMeta, Failure, HookFuture, Never, Policy, Step};

use super::hook::Post;
use super::phase::{Phase, log};
use crate::HookError;

/// One run of the POST hooks.
pub(crate) struct Observe<'a, Res: ?Sized> {
    result: &'a Res,
    request_id: Option<&'a str>,
}

impl<'a, Res: ?Sized> Observe<'a, Res> {
    pub(crate) fn new(result: &'a Res, request_id: Option<&'a str>) -> Self {
        Observe { result, request_id }
    }
}

impl<'h, Res: ?Sized> Policy<dyn Post<Res> + 'h> for Observe<'_, Res> {
    type HookOutput = Result<(), HookError>;
    type Output = ();
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &str {
        "POST"
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn Post<Res> + 'h)) -> bool {
        let filters = hook.filters();
        filters.is_none_or(|filters| filters.hold(self.result, entry))
    }

    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn Post<Res> + 'h),
        _: bool,
    ) -> HookFuture<'b, Self::HookOutput>
    where
        Self: 'b,
    {
        hook.start(self.result, self.request_id)
    }

    fn validate_output(&mut self, output: Self::HookOutput) -> Result<Self::HookOutput, Failure> {
        output.map(Ok).map_err(HookError::into_fault)
    }

    fn on_output(&mut self, _: &EntryMeta, _: Self::HookOutput) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        log(Phase::Post, entry, &failure);
        drop_catching_panic(failure);
        Step::Next
    }

    fn on_future_ready(&mut self, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn finish(self) {}
}
