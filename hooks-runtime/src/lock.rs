//! Locking without poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also after a panic elsewhere: this crate's data behind locks are consistent
/// between any two statements.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;

    use super::lock;

    #[test]
    fn a_lock_remains_usable_after_its_holder_panics() {
        let mutex = Mutex::new(1);
        let held = catch_unwind(AssertUnwindSafe(|| {
            let mut value = lock(&mutex);
            *value = 2;
            panic!("while it is held");
        }));
        assert!(held.is_err());
        assert_eq!(*lock(&mutex), 2);
    }
}
