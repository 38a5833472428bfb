//! Shared helpers of several test binaries.

use std::cell::RefCell;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, Once};

/// Log of calls, in order; clones write to one list.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// Creates an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a line.
    pub fn add(&self, line: impl Display) {
        self.0.lock().unwrap().push(line.to_string());
    }

    /// Returns all lines.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// Returns the lines since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

thread_local! {
    /// The files of this thread's panics, while they are recorded.
    static PANICKED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Returns the file and the message of the first panic of `act`.
///
/// # Panics
/// If `act` does not panic.
pub fn panic_of(act: impl FnOnce()) -> (String, String) {
    static RECORD: Once = Once::new();
    RECORD.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let file = panic.location().map(|at| at.file().to_owned());
            let is_recorded = PANICKED.with_borrow_mut(|files| {
                let files = files.as_mut();
                files.map(|files| files.extend(file)).is_some()
            });
            if !is_recorded {
                default(panic);
            }
        }));
    });
    PANICKED.set(Some(Vec::new()));
    let panicked = catch_unwind(AssertUnwindSafe(act));
    let files = PANICKED.take().unwrap_or_default();
    let payload = panicked.expect_err("it panics");
    let message = match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload
            .downcast::<&str>()
            .map_or_else(|_| String::new(), |text| text.to_string()),
    };
    (files.first().cloned().unwrap_or_default(), message)
}
