//! The current activity of a case's thread.

use std::any::Any;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::lock::lock;
use crate::testing::shown;

/// The activity of a case's thread, and its start.
pub(super) struct Watch(Mutex<(Instant, String)>);

impl Watch {
    pub(super) fn new() -> Self {
        Watch(Mutex::new((Instant::now(), "nothing yet".to_owned())))
    }

    /// Records the data that are now sent to the hook.
    pub(super) fn begin(&self, sent: &str) {
        *lock(&self.0) = (Instant::now(), sent.to_owned());
    }

    /// Returns the time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        lock(&self.0).0.elapsed()
    }

    pub(super) fn sent(&self) -> String {
        lock(&self.0).1.clone()
    }
}

/// Returns the message of a panic, if it is text.
pub(super) fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    shown::text(text.unwrap_or("not a text"))
}
