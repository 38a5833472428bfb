//! Stops running cases.

use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use tokio::sync::watch;

/// Stops the running cases of a [`Subject`](super::Subject), from any thread: for programs that
/// receive a signal, and must leave no process of a hook. Clones share one state.
///
/// ```
/// use hooks_runtime::testing::contract::{StopSignal, Subject, case};
/// use hooks_runtime::{Event, HookResult};
///
/// let stop = StopSignal::new();
/// let subject = Subject::new(|| |_: Event<'_>| HookResult::proceed()).stopped_by(&stop);
/// assert!(case("returns_valid_results").unwrap().check(&subject).is_ok());
/// stop.stop();
/// assert!(case("returns_valid_results").unwrap().check(&subject).is_err());
/// ```
#[derive(Debug, Clone)]
pub struct StopSignal(Arc<watch::Sender<bool>>);

impl StopSignal {
    /// Creates a handle that has not stopped anything.
    pub fn new() -> Self {
        StopSignal(Arc::new(watch::Sender::new(false)))
    }

    /// Cancels the running calls, as if their emissions were dropped, and prevents further ones.
    /// Their cases fail.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Runs a future to its end, unless it is stopped.
    pub(super) async fn unless<F: Future>(&self, run: F) -> Result<F::Output, String> {
        let mut stopped = self.0.subscribe();
        let stopped = pin!(stopped.wait_for(|is_stopped| *is_stopped));
        // After a stop, it does not start.
        match select(stopped, pin!(run)).await {
            Either::Left(_) => Err("the end of the check, which was stopped".to_owned()),
            Either::Right((output, _)) => Ok(output),
        }
    }
}

impl Default for StopSignal {
    fn default() -> Self {
        StopSignal::new()
    }
}
