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
///         Box::pin(tokio::task::unconstrained(tokio::time::sleep(duration)))
///     }
/// }
/// # mod tokio {
/// #     pub mod task { pub use std::convert::identity as unconstrained; }
/// #     pub mod time { pub async fn sleep(_: std::time::Duration) {} }
/// # }
/// ```
pub trait Timer: MaybeSend + MaybeSync {
    /// Ends once so much time has passed since the call. Dropping it cancels it.
    ///
    /// It is asked right behind the hook that it limits, in the same task: it must end also where
    /// the hook has used up what a runtime lets a task do at a time (tokio's *coop* budget).
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}
