//! Time, supplied by the host: the engine needs no runtime.

use std::time::Duration;

use crate::bounds::{BoxFuture, MaybeSend, MaybeSync};

/// Waits. A host supplies it, so that hooks can be given a time limit under any executor
/// (`E-39`, `R-17`).
///
/// ```
/// use std::time::Duration;
///
/// use hooks_core::{BoxFuture, Timer};
///
/// struct Tokio;
///
/// impl Timer for Tokio {
///     fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
///         Box::pin(tokio::time::sleep(duration))
///     }
/// }
/// # mod tokio { pub mod time { pub async fn sleep(_: std::time::Duration) {} } }
/// ```
pub trait Timer: MaybeSend + MaybeSync {
    /// Ends once so much time has passed since the call. Dropping it cancels it.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}
