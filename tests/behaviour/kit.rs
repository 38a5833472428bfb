//! Shared helpers: bodies that really suspend, a log, and polling by hand.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake};

pub(crate) use hooks_tests::{Log, listen, poll_once, yield_once};

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

/// Runs `future` to its end, and returns how often it was pending.
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

/// Returns the message of a caught panic.
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
