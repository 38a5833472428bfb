//! Converts a run before an action to a decision: continue with a message, or reject.

use hooks_runtime::Map;

use crate::hook::ScriptHook;
use crate::run::{Run, RunResult};

/// A rejected action, as reported to the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{class}: {message} (hook `{hook}`)")]
#[non_exhaustive]
pub struct Rejection {
    /// Name of the thrown class, which serves as the category. `HookFailure` for a hook that fails
    /// closed.
    pub class: String,
    /// Message of the exception. For a failure, a fixed text without details.
    pub message: String,
    /// Name of the hook.
    pub hook: String,
}

impl ScriptHook {
    /// Sets whether a failure of this hook rejects the action. By default the action continues with
    /// the message unchanged, so a hook that must approve an action has to fail closed.
    #[must_use]
    pub fn fail_closed(mut self, closed: bool) -> Self {
        self.fail_closed = closed;
        self
    }

    /// Returns the message with which the action continues after a run of this hook before it.
    ///
    /// # Errors
    ///
    /// Returns the rejection if the hook stopped the action, or if it failed and [fails
    /// closed](Self::fail_closed).
    pub fn decide(&self, run: &Run, message: Map) -> Result<Map, Rejection> {
        self.outcome(run).map(|out| out.cloned().unwrap_or(message))
    }

    /// Returns the new message of the run, or `None` if the message is unchanged.
    pub(crate) fn outcome<'r>(&self, run: &'r Run) -> Result<Option<&'r Map>, Rejection> {
        let rejection = |class: &str, message: &str| Rejection {
            class: class.to_owned(),
            message: message.to_owned(),
            hook: self.manifest().name().to_owned(),
        };
        match &run.result {
            RunResult::Returned(out) => Ok(Some(out)),
            RunResult::Stop(stop) => Err(rejection(&stop.class, &stop.message)),
            RunResult::Failed(_) if self.fail_closed => Err(rejection(
                "HookFailure",
                "a hook that has to agree has failed",
            )),
            RunResult::Failed(_) => Ok(None),
        }
    }
}
