//! Dispatches from synchronous code.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

thread_local! {
    /// `true` while [`run_now`] polls a dispatch on this thread.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };

    /// The pending hook of the dispatch that suspended last on this thread.
    static PENDING: RefCell<Option<PendingHookError>> = const { RefCell::new(None) };
}

/// Runs a dispatch at once, from code that is not async: the dispatch of an async slot, of a registry or
/// of another future.
///
/// All hooks have to complete in the first poll. An executor is not needed, so that the function also
/// works in a hook, and where a runtime refuses to block.
///
/// ```
/// use hooks_core::{hooks, run_now};
///
/// #[hooks]
/// trait Editor {
///     #[hook(always)]
///     async fn title(path: &str) -> String {
///         path.to_owned()
///     }
/// }
///
/// let mut editor = EditorSet::new();
/// assert_eq!(run_now(editor.title("notes.md")).unwrap(), "notes.md");
///
/// editor.register_title(async |_: String, _: Option<String>| std::future::pending().await);
/// let error = run_now(editor.title("notes.md")).unwrap_err();
/// assert_eq!(error.slot(), Some("title"));
/// ```
///
/// # Errors
/// If a hook is pending. The hooks before it have run, its future is dropped, and the hooks after it do
/// not run. A [`Stateful`](crate::Stateful) hook is pending while another thread calls it.
///
/// # Panics
/// If a hook panics.
pub fn run_now<F: Future>(dispatch: F) -> Result<F::Output, PendingHookError> {
    let _outer = Restore {
        is_running: IS_RUNNING.replace(true),
        pending: PENDING.take(),
    };
    match pin!(dispatch).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => Err(PENDING.take().unwrap_or(PendingHookError {
            slot: None,
            hook: None,
        })),
    }
}

/// Restores the state of an outer [`run_now`], also if a hook panics.
struct Restore {
    is_running: bool,
    pending: Option<PendingHookError>,
}

impl Drop for Restore {
    fn drop(&mut self) {
        IS_RUNNING.set(self.is_running);
        PENDING.set(self.pending.take());
    }
}

/// Notes the pending hook of a dispatch that suspends, if [`run_now`] polls it.
#[inline]
pub(crate) fn note<'n>(pending: impl FnOnce() -> (&'n str, Option<String>)) {
    if IS_RUNNING.get() {
        let (slot, hook) = pending();
        let slot = Some(slot.to_owned());
        PENDING.set(Some(PendingHookError { slot, hook }));
    }
}

/// The error of [`run_now`]: a hook is pending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingHookError {
    slot: Option<String>,
    hook: Option<String>,
}

impl PendingHookError {
    /// Returns the name of the slot. `None` if an aggregate, a finalizer, an around hook or a future that
    /// is not a dispatch is pending.
    #[must_use]
    pub fn slot(&self) -> Option<&str> {
        self.slot.as_deref()
    }

    /// Returns the name, the key or the type of the pending hook. `None` if another part of the dispatch
    /// is pending.
    #[must_use]
    pub fn hook(&self) -> Option<&str> {
        self.hook.as_deref()
    }
}

impl fmt::Display for PendingHookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.hook, &self.slot) {
            (Some(hook), Some(slot)) => write!(f, "hook `{hook}` of slot `{slot}` is pending")?,
            (None, Some(slot)) => {
                write!(f, "the default or the chain of slot `{slot}` is pending")?
            }
            (_, None) => f.write_str("the call is pending")?,
        }
        f.write_str("; await the dispatch, or register hooks that complete at once")
    }
}

impl std::error::Error for PendingHookError {}
