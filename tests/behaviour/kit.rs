//! What the cases share: bodies that really suspend, a log, and polling by hand.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};

pub(crate) use hooks_tests::{Log, yield_once};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// An await that the tokens of a body do not show.
macro_rules! pause {
    () => {
        $crate::kit::yield_once().await
    };
}
pub(crate) use pause;

/// Expands `$rules!(form, pause statement)` once for every form a body can have:
/// it cannot suspend, it visibly suspends, or a macro hides that it suspends.
/// A rule that holds in one form holds in each.
macro_rules! in_every_form {
    ($rules:ident) => {
        $rules! { ready, }
        $rules! { suspending, $crate::kit::yield_once().await; }
        $rules! { hidden, $crate::kit::pause!(); }
    };
}
pub(crate) use in_every_form;

/// Polls once with a waker that nobody hears.
pub(crate) fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Runs `future` to its end and says how often it was pending on the way.
pub(crate) fn run_counting<F: Future>(future: F) -> (F::Output, usize) {
    let mut future = pin!(future);
    let mut pending = 0;
    loop {
        match poll_once(future.as_mut()) {
            Poll::Ready(output) => return (output, pending),
            Poll::Pending => pending += 1,
        }
        assert!(pending < 10_000, "the future never ends");
    }
}

/// A waker that counts how often it was called.
#[derive(Debug, Default)]
pub(crate) struct Wakes(AtomicUsize);

impl Wakes {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The message of a caught panic.
pub(crate) fn panic_message(payload: Box<dyn std::any::Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => match payload.downcast::<&'static str>() {
            Ok(message) => (*message).to_owned(),
            Err(_) => panic!("the payload of the panic was replaced"),
        },
    }
}

/// Runs `future` to its end and returns the message of the panic it must end with.
pub(crate) fn panics<F: Future>(future: F) -> String {
    let run = std::panic::AssertUnwindSafe(|| {
        futures::executor::block_on(future);
    });
    panic_message(std::panic::catch_unwind(run).expect_err("the dispatch must panic"))
}

/// Runs `act` with `subscriber` listening on this thread.
///
/// While only one subscriber is known to the process, `tracing` asks the thread
/// that reaches a call site first whether anybody listens there, and remembers
/// its answer for all threads. Tests run on many; a second subscriber, which
/// wants nothing, makes it ask the subscribers instead.
pub(crate) fn listen<R>(subscriber: impl Subscriber + Send + Sync, act: impl FnOnce() -> R) -> R {
    static SECOND: OnceLock<Dispatch> = OnceLock::new();
    SECOND.get_or_init(|| Dispatch::new(WantsNothing));
    tracing::subscriber::with_default(subscriber, act)
}

struct WantsNothing;

impl Subscriber for WantsNothing {
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
