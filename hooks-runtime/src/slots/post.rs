//! Companion of POST slots.

use std::fmt;
use std::future::{Future, ready};

use hooks_core::{AggregateInto, HookObject, MaybeSend};

use crate::error::text;

/// Logs the errors of a POST slot and returns nothing. Every hook runs, because an error is an
/// output, and the slot has no chain.
///
/// A panic still propagates to the caller: typed slots do not catch panics. Register hooks that may
/// panic in a [`PhaseRegistry`](crate::PhaseRegistry), and the registry as a hook of the slot.
///
/// ```
/// use hooks_runtime::slots::LogFailures;
/// use hooks_runtime::{HookError, hooks};
///
/// #[hooks]
/// trait ShellHooks {
///     #[hook(always, aggregate = LogFailures, output = ())]
///     async fn post_run(_status: &i32) -> Result<(), HookError> {
///         Ok(())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let hooks = ShellHooksSet::new()
///     .with_post_run(async |_: &i32| Err(HookError::new("the disk is full")))
///     .with_post_run(async |status: &i32| Ok(println!("ended with {status}")));
/// hooks.post_run(&0).await;
/// # });
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct LogFailures;

impl<E: fmt::Display + HookObject> AggregateInto<Result<(), E>, ()> for LogFailures {
    fn call(&self, outputs: Vec<Result<(), E>>) -> impl Future<Output = ()> + MaybeSend {
        for error in outputs.iter().filter_map(|output| output.as_ref().err()) {
            tracing::warn!(target: "hooks_runtime", "POST hook failed: {}", text(error));
        }
        ready(())
    }
}
