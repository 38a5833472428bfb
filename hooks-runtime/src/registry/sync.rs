//! The locks that a change of a registry holds while it accesses a [`CowCell`](super::cell::CowCell).
//!
//! Built with `--cfg hooks_loom`, they are loom's, so that loom can try every order of the threads.

#[cfg(not(hooks_loom))]
pub(super) use std::sync::{Mutex, MutexGuard};

#[cfg(hooks_loom)]
pub(super) use loom::sync::{Mutex, MutexGuard};

/// Locks, also if a thread panicked with the lock: no change of a registry panics halfway.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(not(hooks_loom))]
    return crate::lock::lock(mutex);
    #[cfg(hooks_loom)]
    return mutex.lock().expect("no change panics here");
}
