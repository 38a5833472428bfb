//! What the tests of several binaries share.

use std::fmt::Display;
use std::sync::{Arc, Mutex};

/// What happened, in order; clones write to the same list.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a line.
    pub fn add(&self, line: impl Display) {
        self.0.lock().unwrap().push(line.to_string());
    }

    /// All lines.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// The lines since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}
