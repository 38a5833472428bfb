//! The default timer of registries.

use std::time::Duration;

use futures_timer::Delay;
use hooks_core::{BoxFuture, Timer};
use tokio::runtime::Handle;
use tokio::task::unconstrained;

/// Waits by tokio's clock within a tokio runtime, and by a separate thread elsewhere.
///
/// Within a tokio runtime its time driver has to be enabled, as for every use of
/// `tokio::time`.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostTimer;

/// A longer time may be beyond what the clock of the system can express.
const MAX_SLEEP: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

impl Timer for HostTimer {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let duration = duration.min(MAX_SLEEP);
        if Handle::try_current().is_ok() {
            // Tokio's cooperative budget must not delay the timer.
            Box::pin(unconstrained(tokio::time::sleep(duration)))
        } else {
            Box::pin(Delay::new(duration))
        }
    }
}
