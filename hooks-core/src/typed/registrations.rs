//! The registrations of one slot.

use std::any::type_name;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::bounds::HookObject;
use crate::entry::{Entry, EntryId, EntryMeta};
use crate::slot::{Node, Slot};
use crate::typed::direct::Method;
use crate::typed::group::{HookGroup, HookGroupPtr};
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
    /// If the hook is an [`Entry`] with a timeout, or with a failure policy that does not
    /// propagate. If [`Entry::before`] or [`Entry::after`] names a key that is not registered, makes
    /// the order a cycle, or is used in a `singleton` slot.
    #[track_caller]
    pub fn register<M>(&mut self, hook: impl IntoHook<S, M> + 'h) -> &mut Self
    where
        S: 'h,
    {
        self.insert(hook.__hooks_into_entry());
        self
    }

    /// Removes the hook of this key. Returns `false` if there is none.
    pub fn remove(&mut self, key: &str) -> bool {
        self.slot.remove(key)
    }

    /// Removes the hook with this id. Returns `false` if there is none.
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
    pub fn set_enabled(&mut self, key: &str, is_enabled: bool) -> bool {
        self.slot.set_enabled(key, is_enabled)
    }

    /// Enables or disables the hook with this id. Returns `false` if there is none.
    pub fn set_entry_enabled(&mut self, id: EntryId, is_enabled: bool) -> bool {
        self.slot.set_entry_enabled(id, is_enabled)
    }

    /// Removes all hooks.
    pub fn clear(&mut self) {
        *self.slot = Slot::new();
    }

    /// Returns the number of registered hooks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slot.len()
    }

    /// Returns `true` if no hook is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slot.is_empty()
    }

    /// Iterates over the registrations in execution order. Includes disabled hooks.
    pub fn iter(&self) -> impl Iterator<Item = &EntryMeta> {
        self.slot.iter().map(|(_, meta)| meta)
    }

    /// Returns the registration of this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&EntryMeta> {
        self.slot.get(key).map(|(_, meta)| meta)
    }

    /// Returns a method without `last` and with `N` parameters, to be checked.
    #[doc(hidden)]
    #[must_use]
    pub fn __hooks_method<const N: usize>(self) -> Method<S, N> {
        Method::new()
    }

    /// Registers one method of a value.
    #[doc(hidden)]
    pub fn __hooks_register<P, Set>(mut self, group: &Arc<HookGroupPtr<P, Set>>)
    where
        S: CallMethod<P::Target>,
        P: Deref + HookObject + 'h,
        P::Target: HookGroup<'h, Set>,
        Set: 'h,
    {
        let hook: Arc<dyn DynHook<S> + 'h> = Arc::<HookGroupPtr<P, Set>>::clone(group);
        self.insert(Entry::with_type_name(hook, type_name::<P::Target>()));
    }

    /// Inserts an entry; in a singleton, it replaces all others.
    #[track_caller]
    pub(crate) fn insert(&mut self, entry: Entry<Arc<dyn DynHook<S> + 'h>>) {
        entry.meta().admit_unguarded(S::NAME);
        if !self.is_single {
            self.slot.insert(entry);
            return;
        }
        entry.meta().admit_single(S::NAME);
        if self.slot.replace_all(entry) {
            warn_overwritten(S::NAME);
        }
    }
}

impl<'h, S: SlotDef + ?Sized> Registrations<'_, 'h, S> {
    /// Registers the entries of another slot of an equal set.
    pub(crate) fn insert_all(&mut self, other: &Slot<dyn DynHook<S> + 'h>) {
        let entries = other.registered().map(Node::entry);
        if self.is_single {
            entries.for_each(|entry| self.insert(entry));
        } else {
            self.slot.insert_all(entries);
        }
    }
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
