//! Policy of PRE: the first response that is not `CONTINUE` ends the run.

use hooks_core::__private::drop_catching_panic;
use hooks_core::{EntryMeta, Failure, FailurePolicy, HookFuture, Never, Policy, Step};

use super::around::PreCall;
use super::phase::Phase;
use super::response::HookResponse;
use crate::HookError;
use crate::error::text;
use crate::registry::call::{Call, DynCall, admits, log_failure};

/// One run of the PRE hooks.
pub(crate) struct Bail<'a, Req: ?Sized> {
    request: &'a Req,
    /// The latest response, or the error that ended the run.
    response: Result<HookResponse, HookError>,
}

impl<'a, Req: ?Sized> Bail<'a, Req> {
    pub(crate) fn new(request: &'a Req) -> Self {
        Bail {
            request,
            response: Ok(HookResponse::default()),
        }
    }
}

impl<'h, Req: ?Sized + 'static> Policy<dyn DynCall<PreCall<Req>> + 'h> for Bail<'_, Req> {
    type HookOutput = Result<HookResponse, HookError>;
    type Output = Result<HookResponse, HookError>;
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &str {
        PreCall::<Req>::SLOT
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn DynCall<PreCall<Req>> + 'h)) -> bool {
        admits(hook, self.request, entry)
    }

    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn DynCall<PreCall<Req>> + 'h),
        _: bool,
    ) -> HookFuture<'b, Self::HookOutput>
    where
        Self: 'b,
    {
        hook.start(&self.request)
    }

    fn validate_output(&mut self, response: Self::HookOutput) -> Result<Self::HookOutput, Failure> {
        response.map(Ok).map_err(HookError::into_failure)
    }

    fn on_output(&mut self, _: &EntryMeta, response: Self::HookOutput) -> Step<Self, Never<()>> {
        let continues = response.as_ref().is_ok_and(HookResponse::is_continue);
        self.response = response;
        if continues { Step::Next } else { Step::Stop }
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        self.response = match Phase::Pre.policy(entry.on_failure()) {
            FailurePolicy::Isolate => {
                log_failure::<PreCall<Req>>(entry, &failure);
                drop_catching_panic(failure);
                return Step::Next;
            }
            FailurePolicy::Propagate => Err(HookError::of(entry.name_arc(), failure)),
            // An unknown variant must not allow the call.
            _ => {
                log_failure::<PreCall<Req>>(entry, &failure);
                let reason = format!("hook `{}` {}", entry.name(), text(&failure));
                drop_catching_panic(failure);
                Ok(HookResponse::failed(reason))
            }
        };
        Step::Stop
    }

    fn finish(self) -> Self::Output {
        self.response
    }
}
