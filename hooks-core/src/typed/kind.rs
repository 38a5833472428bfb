//! The kinds of slot without a pipeline: a rule, with hooks that run one after the other or
//! concurrently.

use std::future::Future;
use std::marker::PhantomData;

use crate::bounds::MaybeSend;
use crate::companion::StopCondition;
use crate::hook_future::now;
use crate::slot::Slot;
use crate::typed::accumulator::Accumulator;
use crate::typed::concurrent::ConcurrentPolicy;
use crate::typed::exchange::{Given, Lent};
use crate::typed::mode::{AsyncMode, SyncMode};
use crate::typed::policy::SlotPolicy;
use crate::typed::rule::Rule;
use crate::typed::slot_def::{AsyncKind, AsyncSlot, DynHook, Kind, Lend, SlotDef, SyncKind};

/// The rule `R`, with hooks that run one after the other.
#[derive(Debug)]
pub struct Sequential<R>(PhantomData<R>);

/// The rule `R`, with hooks that run one after the other and get the same `&mut` arguments.
#[derive(Debug)]
pub struct Lending<R>(PhantomData<R>);

/// The rule `R`, with hooks that run concurrently.
#[derive(Debug)]
pub struct Concurrent<R>(PhantomData<R>);

/// The kind `K`, with hooks that are functions.
#[derive(Debug)]
pub struct Synchronous<K>(PhantomData<K>);

impl<S: SlotDef + ?Sized, R: Rule> Kind<S> for Sequential<R> {
    type Rule = R;
    type Mode = AsyncMode;
}

impl<S: AsyncSlot + ?Sized, R: Rule> AsyncKind<S> for Sequential<R> {
    #[inline]
    fn dispatch<'a, K, G>(
        hooks: &'a Slot<dyn DynHook<S> + '_>,
        args: S::Args<'a>,
        stop_condition: G,
    ) -> impl Future<Output = K::Output> + MaybeSend
    where
        K: Accumulator<S::Out> + MaybeSend + 'a,
        G: StopCondition<S::Out> + 'a,
    {
        let policy =
            SlotPolicy::<S, Given, R, G, _, K, _>::new(args, S::later, stop_condition, G::check);
        hooks.dispatch(policy)
    }
}

impl<S: Lend + ?Sized, R: Rule> Kind<S> for Lending<R> {
    type Rule = R;
    type Mode = AsyncMode;
}

impl<S: AsyncSlot + Lend + ?Sized, R: Rule> AsyncKind<S> for Lending<R> {
    #[inline]
    fn dispatch<'a, K, G>(
        hooks: &'a Slot<dyn DynHook<S> + '_>,
        args: S::Args<'a>,
        stop_condition: G,
    ) -> impl Future<Output = K::Output> + MaybeSend
    where
        K: Accumulator<S::Out> + MaybeSend + 'a,
        G: StopCondition<S::Out> + 'a,
    {
        let policy = SlotPolicy::<S, Lent<AsyncMode>, R, G, _, K, _>::new(
            args,
            S::later_lent,
            stop_condition,
            G::check,
        );
        hooks.dispatch(policy)
    }
}

impl<S: SlotDef + ?Sized, R: Rule> Kind<S> for Concurrent<R> {
    type Rule = R;
    type Mode = AsyncMode;
    const IS_CONCURRENT: bool = true;
}

impl<S: AsyncSlot + ?Sized, R: Rule> AsyncKind<S> for Concurrent<R> {
    #[inline]
    fn dispatch<'a, K, G>(
        hooks: &'a Slot<dyn DynHook<S> + '_>,
        args: S::Args<'a>,
        stop_condition: G,
    ) -> impl Future<Output = K::Output> + MaybeSend
    where
        K: Accumulator<S::Out> + MaybeSend + 'a,
        G: StopCondition<S::Out> + 'a,
    {
        let policy =
            ConcurrentPolicy::<S, R, G, _, K, _>::new(args, S::later, stop_condition, G::check);
        hooks.dispatch(policy)
    }
}

impl<S: SlotDef + ?Sized, Of: Kind<S>> Kind<S> for Synchronous<Of> {
    type Rule = Of::Rule;
    type Mode = SyncMode;

    fn pipeline() -> Option<(&'static str, &'static str)> {
        Of::pipeline()
    }
}

impl<S: SlotDef + ?Sized, R: Rule> SyncKind<S> for Synchronous<Sequential<R>> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn dispatch_now<'a, K, G>(
        hooks: &'a Slot<dyn DynHook<S> + '_>,
        args: S::Args<'a>,
        stop_condition: G,
    ) -> K::Output
    where
        K: Accumulator<S::Out>,
        G: StopCondition<S::Out> + 'a,
    {
        let policy =
            SlotPolicy::<S, Given, R, G, _, K, _>::new(args, S::later, stop_condition, G::check);
        now(hooks.dispatch(policy))
    }
}

impl<S: Lend + ?Sized, R: Rule> SyncKind<S> for Synchronous<Lending<R>> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn dispatch_now<'a, K, G>(
        hooks: &'a Slot<dyn DynHook<S> + '_>,
        args: S::Args<'a>,
        stop_condition: G,
    ) -> K::Output
    where
        K: Accumulator<S::Out>,
        G: StopCondition<S::Out> + 'a,
    {
        let policy = SlotPolicy::<S, Lent<SyncMode>, R, G, _, K, _>::new(
            args,
            S::later_lent,
            stop_condition,
            G::check,
        );
        now(hooks.dispatch(policy))
    }
}
