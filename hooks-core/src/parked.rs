//! What is hardly ever there, and costs nothing where it is not.

use std::fmt;
use std::mem::ManuallyDrop;

/// An `Option` whose drop is one comparison where it holds nothing: the drop of a value is
/// not inlined to wherever what holds it goes out of scope.
pub struct Parked<T>(ManuallyDrop<Option<T>>);

impl<T> Parked<T> {
    /// Nothing.
    #[inline(always)]
    pub const fn none() -> Self {
        Parked(ManuallyDrop::new(None))
    }

    /// The value, if there is one.
    #[inline(always)]
    pub fn as_ref(&self) -> Option<&T> {
        self.0.as_ref()
    }

    /// The value, if there is one.
    pub fn as_mut(&mut self) -> Option<&mut T> {
        self.0.as_mut()
    }

    /// Takes the value away.
    pub fn take(&mut self) -> Option<T> {
        self.0.take()
    }

    /// Puts a value in the place of what was there.
    pub fn set(&mut self, value: Option<T>) {
        *self.0 = value;
    }
}

impl<T: Default> Parked<T> {
    /// What is there, put there if need be.
    pub fn get_or_default(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T> Drop for Parked<T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0.is_some() {
            clear(&mut self.0);
        }
    }
}

#[cold]
#[inline(never)]
fn clear<T>(value: &mut Option<T>) {
    *value = None;
}

impl<T> Default for Parked<T> {
    #[inline(always)]
    fn default() -> Self {
        Parked::none()
    }
}

impl<T> From<T> for Parked<T> {
    fn from(value: T) -> Self {
        Parked(ManuallyDrop::new(Some(value)))
    }
}

impl<T: Clone> Clone for Parked<T> {
    fn clone(&self) -> Self {
        Parked(self.0.clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for Parked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Parked;

    #[test]
    fn a_value_is_dropped_once() {
        let value = Arc::new(());
        let held = || Arc::strong_count(&value) - 1;

        drop(Parked::<Arc<()>>::none());
        let one = Parked::from(Arc::clone(&value));
        let mut two = one.clone();
        assert_eq!(held(), 2);
        drop(one);
        assert_eq!(held(), 1);

        let taken = two.take();
        drop(two);
        assert_eq!(held(), 1);
        drop(taken);
        assert_eq!(held(), 0);
    }
}
