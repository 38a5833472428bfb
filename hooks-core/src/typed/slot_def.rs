//! The definition of a slot, and the stored form of its hooks.
//!
//! For a slot `allows` of the trait `AppHooks`, `#[hooks]` generates a *slot trait*, `Allows`, and
//! implements the traits of this module for `dyn Allows`. A hook takes the arguments in one of two
//! forms: *borrowed*, as the caller of the slot passed them (`&str`), or *owned* (`String`). The method
//! `call` of the slot trait takes owned arguments. Functions under `#[impl_hook]` and methods under
//! `#[impl_hooks]` take borrowed ones.

use std::fmt;
use std::future::Future;

use crate::bounds::{HookObject, MaybeSend, SlotOutput};
use crate::companion::{Chained, Companion, DynPostProcess, NoCompanion, StopCondition};
use crate::future::{Either, Lazy, Never};
use crate::hook_future::HookFuture;
use crate::reentrancy::HookReentrancyError;
use crate::slot::Slot;
use crate::typed::accumulator::{Accumulator, Handover};
use crate::typed::mode::Mode;
use crate::typed::rule::Rule;

/// Output of a slot for which a function under `#[impl_hook]` may omit the return type.
#[diagnostic::on_unimplemented(
    message = "missing return type; add `-> {Self}`",
    label = "the output of the slot is `{Self}`"
)]
pub trait OmittedOutput {
    /// The return type of the function.
    type Type;
}

#[diagnostic::do_not_recommend]
impl OmittedOutput for () {
    type Type = ();
}

/// The definition of a slot: its arguments, its output and its default. `#[hooks]` implements it
/// for `dyn SlotTrait`, the type by which a slot is named.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no slot; name the trait of a slot, as in `#[impl_hook(Validate)]`, and not that of the set",
    label = "not a slot"
)]
pub trait SlotDef {
    /// The arguments as a tuple, references borrowed for `'a`.
    type Args<'a>: PassArgs<Self::Passing> + IntoOwned<Self::Owned<'a>, Self::Last>;
    /// How a further hook gets the arguments: [`Copied`] or [`Cloned`].
    type Passing: Passing;
    /// `Option<Out>` if hooks get the previous output, else `()`.
    type Last: Handover<Self::Out>;
    /// The output of a hook and of the default.
    type Out: SlotOutput;
    /// The owned arguments as a tuple, the parameters of `call`: a `String` for each `&str`, other
    /// references as they are, and `last` if the slot passes it.
    type Owned<'a>;
    /// The kind of the slot.
    type Kind: Kind<Self>;
    /// The method that declares the slot.
    const NAME: &'static str;
    /// `true` if the default is [`now`](Self::now), `false` if it is [`later`](Self::later).
    const READY: bool = true;

    /// Runs a default whose body cannot suspend.
    fn now<'a>(_: Self::Args<'a>) -> Self::Out {
        unreachable!("`now` is called only if `READY` is true")
    }

    /// Returns the future of a default whose body may suspend.
    fn later<'a>(_: Self::Args<'a>) -> impl Future<Output = Self::Out> + MaybeSend {
        never()
    }

    /// Clones the arguments for one more hook. Not implemented by slots whose arguments are
    /// [`Copied`], and by slots that pass their arguments once (singletons, `waterfall` slots and custom pipelines).
    #[must_use]
    fn clone_args<'a>(_: &Self::Args<'a>) -> Self::Args<'a> {
        unreachable!("arguments that are copied, or passed once, are not cloned")
    }
}

/// A slot whose hooks are async: its arguments are part of the future of a dispatch, which is sent between
/// threads. Those of a synchronous slot stay on their thread. `#[hooks]` implements it for `dyn SlotTrait`.
pub trait AsyncSlot: for<'a> SlotDef<Args<'a>: MaybeSend> + SlotDef<Kind: AsyncKind<Self>> {}

/// A slot with a `&mut` parameter and several hooks: each hook gets the arguments in its turn and
/// returns them with its output, so that the dispatch owns them between two hooks. `#[hooks]`
/// implements it for `dyn SlotTrait`.
pub trait Lend: SlotDef<Last: MaybeSend> {
    /// Lends the arguments for one call: reborrows a `&mut T`, copies a `&T`, clones owned values.
    fn lend<'l, 'a: 'l>(args: &'l mut Self::Args<'a>) -> Self::Args<'l>;

    /// Returns the future of a default whose body may suspend, which returns the arguments with its
    /// output.
    fn later_lent<'a>(_: Self::Args<'a>) -> impl Future<Output = Returned<'a, Self>> + MaybeSend {
        never()
    }
}

/// The output of a hook of the slot `S`, and the arguments that were lent to it.
pub type Returned<'a, S> = (<S as SlotDef>::Out, <S as SlotDef>::Args<'a>);

/// The kind of a slot: its rule, and the way in which its hooks run.
pub trait Kind<S: SlotDef + ?Sized>: 'static {
    /// When the default runs, and the effect of a registration.
    type Rule: Rule;
    /// How the hooks return their output.
    type Mode: Mode;
    /// `true` if the hooks run concurrently.
    const IS_CONCURRENT: bool = false;

    /// Returns the role and the full type name of the pipeline; `None` without a pipeline.
    fn pipeline() -> Option<(&'static str, &'static str)> {
        None
    }
}

/// The kind of a slot with async hooks.
pub trait AsyncKind<S: SlotDef + ?Sized>: Kind<S> {
    /// Runs the default and the hooks, until the stop condition breaks.
    fn dispatch<'a, K, G>(
        hooks: &'a Slot<dyn DynHook<S> + '_>,
        args: S::Args<'a>,
        stop_condition: G,
    ) -> impl Future<Output = K::Output> + MaybeSend
    where
        K: Accumulator<S::Out> + MaybeSend + 'a,
        G: StopCondition<S::Out> + 'a;
}

/// The kind of a synchronous slot.
pub trait SyncKind<S: SlotDef + ?Sized>: Kind<S> {
    /// Runs the default and the hooks, until the stop condition breaks.
    fn dispatch_now<'a, K, G>(
        hooks: &'a Slot<dyn DynHook<S> + '_>,
        args: S::Args<'a>,
        stop_condition: G,
    ) -> K::Output
    where
        K: Accumulator<S::Out>,
        G: StopCondition<S::Out> + 'a;
}

/// The mode of a slot `S`.
pub type ModeOf<S> = <<S as SlotDef>::Kind as Kind<S>>::Mode;

/// The aggregate or the finalizer of a slot `S`, or none: the types of the last part of a dispatch.
///
/// The impls do not require the companion's trait, so that a companion without it causes one error only.
pub trait SlotEnd<S: SlotDef + ?Sized>: Sized {
    /// Stores the outputs of a dispatch.
    type Accumulator: Accumulator<S::Out, Output: MaybeSend> + MaybeSend;
    /// The result of a dispatch.
    type Result;
}

/// The outputs that the aggregate or the finalizer `E` of a slot `S` converts.
pub type OutputsOf<S, E> =
    <<E as SlotEnd<S>>::Accumulator as Accumulator<<S as SlotDef>::Out>>::Output;

/// The aggregate or the finalizer `E` of a slot `S`, as the slot stores it.
pub type EndOf<'h, S, E> =
    Companion<E, dyn DynPostProcess<OutputsOf<S, E>, <E as SlotEnd<S>>::Result> + 'h>;

/// A slot with the chain `G` and the aggregate or finalizer `E`. `#[hooks]` implements it for
/// `dyn SlotTrait` if the slot has companions.
///
/// The companions are parameters: associated types of a public slot would have to be public.
pub trait Companions<G, E: SlotEnd<Self>>: SlotDef {
    /// Returns the stop condition of a dispatch. Implemented if the slot has a chain.
    #[inline]
    fn condition(_: &Chained<'_, G, Self::Out>) -> impl StopCondition<Self::Out> {
        NoCompanion
    }

    /// Returns the future of the result; `dispatch` returns the outputs.
    fn finish<'a>(
        end: &'a EndOf<'_, Self, E>,
        dispatch: impl Future<Output = OutputsOf<Self, E>> + MaybeSend + 'a,
    ) -> impl Future<Output = E::Result> + MaybeSend;
}

#[diagnostic::do_not_recommend]
impl<S: SlotDef + ?Sized> Companions<NoCompanion, NoCompanion> for S {
    #[inline]
    fn finish<'a>(
        _: &'a EndOf<'_, Self, NoCompanion>,
        dispatch: impl Future<Output = S::Out> + MaybeSend + 'a,
    ) -> impl Future<Output = S::Out> + MaybeSend {
        dispatch
    }
}

/// How a further hook gets the arguments of a slot.
pub trait Passing {
    /// `true` if all arguments are references: the last call copies them as every other call does,
    /// and the policy does not have to keep track of them.
    const IS_COPY: bool;
}

/// All arguments are references, and are copied.
#[derive(Debug)]
pub struct Copied;

/// The arguments are cloned, or passed once.
#[derive(Debug)]
pub struct Cloned;

impl Passing for Copied {
    const IS_COPY: bool = true;
}

impl Passing for Cloned {
    const IS_COPY: bool = false;
}

/// Arguments for the [`Passing`] `P`. Its method replaces one of each slot, which the compiler would
/// check: 1 % of the instructions of `cargo check`.
pub trait PassArgs<P>: Sized {
    /// Copies the arguments.
    #[must_use]
    fn copied(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Copy> PassArgs<Copied> for T {
    #[inline]
    fn copied(&self) -> T {
        *self
    }
}

#[diagnostic::do_not_recommend]
impl<T> PassArgs<Cloned> for T {
    fn copied(&self) -> T {
        unreachable!("only arguments that are all references are copied")
    }
}

/// The arguments of a slot, which become owned ones with the `last` that the slot passes. A trait
/// and not a method of [`SlotDef`], which the compiler would check for each slot: 2 % of the
/// instructions of `cargo check`.
pub trait IntoOwned<Owned, Last> {
    /// Converts the arguments.
    fn into_owned(self, last: Last) -> Owned;
}

/// An argument that becomes a parameter of a slot's `call`.
pub trait IntoParameter<T> {
    /// Converts the argument.
    fn into_parameter(self) -> T;
}

impl<T> IntoParameter<T> for T {
    #[inline]
    fn into_parameter(self) -> T {
        self
    }
}

impl IntoParameter<String> for &str {
    #[inline]
    fn into_parameter(self) -> String {
        text(self)
    }
}

/// Returns the text of a `&str`, for hooks that take a `String`.
#[inline]
#[must_use]
pub fn text(text: &str) -> String {
    text.to_owned()
}

fn never<T>() -> Never<T> {
    unreachable!("`later` is called only if `READY` is false")
}

/// Returns the future of a slot's default, for the provided methods of the declaring trait.
#[inline]
pub fn default<'a, S: AsyncSlot + ?Sized>(
    args: S::Args<'a>,
) -> impl Future<Output = S::Out> + MaybeSend + use<'a, S> {
    if S::READY {
        Either::left(Lazy::new(move || S::now(args)))
    } else {
        Either::right(S::later(args))
    }
}

/// A slot whose hooks may be of type `H`, which implements the slot trait. `#[hooks]` implements it
/// for `dyn SlotTrait` and every `H: SlotTrait`.
pub trait CallHook<H>: SlotDef {
    /// Starts the hook: its function, or its `call`.
    fn start<'b, 'a: 'b>(
        hook: &'b H,
        args: Self::Args<'a>,
        last: Self::Last,
    ) -> HookFuture<'b, Self::Out>;

    /// Returns `true` if the hook cannot suspend. Called by slots that lend their arguments.
    #[must_use]
    fn is_ready(_: &H) -> bool {
        false
    }
}

/// A call of a hook of the slot `S` with the slot's own arguments; `None` queries whether the hook can
/// suspend.
pub type Start<'a, S> = Option<(<S as SlotDef>::Args<'a>, <S as SlotDef>::Last)>;

/// The result of `__hooks_start`.
pub enum Started<'b, 'a, S: SlotDef + ?Sized> {
    /// The future of the hook.
    Future(HookFuture<'b, S::Out>),
    /// The arguments, because the hook takes owned ones.
    Owned(S::Args<'a>, S::Last),
    /// The result of a query: `true` if the hook cannot suspend.
    IsReady(bool),
}

impl<'b, S: SlotDef + ?Sized> Started<'b, '_, S> {
    /// Returns the future of a hook that takes the slot's own arguments.
    #[inline]
    #[must_use]
    pub fn future(self) -> HookFuture<'b, S::Out> {
        match self {
            Started::Future(future) => future,
            Started::Owned(..) | Started::IsReady(_) => unreachable!("the hook was started"),
        }
    }
}

impl<S: SlotDef + ?Sized> fmt::Debug for Started<'_, '_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").finish_non_exhaustive()
    }
}

/// Returns the arguments of a call, because the hook takes owned ones.
#[inline]
pub fn owned<'b, 'a, S: SlotDef + ?Sized>(
    start: Start<'a, S>,
    is_ready: bool,
) -> Started<'b, 'a, S> {
    match start {
        Some((args, last)) => Started::Owned(args, last),
        None => Started::IsReady(is_ready),
    }
}

/// The owned arguments of the slot `S`.
pub struct OwnedArgs<'a, S: SlotDef + ?Sized>(pub S::Owned<'a>);

impl<S: SlotDef + ?Sized> fmt::Debug for OwnedArgs<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedArgs").finish_non_exhaustive()
    }
}

/// A slot whose hooks may have mutable state. `State` is `&mut H`, and `Owned` is an [`OwnedArgs`].
/// `#[hooks]` implements the trait for `dyn SlotTrait` and every `H` that implements the slot's
/// `Stateful…` trait.
///
/// `State` and `Owned` are parameters of the trait, because Rust 1.85 cannot prove that the future
/// of a method is `Send` if the method names these types with its own lifetimes.
pub trait CallStateful<State, Owned>: SlotDef {
    /// Calls the hook's `call_mut`.
    fn call_mut(state: State, owned: Owned) -> impl Future<Output = Self::Out> + MaybeSend;

    /// Returns the output of a call from inside the hook's own call.
    const ON_REENTRY: OnReentry<Self>;
}

/// The `on_reentrancy` of a stateful hook of the slot `S`.
pub type OnReentry<S> = fn(HookReentrancyError) -> <S as SlotDef>::Out;

/// A slot whose hook may be a method of a `T`, which implements the declaring trait (`AppHooks`).
/// `#[hooks]` implements it for `dyn SlotTrait` and every `T: AppHooks`.
pub trait CallMethod<T: ?Sized>: SlotDef {
    /// Starts the method of `value`; `is_ready` is `true` if its body cannot suspend.
    fn start<'b, 'a: 'b>(
        value: &'b T,
        args: Self::Args<'a>,
        last: Self::Last,
        is_ready: bool,
    ) -> HookFuture<'b, Self::Out>;
}

/// A hook as its slot stores it, called through `dyn`.
pub trait DynHook<S: SlotDef + ?Sized>: HookObject {
    /// Starts the hook.
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out>;

    /// Starts the hook with arguments that it returns with its output. A hook that cannot suspend
    /// runs at once; one that may suspend moves the arguments into its future.
    #[inline]
    fn start_lent<'b, 'a: 'b>(
        &'b self,
        mut args: S::Args<'a>,
        last: S::Last,
    ) -> HookFuture<'b, Returned<'a, S>>
    where
        S: Lend + AsyncSlot + 'a,
    {
        if self.is_ready() {
            let output = self.start(S::lend(&mut args), last).into_ready();
            return HookFuture::Ready((output, args));
        }
        HookFuture::boxed(async move {
            let output = self.start(S::lend(&mut args), last).output().await;
            (output, args)
        })
    }

    /// Returns `true` if the hook cannot suspend.
    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        false
    }

    /// Returns `true` if the hook's condition holds, or the hook has none.
    fn admits(&self, _: &S::Args<'_>) -> bool {
        true
    }
}

/// Boxes the future of a hook that takes owned arguments.
#[inline]
pub fn pin<'b, T>(future: impl Future<Output = T> + MaybeSend + 'b) -> HookFuture<'b, T> {
    HookFuture::boxed(future)
}
