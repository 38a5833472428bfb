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
    /// Sets whether a failure of this hook rejects the action.
    ///
    /// | Setting | Failures that reject the action |
    /// |---|---|
    /// | `fail_closed(true)` | all |
    /// | `fail_closed(false)` | none |
    /// | default, if the source contains `HookStopException` | all except an invalid return value: exceptions, exceeded limits, and runs that did not start |
    /// | default, otherwise | none |
    ///
    /// So a hook that checks messages fails closed by default: a message that it cannot process is
    /// rejected, and no other message. A hook that builds the name `HookStopException` at run time
    /// is not recognized, and needs `fail_closed(true)`. If a failure does not reject the action,
    /// the action continues with the message unchanged.
    ///
    /// ```
    /// use hooks_script::{ContextData, Manifest, ScriptEngine};
    /// use serde_json::json;
    ///
    /// let engine = ScriptEngine::builder().build()?;
    /// let hook = engine.register(Manifest::new("text:", "Polite", [])?, "export default ({ in: m }) => {
    ///     if (m.text.includes('badword')) throw new HookStopException('be polite');
    /// };")?;
    /// assert!(hook.fails_closed());
    ///
    /// # futures_executor::block_on(async {
    /// // The exception is a `TypeError`: the message has no `text`.
    /// let message = json!({"image": "cat.png"}).as_object().cloned().unwrap();
    /// let run = hook.run_pre(&message, &ContextData::new()).await;
    /// assert_eq!(hook.decide(&run, message.clone()).unwrap_err().class, "HookFailure");
    ///
    /// let hook = hook.fail_closed(false);
    /// assert_eq!(hook.decide(&run, message.clone()).unwrap(), message);
    /// # });
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fail_closed(mut self, closed: bool) -> Self {
        self.fail_closed = Some(closed);
        self
    }

    /// Returns `true` if failures of this hook reject the action: the setting of
    /// [`fail_closed`](Self::fail_closed), or by default whether the source contains
    /// `HookStopException`.
    pub fn fails_closed(&self) -> bool {
        self.fail_closed.unwrap_or(self.names_stop)
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
            RunResult::Unchanged => Ok(None),
            RunResult::Stop(stop) => Err(rejection(&stop.class, &stop.message)),
            RunResult::Failed(_) if self.rejects_failed(run) => Err(rejection(
                "HookFailure",
                "a hook that has to agree has failed",
            )),
            RunResult::Failed(_) => Ok(None),
        }
    }

    /// Returns `true` if a failed run rejects the action.
    fn rejects_failed(&self, run: &Run) -> bool {
        // A hook that returned has found nothing to stop, even if its return value is invalid.
        let has_checked = self.fail_closed.is_none() && run.has_returned;
        self.fails_closed() && !has_checked
    }
}
