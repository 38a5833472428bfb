//! Futures that suspend, polling by hand, and a subscriber for one thread. Shared with the package
//! `hooks-tests`.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// Polls once, with a waker that does nothing.
pub fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Suspends exactly once, and wakes its task.
pub async fn yield_once() {
    YieldOnce { yielded: false }.await;
}

struct YieldOnce {
    yielded: bool,
}

impl Future for YieldOnce {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Runs `act` with `subscriber` as the default of this thread.
///
/// While the process has only one subscriber, `tracing` queries the subscriber of the thread that
/// reaches a call site first, and caches the result for all threads. Tests run on many threads; a
/// second subscriber, which records nothing, disables the cache.
pub fn listen<R>(subscriber: impl Subscriber + Send + Sync, act: impl FnOnce() -> R) -> R {
    static SECOND: OnceLock<Dispatch> = OnceLock::new();
    SECOND.get_or_init(|| Dispatch::new(DisabledSubscriber));
    tracing::subscriber::with_default(subscriber, act)
}

struct DisabledSubscriber;

impl Subscriber for DisabledSubscriber {
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::OFF)
    }

    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, _event: &Event<'_>) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}
