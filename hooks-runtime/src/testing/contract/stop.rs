//! The end of what cases have under way.

use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use tokio::sync::watch;

/// Ends what the cases of a [`Subject`](super::Subject) have under way, from any thread: for
/// programs that are told to end themselves, and are to leave no process of a hook behind.
/// A clone is the same.
///
/// ```
/// use hooks_runtime::testing::contract::{Stop, Subject, case};
/// use hooks_runtime::{Event, HookResult};
///
/// let stop = Stop::new();
/// let subject = Subject::new(|| |_: Event<'_>| HookResult::proceed()).stopped_by(&stop);
/// assert!(case("answers_validly").unwrap().check(&subject).is_ok());
/// stop.stop();
/// assert!(case("answers_validly").unwrap().check(&subject).is_err());
/// ```
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    /// Nothing is stopped yet.
    pub fn new() -> Self {
        Stop(Arc::new(watch::Sender::new(false)))
    }

    /// Ends the calls that are under way, as if their emissions were dropped, and lets no
    /// other begin. Their cases fail.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Runs something to its end, if it does not come too late.
    pub(super) async fn unless<F: Future>(&self, run: F) -> Result<F::Output, String> {
        let mut stopped = self.0.subscribe();
        let stopped = pin!(stopped.wait_for(|is_stopped| *is_stopped));
        // What is stopped first does not begin.
        match select(stopped, pin!(run)).await {
            Either::Left(_) => Err("the end of the check, which was stopped".to_owned()),
            Either::Right((output, _)) => Ok(output),
        }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop::new()
    }
}
