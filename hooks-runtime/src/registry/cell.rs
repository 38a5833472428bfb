//! The copy-on-write cell of every registry: read on every dispatch, changed rarely.
//!
//! Readers take a snapshot. They take no lock, wait for no thread, and write no counter that
//! another thread writes while their thread holds only a few snapshots. A writer locks its own
//! copy, changes it, and publishes a snapshot that shares its storage with the copy. Most emissions
//! have no handlers: a word beside the pointer answers them without a snapshot.
//!
//! Built with `--cfg hooks_loom`, the pointer is one of loom's locks, so that loom can try every
//! order of readers and writers.

#[cfg(not(hooks_loom))]
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hooks_core::Slot;
#[cfg(hooks_loom)]
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::sync::{Mutex, MutexGuard, lock};

/// A value that many threads read and change.
pub(crate) struct CowCell<W: Writer> {
    current: pointer::AtomicPointer<W::Snapshot>,
    /// At least the bits of the published snapshot.
    filter_bits: AtomicU64,
    /// `true` if the value depends on another one that has changed since. All filter bits are set then.
    is_stale: AtomicBool,
    /// Number of marks as stale. Changes with the lock of the writer.
    marks: AtomicU64,
    writer: Mutex<W>,
}

/// The writers' copy of a value, with what only writers need, such as an index.
pub(crate) trait Writer {
    /// The value as readers see it.
    type Snapshot;

    /// Returns the snapshot to publish after a change, in a time that hardly depends on the size of
    /// the value.
    fn snapshot(&self) -> Self::Snapshot;

    /// Returns the union of the filter bits of everything in the value. Several names may share
    /// a bit.
    fn filter_bits(&self) -> u64;
}

impl<H: ?Sized> Writer for Slot<H> {
    type Snapshot = Slot<H>;

    /// Returns a clone without the index.
    fn snapshot(&self) -> Slot<H> {
        self.clone()
    }

    /// Returns all bits, or none without hooks.
    fn filter_bits(&self) -> u64 {
        if self.is_empty() { 0 } else { u64::MAX }
    }
}

/// The value as it was at one moment.
pub(crate) use pointer::Snapshot;

/// The value before a change. Drop it by `drop_catching_panic`, without a lock.
pub(crate) type Replaced<W> = std::sync::Arc<<W as Writer>::Snapshot>;

impl<W: Writer> CowCell<W> {
    pub(crate) fn new(writer: W) -> Self {
        CowCell {
            filter_bits: AtomicU64::new(writer.filter_bits()),
            current: pointer::new(writer.snapshot()),
            is_stale: AtomicBool::new(false),
            marks: AtomicU64::new(0),
            writer: Mutex::new(writer),
        }
    }

    /// Returns the current value. Give it back by `drop_catching_panic`: it may be the last
    /// that holds a removed hook, whose destructor may panic.
    #[inline]
    pub(crate) fn load(&self) -> Snapshot<W::Snapshot> {
        pointer::load(&self.current)
    }

    /// Returns `false` if the current value has none of these filter bits.
    #[inline]
    pub(crate) fn has_filter_bit(&self, bits: u64) -> bool {
        self.filter_bits.load(Ordering::Acquire) & bits != 0
    }

    /// Changes the writers' copy and publishes it. `change` must not panic halfway. Returns the value
    /// before the change, too.
    ///
    /// It holds everything that the change removes, and has to be dropped after every lock is released: a
    /// hook's destructor may register and unregister.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut W) -> R) -> (R, Replaced<W>) {
        let mut writer = self.lock();
        let output = change(&mut writer);
        let replaced = self.publish(&writer, self.is_stale());
        (output, replaced)
    }

    /// Replaces a stale value by one that was computed since this number of marks.
    pub(crate) fn refresh(&self, value: W, marks: u64) -> Replaced<W> {
        let mut writer = self.lock();
        *writer = value;
        let is_stale = self.marks.load(Ordering::Relaxed) != marks;
        let replaced = self.publish(&writer, is_stale);
        // After the value: a reader that finds the value up to date must not load the one before.
        self.is_stale.store(is_stale, Ordering::Release);
        replaced
    }

    /// Publishes the writers' copy, and returns the value before.
    fn publish(&self, writer: &W, is_stale: bool) -> Replaced<W> {
        let bits = match is_stale {
            true => u64::MAX,
            false => writer.filter_bits(),
        };
        // Before and after: the bits are set as long as a reader can find their names.
        self.filter_bits.fetch_or(bits, Ordering::Release);
        let old = pointer::swap(&self.current, writer.snapshot());
        self.filter_bits.store(bits, Ordering::Release);
        old
    }

    /// Reads the writers' copy.
    pub(crate) fn inspect<R>(&self, read: impl FnOnce(&W) -> R) -> R {
        read(&self.lock())
    }

    /// Returns a clone of the writers' copy.
    pub(crate) fn writer(&self) -> W
    where
        W: Clone,
    {
        W::clone(&self.lock())
    }

    /// Returns `true` if the value depends on another one that has changed since.
    #[inline]
    pub(crate) fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Acquire)
    }

    /// Records that a value has changed on which this one depends.
    pub(crate) fn mark_stale(&self) {
        // With the lock, so that a change of this value does not publish fewer filter bits.
        let _writer = self.lock();
        self.marks.fetch_add(1, Ordering::Relaxed);
        self.is_stale.store(true, Ordering::Release);
        self.filter_bits.store(u64::MAX, Ordering::Release);
    }

    /// Returns the number of marks so far if the value is stale, for [`refresh`](Self::refresh).
    pub(crate) fn stale_marks(&self) -> Option<u64> {
        let _writer = self.lock();
        self.is_stale().then(|| self.marks.load(Ordering::Relaxed))
    }

    fn lock(&self) -> MutexGuard<'_, W> {
        lock(&self.writer)
    }
}

#[cfg(not(hooks_loom))]
mod pointer {
    use std::sync::Arc;

    use arc_swap::{ArcSwap, Guard};

    pub(super) type AtomicPointer<T> = ArcSwap<T>;
    pub(crate) type Snapshot<T> = Guard<Arc<T>>;

    pub(super) fn new<T>(value: T) -> AtomicPointer<T> {
        ArcSwap::from_pointee(value)
    }

    #[inline]
    pub(super) fn load<T>(pointer: &AtomicPointer<T>) -> Snapshot<T> {
        pointer.load()
    }

    pub(super) fn swap<T>(pointer: &AtomicPointer<T>, value: T) -> Arc<T> {
        pointer.swap(Arc::new(value))
    }
}

#[cfg(hooks_loom)]
mod pointer {
    use std::mem;
    use std::sync::Arc;

    use loom::sync::RwLock;

    pub(super) type AtomicPointer<T> = RwLock<Arc<T>>;
    pub(crate) type Snapshot<T> = Arc<T>;

    pub(super) fn new<T>(value: T) -> AtomicPointer<T> {
        RwLock::new(Arc::new(value))
    }

    pub(super) fn load<T>(pointer: &AtomicPointer<T>) -> Snapshot<T> {
        Arc::clone(&pointer.read().expect("no thread panics with the lock"))
    }

    pub(super) fn swap<T>(pointer: &AtomicPointer<T>, value: T) -> Arc<T> {
        let mut current = pointer.write().expect("no thread panics with the lock");
        mem::replace(&mut current, Arc::new(value))
    }
}
