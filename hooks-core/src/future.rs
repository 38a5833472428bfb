//! Futures composed without a box and without an `async` block: an `async` block around a dispatch
//! must be `Send` for every lifetime of the arguments, which the compiler cannot prove.
//!
//! Each `poll` is `#[inline(always)]`: `aggregate/0` −16 %, `aggregate/1` −10 % instructions.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::cold_option::ColdOption;

/// A future that cannot exist: the [`Future`](crate::Policy::Future) of a policy that has no
/// asynchronous work of its own.
pub struct Never<T> {
    never: Infallible,
    output: PhantomData<fn() -> T>,
}

impl<T> Future for Never<T> {
    type Output = T;

    #[inline]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        match self.never {}
    }
}

impl<T> fmt::Debug for Never<T> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.never {}
    }
}

/// A future that calls a function when it is polled, and is then ready.
pub struct Lazy<F>(Option<F>);

impl<F> Lazy<F> {
    /// Creates the future. The function is not called yet.
    #[inline]
    pub fn new<T>(function: F) -> Self
    where
        F: FnOnce() -> T,
    {
        Lazy(Some(function))
    }
}

/// The function is not pinned.
impl<F> Unpin for Lazy<F> {}

impl<T, F: FnOnce() -> T> Future for Lazy<F> {
    type Output = T;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let function = self.0.take().expect("polled once");
        Poll::Ready(function())
    }
}

impl<F> fmt::Debug for Lazy<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lazy")
    }
}

pin_project! {
    /// One of two futures.
    #[project = Projected]
    pub(crate) enum Either<A, B> {
        Left { #[pin] future: A },
        Right { #[pin] future: B },
    }
}

impl<A, B> Either<A, B> {
    pub(crate) fn left(future: A) -> Self {
        Either::Left { future }
    }

    pub(crate) fn right(future: B) -> Self {
        Either::Right { future }
    }
}

impl<A, B> Future for Either<A, B>
where
    A: Future,
    B: Future<Output = A::Output>,
{
    type Output = A::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        match self.project() {
            Projected::Left { future } => future.poll(cx),
            Projected::Right { future } => future.poll(cx),
        }
    }
}

/// A future on a rarely taken branch. It is created, polled and dropped in functions that are not
/// inlined, so that the output of the common branch stays in registers: `aggregate/0` −6 %,
/// `own_chain/0` −13 % instructions, with [`ColdOption`].
#[derive(Debug)]
pub struct ColdFuture<F>(ColdOption<F>);

impl<F: Future + Unpin> ColdFuture<F> {
    /// Returns a future that runs this one.
    #[cold]
    #[inline(never)]
    pub fn new(future: F) -> Self {
        let mut place = ColdOption::none();
        place.set(Some(future));
        ColdFuture(place)
    }

    /// Writes the output to `output`.
    #[cold]
    #[inline(never)]
    fn poll_apart(&mut self, cx: &mut Context<'_>, output: &mut Option<F::Output>) {
        let future = self.0.as_mut().expect("set by `new`");
        if let Poll::Ready(ready) = Pin::new(future).poll(cx) {
            *output = Some(ready);
        }
    }
}

impl<F: Future + Unpin> Future for ColdFuture<F> {
    type Output = F::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut output = None;
        self.poll_apart(cx, &mut output);
        match output {
            Some(output) => Poll::Ready(output),
            None => Poll::Pending,
        }
    }
}

/// Second part of an [`AndThen`].
pub(crate) enum Continuation<T, F> {
    Done(T),
    Future(F),
}

pin_project! {
    /// A future, followed by a closure on its output.
    ///
    /// Each future has a separate field: if the second replaced the first, the first would be
    /// dropped there.
    pub(crate) struct AndThen<A, F, B> {
        #[pin]
        first: A,
        // `None` once the first future is ready.
        continuation: Option<F>,
        #[pin]
        second: Option<B>,
    }
}

impl<A, F, B> AndThen<A, F, B>
where
    A: Future,
    F: FnOnce(A::Output) -> Continuation<B::Output, B>,
    B: Future,
{
    #[inline]
    pub(crate) fn new(first: A, continuation: F) -> Self {
        AndThen {
            first,
            continuation: Some(continuation),
            second: None,
        }
    }
}

impl<A, F, B> Future for AndThen<A, F, B>
where
    A: Future,
    F: FnOnce(A::Output) -> Continuation<B::Output, B>,
    B: Future,
{
    type Output = B::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        let mut this = self.project();
        if this.continuation.is_some() {
            let Poll::Ready(output) = this.first.poll(cx) else {
                return Poll::Pending;
            };
            let continuation = this.continuation.take();
            let continuation = continuation.expect("a continuation is called once");
            match continuation(output) {
                Continuation::Done(output) => return Poll::Ready(output),
                Continuation::Future(future) => this.second.set(Some(future)),
            }
        }
        let second = this.second.as_pin_mut();
        second
            .expect("a dispatch was polled after its completion")
            .poll(cx)
    }
}
