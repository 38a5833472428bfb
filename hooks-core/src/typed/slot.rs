//! One typed slot of a set: its entries, its companions, its dispatch.

use std::any::type_name;
use std::fmt;
use std::future::{Future, ready};
use std::sync::Arc;

use crate::bounds::MaybeSend;
use crate::companion::{
    By, Chain, ChainRole, Chained, Companion, NoCompanion, PostProcess, Replacement, Stored,
    SyncChain, SyncRole,
};
use crate::describe::SlotDescription;
use crate::hook_future::now;
use crate::refusal::RegistrationError;
use crate::slot::Slot;
use crate::typed::into_hook::IntoHook;
use crate::typed::registrations::{Registrations, RegistrationsRef, check_all, check_replaced};
use crate::typed::rule::Rule;
use crate::typed::slot_def::{
    AsyncKind, AsyncSlot, Companions, DynHook, EndOf, Kind, OutputsOf, SlotDef, SlotEnd, SyncKind,
};

/// A slot with hooks of any type, as a set changes all of its slots.
pub trait ErasedSlot {
    /// Removes the hook of this key. Returns `false` if there is none.
    fn remove(&mut self, key: &str) -> bool;
    /// Enables or disables the hook of this key. Returns `false` if there is none.
    fn set_enabled(&mut self, key: &str, is_enabled: bool) -> bool;
    /// Removes the hooks of this owner, and returns their number.
    fn remove_owner(&mut self, owner: &str) -> usize;
    /// Enables or disables the hooks of this owner, and returns their number.
    fn set_owner_enabled(&mut self, owner: &str, is_enabled: bool) -> usize;
}

impl<H: ?Sized> ErasedSlot for Slot<H> {
    fn remove(&mut self, key: &str) -> bool {
        self.remove(key)
    }

    fn set_enabled(&mut self, key: &str, is_enabled: bool) -> bool {
        self.set_enabled(key, is_enabled)
    }

    fn remove_owner(&mut self, owner: &str) -> usize {
        self.remove_owner(owner).len()
    }

    fn set_owner_enabled(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.set_owner_enabled(owner, is_enabled).len()
    }
}

/// A slot of a generated set: `S` is its definition, `G` its chain, `E` its aggregate or finalizer.
///
/// A set uses method calls, which the compiler resolves faster than functions whose type it has to
/// infer. The methods' names are reserved, so that no trait of the user has one of them.
pub struct TypedSlot<'h, S, G = NoCompanion, E = NoCompanion>
where
    S: SlotDef + ?Sized,
    E: SlotEnd<S>,
{
    slot: Slot<dyn DynHook<S> + 'h>,
    chain: Chained<'h, G, S::Out>,
    end: EndOf<'h, S, E>,
}

impl<S> TypedSlot<'_, S>
where
    S: Companions<NoCompanion, NoCompanion> + ?Sized,
{
    /// Creates a slot without hooks and without companions.
    #[must_use]
    pub fn without_companions() -> Self {
        TypedSlot::with_companions(NoCompanion, NoCompanion)
    }
}

impl<'h, S, G, E> TypedSlot<'h, S, G, E>
where
    S: Companions<G, E> + ?Sized,
    G: Stored,
    E: SlotEnd<S> + Stored,
{
    /// Creates a slot without hooks, with these companions.
    #[must_use]
    pub fn with_companions(chain: G, end: E) -> Self {
        TypedSlot {
            slot: Slot::new(),
            chain: Companion::Default(chain),
            end: Companion::Default(end),
        }
    }

    /// Registers a hook.
    #[track_caller]
    pub fn __hooks_register<Form>(&mut self, hook: impl IntoHook<S, Form> + 'h)
    where
        S: 'h,
    {
        self.__hooks_mut().register(hook);
    }

    /// Returns the registrations.
    pub fn __hooks_mut(&mut self) -> Registrations<'_, 'h, S> {
        Registrations::new(&mut self.slot, <S::Kind as Kind<S>>::Rule::IS_SINGLE)
    }

    /// Returns read access to the registrations.
    pub fn __hooks_ref(&self) -> RegistrationsRef<'_, 'h, S> {
        RegistrationsRef::new(&self.slot)
    }

    /// Visits the hooks.
    pub fn __hooks_visit(&mut self, visit: &mut dyn FnMut(&mut dyn ErasedSlot)) {
        visit(&mut self.slot);
    }

    /// Returns an error if this slot refuses the entries of another slot of an equal set.
    pub fn __hooks_check(&self, other: &Self) -> Result<(), RegistrationError> {
        if <S::Kind as Kind<S>>::Rule::IS_SINGLE {
            return check_replaced(&self.slot, &other.slot);
        }
        check_all(&self.slot, &other.slot)
    }

    /// Moves the entries and the companions of another slot of an equal set into this one. The
    /// entries have to be checked.
    pub fn __hooks_extend(&mut self, other: Self) {
        self.__hooks_mut().insert_all(&other.slot);
        self.chain.extend(other.chain, S::NAME);
        self.end.extend(other.end, S::NAME);
    }

    /// Replaces the chain.
    pub fn __hooks_set_chain<C: Chain<S::Out> + 'h>(&mut self, chain: C) {
        self.chain = Companion::Override(Arc::new(Replacement::new(chain, type_name::<C>())));
    }

    /// Replaces the chain of a synchronous slot.
    pub fn __hooks_set_sync_chain<C: SyncChain<S::Out> + 'h>(&mut self, chain: C) {
        let chain = By::<SyncRole<ChainRole>, C>::new(chain);
        self.chain = Companion::Override(Arc::new(Replacement::new(chain, type_name::<C>())));
    }

    /// Replaces the aggregate or the finalizer.
    pub fn __hooks_set_end<R: 'h, C: 'h>(&mut self, end: By<R, C>)
    where
        By<R, C>: PostProcess<OutputsOf<S, E>, E::Result>,
    {
        self.end = Companion::Override(Arc::new(Replacement::new(end, type_name::<C>())));
    }

    /// Dispatches.
    #[inline]
    pub fn __hooks_dispatch<'a>(
        &'a self,
        args: S::Args<'a>,
    ) -> impl Future<Output = E::Result> + MaybeSend + use<'a, 'h, S, G, E>
    where
        S: AsyncSlot,
    {
        let stop_condition = S::condition(&self.chain);
        let outputs = S::Kind::dispatch::<E::Accumulator, _>(&self.slot, args, stop_condition);
        S::finish(&self.end, outputs)
    }

    /// Dispatches in a synchronous slot, whose dispatch is never pending.
    #[cfg_attr(not(debug_assertions), inline(always))] // a function by itself: `synchronous/1` +17 instructions
    pub fn __hooks_dispatch_now<'a>(&'a self, args: S::Args<'a>) -> E::Result
    where
        S::Kind: SyncKind<S>,
    {
        let stop_condition = S::condition(&self.chain);
        let outputs = S::Kind::dispatch_now::<E::Accumulator, _>(&self.slot, args, stop_condition);
        now(S::finish(&self.end, ready(outputs)))
    }

    /// Returns the registrations, in execution order.
    pub fn __hooks_describe(&self) -> SlotDescription {
        let kind = <S::Kind as Kind<S>>::Rule::NAME;
        let companions = [S::Kind::pipeline(), self.chain.role(), self.end.role()];
        let mut description = SlotDescription::new(S::NAME, kind, companions, &self.slot.metas());
        description.concurrent = S::Kind::IS_CONCURRENT;
        description
    }

    /// Returns a copy, which shares the hooks.
    #[must_use]
    pub fn __hooks_clone(&self) -> Self {
        TypedSlot {
            slot: self.slot.clone(),
            chain: self.chain.clone(),
            end: self.end.clone(),
        }
    }
}

impl<S: SlotDef + ?Sized, G, E: SlotEnd<S>> fmt::Debug for TypedSlot<'_, S, G, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slot.fmt(f)
    }
}
