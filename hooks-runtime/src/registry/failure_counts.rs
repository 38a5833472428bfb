//! Consecutive failures of hooks that are disabled after a number of them.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

use hooks_core::__private::drop_catching_panic;
use hooks_core::dispatch::Monitor;
use hooks_core::{EntryId, EntryMeta, Failure, Slot};

use crate::lock::lock;

/// The numbers of consecutive failures, of the registrations that have a limit.
#[derive(Default)]
pub(crate) struct FailureCounts {
    /// Shared with the registries that follow this one.
    shared: Arc<SharedCounts>,
    is_copy: bool,
    on_disabled: Mutex<Option<OnDisabled>>,
    /// The counts of the registry that this one follows.
    parent: Option<Arc<FailureCounts>>,
}

#[derive(Default)]
struct SharedCounts {
    counts: Mutex<HashMap<EntryId, FailureCount>>,
    /// `true` once a registration has had a limit.
    is_used: AtomicBool,
}

/// The callback of a host.
pub(crate) type OnDisabled = Arc<dyn Fn(&DisabledHook) + Send + Sync>;

/// A hook that its registry has disabled after failures
/// ([`RegisterOptions::disable_after`](crate::RegisterOptions::disable_after)).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DisabledHook {
    /// The displayed name of the hook.
    pub name: String,
    /// The event, or the phase of the hook.
    pub place: String,
    /// The registration.
    pub id: EntryId,
    /// Number of failures since the last success.
    pub failures: u32,
}

#[derive(Clone)]
struct FailureCount {
    limit: NonZeroU32,
    /// Shared with the copies of the registry: a copy may exist for one call only.
    failures: Arc<AtomicU32>,
}

impl FailureCount {
    fn failures(&self) -> u32 {
        self.failures.load(Ordering::Relaxed)
    }

    fn reset(&self) {
        self.failures.store(0, Ordering::Relaxed);
    }

    /// Adds a failure, and returns the number of failures.
    fn add(&self) -> u32 {
        let add = |failures: u32| Some(failures.saturating_add(1));
        let before = self
            .failures
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        before.unwrap_or_default().saturating_add(1)
    }
}

/// A hook that has reached its limit.
pub(crate) struct FailedHook {
    id: EntryId,
    name: Arc<str>,
    failures: u32,
}

impl FailureCounts {
    /// Returns `true` if dispatches have to be counted.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.shared.is_used.load(Ordering::Relaxed)
    }

    /// Returns the counts of a copied registry. Registrations of both share their counts; later
    /// registrations and removals affect one of them only.
    pub(crate) fn copied(&self) -> Self {
        let shared = SharedCounts {
            counts: Mutex::new(lock(&self.shared.counts).clone()),
            is_used: AtomicBool::new(self.is_used()),
        };
        FailureCounts {
            shared: Arc::new(shared),
            is_copy: true,
            on_disabled: Mutex::new(lock(&self.on_disabled).clone()),
            parent: self.parent.clone(),
        }
    }

    /// Returns the counts of a registry that follows the one of these counts. Both count all failures; the
    /// follower may have a callback of its own.
    pub(crate) fn child(self: &Arc<Self>) -> Self {
        FailureCounts {
            shared: Arc::clone(&self.shared),
            is_copy: false,
            on_disabled: Mutex::default(),
            parent: Some(Arc::clone(self)),
        }
    }

    /// Sets the callback for hooks that are disabled.
    pub(crate) fn set_on_disabled(&self, callback: OnDisabled) {
        let replaced = lock(&self.on_disabled).replace(callback);
        // The destructor of a callback is code of the host, and may use the registry.
        drop_catching_panic(replaced);
    }

    /// Calls the callbacks of the host: that of the registry, then those of the registries that it follows.
    fn notify(&self, hook: &FailedHook, place: &str) {
        let callback = lock(&self.on_disabled).clone();
        if let Some(callback) = callback {
            notify(&*callback, hook, place);
            drop_catching_panic(callback);
        }
        if let Some(parent) = &self.parent {
            parent.notify(hook, place);
        }
    }

    /// Begins to count the failures of a registration, if it has a limit. Ends the count of the
    /// registration that it replaces.
    pub(crate) fn register(
        &self,
        id: EntryId,
        limit: Option<NonZeroU32>,
        replaced: Option<EntryId>,
    ) {
        if let Some(replaced) = replaced {
            self.forget(replaced);
        }
        if let Some(limit) = limit {
            let failures = Arc::default();
            let count = FailureCount { limit, failures };
            lock(&self.shared.counts).insert(id, count);
            self.shared.is_used.store(true, Ordering::Relaxed);
        }
    }

    /// Ends the count of a registration that was removed.
    pub(crate) fn forget(&self, id: EntryId) {
        lock(&self.shared.counts).remove(&id);
    }

    /// Resets the count of a registration whose hook was enabled. In a copy, the count is no longer
    /// shared from now on.
    pub(crate) fn restart(&self, id: EntryId) {
        match lock(&self.shared.counts).get_mut(&id) {
            Some(count) if self.is_copy => count.failures = Arc::default(),
            Some(count) => count.reset(),
            None => {}
        }
    }

    /// Resets the count of a registration whose hook has succeeded.
    fn reset(&self, id: EntryId) {
        if let Some(count) = lock(&self.shared.counts).get(&id) {
            count.reset();
        }
    }

    /// Returns the number of failures since the last success; 0 without a limit.
    pub(crate) fn failures(&self, id: EntryId) -> u32 {
        lock(&self.shared.counts)
            .get(&id)
            .map_or(0, FailureCount::failures)
    }

    /// Returns the number of failures that disables the hook of a registration, if there is one.
    pub(crate) fn limit(&self, id: EntryId) -> Option<NonZeroU32> {
        lock(&self.shared.counts).get(&id).map(|count| count.limit)
    }

    /// Counts a failure of the hook of this registration. Returns the hook if it has reached its
    /// limit.
    fn failed(&self, entry: &EntryMeta) -> Option<FailedHook> {
        let counts = lock(&self.shared.counts);
        let count = counts.get(&entry.id())?;
        let failures = count.add();
        // More failures than the limit: an earlier run was dropped before it disabled the hook.
        (failures >= count.limit.get()).then(|| FailedHook {
            id: entry.id(),
            name: entry.name_arc(),
            failures,
        })
    }
}

/// Calls a callback of the host. A panic is caught and logged: the run continues.
fn notify(callback: &(dyn Fn(&DisabledHook) + Send + Sync), hook: &FailedHook, place: &str) {
    let disabled = DisabledHook {
        name: hook.name.to_string(),
        place: place.to_owned(),
        id: hook.id,
        failures: hook.failures,
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| callback(&disabled))) {
        drop_catching_panic(payload);
        tracing::error!(
            target: "hooks_runtime",
            place,
            hook = &*hook.name,
            "the callback for disabled hooks panicked"
        );
    }
}

/// Counts the failures of the hooks of one dispatch. Its output has the hooks that have reached their
/// limit.
pub(crate) struct FailureMonitor<'c> {
    /// `None` if nothing is counted.
    counts: Option<&'c FailureCounts>,
    failed: Vec<FailedHook>,
}

impl<'c> FailureMonitor<'c> {
    pub(crate) fn new(counts: Option<&'c FailureCounts>) -> Self {
        FailureMonitor {
            counts,
            failed: Vec::new(),
        }
    }
}

impl Monitor for FailureMonitor<'_> {
    type Output = Vec<FailedHook>;

    fn completed(&mut self, entry: &EntryMeta) {
        if let Some(counts) = self.counts {
            counts.reset(entry.id());
        }
    }

    fn failed(&mut self, entry: &EntryMeta, _: &Failure) {
        let failed = self.counts.and_then(|counts| counts.failed(entry));
        self.failed.extend(failed);
    }

    fn finish(self) -> Vec<FailedHook> {
        self.failed
    }
}

/// The registry of which another one is a copy.
pub(crate) struct Origin<R>(Option<Weak<R>>);

impl<R> Origin<R> {
    /// The origin of a registry that is not a copy.
    pub(crate) const NONE: Self = Origin(None);

    /// Returns the origin of a copy of this registry. It is never a copy itself, because a copy may
    /// end before a copy of it.
    pub(crate) fn of_copy(registry: &Arc<R>, origin: &Self) -> Self {
        let origin = origin.0.clone();
        Origin(Some(origin.unwrap_or_else(|| Arc::downgrade(registry))))
    }

    /// Returns the registry, if it is one that still exists.
    pub(crate) fn registry(&self) -> Option<Arc<R>> {
        self.0.as_ref().and_then(Weak::upgrade)
    }
}

/// Disables hooks that have reached their limit, in a registry with these counts. `place` is the event or the
/// phase; `disable` returns `true` if the hook is still registered and was enabled.
pub(crate) fn disable_failed(
    failed: Vec<FailedHook>,
    place: &str,
    counts: &FailureCounts,
    disable: impl Fn(EntryId) -> bool,
) {
    for hook in failed {
        if disable(hook.id) {
            hook.log(place);
            counts.notify(&hook, place);
        }
    }
}

/// Disables a hook. Returns `true` if it is registered and was enabled.
pub(crate) fn disable_entry<H: ?Sized>(slot: &mut Slot<H>, id: EntryId) -> bool {
    let is_enabled = |(_, entry): (&H, &EntryMeta)| entry.id() == id && entry.is_enabled();
    slot.iter().any(is_enabled) && slot.set_entry_enabled(id, false)
}

impl FailedHook {
    /// Logs that the hook was disabled.
    fn log(&self, place: &str) {
        tracing::warn!(
            target: "hooks_runtime",
            place,
            hook = &*self.name,
            failures = self.failures,
            "disabled hook `{}` of `{place}` after {} consecutive failures; enable it with `set_enabled`",
            self.name,
            self.failures
        );
    }
}
