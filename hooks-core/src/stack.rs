//! Stack space for hooks that dispatch.
//!
//! A hook that awaits a dispatch is polled within the dispatch that awaits the hook, so every
//! level of nesting takes stack space: 15 KiB for an emission in a debug build. If little of the
//! stack is left, a nested hook is polled on a new one. Only futures are: a hook that is ready
//! at once awaits no dispatch. If it calls a synchronous one, the call takes stack space as any
//! function does.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    /// `true` while this thread polls a hook.
    static IS_POLLING: Cell<bool> = const { Cell::new(false) };
}

/// Resets [`IS_POLLING`], also if the hook panics.
struct Outermost;

impl Drop for Outermost {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        IS_POLLING.set(false);
    }
}

/// Polls a hook, on a new stack if it is nested and this stack is nearly used up.
///
/// The outermost hook is polled without measuring the stack: `chain_awaiting/1` −1 % instructions.
#[cfg_attr(not(debug_assertions), inline(always))]
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
    /// Minimum stack space to poll a nested hook on the current stack.
    const RED_ZONE: usize = 128 << 10;

    /// The size of a new stack: the default of the standard library's threads. The system
    /// allocates the pages that are used.
    const NEW_STACK: usize = 2 << 20;

    // If the system does not report what is left, the poll continues on this stack.
    if stacker::remaining_stack().is_none_or(|left| left > RED_ZONE) {
        return future.poll(cx);
    }
    stacker::grow(NEW_STACK, || future.poll(cx))
}
