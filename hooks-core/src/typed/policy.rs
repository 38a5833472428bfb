//! The policy of slots whose hooks run one after the other: the table of their kinds.
//!
//! | Kind | Before the hooks | Each hook | After the hooks, unless a chain stopped the dispatch |
//! |---|---|---|---|
//! | always | the default | receives `last`, or the chain checks its output | |
//! | fallback | the default, if there is no hook | as above | the default, with a chain and without an aggregate |
//! | singleton | the default, if there is no hook | the only hook | |
//!
//! The accumulator ([`Accumulator`]), the chain ([`StopCondition`]) and the way in which hooks get the
//! arguments (`Exchange`) are type parameters.
//! Aggregates and finalizers process the outputs, outside this policy.

use std::future::Future;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::companion::StopCondition;
use crate::dispatch::{Policy, Step};
use crate::entry::EntryMeta;
use crate::hook_future::HookFuture;
use crate::typed::accumulator::{Accumulator, Handover};
use crate::typed::exchange::Exchange;
use crate::typed::rule::Rule;
use crate::typed::slot_def::{DynHook, SlotDef};

/// The policy of one dispatch of a slot whose hooks run one after the other.
///
/// `later` creates the future of a default that may wait, `check` the future in which the stop
/// condition checks an output: functions, because the types of these futures have no names.
///
/// The methods are `#[inline(always)]`, so that the policy stays in registers: `chain/1` −10 %,
/// `own_chain/1` −15 %, `aggregate/0` −17 %, `owned_closure/4` −7 % instructions.
pub(crate) struct SlotPolicy<'a, S: SlotDef + ?Sized, X, R, G, V, K, D> {
    args: Option<S::Args<'a>>,
    later: D,
    stop_condition: G,
    check: V,
    accumulator: K,
    hooks: usize,
    rule: PhantomData<fn() -> (X, R)>,
}

impl<'a, S, X, R, G, V, C, K, D, F> SlotPolicy<'a, S, X, R, G, V, K, D>
where
    S: SlotDef + ?Sized,
    X: Exchange<'a, S>,
    R: Rule,
    G: StopCondition<S::Out>,
    V: Fn(G, S::Out) -> C,
    K: Accumulator<S::Out>,
    C: Future<Output = (S::Out, ControlFlow<()>)>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = X::Returned>,
{
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(args: S::Args<'a>, later: D, stop_condition: G, check: V) -> Self {
        SlotPolicy {
            args: Some(args),
            later,
            stop_condition,
            check,
            accumulator: K::new(),
            hooks: 0,
            rule: PhantomData,
        }
    }

    /// `true` if the default runs after the hooks.
    const DEFAULT_RUNS_LAST: bool = R::FALLS_BACK && G::IS_PRESENT && !K::STORES_ALL;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_default(&mut self) -> Step<Self, SlotFuture<F, C>> {
        if !S::READY {
            return Step::Wait(Self::default_future);
        }
        let is_last_call = self.default_is_last_call();
        let output = X::default_now(&mut self.args, is_last_call);
        self.on_default_output(output)
    }

    fn default_future(&mut self) -> SlotFuture<F, C> {
        let is_last_call = self.default_is_last_call();
        let args = X::supply(&mut self.args, is_last_call);
        SlotFuture::Default {
            future: (self.later)(args),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn default_is_last_call(&self) -> bool {
        self.hooks == 0 || Self::DEFAULT_RUNS_LAST
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn on_default_output(&mut self, output: S::Out) -> Step<Self, SlotFuture<F, C>> {
        // No hook follows that the chain could stop.
        if R::FALLS_BACK {
            self.accumulator.set_default(output);
            return Step::Stop;
        }
        if self.hooks == 0 {
            self.accumulator.set_only(output);
            return Step::Stop;
        }
        self.check_output(output)
    }

    /// Checks an output and stores it. Returns `Stop` if the stop condition breaks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn check_output(&mut self, output: S::Out) -> Step<Self, SlotFuture<F, C>> {
        if !G::IS_IMMEDIATE {
            self.accumulator.push(output);
            return Step::Wait(Self::check_future);
        }
        if let Some(flow) = self.stop_condition.check_now(&output) {
            self.accumulator.push(output);
            return into_step(flow);
        }
        let (output, flow) = self.stop_condition.check_override(output);
        self.accumulator.push(output);
        match flow {
            Some(flow) => into_step(flow),
            None => Step::Wait(Self::check_future),
        }
    }

    fn check_future(&mut self) -> SlotFuture<F, C> {
        let output = self.accumulator.take_last();
        let output = output.expect("an output is stored before it is checked");
        SlotFuture::Check {
            future: (self.check)(self.stop_condition, output),
        }
    }
}

#[inline]
pub(super) fn into_step<C, W>(flow: ControlFlow<()>) -> Step<C, W> {
    match flow {
        ControlFlow::Continue(()) => Step::Next,
        ControlFlow::Break(()) => Step::Stop,
    }
}

impl<'a, 'h, S, X, R, G, V, C, K, D, F> Policy<dyn DynHook<S> + 'h>
    for SlotPolicy<'a, S, X, R, G, V, K, D>
where
    S: SlotDef + ?Sized,
    X: Exchange<'a, S>,
    R: Rule,
    G: StopCondition<S::Out>,
    V: Fn(G, S::Out) -> C,
    K: Accumulator<S::Out>,
    C: Future<Output = (S::Out, ControlFlow<()>)>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = X::Returned>,
{
    type HookOutput = X::Returned;
    type Output = K::Output;
    type Future = SlotFuture<F, C>;
    const __POLL_FUTURE_INLINE: bool = !G::IS_IMMEDIATE || !S::READY;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn slot_name(&self) -> &str {
        S::NAME
    }

    fn admits(&mut self, _: &EntryMeta, hook: &(dyn DynHook<S> + 'h)) -> bool {
        let args = self.args.as_ref();
        args.is_none_or(|args| hook.admits(args))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn before_hooks(&mut self, hooks: usize) -> Step<Self, Self::Future> {
        self.hooks = hooks;
        let default_runs_first = R::default_runs_first(hooks);
        if hooks > 0 {
            self.accumulator
                .reserve(hooks + usize::from(default_runs_first));
        }
        if default_runs_first {
            self.run_default()
        } else {
            Step::Next
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn DynHook<S> + 'h),
        is_final: bool,
    ) -> HookFuture<'b, X::Returned>
    where
        Self: 'b,
    {
        let args = X::supply(&mut self.args, is_final && !Self::DEFAULT_RUNS_LAST);
        X::start(hook, args, S::Last::hand_over(&mut self.accumulator))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn on_output(&mut self, _: &EntryMeta, returned: X::Returned) -> Step<Self, Self::Future> {
        let output = X::output(&mut self.args, returned);
        self.check_output(output)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn after_hooks(&mut self) -> Step<Self, Self::Future> {
        if Self::DEFAULT_RUNS_LAST {
            self.run_default()
        } else {
            Step::Stop
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn on_future_ready(
        &mut self,
        output: SlotFutureOutput<X::Returned, S::Out>,
    ) -> Step<Self, Self::Future> {
        match output {
            SlotFutureOutput::Default(returned) => {
                let output = X::output(&mut self.args, returned);
                self.on_default_output(output)
            }
            SlotFutureOutput::Checked(output, flow) => {
                self.accumulator.push(output);
                into_step(flow)
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(self) -> K::Output {
        self.accumulator.finish()
    }
}

pin_project! {
    /// The future of a [`SlotPolicy`].
    #[project = Projected]
    pub(crate) enum SlotFuture<A, B> {
        Default { #[pin] future: A },
        Check { #[pin] future: B },
    }
}

/// The output of a [`SlotFuture`].
pub(crate) enum SlotFutureOutput<R, T> {
    /// The value that the default returned.
    Default(R),
    /// The output that was checked, and whether the dispatch stops.
    Checked(T, ControlFlow<()>),
}

impl<T, A, B> Future for SlotFuture<A, B>
where
    A: Future,
    B: Future<Output = (T, ControlFlow<()>)>,
{
    type Output = SlotFutureOutput<A::Output, T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            Projected::Default { future } => future.poll(cx).map(SlotFutureOutput::Default),
            Projected::Check { future } => future
                .poll(cx)
                .map(|(output, flow)| SlotFutureOutput::Checked(output, flow)),
        }
    }
}
