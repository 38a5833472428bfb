//! Stack space for hooks that dispatch.
//!
//! A hook that awaits a dispatch is polled within the dispatch that awaits the hook, so every level
//! of nesting takes stack space: 15 KiB for an emission in a debug build. If little of the stack is
//! left, a hook is polled on a new stack. Only futures are: a hook that is ready at once awaits no
//! dispatch.
//! once awaits no dispatch.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    /// Address below which little of the stack is left; the highest address until it is known.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Polls a hook, on a new stack if this one is nearly used up.
///
/// Outside of the loop over hooks: there, the address of a local would cost hooks that are ready 18
/// instructions per dispatch (`always, 1 hook`).
/// instructions a dispatch (`always, 1 hook`).
#[inline(never)]
pub(crate) fn poll<F: Future + ?Sized>(
    future: Pin<&mut F>,
    cx: &mut Context<'_>,
) -> Poll<F::Output> {
    if LIMIT.get() < here() {
        return future.poll(cx);
    }
    room::poll(future, cx)
}

/// Returns an address in or near the caller's frame.
#[inline(always)]
fn here() -> usize {
    let local = 0_u8;
    std::ptr::from_ref(&local).addr()
}

#[cfg(any(target_family = "wasm", miri))]
mod room {
    use super::*;

    pub(super) fn poll<F: Future + ?Sized>(
        future: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<F::Output> {
        LIMIT.set(0);
        future.poll(cx)
    }
}

#[cfg(not(any(target_family = "wasm", miri)))]
mod room {
    use super::*;

    /// Minimum stack space to poll a hook on the current stack.
    const RED_ZONE: usize = 128 << 10;

    /// The size of a new stack: the default of the standard library's threads. The system
    /// allocates the pages that are used.
    const NEW_STACK: usize = 2 << 20;

    /// Restores the limit of the stack to which a poll on a new one returns.
    struct Outer(usize);

    impl Drop for Outer {
        fn drop(&mut self) {
            LIMIT.set(self.0);
        }
    }

    /// Polls if the limit is unknown or reached.
    #[cold]
    #[inline(never)]
    pub(super) fn poll<F: Future + ?Sized>(
        future: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<F::Output> {
        // `None` if the system does not report it: then the poll continues on this stack.
        let left = stacker::remaining_stack().unwrap_or(usize::MAX);
        if left > RED_ZONE {
            LIMIT.set(here().saturating_sub(left - RED_ZONE));
            return future.poll(cx);
        }
        stacker::grow(NEW_STACK, || {
            let limit = here().saturating_sub(NEW_STACK - 2 * RED_ZONE);
            let _outer = Outer(LIMIT.replace(limit));
            future.poll(cx)
        })
    }
}
