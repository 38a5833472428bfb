//! What is hardly ever there, and costs nothing where it is not.

use std::mem::ManuallyDrop;

/// An `Option` whose drop is one comparison where it holds nothing: the drop of a value is
/// not inlined to wherever a future goes out of scope.
pub(crate) struct Parked<T>(ManuallyDrop<Option<T>>);

impl<T> Parked<T> {
    #[inline(always)]
    pub(crate) const fn none() -> Self {
        Parked(ManuallyDrop::new(None))
    }

    #[inline(always)]
    pub(crate) fn as_ref(&self) -> Option<&T> {
        self.0.as_ref()
    }

    pub(crate) fn as_mut(&mut self) -> Option<&mut T> {
        self.0.as_mut()
    }

    /// Takes the value away.
    pub(crate) fn take(&mut self) -> Option<T> {
        self.0.take()
    }

    /// Puts a value in the place of what was there.
    pub(crate) fn set(&mut self, value: Option<T>) {
        *self.0 = value;
    }
}

impl<T: Default> Parked<T> {
    /// What is there, put there if need be.
    pub(crate) fn get_or_default(&mut self) -> &mut T {
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
