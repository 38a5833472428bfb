//! The registrations of one slot.

use std::fmt;
use std::slice;
use std::sync::Arc;

use crate::entry::{EntryId, EntryMeta};
use crate::failure::drop_catching_panic;
use crate::refusal::{Refused, RegistrationError};
use crate::slot::{Node, Slot, State, Store};
use crate::typed::direct::Method;
use crate::typed::group::{GroupPointer, HookGroup, HookGroupPtr};
use crate::typed::into_hook::IntoHook;
use crate::typed::slot_def::{CallMethod, DynHook, SlotDef};

/// The registrations of one slot of a set, returned by `<slot>_mut()`.
///
/// ```
/// use hooks_core::{Entry, hooks};
///
/// #[hooks]
/// trait Greetings {
///     #[hook(fallback)]
///     async fn greet(name: String) -> String { name }
/// }
///
/// let mut set = GreetingsSet::new();
/// set.greet_mut()
///     .register(Entry::new(async |name: String, _: Option<String>| format!("hello {name}")).key("en"))
///     .register(async |name: String, _: Option<String>| format!("salve {name}"));
/// assert_eq!(set.greet_mut().len(), 2);
/// assert!(set.greet_mut().remove("en"));
/// assert!(!set.greet_mut().remove("en"));
/// set.greet_mut().clear();
/// assert!(set.greet_mut().is_empty());
/// ```
pub struct Registrations<'s, 'h, S: SlotDef + ?Sized> {
    slot: &'s mut Slot<dyn DynHook<S> + 'h>,
    is_single: bool,
}

impl<'s, 'h, S: SlotDef + ?Sized> Registrations<'s, 'h, S> {
    pub(crate) fn new(slot: &'s mut Slot<dyn DynHook<S> + 'h>, is_single: bool) -> Self {
        Registrations { slot, is_single }
    }

    /// Registers a hook.
    ///
    /// # Panics
    /// If [`try_register`](Self::try_register) returns an error.
    #[track_caller]
    pub fn register<M>(&mut self, hook: impl IntoHook<S, M> + 'h) -> &mut Self
    where
        S: 'h,
    {
        if let Err(error) = self.try_register(hook) {
            error.panic();
        }
        self
    }

    /// Registers a hook, and returns its id. A host uses this method for hooks of plugins, whose
    /// mistakes must not end the process. If the hook is refused, it is dropped and the slot is
    /// unchanged.
    ///
    /// ```
    /// use hooks_core::{Entry, RegistrationError, hooks};
    ///
    /// #[hooks]
    /// trait Greetings {
    ///     #[hook(fallback)]
    ///     async fn greet(name: String) -> String { name }
    /// }
    ///
    /// let polite = async |name: String, _: Option<String>| format!("dear {name}");
    /// let mut set = GreetingsSet::new();
    /// let refused = set.greet_mut().try_register(Entry::new(polite).before("en"));
    /// assert!(matches!(refused, Err(RegistrationError::UnknownKey { key, .. }) if key == "en"));
    /// assert!(set.greet_mut().is_empty());
    /// ```
    ///
    /// # Errors
    /// If the hook is an [`Entry`](crate::Entry) with a timeout, or with a failure policy that does not
    /// propagate. If [`Entry::before`](crate::Entry::before) or [`Entry::after`](crate::Entry::after)
    /// names a key that is not registered, makes the order a cycle, or is used in a `singleton` slot.
    pub fn try_register<M>(
        &mut self,
        hook: impl IntoHook<S, M> + 'h,
    ) -> Result<EntryId, RegistrationError>
    where
        S: 'h,
    {
        let (hook, meta) = hook.__hooks_into_entry().into_parts();
        self.try_insert(hook, meta)
    }

    /// Removes the hook of this key. Returns `false` if there is none.
    #[must_use]
    pub fn remove(&mut self, key: &str) -> bool {
        self.slot.remove(key)
    }

    /// Removes the hook with this id. Returns `false` if there is none.
    #[must_use]
    pub fn remove_entry(&mut self, id: EntryId) -> bool {
        self.slot.remove_entry(id)
    }

    /// Enables or disables the hook of this key. Returns `false` if there is none. A disabled hook
    /// keeps its place and does not run.
    ///
    /// ```
    /// use hooks_core::{Entry, hooks};
    ///
    /// #[hooks]
    /// trait Greetings {
    ///     #[hook(fallback)]
    ///     async fn greet(name: String) -> String { name }
    /// }
    ///
    /// let english = async |name: String, _: Option<String>| format!("hello {name}");
    /// let mut set = GreetingsSet::new().with_greet(Entry::new(english).key("en"));
    /// assert!(set.greet_mut().set_enabled("en", false));
    /// # fn block_on<T>(f: impl Future<Output = T>) -> T {
    /// #     let mut f = std::pin::pin!(f);
    /// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
    /// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
    /// # }
    /// # block_on(async {
    /// assert_eq!(set.greet("Ada".into()).await, "Ada");
    /// # });
    /// assert!(!set.greet_mut().get("en").unwrap().is_enabled());
    /// ```
    #[must_use]
    pub fn set_enabled(&mut self, key: &str, is_enabled: bool) -> bool {
        self.slot.set_enabled(key, is_enabled)
    }

    /// Enables or disables the hook with this id. Returns `false` if there is none.
    #[must_use]
    pub fn set_entry_enabled(&mut self, id: EntryId, is_enabled: bool) -> bool {
        self.slot.set_entry_enabled(id, is_enabled)
    }

    /// Removes all hooks of an owner ([`Entry::owner`](crate::Entry::owner)), and returns their number.
    pub fn remove_owner(&mut self, owner: &str) -> usize {
        self.slot.remove_owner(owner).len()
    }

    /// Enables or disables all hooks of an owner ([`Entry::owner`](crate::Entry::owner)), and returns
    /// their number.
    pub fn set_owner_enabled(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.slot.set_owner_enabled(owner, is_enabled).len()
    }

    /// Removes all hooks.
    pub fn clear(&mut self) {
        *self.slot = Slot::new();
    }

    /// Returns the number of registered hooks.
    #[must_use]
    pub fn len(&self) -> usize {
        RegistrationsRef::new(self.slot).len()
    }

    /// Returns `true` if no hook is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        RegistrationsRef::new(self.slot).is_empty()
    }

    /// Iterates over the registrations in execution order. Includes disabled hooks.
    pub fn iter(&self) -> impl Iterator<Item = &EntryMeta> {
        RegistrationsRef::new(self.slot).iter()
    }

    /// Returns the registration of this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&EntryMeta> {
        RegistrationsRef::new(self.slot).get(key)
    }

    /// Returns a method without `last` and with `N` parameters, to be checked.
    #[doc(hidden)]
    #[must_use]
    pub fn __hooks_method<const N: usize>(self) -> Method<S, N> {
        Method::new()
    }

    /// Registers one method of a value.
    #[doc(hidden)]
    pub fn __hooks_register<P, Set>(
        mut self,
        group: &Arc<HookGroupPtr<P, Set>>,
    ) -> Result<(), RegistrationError>
    where
        S: CallMethod<P::Target>,
        P: GroupPointer + 'h,
        P::Target: HookGroup<'h, Set>,
        Set: 'h,
    {
        let hook: Arc<dyn DynHook<S> + 'h> = Arc::<HookGroupPtr<P, Set>>::clone(group);
        self.try_insert(hook, group.options())?;
        Ok(())
    }

    /// Inserts a hook; in a singleton, it replaces all others.
    fn try_insert(
        &mut self,
        hook: Arc<dyn DynHook<S> + 'h>,
        meta: Arc<EntryMeta>,
    ) -> Result<EntryId, RegistrationError> {
        let (state, mut lists) = self.slot.change(slice::from_ref(&hook));
        let inserted = insert(state, &mut lists, meta, S::NAME, self.is_single);
        drop(lists);
        if inserted.is_err() {
            drop_catching_panic(hook);
        }
        inserted
    }
}

/// Inserts a hook with these options into a slot of a set.
fn insert(
    state: &mut State,
    lists: &mut dyn Store,
    meta: Arc<EntryMeta>,
    slot: &'static str,
    is_single: bool,
) -> Result<EntryId, RegistrationError> {
    meta.check_unguarded(slot)?;
    if is_single {
        meta.check_single(slot)?;
    }
    let overwrites = is_single && state.len > 0;
    let inserted = state.register(lists, meta, is_single);
    if overwrites && inserted.is_ok() {
        warn_overwritten(slot);
    }
    inserted.map_err(Refused::into_error)
}

/// Read access to the registrations of one slot of a set, returned by `<slot>_ref()`.
///
/// ```
/// use hooks_core::{Entry, hooks};
///
/// #[hooks]
/// trait Greetings {
///     #[hook(fallback)]
///     async fn greet(name: String) -> String { name }
/// }
///
/// let english = async |name: String, _: Option<String>| format!("hello {name}");
/// let set = GreetingsSet::new().with_greet(Entry::new(english).key("en").enabled(false));
/// assert_eq!(set.greet_ref().len(), 1);
/// assert!(!set.greet_ref().has_enabled());
/// assert!(set.greet_ref().get("de").is_none());
/// ```
pub struct RegistrationsRef<'s, 'h, S: SlotDef + ?Sized> {
    slot: &'s Slot<dyn DynHook<S> + 'h>,
}

impl<'s, 'h, S: SlotDef + ?Sized> RegistrationsRef<'s, 'h, S> {
    pub(crate) fn new(slot: &'s Slot<dyn DynHook<S> + 'h>) -> Self {
        RegistrationsRef { slot }
    }

    /// Returns the number of registered hooks.
    #[must_use]
    pub fn len(self) -> usize {
        self.slot.len()
    }

    /// Returns `true` if no hook is registered.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.slot.is_empty()
    }

    /// Returns `true` if at least one hook is enabled: a dispatch runs hooks, unless conditions exclude
    /// them. Around hooks do not count.
    #[must_use]
    pub fn has_enabled(self) -> bool {
        self.slot.has_enabled()
    }

    /// Iterates over the registrations in execution order. Includes disabled hooks.
    pub fn iter(self) -> impl Iterator<Item = &'s EntryMeta> {
        self.slot.iter().map(|(_, meta)| meta)
    }

    /// Returns the registration of this key.
    #[must_use]
    pub fn get(self, key: &str) -> Option<&'s EntryMeta> {
        self.slot.get(key).map(|(_, meta)| meta)
    }
}

impl<S: SlotDef + ?Sized> Copy for RegistrationsRef<'_, '_, S> {}

impl<S: SlotDef + ?Sized> Clone for RegistrationsRef<'_, '_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: SlotDef + ?Sized> fmt::Debug for RegistrationsRef<'_, '_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slot.fmt(f)
    }
}

impl<'h, S: SlotDef + ?Sized> Registrations<'_, 'h, S> {
    /// Registers the entries of another slot of an equal set, which [`check_all`] has accepted.
    pub(crate) fn insert_all(&mut self, other: &Slot<dyn DynHook<S> + 'h>) {
        let mut nodes = other.registered();
        let inserted = if self.is_single {
            nodes.try_for_each(|node| {
                let (hook, meta) = node.entry().into_parts();
                self.try_insert(hook, meta).map(drop)
            })
        } else {
            let inserted = self.slot.try_insert_all(nodes.map(Node::entry));
            inserted.map_err(Refused::into_error)
        };
        inserted.expect("the entries were checked");
    }
}

/// Returns an error if a slot refuses the entries of another slot of an equal set.
pub(crate) fn check_all<H: ?Sized>(
    slot: &Slot<H>,
    other: &Slot<H>,
) -> Result<(), RegistrationError> {
    // Without relative order, the slot accepts every entry that the other slot has accepted.
    if !slot.relates(other) {
        return Ok(());
    }
    let inserted = slot
        .clone()
        .try_insert_all(other.registered().map(Node::entry));
    inserted.map_err(Refused::into_error)
}

/// Returns an error if the hook of a singleton is not replaced by that of another slot of an equal set.
pub(crate) fn check_replaced<H: ?Sized>(
    slot: &Slot<H>,
    other: &Slot<H>,
) -> Result<(), RegistrationError> {
    let present = slot.metas().into_iter().next();
    let mut others = other.metas().into_iter();
    others.try_for_each(|meta| meta.check_absent(present))
}

fn warn_overwritten(slot: &'static str) {
    tracing::warn!(
        target: "hooks_core",
        slot,
        "singleton hook registration overwritten; last registered hook wins"
    );
}

impl<S: SlotDef + ?Sized> fmt::Debug for Registrations<'_, '_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slot.fmt(f)
    }
}
