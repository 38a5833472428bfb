//! Custom pipelines: `fallback` slots whose hooks pass a call on, or end the dispatch. An internal
//! extension point, for the hook sets of tools and for slots with the rules of an event.

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::ops::ControlFlow;

use crate::bounds::MaybeSend;
use crate::companion::Role;
use crate::dispatch::{Policy, Step};
use crate::entry::EntryMeta;
use crate::hook_future::HookFuture;
use crate::typed::slot_def::{DynHook, SlotDef};

/// Interprets the outputs of a slot's hooks (`#[hook(fallback, custom = Type)]`). The hooks run in
/// order, each with the call from the hook before. The slot's default gets the call from the last
/// hook.
///
/// This is for hook sets that the framework generates, and for its own pipelines, and may change with
/// them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pipeline for this slot; implement `Pipeline<{Call}, {Out}>` for it",
    label = "does not implement `Pipeline<{Call}, {Out}>`"
)]
pub trait Pipeline<Call, Out> {
    /// Returns `Continue` to pass the call on, `Break` to end the dispatch with this output. The
    /// output of the slot's default is the result, without a call of this function.
    fn next(output: Out) -> ControlFlow<Out, Call>;

    /// Takes the call for the next hook, or for the default. If the pipeline keeps a copy in `call`,
    /// [`advance`](Self::advance) and [`conclude`](Self::conclude) receive the copy.
    #[inline]
    fn lend(call: &mut Option<Call>) -> Option<Call> {
        call.take()
    }

    /// Like [`next`](Self::next), with the call that [`lend`](Self::lend) kept and the registration
    /// of the hook.
    #[inline]
    fn advance(kept: Option<Call>, entry: &EntryMeta, output: Out) -> ControlFlow<Out, Call> {
        let _ = (kept, entry);
        Self::next(output)
    }

    /// Converts the output of the slot's default into the result.
    #[inline]
    fn conclude(kept: Option<Call>, output: Out) -> Out {
        let _ = kept;
        output
    }

    #[doc(hidden)]
    #[inline]
    fn __hooks_custom(custom: &Custom<Self>) -> impl Steps<Call, Out>
    where
        Self: Sized,
    {
        *custom
    }
}

/// Marks a slot with a pipeline; zero-sized.
pub struct Custom<P>(PhantomData<fn() -> P>);

impl<P> Custom<P> {
    /// Creates the pipeline that the slot's definition names.
    #[must_use]
    pub fn new() -> Self {
        Custom(PhantomData)
    }
}

impl<P> Default for Custom<P> {
    fn default() -> Self {
        Custom::new()
    }
}

impl<P> Clone for Custom<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Custom<P> {}

impl<P> fmt::Debug for Custom<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(type_name::<P>())
    }
}

impl<P> Role for Custom<P> {
    fn role(&self) -> Option<(&'static str, &'static str)> {
        Some(("custom", type_name::<P>()))
    }

    // The definition sets the pipeline, so all sets of the type have an equal one.
    fn extend(&mut self, _: Self, _: &'static str) {}
}

/// The pipeline of a dispatch.
pub trait Steps<Call, Out> {
    /// See [`Pipeline::lend`].
    fn lend(call: &mut Option<Call>) -> Option<Call>;
    /// See [`Pipeline::advance`].
    fn advance(kept: Option<Call>, entry: &EntryMeta, output: Out) -> ControlFlow<Out, Call>;
    /// See [`Pipeline::conclude`].
    fn conclude(kept: Option<Call>, output: Out) -> Out;
}

impl<P: Pipeline<Call, Out>, Call, Out> Steps<Call, Out> for Custom<P> {
    #[inline]
    fn lend(call: &mut Option<Call>) -> Option<Call> {
        P::lend(call)
    }

    #[inline]
    fn advance(kept: Option<Call>, entry: &EntryMeta, output: Out) -> ControlFlow<Out, Call> {
        P::advance(kept, entry, output)
    }

    #[inline]
    fn conclude(kept: Option<Call>, output: Out) -> Out {
        P::conclude(kept, output)
    }
}

/// Definition of a slot whose first argument is a call, which is moved from hook to hook, without
/// `Clone`.
pub trait Relay: SlotDef<Last = ()> {
    /// The first argument.
    type Call: MaybeSend;
    /// The other arguments as a tuple, which every hook gets.
    type Context<'a>: MaybeSend;

    /// Splits the arguments.
    fn part<'a>(args: Self::Args<'a>) -> (Self::Call, Self::Context<'a>);
    /// Joins the arguments.
    fn join<'a>(call: Self::Call, context: Self::Context<'a>) -> Self::Args<'a>;
    /// Clones the other arguments for one more hook.
    #[must_use]
    fn context<'a>(context: &Self::Context<'a>) -> Self::Context<'a>;
}

/// Policy of a custom pipeline. `D` creates the future of a default that may suspend.
pub(crate) struct Relayed<'a, S: Relay + ?Sized, C, D> {
    /// `None` while a hook has it, unless the pipeline keeps a copy.
    call: Option<S::Call>,
    /// `None` after the default has it.
    context: Option<S::Context<'a>>,
    later: D,
    output: Option<S::Out>,
    steps: PhantomData<fn() -> C>,
}

impl<'a, S, C, D, F> Relayed<'a, S, C, D>
where
    S: Relay + ?Sized,
    C: Steps<S::Call, S::Out>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out>,
{
    #[inline]
    pub(crate) fn new(args: S::Args<'a>, later: D) -> Self {
        let (call, context) = S::part(args);
        Relayed {
            call: Some(call),
            context: Some(context),
            later,
            output: None,
            steps: PhantomData,
        }
    }

    /// Takes the arguments for the default.
    fn default_args(&mut self) -> S::Args<'a> {
        let call = C::lend(&mut self.call).expect(HANDED_ON);
        let context = self.context.take().expect(HANDED_ON);
        S::join(call, context)
    }

    fn wait_for_default(&mut self) -> F {
        let args = self.default_args();
        (self.later)(args)
    }

    fn conclude(&mut self, output: S::Out) {
        self.output = Some(C::conclude(self.call.take(), output));
    }
}

const HANDED_ON: &str = "a pipeline goes on with a call only";

impl<'a, 'h, S, C, D, F> Policy<dyn DynHook<S> + 'h> for Relayed<'a, S, C, D>
where
    S: Relay + ?Sized,
    C: Steps<S::Call, S::Out>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out>,
{
    type HookOutput = S::Out;
    type Output = S::Out;
    type Future = F;

    fn slot_name(&self) -> &str {
        S::NAME
    }

    fn admits(&mut self, _: &EntryMeta, hook: &(dyn DynHook<S> + 'h)) -> bool {
        let call = self.call.take().expect(HANDED_ON);
        let context = self.context.take().expect(HANDED_ON);
        let args = S::join(call, context);
        let is_admitted = hook.admits(&args);
        let (call, context) = S::part(args);
        (self.call, self.context) = (Some(call), Some(context));
        is_admitted
    }

    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn DynHook<S> + 'h),
        _is_final: bool,
    ) -> HookFuture<'b, S::Out>
    where
        Self: 'b,
    {
        let call = C::lend(&mut self.call).expect(HANDED_ON);
        let context = S::context(self.context.as_ref().expect(HANDED_ON));
        hook.start(S::join(call, context), ())
    }

    fn on_output(&mut self, entry: &EntryMeta, output: S::Out) -> Step<Self, Self::Future> {
        match C::advance(self.call.take(), entry, output) {
            ControlFlow::Continue(call) => {
                self.call = Some(call);
                Step::Next
            }
            ControlFlow::Break(output) => {
                self.output = Some(output);
                Step::Stop
            }
        }
    }

    fn after_hooks(&mut self) -> Step<Self, Self::Future> {
        if !S::READY {
            return Step::Wait(Self::wait_for_default);
        }
        let args = self.default_args();
        self.conclude(S::now(args));
        Step::Stop
    }

    fn on_future_ready(&mut self, output: S::Out) -> Step<Self, Self::Future> {
        self.conclude(output);
        Step::Stop
    }

    fn finish(self) -> S::Out {
        self.output.expect("a pipeline ends with an output")
    }
}
