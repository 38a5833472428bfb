//! A slot that threads share: registrations and a policy in, a run of the registered hooks out.

use std::num::NonZeroU32;
use std::sync::Arc;

use hooks_core::__private::drop_catching_panic;
use hooks_core::dispatch::Monitored;
use hooks_core::{
    Entry, EntryId, EntryMeta, FailurePolicy, Never, Policy, Refused, Registration,
    RegistrationError, SharedReport, Slot,
};

use super::call::{Call, DynCall, with_filters};
use super::cell::Snapshot;
use super::deadline::Deadline;
use super::failure_counts::{
    FailureCounts, FailureMonitor, OnDisabled, Origin, disable_entry, disable_failed,
};
use super::filter::{InputFilters, ToolName};
use super::layer::{Layer, Layered, Node, disable};
use super::options::{
    Defaults, Inserted, RegisterOptions, check_disabling, insert, insert_with_id,
};

/// The hooks of one place. Clones share them.
pub(crate) struct SharedSlot<H: ?Sized> {
    state: Arc<SlotState<H>>,
}

struct SlotState<H: ?Sized> {
    /// Name of the place in messages.
    name: &'static str,
    layer: Layer<SlotState<H>>,
    counts: Arc<FailureCounts>,
    origin: Origin<SlotState<H>>,
    defaults: Defaults,
}

impl<H: ?Sized> Node for SlotState<H> {
    type Writer = Slot<H>;

    fn layer(&self) -> &Layer<Self> {
        &self.layer
    }

    fn origin(&self) -> &Origin<Self> {
        &self.origin
    }
}

impl<H: ?Sized> Layered for Slot<H> {
    type Place = ();
    type Own = Entry<Arc<H>>;
    type Settings = ();

    fn apply_settings(&mut self, (): &()) {}

    fn adopt_all<'o>(
        &mut self,
        own: impl Iterator<Item = (&'o (), &'o Entry<Arc<H>>)>,
    ) -> Vec<RegistrationError>
    where
        H: 'o,
    {
        Slot::adopt_all(self, own.map(|((), entry)| entry.clone()))
    }

    fn has_key(&self, (): &(), entry: &Entry<Arc<H>>) -> bool {
        let key = entry.meta().key();
        key.is_some_and(|key| self.get(key).is_some())
    }

    fn is_enabled_at(&mut self, (): &(), id: EntryId) -> Option<bool> {
        Some(self.entry(id)?.meta().is_enabled())
    }

    fn set_enabled_at(&mut self, (): &(), id: EntryId, is_enabled: bool) -> bool {
        self.set_entry_enabled(id, is_enabled)
    }

    fn remove_at(&mut self, (): &(), id: EntryId) -> bool {
        self.remove_entry(id)
    }
}

impl<H: ?Sized + Send + Sync + 'static> SharedSlot<H> {
    /// Creates a place with these hooks.
    pub(crate) fn new(name: &'static str, hooks: Slot<H>, defaults: Defaults) -> Self {
        SharedSlot {
            state: Arc::new(SlotState {
                name,
                layer: Layer::new(hooks),
                counts: Arc::default(),
                origin: Origin::NONE,
                defaults,
            }),
        }
    }

    /// Returns a place with the hooks of this one, as they are at each use, and with its own.
    pub(crate) fn child(&self) -> Self {
        let state = Arc::new(SlotState {
            name: self.state.name,
            layer: Layer::following(&self.state),
            counts: Arc::new(self.state.counts.child()),
            origin: Origin::NONE,
            defaults: self.state.defaults,
        });
        Layer::follow(&state);
        SharedSlot { state }
    }

    /// Returns a copy, which shares the hooks and the counts of their failures. Later changes of one
    /// do not affect the other, except that a hook which fails too often is disabled in both.
    pub(crate) fn copied(&self) -> Self {
        let state = &self.state;
        SharedSlot {
            state: Arc::new(SlotState {
                name: state.name,
                layer: Layer::new(state.layer.writer()),
                counts: Arc::new(state.counts.copied()),
                origin: Origin::of_copy(state, &state.origin),
                defaults: state.defaults,
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
        self.state.layer.load()
    }

    /// Returns `true` if no hook is registered.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        let layer = &self.state.layer;
        if !layer.has_filter_bit(u64::MAX) {
            return true;
        }
        // All bits of a follower are set until it is used.
        layer.parent().is_some() && {
            let hooks = layer.load();
            let is_empty = hooks.is_empty();
            drop_catching_panic(hooks);
            is_empty
        }
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
        let inserted = state.layer.update(|slot, record| {
            let (inserted, limit) = insert(slot)?;
            // A replaced hook of the parent is still counted there.
            let forgotten = inserted.replaced.filter(|id| record.owns(*id));
            record.inserted(|| (), inserted, || slot.entry(inserted.id));
            Ok((inserted, limit, forgotten))
        });
        let (inserted, limit, forgotten) = inserted.map_err(Refused::into_error)?;
        let Inserted { id, replaced } = inserted;
        state.counts.register(id, limit, forgotten);
        tracing::debug!(
            target: "hooks_runtime",
            place = state.name, hook, replaces = replaced.is_some(), "hook registered"
        );
        let state = Arc::downgrade(state);
        Ok(Registration::new(id, move |id| {
            state
                .upgrade()
                .is_some_and(|state| state.remove(|_| Some(id)))
        }))
    }

    /// Removes the hook with this key, and returns `true` if it existed.
    pub(crate) fn remove(&self, key: &str) -> bool {
        self.state.remove(|slot| id_of(slot, key))
    }

    /// Removes the hooks of an owner, and returns their number.
    pub(crate) fn remove_owner(&self, owner: &str) -> usize {
        let state = &self.state;
        let removed = state.layer.update(|slot, record| {
            let removed = slot.remove_owner(owner).into_iter();
            let removed = removed.map(|id| (id, record.removed(|| (), id)));
            removed.collect::<Vec<_>>()
        });
        for (id, is_own) in &removed {
            state.forget(*id, *is_own);
        }
        removed.len()
    }

    /// Enables or disables the hooks of an owner, and returns their number. Enabling them resets their
    /// failures.
    pub(crate) fn set_owner_enabled(&self, owner: &str, is_enabled: bool) -> usize {
        let changed = self.state.layer.update(|slot, record| {
            let changed = slot.set_owner_enabled(owner, is_enabled);
            for id in &changed {
                record.switched(|| (), *id, is_enabled);
            }
            let owned = changed.iter().copied().filter(|id| record.owns(*id));
            (owned.collect::<Vec<_>>(), changed.len())
        });
        let (owned, changed) = changed;
        if is_enabled {
            for id in owned {
                self.state.counts.restart(id);
            }
        }
        changed
    }

    /// Enables or disables the hook with this key, and returns `true` if it exists. Enabling it resets
    /// its failures.
    pub(crate) fn set_enabled(&self, key: &str, is_enabled: bool) -> bool {
        let state = &self.state;
        let changed = state.layer.update(|slot, record| {
            let id = id_of(slot, key)?;
            record.switched(|| (), id, is_enabled);
            let is_changed = slot.set_entry_enabled(id, is_enabled);
            is_changed.then_some((id, record.owns(id)))
        });
        // Failures of a hook of the parent are reset there.
        if let (Some((id, true)), true) = (changed, is_enabled) {
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
        Box::pin(self.run_within(hooks, policy, report, None)).await
    }

    /// Like [`run`](Self::run), until the deadline.
    pub(crate) async fn run_within<P>(
        &self,
        hooks: &Slot<H>,
        policy: P,
        report: Option<&SharedReport>,
        deadline: Option<&mut Deadline<'_>>,
    ) -> P::Output
    where
        P: Policy<H, Future = Never<()>>,
    {
        let state = &self.state;
        let counts = state.counts.is_used().then_some(&*state.counts);
        let policy = Monitored::new(policy, FailureMonitor::new(counts));
        let (output, failed) = match (report, deadline) {
            (None, None) => hooks.dispatch(policy).await,
            (None, Some(deadline)) => deadline.run(hooks.dispatch(policy)).await,
            (Some(report), None) => report.dispatch(hooks, policy).await.0,
            (Some(report), Some(deadline)) => deadline.run(report.dispatch(hooks, policy)).await.0,
        };
        disable_failed(failed, state.name, &state.counts, |id| {
            disable(&**state, id, &|slot| disable_entry(slot, id).then_some(()))
        });
        output
    }
}

/// A new registration, and the number of failures that disables its hook.
type LimitedInsertion = (Inserted, Option<NonZeroU32>);

impl<H: ?Sized> SlotState<H> {
    /// Removes a hook, and returns `true` if it existed.
    fn remove(&self, find: impl FnOnce(&Slot<H>) -> Option<EntryId>) -> bool {
        let removed = self.layer.update(|slot, record| {
            let id = find(slot)?;
            let is_removed = slot.remove_entry(id);
            is_removed.then(|| (id, record.removed(|| (), id)))
        });
        removed.is_some_and(|(id, is_own)| self.forget(id, is_own))
    }

    /// Ends the count of a hook that was removed, unless it is one of the parent. Returns `true`.
    fn forget(&self, id: EntryId, is_own: bool) -> bool {
        if is_own {
            self.counts.forget(id);
        }
        tracing::debug!(target: "hooks_runtime", place = self.name, ?id, "hook removed");
        true
    }
}

impl<H: ?Sized> Drop for SlotState<H> {
    fn drop(&mut self) {
        // The counts may be those of the parent.
        for id in self.layer.take_own() {
            self.counts.forget(id);
        }
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
    /// Returns the failure policy of a registration.
    pub(crate) policy: fn(Option<FailurePolicy>) -> FailurePolicy,
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
        let options = options.with_defaults(self.state.defaults);
        let policy = (registered.policy)(options.on_failure);
        check_disabling(&description, options.disable_after, policy)?;
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
            let mut options = RegisterOptions::new().with_defaults(self.state.defaults);
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
