//! Input of a transform.

use std::fmt;

/// Input of a transform: the value as earlier hooks left it, and the raw value.
pub struct TransformInput<'a, T: ?Sized> {
    pub(super) current: &'a T,
    pub(super) raw: &'a T,
}

impl<'a, T: ?Sized> TransformInput<'a, T> {
    /// Returns the value as earlier hooks left it.
    pub fn current(&self) -> &'a T {
        self.current
    }

    /// Returns the value before all changes.
    pub fn raw(&self) -> &'a T {
        self.raw
    }
}

impl<T: ?Sized> Clone for TransformInput<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for TransformInput<'_, T> {}

impl<T: ?Sized + fmt::Debug> fmt::Debug for TransformInput<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransformInput")
            .field("current", &self.current)
            .field("raw", &self.raw)
            .finish()
    }
}
