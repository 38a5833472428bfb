//! Futures composed without a box and without a coroutine: a coroutine around a
//! dispatch would have to be `Send` for every lifetime of the arguments, which the
//! compiler cannot see.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

pin_project! {
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

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        match self.project() {
            Projected::Left { future } => future.poll(cx),
            Projected::Right { future } => future.poll(cx),
        }
    }
}

/// The answer of a step that may need no further future.
pub(crate) enum Attempt<T, F> {
    Done(T),
    Resume(F),
}

pin_project! {
    /// A future, and what its answer leads to.
    #[project = Stage]
    pub(crate) enum Then<A, N, B> {
        First { #[pin] future: A, next: Option<N> },
        Second { #[pin] future: B },
    }
}

impl<A, N, B> Then<A, N, B>
where
    A: Future,
    N: FnOnce(A::Output) -> Attempt<B::Output, B>,
    B: Future,
{
    pub(crate) fn new(future: A, next: N) -> Self {
        Then::First {
            future,
            next: Some(next),
        }
    }
}

impl<A, N, B> Future for Then<A, N, B>
where
    A: Future,
    N: FnOnce(A::Output) -> Attempt<B::Output, B>,
    B: Future,
{
    type Output = B::Output;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        if let Stage::First { future, next } = self.as_mut().project() {
            let Poll::Ready(answer) = future.poll(cx) else {
                return Poll::Pending;
            };
            let next = next.take().expect(ENDED);
            match next(answer) {
                Attempt::Done(answer) => return Poll::Ready(answer),
                Attempt::Resume(future) => self.set(Then::Second { future }),
            }
        }
        match self.project() {
            Stage::Second { future } => future.poll(cx),
            Stage::First { .. } => unreachable!("the first stage has just ended"),
        }
    }
}

pin_project! {
    /// Runs a closure in the first poll, and the future it returns only if it returns one.
    #[project = Phase]
    pub(crate) enum SyncFirst<B, F> {
        Start { begin: Option<B> },
        Resumed { #[pin] rest: F },
    }
}

impl<B, F> SyncFirst<B, F>
where
    F: Future,
    B: FnOnce() -> Attempt<F::Output, F>,
{
    #[inline]
    pub(crate) fn new(begin: B) -> Self {
        SyncFirst::Start { begin: Some(begin) }
    }
}

impl<B, F> Future for SyncFirst<B, F>
where
    F: Future,
    B: FnOnce() -> Attempt<F::Output, F>,
{
    type Output = F::Output;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if let Phase::Start { begin } = self.as_mut().project() {
            let begin = begin.take().expect(ENDED);
            match begin() {
                Attempt::Done(outcome) => return Poll::Ready(outcome),
                Attempt::Resume(rest) => self.set(SyncFirst::Resumed { rest }),
            }
        }
        match self.project() {
            Phase::Resumed { rest } => rest.poll(cx),
            Phase::Start { .. } => unreachable!("the first part has just ended"),
        }
    }
}

const ENDED: &str = "a dispatch is not polled after its end";
