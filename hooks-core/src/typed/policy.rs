//! The dispatch table of the kinds of slot as one policy.
//!
//! | Kind | before the hooks | each hook | after the hooks, if none stopped |
//! |---|---|---|---|
//! | always | the default | given `last`, or looked at by the chain | |
//! | fallback | the default, only without hooks | the same | the default, with a chain and without an aggregate |
//! | singleton | the default, only without a hook | the one hook | |
//!
//! What is kept ([`Keep`]) and who may stop the dispatch ([`Gate`]) are parameters; aggregate
//! and finalize work on the outcome, outside this policy.

use std::future::Future;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::bounds::MaybeSend;
use crate::companion::Gate;
use crate::dispatch::{Policy, Step};
use crate::entry::EntryMeta;
use crate::hook_future::HookFuture;
use crate::typed::keep::{Handover, Keep};
use crate::typed::kind::Kind;
use crate::typed::slot_def::{DynHook, SlotDef};

/// One dispatch of a typed slot. `D` makes the future of a default that may wait, and `V` the one
/// in which the gate `G` looks at an output: functions, because the futures' types have no names.
pub(crate) struct Typed<'a, S: SlotDef + ?Sized, M, G, V, K, D> {
    args: Option<S::Args<'a>>,
    later: D,
    gate: G,
    review: V,
    kept: K,
    hooks: usize,
    kind: PhantomData<fn() -> M>,
}

impl<'a, S, M, G, V, R, K, D, F> Typed<'a, S, M, G, V, K, D>
where
    S: SlotDef + ?Sized,
    M: Kind,
    G: Gate<S::Out>,
    V: Fn(G, S::Out) -> R,
    R: Future<Output = (S::Out, ControlFlow<()>)>,
    K: Keep<S::Out>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out> + MaybeSend,
{
    #[inline(always)]
    pub(crate) fn new(args: S::Args<'a>, later: D, gate: G, review: V) -> Self {
        Typed {
            args: Some(args),
            later,
            gate,
            review,
            kept: K::new(),
            hooks: 0,
            kind: PhantomData,
        }
    }

    /// Whether the default stands in where every hook went on.
    const FALLS_BACK: bool = M::FALLS_BACK && G::CHECKS && !K::COLLECTS;

    #[inline(always)]
    fn run_default(&mut self) -> Step<Self, Waiting<F, R>> {
        if !S::READY {
            return Step::Wait(Self::wait_for_default);
        }
        let args = self.default_args();
        self.absorb_default(S::now(args))
    }

    fn wait_for_default(&mut self) -> Waiting<F, R> {
        let args = self.default_args();
        Waiting::Default {
            future: (self.later)(args),
        }
    }

    /// The default gets what is left where no hook gets anything afterwards.
    #[inline(always)]
    fn default_args(&mut self) -> S::Args<'a> {
        supply::<S>(&mut self.args, self.hooks == 0 || Self::FALLS_BACK)
    }

    #[inline(always)]
    fn absorb_default(&mut self, output: S::Out) -> Step<Self, Waiting<F, R>> {
        // Without hooks, or behind them, nothing follows that a chain could stop.
        if M::FALLS_BACK {
            self.kept.keep_default(output);
            return Step::Stop;
        }
        if self.hooks == 0 {
            self.kept.keep(output);
            return Step::Stop;
        }
        self.review(output)
    }

    /// Keeps an output, and goes on unless the chain stops the dispatch with it.
    #[inline(always)]
    fn review(&mut self, output: S::Out) -> Step<Self, Waiting<F, R>> {
        if !G::AT_ONCE {
            self.kept.keep(output);
            return Step::Wait(Self::wait_for_review);
        }
        if let Some(flow) = self.gate.check_now(&output) {
            self.kept.keep(output);
            return next(flow);
        }
        let (output, flow) = self.gate.check_replaced(output);
        self.kept.keep(output);
        match flow {
            Some(flow) => next(flow),
            None => Step::Wait(Self::wait_for_review),
        }
    }

    fn wait_for_review(&mut self) -> Waiting<F, R> {
        let output = self.kept.take_latest().expect("an output is kept first");
        Waiting::Review {
            future: (self.review)(self.gate, output),
        }
    }
}

/// The arguments for one call; `last` says that nobody needs them afterwards.
#[inline(always)]
fn supply<'a, S: SlotDef + ?Sized>(args: &mut Option<S::Args<'a>>, last: bool) -> S::Args<'a> {
    const TAKEN: &str = "only the last call of a dispatch takes its arguments away";
    if last && !S::REFERENCES {
        args.take().expect(TAKEN)
    } else {
        S::clone_args(args.as_ref().expect(TAKEN))
    }
}

#[inline]
fn next<C, W>(flow: ControlFlow<()>) -> Step<C, W> {
    match flow {
        ControlFlow::Continue(()) => Step::Next,
        ControlFlow::Break(()) => Step::Stop,
    }
}

impl<'a, 'h, S, M, G, V, R, K, D, F> Policy<dyn DynHook<S> + 'h> for Typed<'a, S, M, G, V, K, D>
where
    S: SlotDef + ?Sized,
    M: Kind,
    G: Gate<S::Out>,
    V: Fn(G, S::Out) -> R,
    R: Future<Output = (S::Out, ControlFlow<()>)>,
    K: Keep<S::Out>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out> + MaybeSend,
{
    type HookOutput = S::Out;
    type Output = K::Output;
    type Future = Waiting<F, R>;
    const BRIEF: bool = !G::AT_ONCE || !S::READY;

    #[inline(always)]
    fn slot_name(&self) -> &str {
        S::NAME
    }

    #[inline(always)]
    fn before_hooks(&mut self, hooks: usize) -> Step<Self, Self::Future> {
        self.hooks = hooks;
        let leads = M::leads(hooks);
        if hooks > 0 || !M::FALLS_BACK {
            self.kept.reserve(hooks + usize::from(leads));
        }
        if leads {
            self.run_default()
        } else {
            Step::Next
        }
    }

    #[inline(always)]
    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn DynHook<S> + 'h),
        last: bool,
    ) -> HookFuture<'b, S::Out>
    where
        Self: 'b,
    {
        let args = supply::<S>(&mut self.args, last && !Self::FALLS_BACK);
        hook.start(args, S::Last::hand_over(&mut self.kept))
    }

    #[inline(always)]
    fn on_output(&mut self, _: &EntryMeta, output: S::Out) -> Step<Self, Self::Future> {
        self.review(output)
    }

    #[inline(always)]
    fn after_hooks(&mut self) -> Step<Self, Self::Future> {
        if Self::FALLS_BACK {
            self.run_default()
        } else {
            Step::Stop
        }
    }

    #[inline(always)]
    fn on_future_ready(&mut self, answer: Waited<S::Out>) -> Step<Self, Self::Future> {
        match answer {
            Waited::Default(output) => self.absorb_default(output),
            Waited::Review(output, flow) => {
                self.kept.keep(output);
                next(flow)
            }
        }
    }

    #[inline(always)]
    fn finish(self) -> K::Output {
        self.kept.finish()
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

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Waited<T>> {
        match self.project() {
            Projected::Default { future } => future.poll(cx).map(Waited::Default),
            Projected::Review { future } => future
                .poll(cx)
                .map(|(output, flow)| Waited::Review(output, flow)),
        }
    }
}
