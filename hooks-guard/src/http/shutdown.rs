//! Shutdown signal of the service, for responses that would otherwise continue.

use tokio::sync::watch;

/// Signals that the service is shutting down.
#[derive(Debug)]
pub(crate) struct ShutdownSignal(watch::Sender<bool>);

impl Default for ShutdownSignal {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl ShutdownSignal {
    /// Starts the shutdown.
    pub(crate) fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Completes when the shutdown starts.
    pub(crate) async fn begun(&self) {
        let mut ending = self.0.subscribe();
        // An error would mean that the sender was dropped, but `self` owns it.
        let _ = ending.wait_for(|ends| *ends).await;
    }
}
