//! Where a dispatch and its hooks meet: the previous output goes in, the answer comes
//! out, at once or later.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tracing::{Instrument, Span};

use crate::bounds::{BoxFuture, MaybeSend};

/// The place of a hook's answer.
///
/// A hook that is started either leaves its answer here ([`Room::put`]) and costs no
/// allocation, or leaves the future of its answer ([`Room::later`]); it returns what
/// these return. One room serves a whole dispatch: until the next hook answers, it holds
/// the output before.
pub struct Room<'a, T> {
    output: Option<T>,
    later: Option<BoxFuture<'a, T>>,
}

impl<'a, T> Room<'a, T> {
    /// An empty room.
    #[inline]
    pub const fn new() -> Self {
        Room {
            output: None,
            later: None,
        }
    }

    /// Leaves an answer.
    #[inline]
    pub fn put(&mut self, output: T) -> Poll<()> {
        self.output = Some(output);
        Poll::Ready(())
    }

    /// Leaves a future for the dispatch to wait for; the only allocation of a hook.
    pub fn later(&mut self, answer: impl Future<Output = T> + MaybeSend + 'a) -> Poll<()> {
        self.later = Some(Box::pin(answer));
        Poll::Pending
    }

    /// Answers at once where `READY` says that the future never waits, else later.
    #[inline]
    pub fn answer<const READY: bool>(
        &mut self,
        answer: impl Future<Output = T> + MaybeSend + 'a,
    ) -> Poll<()> {
        if READY {
            self.put(now(answer))
        } else {
            self.later(answer)
        }
    }

    /// The latest output, if there is one.
    #[inline]
    pub fn output(&self) -> Option<&T> {
        self.output.as_ref()
    }

    /// Takes the latest output away.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        self.output.take()
    }

    /// Whether nothing is left.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.output.is_none() && self.later.is_none()
    }

    /// Polls the future that was left; its answer becomes the latest output.
    ///
    /// # Panics
    /// If the hook answered `Poll::Pending` without leaving a future.
    pub(crate) fn poll_later(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let later = self
            .later
            .as_mut()
            .expect("a hook answered `Poll::Pending` without leaving a future in its room");
        match later.as_mut().poll(cx) {
            Poll::Ready(answer) => {
                self.later = None;
                self.put(answer)
            }
            Poll::Pending => Poll::Pending,
        }
    }

    /// Puts the future that was left inside a span, wherever it is polled.
    pub(crate) fn instrument(&mut self, span: Span)
    where
        T: 'a,
    {
        if let Some(answer) = self.later.take() {
            self.later = Some(Box::pin(answer.instrument(span)));
        }
    }
}

impl<T> Default for Room<'_, T> {
    fn default() -> Self {
        Room::new()
    }
}

impl<T> fmt::Debug for Room<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room")
            .field("output", &self.output.is_some())
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
