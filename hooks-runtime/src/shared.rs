//! The cell behind every registry: what is read on every dispatch and changed now and then.
//!
//! A reader takes a snapshot: it waits for nobody, and touches no count that another thread
//! touches, as long as its thread holds no more than a handful of snapshots at a time. A
//! writer copies what is there, changes the copy, and puts it in the place of the other;
//! writers take turns, so none loses the work of another. Most of what is dispatched concerns
//! nobody, which a reader learns from a word beside the value, without a snapshot.
//!
//! Built with `--cfg hooks_loom`, the pointer is a lock of loom's, so that loom can try every
//! order of readers and writers.

#[cfg(not(hooks_loom))]
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(hooks_loom))]
use std::sync::{Mutex, PoisonError};

use hooks_core::__private::drop_catching_panic;
#[cfg(hooks_loom)]
use loom::sync::Mutex;
#[cfg(hooks_loom)]
use loom::sync::atomic::{AtomicU64, Ordering};

/// A value shared by readers who never wait and writers who take turns.
pub(crate) struct Shared<T> {
    current: pointer::Pointer<T>,
    /// At least the topics of what is published.
    topics: AtomicU64,
    writing: Mutex<()>,
}

/// A value that can tell, in a word, what it is about.
pub(crate) trait Topics {
    /// A bit for each topic; several may share one.
    fn topics(&self) -> u64;
}

/// Gives a snapshot back.
///
/// It may be the last that holds a hook which has been removed meanwhile: a panic in that
/// hook's destructor must not take the place of what the others have answered.
#[inline(always)]
pub(crate) fn release<S>(snapshot: S) {
    drop_catching_panic(snapshot);
}

/// The value as it was at one moment.
pub(crate) type Snapshot<T> = pointer::Snapshot<T>;

impl<T: Topics> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Shared {
            topics: AtomicU64::new(value.topics()),
            current: pointer::new(value),
            writing: Mutex::new(()),
        }
    }

    /// The value as it is now.
    #[inline]
    pub(crate) fn load(&self) -> Snapshot<T> {
        pointer::load(&self.current)
    }

    /// The value as it is now, unless it has nothing of this topic.
    #[inline]
    pub(crate) fn about(&self, topic: u64) -> Option<Snapshot<T>> {
        (self.topics.load(Ordering::Acquire) & topic != 0).then(|| self.load())
    }

    /// Changes a copy of the value and publishes it.
    ///
    /// What the change takes out of the value is dropped after the turn is over: a hook's
    /// destructor may register and unregister.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R
    where
        T: Clone,
    {
        #[cfg(not(hooks_loom))]
        // Nothing is half done when a change panics: its copy is gone.
        let turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg(hooks_loom)]
        let turn = self.writing.lock().expect("no change panics here");
        let mut value = T::clone(&self.load());
        let answer = change(&mut value);
        let topics = value.topics();
        // Before and after: a topic that somebody can have found is there for all who come later.
        self.topics.fetch_or(topics, Ordering::Release);
        let old = pointer::swap(&self.current, value);
        self.topics.store(topics, Ordering::Release);
        drop(turn);
        release(old);
        answer
    }
}

#[cfg(not(hooks_loom))]
mod pointer {
    use std::sync::Arc;

    use arc_swap::{ArcSwap, Guard};

    pub(super) type Pointer<T> = ArcSwap<T>;
    pub(crate) type Snapshot<T> = Guard<Arc<T>>;

    pub(super) fn new<T>(value: T) -> Pointer<T> {
        ArcSwap::from_pointee(value)
    }

    #[inline]
    pub(super) fn load<T>(pointer: &Pointer<T>) -> Snapshot<T> {
        pointer.load()
    }

    pub(super) fn swap<T>(pointer: &Pointer<T>, value: T) -> Arc<T> {
        pointer.swap(Arc::new(value))
    }
}

#[cfg(hooks_loom)]
mod pointer {
    use std::mem;
    use std::sync::Arc;

    use loom::sync::RwLock;

    pub(super) type Pointer<T> = RwLock<Arc<T>>;
    pub(crate) type Snapshot<T> = Arc<T>;

    pub(super) fn new<T>(value: T) -> Pointer<T> {
        RwLock::new(Arc::new(value))
    }

    pub(super) fn load<T>(pointer: &Pointer<T>) -> Snapshot<T> {
        Arc::clone(&pointer.read().expect("nobody panics with the lock"))
    }

    pub(super) fn swap<T>(pointer: &Pointer<T>, value: T) -> Arc<T> {
        let mut current = pointer.write().expect("nobody panics with the lock");
        mem::replace(&mut current, Arc::new(value))
    }
}
