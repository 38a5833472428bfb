//! The dispatch table of typed slots (`REQUIREMENTS` §4.3) as one policy.
//!
//! | Kind | before the hooks | each hook | after the hooks, if none stopped |
//! |---|---|---|---|
//! | always | the default | given `last`, or looked at by the chain | |
//! | fallback | the default, only without hooks | the same | the default, with a chain and without an aggregate |
//! | singleton | the default, only without a hook | the one hook | |
//!
//! What is kept ([`Keep`]), who may stop the dispatch ([`Gate`]) and how the default is
//! called ([`Default`]) are parameters; aggregate and finalize work on the outcome,
//! outside this policy.

use std::future::Future;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::companion::Gate;
use crate::dispatch::{Combine, Step};
use crate::entry::EntryMeta;
use crate::room::Room;
use crate::typed::keep::Keep;
use crate::typed::kind::Supply;
use crate::typed::signature::{Default, Object, Signature};

/// One dispatch of a typed slot. `V` makes the future in which the gate `G` looks at an
/// output: a function, because the future's type has no name.
pub(crate) struct Typed<'a, S: Signature + ?Sized, M, G, V, K, D> {
    args: Option<S::Args<'a>>,
    default: D,
    gate: &'a G,
    review: V,
    kept: K,
    hooks: usize,
    kind: PhantomData<fn() -> M>,
}

impl<'a, S, M, G, V, R, K, D> Typed<'a, S, M, G, V, K, D>
where
    S: Signature + ?Sized,
    M: Supply<S>,
    G: Gate<S::Out>,
    V: Fn(&'a G, S::Out) -> R,
    R: Future<Output = (S::Out, ControlFlow<()>)>,
    K: Keep<S::Out>,
    D: Default<S::Args<'a>, Out = S::Out>,
{
    #[inline]
    pub(crate) fn new(
        args: S::Args<'a>,
        default: D,
        gate: &'a G,
        review: V,
        outputs: usize,
    ) -> Self {
        Typed {
            args: Some(args),
            default,
            gate,
            review,
            kept: K::with_capacity(outputs),
            hooks: 0,
            kind: PhantomData,
        }
    }

    /// Whether the default stands in where every hook went on.
    const FALLS_BACK: bool = M::FALLS_BACK && G::CHECKS && !K::COLLECTS;

    #[inline]
    fn run_default(
        &mut self,
        last: bool,
        room: &mut Room<'_, S::Out>,
    ) -> Step<Waiting<D::Wait, R>> {
        let args = M::supply(&mut self.args, last);
        match self.default.call(args) {
            Ok(output) => self.absorb_default(output, room),
            Err(future) => Step::Wait(Waiting::Default { future }),
        }
    }

    #[inline]
    fn absorb_default(
        &mut self,
        output: S::Out,
        room: &mut Room<'_, S::Out>,
    ) -> Step<Waiting<D::Wait, R>> {
        let _ = room.put(output);
        // Without hooks, or behind them, nothing follows that a chain could stop.
        if self.hooks == 0 || Self::FALLS_BACK {
            self.kept.keep(room);
            return Step::Stop;
        }
        self.review(room)
    }

    /// Keeps the output that is in the room, if need be after the chain has looked at it.
    #[inline]
    fn review(&mut self, room: &mut Room<'_, S::Out>) -> Step<Waiting<D::Wait, R>> {
        if !G::CHECKS {
            return self.keep(ControlFlow::Continue(()), room);
        }
        let output = room.output().expect(LEFT);
        if let Some(flow) = self.gate.check_now(output) {
            return self.keep(flow, room);
        }
        let output = room.take().expect(LEFT);
        Step::Wait(Waiting::Review {
            future: (self.review)(self.gate, output),
        })
    }

    #[inline]
    fn keep(
        &mut self,
        flow: ControlFlow<()>,
        room: &mut Room<'_, S::Out>,
    ) -> Step<Waiting<D::Wait, R>> {
        self.kept.keep(room);
        match flow {
            ControlFlow::Continue(()) => Step::Next,
            ControlFlow::Break(()) => Step::Stop,
        }
    }
}

const LEFT: &str = "a hook that is ready has left its answer in the room";

impl<'a, 'h, S, M, G, V, R, K, D> Combine<dyn Object<S> + 'h> for Typed<'a, S, M, G, V, K, D>
where
    S: Signature + ?Sized,
    M: Supply<S>,
    G: Gate<S::Out>,
    V: Fn(&'a G, S::Out) -> R,
    R: Future<Output = (S::Out, ControlFlow<()>)>,
    K: Keep<S::Out>,
    D: Default<S::Args<'a>, Out = S::Out>,
{
    type Yield = S::Out;
    type Outcome = K::Outcome;
    type Wait = Waiting<D::Wait, R>;

    #[inline]
    fn slot_name(&self) -> &'static str {
        S::NAME
    }

    #[inline]
    fn open(&mut self, hooks: usize, room: &mut Room<'_, S::Out>) -> Step<Self::Wait> {
        self.hooks = hooks;
        if M::leads(hooks) {
            self.run_default(hooks == 0, room)
        } else {
            Step::Next
        }
    }

    #[inline]
    fn invoke<'b>(
        &mut self,
        hook: &'b (dyn Object<S> + 'h),
        last: bool,
        room: &mut Room<'b, S::Out>,
    ) -> Poll<()>
    where
        Self: 'b,
    {
        hook.start(M::supply(&mut self.args, last && !Self::FALLS_BACK), room)
    }

    #[inline]
    fn absorb(&mut self, _: &EntryMeta, room: &mut Room<'_, S::Out>) -> Step<Self::Wait> {
        self.review(room)
    }

    #[inline]
    fn close(&mut self, room: &mut Room<'_, S::Out>) -> Step<Self::Wait> {
        if Self::FALLS_BACK {
            self.run_default(true, room)
        } else {
            Step::Stop
        }
    }

    #[inline]
    fn waited(&mut self, answer: Waited<S::Out>, room: &mut Room<'_, S::Out>) -> Step<Self::Wait> {
        match answer {
            Waited::Default(output) => self.absorb_default(output, room),
            Waited::Review(output, flow) => {
                let _ = room.put(output);
                self.keep(flow, room)
            }
        }
    }

    #[inline]
    fn finish(&mut self, room: &mut Room<'_, S::Out>) -> K::Outcome {
        self.kept.finish(M::FALLS_BACK && self.hooks == 0, room)
    }

    #[inline]
    fn alone(&mut self, _: &mut Room<'_, S::Out>) -> Result<K::Outcome, Self::Wait> {
        let args = M::supply(&mut self.args, true);
        match self.default.call(args) {
            Ok(output) => Ok(K::alone(output, M::FALLS_BACK)),
            Err(future) => Err(Waiting::Default { future }),
        }
    }
}

pin_project! {
    /// What a typed dispatch waits for besides its hooks.
    #[project = Projected]
    pub(crate) enum Waiting<A, B> {
        Default { #[pin] future: A },
        Review { #[pin] future: B },
    }
}

/// What came of it.
pub(crate) enum Waited<T> {
    Default(T),
    Review(T, ControlFlow<()>),
}

impl<T, A, B> Future for Waiting<A, B>
where
    A: Future<Output = T>,
    B: Future<Output = (T, ControlFlow<()>)>,
{
    type Output = Waited<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Waited<T>> {
        match self.project() {
            Projected::Default { future } => future.poll(cx).map(Waited::Default),
            Projected::Review { future } => future
                .poll(cx)
                .map(|(output, flow)| Waited::Review(output, flow)),
        }
    }
}
