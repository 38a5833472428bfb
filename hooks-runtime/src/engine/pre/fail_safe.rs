//! `fail-safe`: denies every call while the engine is unhealthy.

use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hooks_core::Timer;

use crate::engine::context::EngineContext;
use crate::engine::health::{FilesProbe, HealthProbe, Unhealthy};
use crate::engine::tools::ToolRole;
use crate::{HookError, HookResponse, HostTimer, PreHook, ResponseAction, ToolRequest};

/// Denies every call while its probe reports an error, or does not complete.
///
/// | | |
/// |---|---|
/// | Input | the result of a [`HealthProbe`]; by default it checks that lines can be appended to the storage and that the intents can be read |
/// | Effect | `DENY` with the error type `unhealthy`; an error, a panic or a timeout of the probe counts as unhealthy |
/// | Storage | none |
///
/// The call that selects an intent may be the repair, so it passes, and no other hook runs: the
/// response is then [`FailSafe::PASS`], an action of its own, which ends the run.
/// [`HookEngine`](crate::HookEngine) converts it to `CONTINUE`, for such a call alone. In a
/// registry without an engine it means that the call must not happen, like every unknown action.
pub struct FailSafe {
    context: EngineContext,
    probe: Arc<dyn HealthProbe>,
    patience: Duration,
    timer: Arc<dyn Timer>,
}

impl FailSafe {
    /// The action by which a call passes without running other hooks.
    pub const PASS: &'static str = "PASS";

    /// Creates a hook with the probe for the engine's files, with a timeout of 5 seconds by
    /// [`HostTimer`]; within a tokio runtime its time driver has to be enabled.
    pub fn new(context: &EngineContext) -> Self {
        FailSafe {
            context: context.clone(),
            probe: Arc::new(FilesProbe::new(context)),
            patience: Duration::from_secs(5),
            timer: Arc::new(HostTimer),
        }
    }

    /// Sets the probe.
    #[must_use]
    pub fn probe(self, probe: impl HealthProbe + 'static) -> Self {
        self.probe_shared(Arc::new(probe))
    }

    pub(crate) fn probe_shared(mut self, probe: Arc<dyn HealthProbe>) -> Self {
        self.probe = probe;
        self
    }

    /// Sets the timeout of the probe, which starts at its first wait.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the timer.
    #[must_use]
    pub fn timer(mut self, timer: Arc<dyn Timer>) -> Self {
        self.timer = timer;
        self
    }

    async fn ask(&self) -> Result<(), Unhealthy> {
        let panicked = |_| Unhealthy::from("the probe panicked");
        let mut check = catch_unwind(AssertUnwindSafe(|| self.probe.check())).map_err(panicked)?;
        let mut up = None;
        poll_fn(|cx| {
            let polled = catch_unwind(AssertUnwindSafe(|| check.as_mut().poll(cx)));
            match polled.map_err(panicked) {
                Ok(Poll::Pending) => {}
                Ok(answer) => return answer,
                Err(error) => return Poll::Ready(Err(error)),
            }
            let up = up.get_or_insert_with(|| self.timer.sleep(self.patience));
            let late = || Err("the probe has not answered in time".into());
            up.as_mut().poll(cx).map(|()| late())
        })
        .await
    }
}

#[diagnostic::do_not_recommend]
impl PreHook<ToolRequest> for FailSafe {
    fn id(&self) -> &str {
        "fail-safe"
    }

    fn priority(&self) -> Option<i32> {
        Some(1)
    }

    async fn execute(&self, request: &ToolRequest) -> Result<HookResponse, HookError> {
        let Err(wrong) = self.ask().await else {
            return Ok(HookResponse::default());
        };
        if self.context.tools().role(&request.tool) == ToolRole::SelectIntent {
            return Ok(HookResponse::new(ResponseAction::Other(Self::PASS.into())));
        }
        Ok(HookResponse::new(ResponseAction::Deny)
            .reason("Fail-Safe")
            .error_type("unhealthy")
            .details(format!(
                "the state of the engine cannot be trusted: {wrong}"
            ))
            .recovery_hint("repair the engine's files, then select an intent"))
    }
}

impl fmt::Debug for FailSafe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailSafe")
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
