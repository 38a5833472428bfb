//! Dispatches from synchronous code.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

thread_local! {
    /// `true` while [`run_now`] polls a dispatch on this thread.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };

    /// The hook for which the last dispatch on this thread waits.
    static WAITS: RefCell<Option<HookWaits>> = const { RefCell::new(None) };
}

/// Runs a dispatch at once, from code that is not async: the dispatch of an async slot, of a registry or
/// of another future.
///
/// All hooks have to complete without waiting. An executor is not needed, so that the function also
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
/// let waits = run_now(editor.title("notes.md")).unwrap_err();
/// assert_eq!(waits.slot(), Some("title"));
/// ```
///
/// # Errors
/// If a hook waits. The hooks before it have run, its future is dropped, and the hooks after it do
/// not run.
///
/// # Panics
/// If a hook panics.
pub fn run_now<F: Future>(dispatch: F) -> Result<F::Output, HookWaits> {
    let _outer = Restore {
        is_running: IS_RUNNING.replace(true),
        waits: WAITS.take(),
    };
    match pin!(dispatch).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => Err(WAITS.take().unwrap_or(HookWaits {
            slot: None,
            hook: None,
        })),
    }
}

/// Restores the state of an outer [`run_now`], also if a hook panics.
struct Restore {
    is_running: bool,
    waits: Option<HookWaits>,
}

impl Drop for Restore {
    fn drop(&mut self) {
        IS_RUNNING.set(self.is_running);
        WAITS.set(self.waits.take());
    }
}

/// Notes the hook for which a dispatch of this thread waits, if [`run_now`] polls it.
#[inline]
pub(crate) fn note<'n>(waiting: impl FnOnce() -> (&'n str, Option<String>)) {
    if IS_RUNNING.get() {
        let (slot, hook) = waiting();
        let slot = Some(slot.to_owned());
        WAITS.set(Some(HookWaits { slot, hook }));
    }
}

/// The error of [`run_now`]: a hook waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookWaits {
    slot: Option<String>,
    hook: Option<String>,
}

impl HookWaits {
    /// Returns the name of the slot; `None` if the future that waits is none of a slot.
    #[must_use]
    pub fn slot(&self) -> Option<&str> {
        self.slot.as_deref()
    }

    /// Returns the name, the key or the type of the hook that waits; `None` if the default, a companion
    /// or an around hook waits.
    #[must_use]
    pub fn hook(&self) -> Option<&str> {
        self.hook.as_deref()
    }
}

impl fmt::Display for HookWaits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.hook, &self.slot) {
            (Some(hook), Some(slot)) => write!(f, "hook `{hook}` of slot `{slot}` waits")?,
            (None, Some(slot)) => write!(f, "the default or a companion of slot `{slot}` waits")?,
            (_, None) => f.write_str("the call waits")?,
        }
        f.write_str("; await the dispatch, or register hooks that complete at once")
    }
}

impl std::error::Error for HookWaits {}
