//! A stream written as one asynchronous body, so that its code is in the order of execution.

use std::fmt;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_util::Stream;
use hooks_core::{BoxFuture, MaybeSend};

use crate::lock::lock;

/// Stream of the items that its body sends to a [`Yielder`].
pub(crate) struct Coroutine<'a, T> {
    /// `None` after its end, so that everything it owned is dropped.
    body: Option<BoxFuture<'a, ()>>,
    item: Item<T>,
}

type Item<T> = Arc<Mutex<Option<T>>>;

impl<'a, T> Coroutine<'a, T> {
    pub(crate) fn new<F>(body: impl FnOnce(Yielder<T>) -> F) -> Self
    where
        F: Future<Output = ()> + MaybeSend + 'a,
    {
        let item = Item::default();
        let body = body(Yielder(Arc::clone(&item)));
        Coroutine {
            body: Some(Box::pin(body)),
            item,
        }
    }
}

impl<T> Stream for Coroutine<'_, T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let has_ended = body.as_mut().poll(cx).is_ready();
        if has_ended {
            self.body = None;
        }
        let item = lock(&self.item).take();
        match item {
            Some(item) => Poll::Ready(Some(item)),
            None if has_ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

impl<T> fmt::Debug for Coroutine<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coroutine")
            .field("has_ended", &self.body.is_none())
            .finish()
    }
}

/// Receives the items of a body.
pub(crate) struct Yielder<T>(Item<T>);

impl<T> Yielder<T> {
    /// Yields an item, and resumes when the next one is polled for.
    pub(crate) async fn send(&self, item: T) {
        *lock(&self.0) = Some(item);
        let mut was_polled = false;
        poll_fn(|_| match mem::replace(&mut was_polled, true) {
            // The caller polls again after taking the item, so no waker is needed.
            false => Poll::Pending,
            true => Poll::Ready(()),
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::Coroutine;

    #[tokio::test]
    async fn the_body_runs_to_the_next_item_only_when_the_stream_is_polled() {
        let steps = std::sync::Mutex::new(Vec::new());
        let step = |text| steps.lock().unwrap().push(text);
        let mut stream = Coroutine::new(|tx| async move {
            step("first");
            tx.send(1).await;
            tokio::task::yield_now().await;
            step("second");
            tx.send(2).await;
            step("end");
        });
        assert!(steps.lock().unwrap().is_empty());
        assert_eq!(stream.next().await, Some(1));
        assert_eq!(*steps.lock().unwrap(), ["first"]);
        assert_eq!(stream.next().await, Some(2));
        assert_eq!(*steps.lock().unwrap(), ["first", "second"]);
        assert_eq!(stream.next().await, None);
        assert_eq!(stream.next().await, None);
        assert_eq!(*steps.lock().unwrap(), ["first", "second", "end"]);
    }
}
