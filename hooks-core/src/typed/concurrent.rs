//! The policy of concurrent slots (`#[hook(…, concurrent)]`): the hooks start one after the other
//! and are then polled together. The default of an `always` slot runs before them.

use std::future::Future;
use std::marker::PhantomData;

use crate::bounds::MaybeSend;
use crate::companion::Outputs;
use crate::dispatch::{Policy, Step};
use crate::entry::EntryMeta;
use crate::hook_future::HookFuture;
use crate::typed::accumulator::Handover;
use crate::typed::kind::Kind;
use crate::typed::policy::supply;
use crate::typed::slot_def::{DynHook, SlotDef};

/// The policy of one dispatch of a concurrent slot. `D` creates the future of a default that may
/// suspend.
pub(crate) struct ConcurrentPolicy<'a, S: SlotDef + ?Sized, M, D> {
    args: Option<S::Args<'a>>,
    later: D,
    hooks: usize,
    default: Option<S::Out>,
    /// The outputs in the order in which the hooks completed, with their place in the slot.
    outputs: Vec<((i32, u64), S::Out)>,
    kind: PhantomData<fn() -> M>,
}

impl<'a, S, M, D, F> ConcurrentPolicy<'a, S, M, D>
where
    S: SlotDef + ?Sized,
    M: Kind,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out> + MaybeSend,
{
    pub(crate) fn new(args: S::Args<'a>, later: D) -> Self {
        ConcurrentPolicy {
            args: Some(args),
            later,
            hooks: 0,
            default: None,
            outputs: Vec::new(),
            kind: PhantomData,
        }
    }

    fn default_args(&mut self) -> S::Args<'a> {
        supply::<S>(&mut self.args, self.hooks == 0)
    }

    fn default_future(&mut self) -> F {
        let args = self.default_args();
        (self.later)(args)
    }
}

impl<'a, 'h, S, M, D, F> Policy<dyn DynHook<S> + 'h> for ConcurrentPolicy<'a, S, M, D>
where
    S: SlotDef + ?Sized,
    M: Kind,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out> + MaybeSend,
{
    type HookOutput = S::Out;
    type Output = Outputs<S::Out>;
    type Future = F;
    const CONCURRENT: bool = true;

    fn slot_name(&self) -> &str {
        S::NAME
    }

    fn admits(&mut self, _: &EntryMeta, hook: &(dyn DynHook<S> + 'h)) -> bool {
        let args = self.args.as_ref();
        args.is_none_or(|args| hook.admits(args))
    }

    fn before_hooks(&mut self, hooks: usize) -> Step<Self, F> {
        self.hooks = hooks;
        self.outputs.reserve(hooks);
        if !M::default_runs_first(hooks) {
            return Step::Next;
        }
        if !S::READY {
            return Step::Wait(Self::default_future);
        }
        let args = self.default_args();
        self.default = Some(S::now(args));
        Step::Next
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
        let args = supply::<S>(&mut self.args, is_final);
        hook.start(args, S::Last::none())
    }

    fn on_output(&mut self, entry: &EntryMeta, output: S::Out) -> Step<Self, F> {
        self.outputs.push((entry.rank(), output));
        Step::Next
    }

    fn on_future_ready(&mut self, output: S::Out) -> Step<Self, F> {
        self.default = Some(output);
        Step::Next
    }

    fn finish(mut self) -> Outputs<S::Out> {
        // The default of a `fallback` slot runs only without hooks.
        match self.default.take() {
            Some(output) if M::FALLS_BACK => return Outputs::Default(output),
            output => self.default = output,
        }
        self.outputs.sort_by_key(|(rank, _)| *rank);
        let outputs = self.outputs.into_iter().map(|(_, output)| output);
        Outputs::All(self.default.into_iter().chain(outputs).collect())
    }
}
