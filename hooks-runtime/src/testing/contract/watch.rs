//! What the thread of a case is doing.

use std::any::Any;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::lock::lock;
use crate::testing::shown;

/// What goes on in the thread of a case, and since when.
pub(super) struct Watch(Mutex<(Instant, String)>);

impl Watch {
    pub(super) fn new() -> Self {
        Watch(Mutex::new((Instant::now(), "nothing yet".to_owned())))
    }

    /// Says that this is sent to the hook now.
    pub(super) fn begin(&self, sent: &str) {
        *lock(&self.0) = (Instant::now(), sent.to_owned());
    }

    /// How long that has been going on.
    pub(super) fn elapsed(&self) -> Duration {
        lock(&self.0).0.elapsed()
    }

    pub(super) fn sent(&self) -> String {
        lock(&self.0).1.clone()
    }
}

/// What a panic was called with, as far as it is text.
pub(super) fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    shown::text(text.unwrap_or("not a text"))
}
