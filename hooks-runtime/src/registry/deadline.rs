//! A deadline for one or several dispatches.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hooks_core::{BoxFuture, Dispatch, Policy, Timer};
use pin_project_lite::pin_project;

/// A deadline that dispatches share, one after the other. Hooks that block cannot be cancelled.
pub(crate) struct Deadline<'t> {
    timer: &'t dyn Timer,
    limit: Option<Duration>,
    /// `None` until the first dispatch starts.
    sleep: Option<BoxFuture<'static, ()>>,
    has_passed: bool,
    /// `true` if the last dispatch or future was cancelled.
    has_cancelled: bool,
}

impl<'t> Deadline<'t> {
    pub(crate) fn new(timer: &'t dyn Timer, limit: Option<Duration>) -> Self {
        Deadline {
            timer,
            limit,
            sleep: None,
            has_passed: false,
            has_cancelled: false,
        }
    }

    /// Returns the time from the start to the deadline if a dispatch or a future was cancelled.
    pub(crate) fn passed(&self) -> Option<Duration> {
        self.limit.filter(|_| self.has_passed)
    }

    /// Like [`passed`](Self::passed), of the last dispatch or future.
    pub(crate) fn cancelled(&self) -> Option<Duration> {
        self.passed().filter(|_| self.has_cancelled)
    }

    /// Runs a dispatch until its end or the deadline. After the deadline, the dispatch is polled
    /// once.
    pub(crate) fn run<'d, 'a, H: ?Sized, P: Policy<H> + 'a>(
        &'d mut self,
        dispatch: Dispatch<'a, H, P>,
    ) -> Limited<'d, 't, 'a, H, P> {
        self.has_cancelled = false;
        Limited {
            dispatch,
            deadline: self,
        }
    }

    /// Runs a future until its end or the deadline.
    ///
    /// # Errors
    /// If the future is pending at the deadline: returns the time from the start to the deadline.
    pub(crate) async fn race<F: Future + Unpin>(
        &mut self,
        mut future: F,
    ) -> Result<F::Output, Duration> {
        let Some(limit) = self.limit else {
            return Ok(future.await);
        };
        self.start(limit);
        self.has_cancelled = false;
        poll_fn(|cx| match Pin::new(&mut future).poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending if self.poll(cx, limit) => Poll::Ready(Err(limit)),
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    /// Starts the timer, unless it is running.
    fn start(&mut self, limit: Duration) {
        let timer = self.timer;
        self.sleep.get_or_insert_with(|| timer.sleep(limit));
    }

    /// Returns `true` if the pending dispatch or future has to end.
    fn poll(&mut self, cx: &mut Context<'_>, limit: Duration) -> bool {
        let is_over = |sleep: &mut BoxFuture<'static, ()>| sleep.as_mut().poll(cx).is_ready();
        self.has_passed =
            self.has_passed || limit.is_zero() || self.sleep.as_mut().is_some_and(is_over);
        self.has_cancelled = self.has_passed;
        self.has_passed
    }
}

pin_project! {
    /// Future returned by [`Deadline::run`]. Written by hand: the future of an `async fn` is not
    /// `Send` for every policy.
    pub(crate) struct Limited<'d, 't, 'a, H: ?Sized, P: Policy<H>> {
        #[pin]
        dispatch: Dispatch<'a, H, P>,
        deadline: &'d mut Deadline<'t>,
    }
}

impl<'a, H: ?Sized, P: Policy<H> + 'a> Future for Limited<'_, '_, 'a, H, P> {
    type Output = P::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<P::Output> {
        let mut this = self.project();
        let Some(limit) = this.deadline.limit else {
            return this.dispatch.poll(cx);
        };
        // The deadline begins before the first hook.
        this.deadline.start(limit);
        match this.dispatch.as_mut().poll(cx) {
            Poll::Pending if this.deadline.poll(cx, limit) => {
                Poll::Ready(this.dispatch.finish_early())
            }
            polled => polled,
        }
    }
}
