//! Companions of PRE slots.

use std::future::{Future, ready};
use std::ops::ControlFlow::{self, Break, Continue};

use hooks_core::{Chain, FinalizeInto, MaybeSend};

use crate::HookError;
use crate::error::text;
use crate::phases::HookResponse;

/// Stops a dispatch at the first response other than `CONTINUE`, which is the result. If the output
/// of the slot is a `Result`, an error stops the dispatch, too.
///
/// In an `always` slot, the result of a dispatch that no response stops is the last response, as in
/// a [`PhaseRegistry`](crate::PhaseRegistry). In a `fallback` slot, the default then runs after the
/// hooks, and decides.
///
/// ```
/// use hooks_runtime::slots::FirstDecision;
/// use hooks_runtime::{HookError, HookResponse, ResponseAction, hooks};
///
/// #[hooks]
/// trait ShellHooks {
///     #[hook(always, chain = FirstDecision)]
///     async fn pre_run(_command: &str) -> Result<HookResponse, HookError> {
///         Ok(HookResponse::proceed())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let hooks = ShellHooksSet::new()
///     .with_pre_run(async |_: String| Ok(HookResponse::new(ResponseAction::Halt)))
///     .with_pre_run(async |_: String| unreachable!("the dispatch has stopped"));
/// assert_eq!(hooks.pre_run("ls").await?.action, ResponseAction::Halt);
/// # Ok::<_, HookError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct FirstDecision;

impl Chain<HookResponse> for FirstDecision {
    const __HOOKS_AT_ONCE: bool = true;

    fn call(&self, response: &HookResponse) -> impl Future<Output = ControlFlow<()>> + MaybeSend {
        ready(flow(response.is_continue()))
    }

    fn __hooks_check_now(&self, response: &HookResponse) -> Option<ControlFlow<()>> {
        Some(flow(response.is_continue()))
    }
}

impl<E> Chain<Result<HookResponse, E>> for FirstDecision {
    const __HOOKS_AT_ONCE: bool = true;

    fn call(
        &self,
        response: &Result<HookResponse, E>,
    ) -> impl Future<Output = ControlFlow<()>> + MaybeSend {
        ready(flow(continues(response)))
    }

    fn __hooks_check_now(&self, response: &Result<HookResponse, E>) -> Option<ControlFlow<()>> {
        Some(flow(continues(response)))
    }
}

fn continues<E>(response: &Result<HookResponse, E>) -> bool {
    response.as_ref().is_ok_and(HookResponse::is_continue)
}

fn flow(continues: bool) -> ControlFlow<()> {
    if continues { Continue(()) } else { Break(()) }
}

/// Turns the error of a PRE slot into the response `DENY`, as
/// [`FailurePolicy::FailClosed`](crate::FailurePolicy::FailClosed) does in a
/// [`PhaseRegistry`](crate::PhaseRegistry). The output of the slot is a
/// `Result<HookResponse, HookError>`, its result a `HookResponse`.
///
/// ```
/// use hooks_runtime::slots::{DenyFailures, FirstDecision};
/// use hooks_runtime::{HookError, HookResponse, ResponseAction, hooks};
///
/// #[hooks]
/// trait ShellHooks {
///     #[hook(always, chain = FirstDecision, finalize = DenyFailures, output = HookResponse)]
///     async fn pre_run(_command: &str) -> Result<HookResponse, HookError> {
///         Ok(HookResponse::proceed())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let hooks = ShellHooksSet::new()
///     .with_pre_run(async |_: String| Err(HookError::new("no policy was loaded")));
/// let response = hooks.pre_run("ls").await;
/// assert_eq!(response.action, ResponseAction::Deny);
/// assert_eq!(response.reason.as_deref(), Some("no policy was loaded"));
/// # });
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct DenyFailures;

impl FinalizeInto<Result<HookResponse, HookError>, HookResponse> for DenyFailures {
    fn call(
        &self,
        response: Result<HookResponse, HookError>,
    ) -> impl Future<Output = HookResponse> + MaybeSend {
        ready(response.unwrap_or_else(|error| {
            let reason = text(&error);
            tracing::warn!(target: "hooks_runtime", kind = error.failure().kind(), "PRE hook failed: {reason}");
            HookResponse::failed(reason)
        }))
    }
}
