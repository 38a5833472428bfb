//! One typed slot of a set: its entries, its companions, its dispatch.

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::bounds::{ChainOutput, MaybeSend};
use crate::companion::{
    Chain, Chained, Companion, Finalized, Named, NoCompanion, Outputs, PostProcess, Role,
    StopCondition,
};
use crate::describe::SlotDescription;
use crate::future::{AndThen, Continuation};
use crate::slot::Slot;
use crate::typed::accumulator::{Accumulator, AllOutputs, LastOutput};
use crate::typed::custom::{Relay, Relayed, Steps};
use crate::typed::into_hook::IntoHook;
use crate::typed::kind::Kind;
use crate::typed::policy::SlotPolicy;
use crate::typed::registrations::Registrations;
use crate::typed::slot_def::{DynHook, SlotDef};

/// The field of a generated set: `S` is its shape, `M` its kind, `G` its chain, `E` its
/// aggregate or finalizer.
///
/// A set calls its methods as methods, which are found in less time than functions whose type the
/// compiler has to infer. Their names are reserved, so that no trait of the user's can have one.
pub struct TypedSlot<'h, S: SlotDef + ?Sized, M, G = NoCompanion, E = NoCompanion> {
    slot: Slot<dyn DynHook<S> + 'h>,
    gate: G,
    end: E,
    kind: PhantomData<fn() -> M>,
}

/// The field of a slot with a chain `C`.
pub type ChainedSlot<'h, S, M, C> = TypedSlot<'h, S, M, Chained<'h, C, <S as SlotDef>::Out>>;

/// Registration.
impl<'h, S: SlotDef + ?Sized + 'h, M: Kind, G, E> TypedSlot<'h, S, M, G, E> {
    /// Registers a hook.
    #[track_caller]
    pub fn __hooks_register<Form>(&mut self, hook: impl IntoHook<S, Form> + 'h) {
        self.__hooks_mut().register(hook);
    }

    /// The registrations.
    pub fn __hooks_mut(&mut self) -> Registrations<'_, 'h, S> {
        Registrations::new(&mut self.slot, M::IS_SINGLE)
    }
}

/// Merging.
impl<S: SlotDef + ?Sized, M: Kind, G: Role, E: Role> TypedSlot<'_, S, M, G, E> {
    /// Takes over the entries and the companions of another slot of the same set.
    pub fn __hooks_extend(&mut self, other: Self) {
        let mut own = Registrations::new(&mut self.slot, M::IS_SINGLE);
        for node in other.slot.cursor() {
            own.insert(node.entry());
        }
        self.gate.extend(other.gate, S::NAME);
        self.end.extend(other.end, S::NAME);
    }
}

/// Companions.
impl<'h, S: SlotDef + ?Sized, M, C, E> TypedSlot<'h, S, M, Chained<'h, C, S::Out>, E> {
    /// Replaces the chain.
    pub fn __hooks_set_chain<N: Chain<S::Out> + 'h>(&mut self, chain: N)
    where
        S::Out: ChainOutput,
    {
        self.gate = Companion::Override(Arc::new(chain), type_name::<N>());
    }
}

impl<'h, S: SlotDef + ?Sized, M, G, C, I, O> TypedSlot<'h, S, M, G, Finalized<'h, C, I, O>> {
    /// Replaces the aggregate or the finalizer.
    pub fn __hooks_set_end<N: PostProcess<I, O> + Named + 'h>(&mut self, end: N) {
        self.end = Companion::Override(Arc::new(end), N::name());
    }
}

impl<S: SlotDef + ?Sized, M, G, E> TypedSlot<'_, S, M, G, E> {
    /// The chain.
    #[inline]
    pub fn __hooks_gate(&self) -> &G {
        &self.gate
    }

    /// The aggregate or the finalizer.
    #[inline]
    pub fn __hooks_end(&self) -> &E {
        &self.end
    }
}

/// Dispatch.
impl<'h, S, M, G, E> TypedSlot<'h, S, M, G, E>
where
    S: SlotDef + ?Sized,
    M: Kind,
{
    /// The latest output is the answer; a chain may stop after any.
    #[inline]
    pub fn __hooks_dispatch_chained<'a, C>(
        &'a self,
        chain: C,
        args: S::Args<'a>,
    ) -> impl Future<Output = S::Out> + MaybeSend + use<'a, 'h, S, M, G, E, C>
    where
        C: StopCondition<S::Out> + 'a,
    {
        self.run::<LastOutput<S::Out>, _>(chain, args)
    }

    /// The outputs go through the aggregate.
    #[inline]
    pub fn __hooks_dispatch_aggregated<'a, C, A, O>(
        &'a self,
        chain: C,
        aggregate: &'a A,
        args: S::Args<'a>,
    ) -> impl Future<Output = O> + MaybeSend + use<'a, 'h, S, M, G, E, C, A, O>
    where
        C: StopCondition<S::Out> + 'a,
        A: PostProcess<Outputs<S::Out>, O>,
    {
        let outputs = self.run::<AllOutputs<S::Out>, _>(chain, args);
        AndThen::new(outputs, |outputs| match A::skip(outputs) {
            Ok(result) => Continuation::Done(result),
            Err(outputs) => Continuation::Future(aggregate.post_process(outputs)),
        })
    }

    /// The result goes through the finalizer.
    #[inline]
    pub fn __hooks_dispatch_finalized<'a, C, T, O>(
        &'a self,
        chain: C,
        finalize: &'a T,
        args: S::Args<'a>,
    ) -> impl Future<Output = O> + MaybeSend + use<'a, 'h, S, M, G, E, C, T, O>
    where
        C: StopCondition<S::Out> + 'a,
        T: PostProcess<S::Out, O>,
    {
        let result = self.run::<LastOutput<S::Out>, _>(chain, args);
        AndThen::new(result, |result| {
            Continuation::Future(finalize.post_process(result))
        })
    }

    /// The call goes from hook to hook, and to the default.
    #[inline]
    pub fn __hooks_dispatch_custom<'a, C>(
        &'a self,
        _: C,
        args: S::Args<'a>,
    ) -> impl Future<Output = S::Out> + MaybeSend + use<'a, 'h, S, M, G, E, C>
    where
        S: Relay,
        C: Steps<S::Call, S::Out> + 'a,
    {
        let policy = Relayed::<S, C, _>::new(args, S::later);
        self.slot.dispatch(policy)
    }

    #[inline]
    fn run<'a, K, C>(
        &'a self,
        chain: C,
        args: S::Args<'a>,
    ) -> impl Future<Output = K::Output> + use<'a, 'h, S, M, G, E, K, C>
    where
        K: Accumulator<S::Out> + 'a,
        C: StopCondition<S::Out> + 'a,
    {
        let policy = SlotPolicy::<S, M, C, _, K, _>::new(args, S::later, chain, C::check);
        self.slot.dispatch(policy)
    }
}

/// Dispatch without a chain.
impl<'h, S, M, E> TypedSlot<'h, S, M, NoCompanion, E>
where
    S: SlotDef + ?Sized,
    M: Kind,
{
    /// The latest output is the answer.
    #[inline]
    pub fn __hooks_dispatch<'a>(
        &'a self,
        args: S::Args<'a>,
    ) -> impl Future<Output = S::Out> + MaybeSend + use<'a, 'h, S, M, E> {
        self.__hooks_dispatch_chained(NoCompanion, args)
    }
}

/// Listing.
impl<S: SlotDef + ?Sized, M: Kind, G: Role, E: Role> TypedSlot<'_, S, M, G, E> {
    /// What is registered, in execution order.
    pub fn __hooks_describe(&self) -> SlotDescription {
        let companions = [self.gate.role(), self.end.role()];
        SlotDescription::new(S::NAME, M::NAME, companions, &self.slot.metas())
    }
}

impl<S: SlotDef + ?Sized, M, G, E> TypedSlot<'_, S, M, G, E> {
    /// A slot without hooks.
    pub fn new(gate: G, end: E) -> Self {
        TypedSlot {
            slot: Slot::new(),
            gate,
            end,
            kind: PhantomData,
        }
    }
}

impl<S: SlotDef + ?Sized, M> TypedSlot<'_, S, M> {
    /// A slot without hooks and without companions.
    pub fn without_companions() -> Self {
        TypedSlot::new(NoCompanion, NoCompanion)
    }
}

impl<'h, S: SlotDef + ?Sized, M, C> TypedSlot<'h, S, M, Chained<'h, C, S::Out>> {
    /// A slot without hooks, with the chain that its definition names.
    pub fn with_chain(chain: C) -> Self {
        TypedSlot::new(Companion::new(chain), NoCompanion)
    }
}

impl<S: SlotDef + ?Sized, M, G: Clone, E: Clone> Clone for TypedSlot<'_, S, M, G, E> {
    fn clone(&self) -> Self {
        TypedSlot {
            slot: self.slot.clone(),
            gate: self.gate.clone(),
            end: self.end.clone(),
            kind: PhantomData,
        }
    }
}

impl<S: SlotDef + ?Sized, M, G, E> fmt::Debug for TypedSlot<'_, S, M, G, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slot.fmt(f)
    }
}
