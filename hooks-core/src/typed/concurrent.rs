//! The policy of concurrent slots (`#[hook(…, concurrent)]`): the hooks start one after the other
//! and are then polled together. The default of an `always` slot runs before them. A chain checks
//! each output when its hook completes.

use std::future::Future;
use std::marker::PhantomData;
use std::ops::ControlFlow;

use crate::bounds::MaybeSend;
use crate::companion::StopCondition;
use crate::dispatch::{Policy, Step};
use crate::entry::EntryMeta;
use crate::hook_future::HookFuture;
use crate::typed::accumulator::{Accumulator, Handover};
use crate::typed::exchange::{Exchange, Given};
use crate::typed::policy::{SlotFuture, SlotFutureOutput, into_step};
use crate::typed::rule::Rule;
use crate::typed::slot_def::{DynHook, SlotDef};

/// The policy of one dispatch of a concurrent slot. `later` and `check` create futures, as in
/// [`SlotPolicy`](super::policy::SlotPolicy).
pub(crate) struct ConcurrentPolicy<'a, S: SlotDef + ?Sized, R, G, V, K, D> {
    args: Option<S::Args<'a>>,
    later: D,
    stop_condition: G,
    check: V,
    hooks: usize,
    /// The outputs in the order in which the hooks completed.
    outputs: Vec<(Place, S::Out)>,
    /// The place of the output that a future checks.
    checked: Place,
    rule: PhantomData<fn() -> (R, K)>,
}

/// The place of an output among the outputs: the rank of the hook, or `None` for the default, which
/// is the first.
type Place = Option<(i32, u64)>;

impl<'a, S, R, G, V, C, K, D, F> ConcurrentPolicy<'a, S, R, G, V, K, D>
where
    S: SlotDef + ?Sized,
    R: Rule,
    G: StopCondition<S::Out>,
    V: Fn(G, S::Out) -> C,
    K: Accumulator<S::Out>,
    C: Future<Output = (S::Out, ControlFlow<()>)>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out> + MaybeSend,
{
    pub(crate) fn new(args: S::Args<'a>, later: D, stop_condition: G, check: V) -> Self {
        ConcurrentPolicy {
            args: Some(args),
            later,
            stop_condition,
            check,
            hooks: 0,
            outputs: Vec::new(),
            checked: None,
            rule: PhantomData,
        }
    }

    fn default_args(&mut self) -> S::Args<'a> {
        <Given as Exchange<'a, S>>::supply(&mut self.args, self.hooks == 0)
    }

    fn default_future(&mut self) -> SlotFuture<F, C> {
        let args = self.default_args();
        SlotFuture::Default {
            future: (self.later)(args),
        }
    }

    fn on_default_output(&mut self, output: S::Out) -> Step<Self, SlotFuture<F, C>> {
        if self.hooks == 0 {
            self.outputs.push((None, output));
            return Step::Next;
        }
        self.check_output(None, output)
    }

    /// Checks an output and stores it.
    fn check_output(&mut self, place: Place, output: S::Out) -> Step<Self, SlotFuture<F, C>> {
        let (output, flow) = match self.stop_condition.check_now(&output) {
            Some(flow) => (output, Some(flow)),
            None => self.stop_condition.check_override(output),
        };
        self.outputs.push((place, output));
        match flow {
            Some(flow) => into_step(flow),
            None => Step::Wait(Self::check_future),
        }
    }

    fn check_future(&mut self) -> SlotFuture<F, C> {
        let stored = self.outputs.pop();
        let (place, output) = stored.expect("an output is stored before it is checked");
        self.checked = place;
        SlotFuture::Check {
            future: (self.check)(self.stop_condition, output),
        }
    }
}

impl<'a, 'h, S, R, G, V, C, K, D, F> Policy<dyn DynHook<S> + 'h>
    for ConcurrentPolicy<'a, S, R, G, V, K, D>
where
    S: SlotDef + ?Sized,
    R: Rule,
    G: StopCondition<S::Out>,
    V: Fn(G, S::Out) -> C,
    K: Accumulator<S::Out>,
    C: Future<Output = (S::Out, ControlFlow<()>)>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out> + MaybeSend,
{
    type HookOutput = S::Out;
    type Output = K::Output;
    type Future = SlotFuture<F, C>;
    const CONCURRENT: bool = true;

    fn slot_name(&self) -> &str {
        S::NAME
    }

    fn admits(&mut self, _: &EntryMeta, hook: &(dyn DynHook<S> + 'h)) -> bool {
        let args = self.args.as_ref();
        args.is_none_or(|args| hook.admits(args))
    }

    fn before_hooks(&mut self, hooks: usize) -> Step<Self, Self::Future> {
        self.hooks = hooks;
        let default_runs_first = R::default_runs_first(hooks);
        self.outputs
            .reserve(hooks + usize::from(default_runs_first));
        if !default_runs_first {
            return Step::Next;
        }
        if !S::READY {
            return Step::Wait(Self::default_future);
        }
        let args = self.default_args();
        self.on_default_output(S::now(args))
    }

    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn DynHook<S> + 'h),
        is_final: bool,
    ) -> HookFuture<'b, S::Out>
    where
        Self: 'b,
    {
        let args = <Given as Exchange<'a, S>>::supply(&mut self.args, is_final);
        hook.start(args, S::Last::none())
    }

    fn on_output(&mut self, entry: &EntryMeta, output: S::Out) -> Step<Self, Self::Future> {
        self.check_output(Some(entry.rank()), output)
    }

    fn on_future_ready(
        &mut self,
        output: SlotFutureOutput<S::Out, S::Out>,
    ) -> Step<Self, Self::Future> {
        match output {
            SlotFutureOutput::Default(output) => self.on_default_output(output),
            SlotFutureOutput::Checked(output, flow) => {
                self.outputs.push((self.checked, output));
                into_step(flow)
            }
        }
    }

    fn finish(mut self) -> K::Output {
        let mut accumulator = K::new();
        if R::FALLS_BACK && self.hooks == 0 {
            if let Some((_, output)) = self.outputs.pop() {
                accumulator.set_default(output);
            }
        } else {
            self.outputs.sort_by_key(|(place, _)| *place);
            accumulator.set_all(self.outputs.into_iter().map(|(_, output)| output));
        }
        accumulator.finish()
    }
}
