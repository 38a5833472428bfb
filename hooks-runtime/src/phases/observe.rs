//! The policy of POST: every hook runs, whatever becomes of the others (`R-14`).

use hooks_core::__private::discard;
use hooks_core::{Answer, Combine, EntryMeta, Fault, Never, Step};

use super::hook::Post;
use super::registry::{Phase, log};
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

impl<'h, Res: ?Sized> Combine<dyn Post<Res> + 'h> for Observe<'_, Res> {
    type Yield = Result<(), HookError>;
    type Outcome = ();
    type Wait = Never<()>;

    const GUARDED: bool = true;

    fn slot_name(&self) -> &str {
        "POST"
    }

    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn Post<Res> + 'h),
        _: bool,
    ) -> Answer<'b, Self::Yield>
    where
        Self: 'b,
    {
        hook.start(self.result, self.request_id)
    }

    fn check(&mut self, answer: Self::Yield) -> Result<Self::Yield, Fault> {
        answer.map(Ok).map_err(HookError::into_fault)
    }

    fn absorb(&mut self, _: &EntryMeta, _: Self::Yield) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn fault(&mut self, entry: &EntryMeta, fault: Fault) -> Step<Self, Never<()>> {
        log(Phase::Post, entry, &fault);
        discard(fault);
        Step::Next
    }

    fn waited(&mut self, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn finish(self) {}
}
