//! Room on the stack for hooks that dispatch.
//!
//! A hook that awaits a dispatch is polled within the dispatch that awaits the hook, so every
//! level of nesting lies on the stack: 15 KiB for an emission in a debug build. Where little of
//! the stack is left, a nested hook is polled on a new one. Only futures are: a hook that is ready
//! at once awaits no dispatch.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    /// Whether this thread is polling a hook.
    static IS_POLLING: Cell<bool> = const { Cell::new(false) };
}

/// Resets [`IS_POLLING`], also if the hook panics.
struct Outermost;

impl Drop for Outermost {
    #[inline(always)]
    fn drop(&mut self) {
        IS_POLLING.set(false);
    }
}

/// Polls a hook, on a new stack if it is nested and this stack is nearly used up.
///
/// The outermost hook is polled without a look at the stack: `chain_awaiting/1` −1 % instructions.
#[inline(always)]
pub(crate) fn poll<F: Future + ?Sized>(
    future: Pin<&mut F>,
    cx: &mut Context<'_>,
) -> Poll<F::Output> {
    if IS_POLLING.get() {
        return poll_nested(future, cx);
    }
    IS_POLLING.set(true);
    let _outermost = Outermost;
    future.poll(cx)
}

#[cfg(any(target_family = "wasm", miri))]
fn poll_nested<F: Future + ?Sized>(future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
    future.poll(cx)
}

#[cfg(not(any(target_family = "wasm", miri)))]
#[cold]
#[inline(never)]
fn poll_nested<F: Future + ?Sized>(future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
    /// The least that is left of the stack when a nested hook is polled on it.
    const RED_ZONE: usize = 128 << 10;

    /// The size of a new stack: the default of the standard library's threads. The system
    /// allocates the pages that are used.
    const NEW_STACK: usize = 2 << 20;

    // Where the system does not tell what is left, nothing can be done.
    if stacker::remaining_stack().is_none_or(|left| left > RED_ZONE) {
        return future.poll(cx);
    }
    stacker::grow(NEW_STACK, || future.poll(cx))
}
