//! One typed slot of a set: its entries, its companions, its dispatch.

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::bounds::MaybeSend;
use crate::companion::{
    Chain, Chained, Companion, Finalized, Named, NoCompanion, Outputs, PostProcess, Role,
    StopCondition,
};
use crate::describe::SlotDescription;
use crate::future::{AndThen, Continuation, Never};
use crate::refusal::RegistrationError;
use crate::slot::Slot;
use crate::typed::accumulator::{Accumulator, AllOutputs, LastOutput};
use crate::typed::concurrent::ConcurrentPolicy;
use crate::typed::custom::{Relay, Relayed, Steps};
use crate::typed::into_hook::IntoHook;
use crate::typed::kind::{Always, Fallback, Kind, Singleton};
use crate::typed::policy::SlotPolicy;
use crate::typed::registrations::{Registrations, check_all};
use crate::typed::slot_def::{DynHook, SlotDef};

/// A slot of a generated set: `S` is its definition, `M` its kind, `G` its chain, `E` its aggregate
/// or finalizer.
///
/// A set uses method calls, which the compiler resolves faster than functions whose type it has to
/// infer. The methods' names are reserved, so that no trait of the user has one of them.
pub struct TypedSlot<'h, S: SlotDef + ?Sized, M, G = NoCompanion, E = NoCompanion> {
    slot: Slot<dyn DynHook<S> + 'h>,
    gate: G,
    end: E,
    kind: PhantomData<fn() -> M>,
}

/// A slot of the kind `always`, without companions.
pub type AlwaysSlot<'h, S> = TypedSlot<'h, S, Always>;

/// A slot of the kind `fallback`, without companions.
pub type FallbackSlot<'h, S> = TypedSlot<'h, S, Fallback>;

/// A slot of the kind `singleton`.
pub type SingletonSlot<'h, S> = TypedSlot<'h, S, Singleton>;

/// A slot with a chain `C`.
pub type ChainedSlot<'h, S, M, C> = TypedSlot<'h, S, M, Chained<'h, C, <S as SlotDef>::Out>>;

/// Registration.
impl<'h, S: SlotDef + ?Sized + 'h, M: Kind, G, E> TypedSlot<'h, S, M, G, E> {
    /// Registers a hook.
    #[track_caller]
    pub fn __hooks_register<Form>(&mut self, hook: impl IntoHook<S, Form> + 'h) {
        self.__hooks_mut().register(hook);
    }

    /// Returns the registrations.
    pub fn __hooks_mut(&mut self) -> Registrations<'_, 'h, S> {
        Registrations::new(&mut self.slot, M::IS_SINGLE)
    }
}

/// Merging.
impl<S: SlotDef + ?Sized, M: Kind, G: Role, E: Role> TypedSlot<'_, S, M, G, E> {
    /// Returns an error if this slot refuses the entries of another slot of an equal set.
    pub fn __hooks_check(&self, other: &Self) -> Result<(), RegistrationError> {
        check_all(&self.slot, &other.slot)
    }

    /// Moves the entries and the companions of another slot of an equal set into this one. The
    /// entries have to be checked.
    pub fn __hooks_extend(&mut self, other: Self) {
        let mut own = Registrations::new(&mut self.slot, M::IS_SINGLE);
        own.insert_all(&other.slot);
        self.gate.extend(other.gate, S::NAME);
        self.end.extend(other.end, S::NAME);
    }
}

/// Companions.
impl<'h, S: SlotDef + ?Sized, M, C, E> TypedSlot<'h, S, M, Chained<'h, C, S::Out>, E> {
    /// Replaces the chain.
    pub fn __hooks_set_chain<N: Chain<S::Out> + 'h>(&mut self, chain: N) {
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
    /// Returns the chain.
    #[inline]
    pub fn __hooks_gate(&self) -> &G {
        &self.gate
    }

    /// Returns the aggregate or the finalizer.
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
    /// Dispatches; the last output is the result, and a chain may stop after any output.
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

    /// Dispatches; the aggregate converts the outputs into the result.
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

    /// Dispatches; the finalizer converts the result.
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

    /// Dispatches; the call passes from hook to hook, and to the default.
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

/// Concurrent dispatch.
impl<'h, S, M, G, E> TypedSlot<'h, S, M, G, E>
where
    S: SlotDef + ?Sized,
    M: Kind,
{
    /// Dispatches concurrently; the aggregate converts the outputs into the result, and a chain may
    /// stop after any output.
    pub fn __hooks_dispatch_concurrent_aggregated<'a, C, A, O>(
        &'a self,
        chain: C,
        aggregate: &'a A,
        args: S::Args<'a>,
    ) -> impl Future<Output = O> + MaybeSend + use<'a, 'h, S, M, G, E, C, A, O>
    where
        C: StopCondition<S::Out> + 'a,
        A: PostProcess<Outputs<S::Out>, O>,
    {
        AndThen::new(
            self.run_concurrently(chain, args),
            |outputs| match A::skip(outputs) {
                Ok(result) => Continuation::Done(result),
                Err(outputs) => Continuation::Future(aggregate.post_process(outputs)),
            },
        )
    }

    /// Dispatches concurrently; there is no result.
    pub fn __hooks_dispatch_concurrent<'a>(
        &'a self,
        args: S::Args<'a>,
    ) -> impl Future<Output = ()> + MaybeSend + use<'a, 'h, S, M, G, E>
    where
        S: SlotDef<Out = ()>,
    {
        AndThen::new(self.run_concurrently(NoCompanion, args), |_| {
            Continuation::<(), Never<()>>::Done(())
        })
    }

    fn run_concurrently<'a, C>(
        &'a self,
        chain: C,
        args: S::Args<'a>,
    ) -> impl Future<Output = Outputs<S::Out>> + use<'a, 'h, S, M, G, E, C>
    where
        C: StopCondition<S::Out> + 'a,
    {
        let policy = ConcurrentPolicy::<S, M, C, _, _>::new(args, S::later, chain, C::check);
        self.slot.dispatch(policy)
    }
}

/// Dispatch without a chain.
impl<'h, S, M, E> TypedSlot<'h, S, M, NoCompanion, E>
where
    S: SlotDef + ?Sized,
    M: Kind,
{
    /// Dispatches; the last output is the result.
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
    /// Returns the registrations, in execution order.
    pub fn __hooks_describe(&self) -> SlotDescription {
        let companions = [self.gate.role(), self.end.role()];
        let mut description =
            SlotDescription::new(S::NAME, M::NAME, companions, &self.slot.metas());
        description.concurrent = M::IS_CONCURRENT;
        description
    }
}

impl<S: SlotDef + ?Sized, M, G, E> TypedSlot<'_, S, M, G, E> {
    /// Creates a slot without hooks.
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
    /// Creates a slot without hooks and without companions.
    pub fn without_companions() -> Self {
        TypedSlot::new(NoCompanion, NoCompanion)
    }
}

impl<'h, S: SlotDef + ?Sized, M, C> TypedSlot<'h, S, M, Chained<'h, C, S::Out>> {
    /// Creates a slot without hooks, with the chain that its definition names.
    pub fn with_chain(chain: C) -> Self {
        TypedSlot::new(Companion::new(chain), NoCompanion)
    }
}

impl<S: SlotDef + ?Sized, M, G: Clone, E: Clone> TypedSlot<'_, S, M, G, E> {
    /// Returns a copy, which shares the hooks.
    #[must_use]
    pub fn __hooks_clone(&self) -> Self {
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
