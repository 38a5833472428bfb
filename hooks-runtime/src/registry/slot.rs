//! A slot that threads share: registrations and a policy in, a run of the registered hooks out.

use std::num::NonZeroU32;
use std::sync::Arc;

use hooks_core::dispatch::Monitored;
use hooks_core::{
    Entry, EntryId, EntryMeta, FailurePolicy, Never, Policy, Refused, Registration,
    RegistrationError, SharedReport, Slot,
};

use super::call::{Call, DynCall, with_filters};
use super::cell::{CowCell, Snapshot};
use super::failure_counts::{FailureCounts, FailureMonitor, OnDisabled, Origin, disable_entry};
use super::filter::{InputFilters, ToolName};
use super::options::{Inserted, RegisterOptions, check_disabling, insert, insert_with_id};

/// The hooks of one place. Clones share them.
pub(crate) struct SharedSlot<H: ?Sized> {
    state: Arc<SlotState<H>>,
}

struct SlotState<H: ?Sized> {
    /// Name of the place in messages.
    name: &'static str,
    hooks: CowCell<Slot<H>>,
    counts: FailureCounts,
    origin: Origin<SlotState<H>>,
}

impl<H: ?Sized + Send + Sync + 'static> SharedSlot<H> {
    /// Creates a place with these hooks.
    pub(crate) fn new(name: &'static str, hooks: Slot<H>) -> Self {
        SharedSlot {
            state: Arc::new(SlotState {
                name,
                hooks: CowCell::new(hooks),
                counts: FailureCounts::default(),
                origin: Origin::NONE,
            }),
        }
    }

    /// Returns a copy, which shares the hooks and the counts of their failures. Later changes of one
    /// do not affect the other, except that a hook which fails too often is disabled in both.
    pub(crate) fn copied(&self) -> Self {
        let state = &self.state;
        SharedSlot {
            state: Arc::new(SlotState {
                name: state.name,
                hooks: state.hooks.copied(),
                counts: state.counts.copied(),
                origin: Origin::of_copy(state, &state.origin),
            }),
        }
    }

    /// Sets the callback for hooks that are disabled after failures.
    pub(crate) fn set_on_disabled(&self, callback: OnDisabled) {
        self.state.counts.set_on_disabled(callback);
    }

    /// Returns the hooks of one run. Give them back by `drop_catching_panic`.
    #[inline]
    pub(crate) fn load(&self) -> Snapshot<Slot<H>> {
        self.state.hooks.load()
    }

    /// Returns `true` if no hook is registered.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.state.hooks.has_filter_bit(u64::MAX)
    }

    /// Registers an entry.
    ///
    /// # Errors
    /// If the slot refuses it; it is then dropped, and nothing has changed.
    pub(crate) fn insert(&self, entry: Entry<Arc<H>>) -> Result<Registration, RegistrationError> {
        let name = entry.meta().name_arc();
        self.insert_with(&name, |slot| Ok((insert(slot, entry)?, None)))
    }

    /// Registers what `insert` inserts. Its output has the number of failures that disables the hook.
    fn insert_with(
        &self,
        hook: &str,
        insert: impl FnOnce(&mut Slot<H>) -> Result<LimitedInsertion, Refused<Entry<Arc<H>>>>,
    ) -> Result<Registration, RegistrationError> {
        let state = &self.state;
        let inserted = state.hooks.update(insert);
        let (Inserted { id, replaced }, limit) = inserted.map_err(Refused::into_error)?;
        state.counts.register(id, limit, replaced);
        tracing::debug!(
            target: "hooks_runtime",
            place = state.name, hook, replaces = replaced.is_some(), "hook registered"
        );
        let state = Arc::downgrade(state);
        Ok(Registration::new(id, move |id| {
            state.upgrade().is_some_and(|state| {
                state.hooks.update(|slot| slot.remove_entry(id)) && state.forget(id)
            })
        }))
    }

    /// Removes the hook with this key, and returns `true` if it existed.
    pub(crate) fn remove(&self, key: &str) -> bool {
        let state = &self.state;
        let removed = state.hooks.update(|slot| {
            let id = id_of(slot, key)?;
            slot.remove_entry(id).then_some(id)
        });
        removed.is_some_and(|id| state.forget(id))
    }

    /// Enables or disables the hook with this key, and returns `true` if it exists. Enabling it resets
    /// its failures.
    pub(crate) fn set_enabled(&self, key: &str, is_enabled: bool) -> bool {
        let state = &self.state;
        let changed = state.hooks.update(|slot| {
            let id = id_of(slot, key)?;
            slot.set_entry_enabled(id, is_enabled).then_some(id)
        });
        if let (Some(id), true) = (changed, is_enabled) {
            state.counts.restart(id);
        }
        changed.is_some()
    }

    /// Describes the hooks in execution order, by their registrations and numbers of failures.
    pub(crate) fn describe<D>(&self, describe: impl Fn(&EntryMeta, u32) -> D) -> Vec<D> {
        let (slot, counts) = (self.load(), &self.state.counts);
        let entries = slot.iter().map(|(_, entry)| entry);
        entries
            .map(|entry| describe(entry, counts.failures(entry.id())))
            .collect()
    }

    /// Runs hooks that were loaded from this place. Adds them to the report, and disables hooks that
    /// have failed too often.
    pub(crate) async fn run<P>(
        &self,
        hooks: &Slot<H>,
        policy: P,
        report: Option<&SharedReport>,
    ) -> P::Output
    where
        P: Policy<H, Future = Never<()>>,
    {
        if report.is_none() && !self.state.counts.is_used() {
            return hooks.dispatch(policy).await;
        }
        // Boxed, so that the futures of other runs are smaller.
        Box::pin(self.run_counted(hooks, policy, report)).await
    }

    async fn run_counted<P>(
        &self,
        hooks: &Slot<H>,
        policy: P,
        report: Option<&SharedReport>,
    ) -> P::Output
    where
        P: Policy<H, Future = Never<()>>,
    {
        let state = &self.state;
        let counts = state.counts.is_used().then_some(&state.counts);
        let policy = Monitored::new(policy, FailureMonitor::new(counts));
        let (output, failed) = match report {
            None => hooks.dispatch(policy).await,
            Some(report) => report.dispatch(hooks, policy).await.0,
        };
        let disable = |state: &SlotState<H>, id| state.hooks.update(|slot| disable_entry(slot, id));
        let origin = &state.origin;
        origin.disable(state, failed, state.name, &state.counts, disable);
        output
    }
}

/// A new registration, and the number of failures that disables its hook.
type LimitedInsertion = (Inserted, Option<NonZeroU32>);

impl<H: ?Sized> SlotState<H> {
    /// Ends the count of a hook that was removed. Returns `true`.
    fn forget(&self, id: EntryId) -> bool {
        self.counts.forget(id);
        tracing::debug!(target: "hooks_runtime", place = self.name, ?id, "hook removed");
        true
    }
}

impl<H: ?Sized> Clone for SharedSlot<H> {
    fn clone(&self) -> Self {
        SharedSlot {
            state: Arc::clone(&self.state),
        }
    }
}

fn id_of<H: ?Sized>(slot: &Slot<H>, key: &str) -> Option<EntryId> {
    slot.get(key).map(|(_, entry)| entry.id())
}

/// A hook that is registered under an id, as its registry describes it.
pub(crate) struct Registered<I: ?Sized> {
    /// The id, which is also its displayed name by default.
    pub(crate) id: String,
    /// The type of the hook, for its displayed name.
    pub(crate) hook_type: &'static str,
    /// The failure policy of the registration.
    pub(crate) policy: FailurePolicy,
    /// The priority of the hook, if the registration sets none.
    pub(crate) priority: i32,
    /// Returns the name of the tool in an input.
    pub(crate) tool_name: Option<ToolName<I>>,
}

impl<C: Call> SharedSlot<dyn DynCall<C>> {
    /// Registers a hook under an id; replaces a hook with an equal id.
    ///
    /// # Errors
    /// If the options are for events only, have a filter that the hook's input does not fit, disable a
    /// hook whose failures are not isolated, or if the slot refuses the order. The hook is then
    /// dropped, and nothing has changed.
    pub(crate) fn register(
        &self,
        hook: Arc<dyn DynCall<C>>,
        registered: Registered<C::Subject>,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError> {
        let id = &*registered.id;
        let description = format!("{} `{id}`", C::HOOK);
        options.check_no_event_options(&description)?;
        check_disabling(&description, options.disable_after, registered.policy)?;
        let filters = InputFilters::new(&options.conditions, &description, registered.tool_name)?;
        let limit = options.disable_after;
        let entry = options.entry(hook, registered.hook_type, registered.priority);
        let entry = with_filters(entry, filters);
        self.insert_with(id, |slot| Ok((insert_with_id(slot, entry, id)?, limit)))
    }

    /// Registers a hook with the options of the hook that it replaces by its id, or else with default
    /// options.
    pub(crate) fn replace(
        &self,
        hook: Arc<dyn DynCall<C>>,
        id: &str,
        hook_type: &'static str,
        priority: i32,
    ) -> Registration {
        let registration = self.insert_with(id, |slot| {
            let mut options = RegisterOptions::new();
            let (mut limit, mut filters) = (None, None);
            if let Some((replaced, entry)) = slot.get(id) {
                options = RegisterOptions::of(entry);
                limit = self.state.counts.limit(entry.id());
                filters = replaced.filters().cloned();
            }
            let entry = options.entry(hook, hook_type, priority);
            let entry = with_filters(entry, filters);
            Ok((insert_with_id(slot, entry, id)?, limit))
        });
        registration.expect("the replaced hook was accepted with these options")
    }
}
