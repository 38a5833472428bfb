//! Shared helpers of several test binaries.

use std::fmt::Display;
use std::sync::{Arc, Mutex};

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
