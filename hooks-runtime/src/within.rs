//! A dispatch with a deadline.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use hooks_core::{Dispatch, Policy, Timer};

/// Runs a dispatch until its end or the deadline, and returns `true` if it was cancelled.
///
/// Hooks that block cannot be cancelled.
pub(crate) async fn within<'a, H: ?Sized, C: Policy<H> + 'a>(
    dispatch: Dispatch<'a, H, C>,
    timer: &dyn Timer,
    limit: Option<Duration>,
) -> (C::Output, bool) {
    let Some(limit) = limit else {
        return (dispatch.await, false);
    };
    let mut dispatch = pin!(dispatch);
    let mut up = timer.sleep(limit);
    poll_fn(|cx| {
        if let Poll::Ready(outcome) = dispatch.as_mut().poll(cx) {
            return Poll::Ready((outcome, false));
        }
        if limit.is_zero() || up.as_mut().poll(cx).is_ready() {
            return Poll::Ready((dispatch.as_mut().finish_early(), true));
        }
        Poll::Pending
    })
    .await
}
