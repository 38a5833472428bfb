//! Slots whose hooks pass a call on, or end the dispatch: `waterfall` slots, and custom pipelines on
//! `fallback` slots. Custom pipelines are an internal extension point, for the hook sets of tools and for
//! slots with the rules of an event.

use std::any::type_name;
use std::future::Future;
use std::marker::PhantomData;
use std::ops::ControlFlow;

use crate::bounds::MaybeSend;
use crate::companion::StopCondition;
use crate::dispatch::{Policy, Step};
use crate::entry::EntryMeta;
use crate::hook_future::{HookFuture, now};
use crate::slot::Slot;
use crate::typed::accumulator::Accumulator;
use crate::typed::kind::Synchronous;
use crate::typed::mode::AsyncMode;
use crate::typed::rule::{Fallback, Rule};
use crate::typed::slot_def::{AsyncKind, AsyncSlot, DynHook, Kind, SlotDef, SyncKind};

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
    fn __hooks_steps() -> impl Steps<Call, Out>
    where
        Self: Sized,
    {
        StepsOf::<Self>(PhantomData)
    }
}

/// The kind of a slot with a pipeline. It does not name the pipeline, which may be less public than the
/// slot.
#[derive(Debug)]
pub enum Custom {}

/// The [`Pipeline`] `P` as [`Steps`].
struct StepsOf<P>(PhantomData<fn() -> P>);

/// The pipeline of a dispatch.
pub trait Steps<Call, Out> {
    /// Returns the full name of the pipeline's type.
    fn name(&self) -> &'static str;
    /// See [`Pipeline::lend`].
    fn lend(call: &mut Option<Call>) -> Option<Call>;
    /// See [`Pipeline::advance`].
    fn advance(kept: Option<Call>, entry: &EntryMeta, output: Out) -> ControlFlow<Out, Call>;
    /// See [`Pipeline::conclude`].
    fn conclude(kept: Option<Call>, output: Out) -> Out;
}

impl<P: Pipeline<Call, Out>, Call, Out> Steps<Call, Out> for StepsOf<P> {
    fn name(&self) -> &'static str {
        type_name::<P>()
    }

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

/// The kind of a slot whose hooks move a value from one to the next, and its rule.
#[derive(Debug)]
pub enum Waterfall {}

/// The output of a hook of a `waterfall` slot that moves a `T` from hook to hook.
///
/// Implemented for `T` itself, which is passed on, for `Result<T, E>`, which ends the dispatch with an
/// `Err`, and for `ControlFlow<B, T>`, which ends it with a `Break`. Implement it for an output of your
/// own:
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hooks_core::{Forward, hooks};
///
/// struct Request(String);
///
/// enum Verdict {
///     PassOn(Request),
///     Redirect(String),
/// }
///
/// impl Forward<Request> for Verdict {
///     fn forward(self) -> ControlFlow<Self, Request> {
///         match self {
///             Verdict::PassOn(request) => ControlFlow::Continue(request),
///             Verdict::Redirect(_) => ControlFlow::Break(self),
///         }
///     }
/// }
///
/// #[hooks]
/// trait Server {
///     #[hook(waterfall, sync)]
///     fn on_request(request: Request) -> Verdict {
///         Verdict::PassOn(request)
///     }
/// }
///
/// let server = ServerSet::new()
///     .with_on_request(|_: Request| Verdict::Redirect("/login".to_owned()))
///     .with_on_request(|request: Request| Verdict::PassOn(request));
/// let verdict = server.on_request(Request("/".to_owned()));
/// assert!(matches!(verdict, Verdict::Redirect(to) if to == "/login"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an output of this `waterfall` slot; return `{T}`, `Result<{T}, E>` or `ControlFlow<B, {T}>`, or implement `Forward<{T}>` for it",
    label = "does not pass a `{T}` on"
)]
pub trait Forward<T>: Sized {
    /// Returns `Continue` with the value for the next hook, or for the default. `Break` ends the
    /// dispatch with this output.
    fn forward(self) -> ControlFlow<Self, T>;

    #[doc(hidden)]
    fn __hooks_steps() -> impl Steps<T, Self> {
        StepsOf::<Waterfall>(PhantomData)
    }
}

impl<T> Forward<T> for T {
    #[inline]
    fn forward(self) -> ControlFlow<Self, T> {
        ControlFlow::Continue(self)
    }
}

impl<T, E> Forward<T> for Result<T, E> {
    #[inline]
    fn forward(self) -> ControlFlow<Self, T> {
        match self {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
}

impl<T, B> Forward<T> for ControlFlow<B, T> {
    #[inline]
    fn forward(self) -> ControlFlow<Self, T> {
        match self {
            ControlFlow::Continue(value) => ControlFlow::Continue(value),
            ControlFlow::Break(value) => ControlFlow::Break(ControlFlow::Break(value)),
        }
    }
}

impl<T, Out: Forward<T>> Pipeline<T, Out> for Waterfall {
    #[inline]
    fn next(output: Out) -> ControlFlow<Out, T> {
        output.forward()
    }
}

impl Rule for Waterfall {
    const NAME: &'static str = "waterfall";
}

/// Implements the kinds of slots whose call is moved from hook to hook.
macro_rules! kinds {
    ($($kind:ident: $rule:ident, $pipeline:expr;)+) => {$(
        impl<S: Relay + ?Sized> Kind<S> for $kind {
            type Rule = $rule;
            type Mode = AsyncMode;

            fn pipeline() -> Option<(&'static str, &'static str)> {
                $pipeline
            }
        }

        impl<S: AsyncRelay + ?Sized> AsyncKind<S> for $kind {
            #[inline]
            fn dispatch<'a, K, G>(
                hooks: &'a Slot<dyn DynHook<S> + '_>,
                args: S::Args<'a>,
                _: G,
            ) -> impl Future<Output = K::Output> + MaybeSend
            where
                K: Accumulator<S::Out> + MaybeSend + 'a,
                G: StopCondition<S::Out> + 'a,
            {
                hooks.dispatch(Relayed::<S, _, K, _>::new(args, S::later, S::steps()))
            }
        }

        impl<S: Relay + ?Sized> SyncKind<S> for Synchronous<$kind> {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn dispatch_now<'a, K, G>(
                hooks: &'a Slot<dyn DynHook<S> + '_>,
                args: S::Args<'a>,
                _: G,
            ) -> K::Output
            where
                K: Accumulator<S::Out>,
                G: StopCondition<S::Out> + 'a,
            {
                now(hooks.dispatch(Relayed::<S, _, K, _>::new(args, S::later, S::steps())))
            }
        }
    )+};
}

kinds! {
    Custom: Fallback, Some(("custom", S::steps().name()));
    Waterfall: Waterfall, None;
}

/// Definition of a slot whose first argument is a call, which is moved from hook to hook, without
/// `Clone`.
pub trait Relay: SlotDef<Last = ()> {
    /// The first argument.
    type Call;
    /// The other arguments as a tuple, which every hook gets.
    type Context<'a>;

    /// Splits the arguments.
    fn part<'a>(args: Self::Args<'a>) -> (Self::Call, Self::Context<'a>);
    /// Joins the arguments.
    fn join<'a>(call: Self::Call, context: Self::Context<'a>) -> Self::Args<'a>;
    /// Returns the pipeline.
    fn steps() -> impl Steps<Self::Call, Self::Out>;
    /// Clones the other arguments for one more hook.
    #[must_use]
    fn context<'a>(context: &Self::Context<'a>) -> Self::Context<'a>;
}

/// A [`Relay`] whose hooks are async: its arguments are sent between threads.
pub trait AsyncRelay:
    AsyncSlot + Relay<Call: MaybeSend> + for<'a> Relay<Context<'a>: MaybeSend>
{
}

/// Policy of a slot whose call moves from hook to hook. `D` creates the future of a default that may suspend.
pub(crate) struct Relayed<'a, S: Relay + ?Sized, P, K, D> {
    /// `None` while a hook has it, unless the pipeline keeps a copy.
    call: Option<S::Call>,
    /// `None` after the default has it.
    context: Option<S::Context<'a>>,
    later: D,
    accumulator: K,
    pipeline: PhantomData<fn() -> P>,
}

impl<'a, S, P, K, D, F> Relayed<'a, S, P, K, D>
where
    S: Relay + ?Sized,
    P: Steps<S::Call, S::Out>,
    K: Accumulator<S::Out>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out>,
{
    #[inline]
    pub(crate) fn new(args: S::Args<'a>, later: D, _: P) -> Self {
        let (call, context) = S::part(args);
        Relayed {
            call: Some(call),
            context: Some(context),
            later,
            accumulator: K::new(),
            pipeline: PhantomData,
        }
    }

    /// Takes the arguments for the default.
    fn default_args(&mut self) -> S::Args<'a> {
        let call = P::lend(&mut self.call).expect(HANDED_ON);
        let context = self.context.take().expect(HANDED_ON);
        S::join(call, context)
    }

    fn wait_for_default(&mut self) -> F {
        let args = self.default_args();
        (self.later)(args)
    }

    fn conclude(&mut self, output: S::Out) {
        let output = P::conclude(self.call.take(), output);
        self.accumulator.push(output);
    }
}

const HANDED_ON: &str = "a pipeline goes on with a call only";

impl<'a, 'h, S, P, K, D, F> Policy<dyn DynHook<S> + 'h> for Relayed<'a, S, P, K, D>
where
    S: Relay + ?Sized,
    P: Steps<S::Call, S::Out>,
    K: Accumulator<S::Out>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out>,
{
    type HookOutput = S::Out;
    type Output = K::Output;
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
        let call = P::lend(&mut self.call).expect(HANDED_ON);
        let context = S::context(self.context.as_ref().expect(HANDED_ON));
        hook.start(S::join(call, context), ())
    }

    fn on_output(&mut self, entry: &EntryMeta, output: S::Out) -> Step<Self, Self::Future> {
        match P::advance(self.call.take(), entry, output) {
            ControlFlow::Continue(call) => {
                self.call = Some(call);
                Step::Next
            }
            ControlFlow::Break(output) => {
                self.accumulator.push(output);
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

    fn finish(self) -> K::Output {
        self.accumulator.finish()
    }
}
