//! What a started hook gives back: its answer, or the future of it.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tracing::{Instrument, Span};

use crate::bounds::{BoxFuture, MaybeSend};

/// What a started hook gives back (`E-13`).
pub enum HookFuture<'a, T> {
    /// The answer: costs no allocation, and no future.
    Ready(T),
    /// The future of the answer, for the dispatch to wait for.
    Boxed(BoxFuture<'a, T>),
}

impl<'a, T> HookFuture<'a, T> {
    /// The answer of this future, boxed: the only allocation of a hook that may wait.
    #[inline]
    pub fn boxed(answer: impl Future<Output = T> + MaybeSend + 'a) -> Self {
        HookFuture::Boxed(Box::pin(answer))
    }

    /// The answer at once where `ready` says that the future never waits, else later.
    #[doc(hidden)]
    #[inline(always)]
    pub fn __new(ready: bool, answer: impl Future<Output = T> + MaybeSend + 'a) -> Self {
        if ready {
            HookFuture::Ready(now(answer))
        } else {
            HookFuture::boxed(answer)
        }
    }

    /// Puts a future inside a span, wherever it is polled.
    pub(crate) fn instrument(self, span: Span) -> Self
    where
        T: 'a,
    {
        match self {
            HookFuture::Boxed(answer) => HookFuture::Boxed(Box::pin(answer.instrument(span))),
            ready => ready,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for HookFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HookFuture::Ready(answer) => f.debug_tuple("Ready").field(answer).finish(),
            HookFuture::Boxed(_) => f.write_str("Boxed"),
        }
    }
}

/// The answer of a future that never waits: the macros put a body here only where the
/// compiler has seen that it contains no `.await`, and no attribute may have put one around
/// it.
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
