//! How a hook answers: at once, or later.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::bounds::{BoxFuture, MaybeSend};

/// Where a hook that cannot answer at once leaves the future of its answer.
///
/// A hook that is started either returns `Poll::Ready` with its answer, and then
/// costs no allocation, or calls [`Room::later`] and returns what that returns.
#[derive(Default)]
pub struct Room<'a, T> {
    later: Option<BoxFuture<'a, T>>,
}

impl<'a, T> Room<'a, T> {
    /// An empty room.
    pub fn new() -> Self {
        Room { later: None }
    }

    /// Leaves a future for the dispatch to wait for; the only allocation of a hook.
    pub fn later(&mut self, answer: impl Future<Output = T> + MaybeSend + 'a) -> Poll<T> {
        self.later = Some(Box::pin(answer));
        Poll::Pending
    }

    /// Answers at once where `READY` says that the future never waits, else later.
    #[inline]
    pub fn answer<const READY: bool>(
        &mut self,
        answer: impl Future<Output = T> + MaybeSend + 'a,
    ) -> Poll<T> {
        if READY {
            Poll::Ready(now(answer))
        } else {
            self.later(answer)
        }
    }

    /// The future that was left.
    ///
    /// # Panics
    /// If the hook returned `Poll::Pending` without leaving one.
    pub(crate) fn take(self) -> BoxFuture<'a, T> {
        self.later
            .expect("a hook answered `Poll::Pending` without leaving a future in its room")
    }
}

impl<T> std::fmt::Debug for Room<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Room")
            .field("later", &self.later.is_some())
            .finish()
    }
}

/// The answer of a future that never waits: the macros put a body here only where
/// the compiler has seen that it contains no `.await`.
///
/// # Panics
/// If the future waits after all.
#[inline]
pub(crate) fn now<T>(answer: impl Future<Output = T>) -> T {
    match pin!(answer).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => unreachable!("a body without `.await` cannot wait"),
    }
}
