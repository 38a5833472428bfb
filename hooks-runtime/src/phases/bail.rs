//! The policy of PRE: the first response that is not `CONTINUE` ends it (`R-09` to `R-13`).

use hooks_core::__private::discard;
use hooks_core::{Answer, Combine, EntryMeta, FailurePolicy, Fault, Never, Step};

use super::hook::Pre;
use super::registry::{Phase, log};
use super::response::{HookResponse, ResponseAction};
use crate::HookError;
use crate::error::text;

/// One run of the PRE hooks.
pub(crate) struct Bail<'a, Req: ?Sized> {
    request: &'a Req,
    /// The latest response, or the error that ended the run.
    answer: Result<HookResponse, HookError>,
}

impl<'a, Req: ?Sized> Bail<'a, Req> {
    pub(crate) fn new(request: &'a Req) -> Self {
        Bail {
            request,
            answer: Ok(HookResponse::default()),
        }
    }
}

impl<'h, Req: ?Sized> Combine<dyn Pre<Req> + 'h> for Bail<'_, Req> {
    type Yield = Result<HookResponse, HookError>;
    type Outcome = Result<HookResponse, HookError>;
    type Wait = Never<()>;

    const GUARDED: bool = true;

    fn slot_name(&self) -> &str {
        "PRE"
    }

    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn Pre<Req> + 'h),
        _: bool,
    ) -> Answer<'b, Self::Yield>
    where
        Self: 'b,
    {
        hook.start(self.request)
    }

    fn check(&mut self, answer: Self::Yield) -> Result<Self::Yield, Fault> {
        answer.map(Ok).map_err(HookError::into_fault)
    }

    fn absorb(&mut self, _: &EntryMeta, answer: Self::Yield) -> Step<Self, Never<()>> {
        let goes_on = answer.as_ref().is_ok_and(HookResponse::is_continue);
        self.answer = answer;
        if goes_on { Step::Next } else { Step::Stop }
    }

    fn fault(&mut self, entry: &EntryMeta, fault: Fault) -> Step<Self, Never<()>> {
        self.answer = match Phase::Pre.policy(entry.on_failure()) {
            FailurePolicy::Isolate => {
                log(Phase::Pre, entry, &fault);
                discard(fault);
                return Step::Next;
            }
            FailurePolicy::Propagate => Err(HookError::of(entry.shared_name(), fault)),
            // What is not known here must not mean yes.
            _ => {
                log(Phase::Pre, entry, &fault);
                let reason = format!("hook `{}` {}", entry.name(), text(&fault));
                discard(fault);
                Ok(HookResponse::new(ResponseAction::Deny)
                    .reason(reason)
                    .error_type("hook_failure"))
            }
        };
        Step::Stop
    }

    fn waited(&mut self, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn finish(self) -> Self::Outcome {
        self.answer
    }
}
