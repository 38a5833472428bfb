//! Timers, supplied by the host: the engine needs no runtime.

use std::time::Duration;

use crate::bounds::{BoxFuture, MaybeSend, MaybeSync};

/// Measures time. The host implements it, so that hooks can have timeouts under any executor.
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
///         Box::pin(tokio::task::unconstrained(tokio::time::sleep(duration)))
///     }
/// }
/// # mod tokio {
/// #     pub mod task { pub use std::convert::identity as unconstrained; }
/// #     pub mod time { pub async fn sleep(_: std::time::Duration) {} }
/// # }
/// ```
pub trait Timer: MaybeSend + MaybeSync {
    /// Returns a future that is ready after this time. Dropping it cancels it.
    ///
    /// It is polled in the task of the hook that it limits, after the hook: it must become ready
    /// even if the hook has used up its cooperative budget (tokio's *coop* budget).
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}
