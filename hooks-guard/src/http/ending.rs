//! That the service ends: answers that would go on hear of it.

use tokio::sync::watch;

/// Whether the service ends.
#[derive(Debug)]
pub(crate) struct Ending(watch::Sender<bool>);

impl Default for Ending {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Ending {
    /// It ends from now on.
    pub(crate) fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Ready when it ends.
    pub(crate) async fn begun(&self) {
        let mut ending = self.0.subscribe();
        // An error is that the sender is gone, which `self` has.
        let _ = ending.wait_for(|ends| *ends).await;
    }
}
