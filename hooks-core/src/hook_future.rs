//! The output of a started hook, or its future.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tracing::{Instrument, Span};

use crate::bounds::{BoxFuture, MaybeSend};

/// The output of a started hook, or its future.
pub enum HookFuture<'a, T> {
    /// The output. Costs no allocation.
    Ready(T),
    /// The future of the output, which the dispatch polls.
    Boxed(BoxFuture<'a, T>),
}

impl<'a, T> HookFuture<'a, T> {
    /// Boxes a future: the only allocation of a hook that may suspend.
    #[inline]
    pub fn boxed(future: impl Future<Output = T> + MaybeSend + 'a) -> Self {
        HookFuture::Boxed(Box::pin(future))
    }

    /// Polls the future at once if it is known never to suspend, and boxes it otherwise.
    #[doc(hidden)]
    pub fn __new(is_ready: bool, future: impl Future<Output = T> + MaybeSend + 'a) -> Self {
        if is_ready {
            HookFuture::Ready(now(future))
        } else {
            HookFuture::boxed(future)
        }
    }

    /// Returns the output of a hook that cannot suspend.
    pub(crate) fn into_ready(self) -> T {
        match self {
            HookFuture::Ready(output) => output,
            HookFuture::Boxed(future) => now(future),
        }
    }

    /// Waits for the output.
    pub(crate) async fn output(self) -> T {
        match self {
            HookFuture::Ready(output) => output,
            HookFuture::Boxed(future) => future.await,
        }
    }

    /// Instruments a boxed future with a span.
    pub(crate) fn instrument(self, span: Span) -> Self
    where
        T: 'a,
    {
        match self {
            HookFuture::Boxed(future) => HookFuture::Boxed(Box::pin(future.instrument(span))),
            ready => ready,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for HookFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HookFuture::Ready(output) => f.debug_tuple("Ready").field(output).finish(),
            HookFuture::Boxed(_) => f.write_str("Boxed"),
        }
    }
}

/// Polls a future that never suspends: a body in which the macros found no `.await`, and no
/// attribute that may add one, or a dispatch of a synchronous slot.
///
/// # Panics
/// If the future is pending.
#[cfg_attr(not(debug_assertions), inline(always))] // a function by itself: `synchronous/1` +17 % instructions
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => {
            unreachable!("a body without `.await`, or a synchronous dispatch, is not pending")
        }
    }
}
