//! Typed slots with around hooks (`#[hook(…, around)]`).

use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::around::{AroundCall, DynAround, Innermost, IntoAround, Next};
use crate::bounds::{BoxFuture, MaybeSend};
use crate::companion::Stored;
use crate::describe::SlotDescription;
use crate::entry::{Entry, EntryId, EntryMeta};
use crate::future::{ColdFuture, Either};
use crate::refusal::{Refused, RegistrationError};
use crate::slot::{Node, Slot};
use crate::typed::registrations::check_all;
use crate::typed::slot::{ErasedSlot, TypedSlot};
use crate::typed::slot_def::{AsyncSlot, Companions, SlotDef, SlotEnd};

/// A slot of a generated set, with around hooks.
pub struct AroundSlot<'h, S, G, E>
where
    S: SlotDef + AroundCall + ?Sized,
    E: SlotEnd<S>,
{
    inner: TypedSlot<'h, S, G, E>,
    hooks: Slot<dyn DynAround<S> + 'h>,
}

impl<'h, S, G, E> AroundSlot<'h, S, G, E>
where
    S: Companions<G, E> + AsyncSlot + ?Sized,
    S: for<'a> AroundCall<Args<'a> = <S as SlotDef>::Args<'a>, Output = E::Result>,
    G: Stored,
    E: SlotEnd<S> + Stored,
{
    /// Creates a slot without hooks.
    #[must_use]
    pub fn with_companions(chain: G, end: E) -> Self {
        AroundSlot {
            inner: TypedSlot::with_companions(chain, end),
            hooks: Slot::new(),
        }
    }

    /// Dispatches, by way of the around hooks if any are enabled.
    #[inline(never)] // `around_unused/1` −20 instructions: inlined, the future is copied
    pub fn __hooks_dispatch<'a>(
        &'a self,
        args: <S as SlotDef>::Args<'a>,
    ) -> impl Future<Output = E::Result> + MaybeSend + use<'a, 'h, S, G, E> {
        if self.hooks.has_enabled() {
            let call = Next::new(&self.hooks, self).call(args);
            Either::right(ColdFuture::new(call))
        } else {
            Either::left(self.inner.__hooks_dispatch(args))
        }
    }

    /// Registers an around hook.
    #[track_caller]
    pub fn __hooks_register_around<Form>(&mut self, hook: impl IntoAround<S, Form> + 'h)
    where
        S: 'h,
    {
        self.__hooks_around_mut().register(hook);
    }

    /// Returns the registrations of around hooks.
    pub fn __hooks_around_mut(&mut self) -> AroundRegistrations<'_, 'h, S> {
        AroundRegistrations {
            slot: &mut self.hooks,
            name: S::NAME,
        }
    }

    /// Visits the hooks, and the around hooks.
    pub fn __hooks_visit(&mut self, visit: &mut dyn FnMut(&mut dyn ErasedSlot)) {
        self.inner.__hooks_visit(visit);
        visit(&mut self.hooks);
    }

    /// Returns an error if this slot refuses the entries of another slot of an equal set.
    pub fn __hooks_check(&self, other: &Self) -> Result<(), RegistrationError> {
        self.inner.__hooks_check(&other.inner)?;
        check_all(&self.hooks, &other.hooks)
    }

    /// Moves the entries and the companions of another slot of an equal set into this one. The
    /// entries have to be checked.
    pub fn __hooks_extend(&mut self, other: Self) {
        self.inner.__hooks_extend(other.inner);
        let entries = other.hooks.registered().map(Node::entry);
        self.hooks.insert_all(entries);
    }

    /// Returns the registrations, in execution order.
    pub fn __hooks_describe(&self) -> SlotDescription {
        let mut description = self.inner.__hooks_describe();
        let metas = self.hooks.metas();
        description.around = metas.into_iter().map(Into::into).collect();
        description
    }

    /// Returns a copy, which shares the hooks.
    #[must_use]
    pub fn __hooks_clone(&self) -> Self {
        AroundSlot {
            inner: self.inner.__hooks_clone(),
            hooks: self.hooks.clone(),
        }
    }
}

impl<S, G, E> Innermost<S> for AroundSlot<'_, S, G, E>
where
    S: Companions<G, E> + AsyncSlot + ?Sized,
    S: for<'a> AroundCall<Args<'a> = <S as SlotDef>::Args<'a>, Output = E::Result>,
    G: Stored,
    E: SlotEnd<S> + Stored,
{
    fn call<'a>(&'a self, args: <S as SlotDef>::Args<'a>) -> BoxFuture<'a, E::Result> {
        Box::pin(self.inner.__hooks_dispatch(args))
    }
}

impl<'h, S, G, E> Deref for AroundSlot<'h, S, G, E>
where
    S: SlotDef + AroundCall + ?Sized,
    E: SlotEnd<S>,
{
    type Target = TypedSlot<'h, S, G, E>;

    fn deref(&self) -> &TypedSlot<'h, S, G, E> {
        &self.inner
    }
}

impl<'h, S, G, E> DerefMut for AroundSlot<'h, S, G, E>
where
    S: SlotDef + AroundCall + ?Sized,
    E: SlotEnd<S>,
{
    fn deref_mut(&mut self) -> &mut TypedSlot<'h, S, G, E> {
        &mut self.inner
    }
}

impl<S, G, E> fmt::Debug for AroundSlot<'_, S, G, E>
where
    S: SlotDef + AroundCall + ?Sized,
    E: SlotEnd<S>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AroundSlot")
            .field("inner", &self.inner)
            .field("hooks", &self.hooks)
            .finish()
    }
}

type AroundEntry<'h, C> = Entry<Arc<dyn DynAround<C> + 'h>>;

/// The around hooks of one slot of a set, returned by `<slot>_around_mut()`.
pub struct AroundRegistrations<'s, 'h, C: AroundCall + ?Sized> {
    slot: &'s mut Slot<dyn DynAround<C> + 'h>,
    name: &'static str,
}

impl<'h, C: AroundCall + ?Sized> AroundRegistrations<'_, 'h, C> {
    /// Registers an around hook. The hook with the lowest priority is the outermost.
    ///
    /// # Panics
    /// If [`try_register`](Self::try_register) returns an error.
    #[track_caller]
    pub fn register<M>(&mut self, hook: impl IntoAround<C, M> + 'h) -> &mut Self
    where
        C: 'h,
    {
        match self.try_insert(hook.__hooks_into_entry()) {
            Ok(_) => self,
            Err(refused) => refused.panic(),
        }
    }

    /// Registers an around hook, and returns its id. If the hook is refused, it is dropped and the
    /// slot is unchanged.
    ///
    /// # Errors
    /// As [`Registrations::try_register`](crate::Registrations::try_register) of a slot that is no
    /// `singleton`.
    pub fn try_register<M>(
        &mut self,
        hook: impl IntoAround<C, M> + 'h,
    ) -> Result<EntryId, RegistrationError>
    where
        C: 'h,
    {
        let inserted = self.try_insert(hook.__hooks_into_entry());
        inserted.map_err(Refused::into_error)
    }

    fn try_insert(
        &mut self,
        entry: AroundEntry<'h, C>,
    ) -> Result<EntryId, Refused<AroundEntry<'h, C>>> {
        match entry.meta().check_unguarded(self.name) {
            Ok(()) => self.slot.try_insert(entry),
            Err(error) => Err(Refused::new(error, entry)),
        }
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

    /// Enables or disables the hook of this key. Returns `false` if there is none.
    #[must_use]
    pub fn set_enabled(&mut self, key: &str, is_enabled: bool) -> bool {
        self.slot.set_enabled(key, is_enabled)
    }

    /// Removes all hooks of an owner ([`Entry::owner`]), and returns their number.
    pub fn remove_owner(&mut self, owner: &str) -> usize {
        self.slot.remove_owner(owner).len()
    }

    /// Enables or disables all hooks of an owner ([`Entry::owner`]), and returns their number.
    pub fn set_owner_enabled(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.slot.set_owner_enabled(owner, is_enabled).len()
    }

    /// Removes all around hooks.
    pub fn clear(&mut self) {
        *self.slot = Slot::new();
    }

    /// Returns the number of registered around hooks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slot.len()
    }

    /// Returns `true` if no around hook is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slot.is_empty()
    }

    /// Iterates over the registrations from the outermost to the innermost. Includes disabled
    /// hooks.
    pub fn iter(&self) -> impl Iterator<Item = &EntryMeta> {
        self.slot.iter().map(|(_, meta)| meta)
    }

    /// Returns the registration of this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&EntryMeta> {
        self.slot.get(key).map(|(_, meta)| meta)
    }
}

impl<C: AroundCall + ?Sized> fmt::Debug for AroundRegistrations<'_, '_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slot.fmt(f)
    }
}
