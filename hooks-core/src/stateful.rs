//! Hooks with mutable state.

use std::any::type_name;
use std::cell::RefCell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use async_lock::{Mutex, MutexGuard};

use crate::hook_future::now;
use crate::reentrancy::HookReentrancyError;
use crate::typed::slot_def::CallStateful;

/// A hook whose `call_mut` takes `&mut self`.
///
/// Implement the generated `Stateful<Slot>` trait for `T` and register `Stateful::new(value)`. The
/// state lives as long as the registration; clones share it.
///
/// One call at a time has access to the state; other calls wait for it. A call of a synchronous slot
/// blocks its thread meanwhile. A call from inside the
/// running call could never get access: it is handled by `on_reentrancy`, which panics by default.
/// A panic in a hook, or a dispatch that is dropped, releases the state, which is not reset.
///
/// ```
/// use hooks_core::{HookReentrancyError, Stateful, hooks};
///
/// #[hooks]
/// trait Tickets {
///     #[hook(singleton)]
///     async fn next_ticket() -> u32 { 0 }
/// }
///
/// struct Counter(u32);
///
/// impl StatefulNextTicket for Counter {
///     async fn call_mut(&mut self) -> u32 {
///         self.0 += 1;
///         self.0
///     }
///
///     fn on_reentrancy(error: HookReentrancyError) -> u32 {
///         assert_eq!(error.slot, "next_ticket");
///         0
///     }
/// }
///
/// # fn block_on<T>(f: impl Future<Output = T>) -> T {
/// #     let mut f = std::pin::pin!(f);
/// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
/// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
/// # }
/// # block_on(async {
/// let tickets = TicketsSet::new().with_next_ticket(Stateful::new(Counter(0)));
/// assert_eq!(tickets.next_ticket().await, 1);
/// assert_eq!(tickets.clone().next_ticket().await, 2);
/// # });
/// ```
pub struct Stateful<T> {
    cell: Arc<Mutex<T>>,
}

impl<T> Stateful<T> {
    /// Creates a stateful hook.
    pub fn new(value: T) -> Self {
        Stateful {
            cell: Arc::new(Mutex::new(value)),
        }
    }

    /// Calls the hook in the slot `S`, once no other call has access to the state.
    pub(crate) async fn call<S, A>(&self, owned: A) -> S::Out
    where
        S: for<'s> CallStateful<&'s mut T, A> + ?Sized,
    {
        match self.lock(S::NAME).await {
            Ok(mut state) => {
                let future = {
                    // Code that runs before the hook returns its future is part of the call.
                    let _running = running::enter(self.id());
                    S::call_mut(&mut *state, owned)
                };
                self.run(future).await
            }
            Err(error) => S::ON_REENTRY(error),
        }
    }

    /// Calls the hook in the synchronous slot `S`. Blocks the thread while another call has access to
    /// the state.
    pub(crate) fn call_now<S, A>(&self, owned: A) -> S::Out
    where
        S: for<'s> CallStateful<&'s mut T, A> + ?Sized,
    {
        let error = HookReentrancyError {
            slot: S::NAME,
            hook_type: type_name::<T>(),
        };
        if running::contains(self.id()) {
            return S::ON_REENTRY(error);
        }
        let Some(mut state) = self.lock_now() else {
            return S::ON_REENTRY(error);
        };
        let _running = running::enter(self.id());
        now(S::call_mut(&mut *state, owned))
    }

    #[cfg(not(any(target_family = "wasm", hooks_single_threaded)))]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "under the rules of one thread it may fail"
    )]
    fn lock_now(&self) -> Option<MutexGuard<'_, T>> {
        Some(self.cell.lock_blocking())
    }

    /// Returns `None` if a pending call holds the lock: the only thread cannot wait for this call.
    #[cfg(any(target_family = "wasm", hooks_single_threaded))]
    fn lock_now(&self) -> Option<MutexGuard<'_, T>> {
        self.cell.try_lock()
    }

    /// Locks the state for the duration of one call to `slot`.
    async fn lock(&self, slot: &'static str) -> Result<MutexGuard<'_, T>, HookReentrancyError> {
        let mut lock = pin!(self.cell.lock());
        poll_fn(|cx| {
            if running::contains(self.id()) {
                return Poll::Ready(Err(HookReentrancyError {
                    slot,
                    hook_type: type_name::<T>(),
                }));
            }
            lock.as_mut().poll(cx).map(Ok)
        })
        .await
    }

    /// Runs the call that has access to the state: while it is polled, a further call is
    /// re-entrant.
    async fn run<R>(&self, call: impl Future<Output = R>) -> R {
        let mut call = pin!(call);
        poll_fn(|cx| {
            let _running = running::enter(self.id());
            call.as_mut().poll(cx)
        })
        .await
    }

    fn id(&self) -> usize {
        Arc::as_ptr(&self.cell).addr()
    }
}

impl<T> Clone for Stateful<T> {
    fn clone(&self) -> Self {
        Stateful {
            cell: Arc::clone(&self.cell),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Stateful<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shape = f.debug_tuple("Stateful");
        match self.cell.try_lock() {
            Some(state) => shape.field(&*state),
            None => shape.field(&format_args!("<in use>")),
        };
        shape.finish()
    }
}

/// The stateful hooks that this thread is polling, innermost last.
mod running {
    use super::RefCell;

    thread_local! {
        static RUNNING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn contains(id: usize) -> bool {
        RUNNING.with_borrow(|running| running.contains(&id))
    }

    pub(super) fn enter(id: usize) -> Leave {
        RUNNING.with_borrow_mut(|running| running.push(id));
        Leave
    }

    /// Removes the innermost hook when dropped, also on unwinding.
    pub(super) struct Leave;

    impl Drop for Leave {
        fn drop(&mut self) {
            RUNNING.with_borrow_mut(Vec::pop);
        }
    }
}
