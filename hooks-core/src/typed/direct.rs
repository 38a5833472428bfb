//! Functions as hooks, called with the slot's own borrowed arguments.
//!
//! `#[impl_hook]` does not see the slot's definition, so it cannot know the slot's argument types.
//! The compiler decides: method resolution selects the first of three traits that the function
//! implements. If none matches, the hook is called like a hand-written one ([`Owned`]), so a
//! function with a wrong signature causes one error, in the hook's `call`.

use std::future::Future;
use std::marker::PhantomData;

use crate::bounds::MaybeSend;
use crate::future::Never;
use crate::hook_future::HookFuture;
use crate::typed::mode::{Mode, SyncMode};
use crate::typed::slot_def::{IntoOwned, IntoParameter, ModeOf, SlotDef, Start, Started, owned};

/// A function `F` as a hook of the slot `S`; `READY` is `true` if its body cannot suspend.
#[derive(Debug)]
pub struct Function<S: ?Sized, F, const READY: bool> {
    function: F,
    slot: PhantomData<fn(&S)>,
}

impl<S: ?Sized, F, const READY: bool> Function<S, F, READY> {
    /// Wraps a function.
    pub fn new(function: F) -> Self {
        Function {
            function,
            slot: PhantomData,
        }
    }
}

/// The function takes the slot's arguments and `last`.
pub trait WithLast<'a, S: SlotDef + ?Sized> {
    /// Starts the function.
    fn __hooks_start(&self, start: Start<'a, S>) -> Started<'a, 'a, S>;

    /// Returns the type of no `last`: the function takes it.
    fn __hooks_left_out(&self) -> PhantomData<()> {
        PhantomData
    }
}

/// The function takes the slot's arguments.
pub trait Plain<'a, S: SlotDef + ?Sized> {
    /// Starts the function.
    fn __hooks_start(&self, start: Start<'a, S>) -> Started<'a, 'a, S>;

    /// Returns the type of the `last` that the function does not take.
    fn __hooks_left_out(&self) -> PhantomData<S::Last> {
        PhantomData
    }
}

/// The function takes something else.
pub trait Owned<'a, S: SlotDef + ?Sized> {
    /// Returns the arguments, because the function is called by the hook's `call`.
    fn __hooks_start(&self, start: Start<'a, S>) -> Started<'a, 'a, S>;

    /// Returns the type of no `last`: the compiler reports the function otherwise.
    fn __hooks_left_out(&self) -> PhantomData<()> {
        PhantomData
    }
}

impl<'a, S, F, const READY: bool> WithLast<'a, S> for &&Function<S, F, READY>
where
    S: SlotDef + ?Sized,
    F: CallLast<S::Args<'a>, S::Last>,
    F::Output: Future<Output = S::Out> + MaybeSend + 'a,
{
    #[inline]
    fn __hooks_start(&self, start: Start<'a, S>) -> Started<'a, 'a, S> {
        match start {
            Some((args, last)) => {
                let future = self.function.call_last(args, last);
                Started::Future(HookFuture::__new(READY, future))
            }
            None => Started::IsReady(READY),
        }
    }
}

impl<'a, S, F, const READY: bool> Plain<'a, S> for &Function<S, F, READY>
where
    S: SlotDef + ?Sized,
    F: CallPlain<S::Args<'a>>,
    F::Output: Future<Output = S::Out> + MaybeSend + 'a,
{
    #[inline]
    fn __hooks_start(&self, start: Start<'a, S>) -> Started<'a, 'a, S> {
        match start {
            Some((args, _)) => {
                let future = self.function.call_plain(args);
                Started::Future(HookFuture::__new(READY, future))
            }
            None => Started::IsReady(READY),
        }
    }
}

impl<'a, S: SlotDef + ?Sized, F, const READY: bool> Owned<'a, S> for Function<S, F, READY> {
    #[inline]
    fn __hooks_start(&self, start: Start<'a, S>) -> Started<'a, 'a, S> {
        owned(start, READY)
    }
}

/// A function `F` that is not `async`, as a hook of the slot `S`.
#[derive(Debug)]
pub struct PlainFunction<S: ?Sized, F> {
    function: F,
    slot: PhantomData<fn(&S)>,
}

impl<S: ?Sized, F> PlainFunction<S, F> {
    /// Wraps a function.
    pub fn new(function: F) -> Self {
        PlainFunction {
            function,
            slot: PhantomData,
        }
    }
}

impl<'a, S, F> WithLast<'a, S> for &&PlainFunction<S, F>
where
    S: SlotDef + ?Sized,
    F: CallLast<S::Args<'a>, S::Last, Output = S::Out>,
{
    #[inline]
    fn __hooks_start(&self, start: Start<'a, S>) -> Started<'a, 'a, S> {
        match start {
            Some((args, last)) => {
                Started::Future(HookFuture::Ready(self.function.call_last(args, last)))
            }
            None => Started::IsReady(true),
        }
    }
}

impl<'a, S, F> Plain<'a, S> for &PlainFunction<S, F>
where
    S: SlotDef + ?Sized,
    F: CallPlain<S::Args<'a>, Output = S::Out>,
{
    #[inline]
    fn __hooks_start(&self, start: Start<'a, S>) -> Started<'a, 'a, S> {
        match start {
            Some((args, _)) => Started::Future(HookFuture::Ready(self.function.call_plain(args))),
            None => Started::IsReady(true),
        }
    }
}

impl<'a, S: SlotDef + ?Sized, F> Owned<'a, S> for PlainFunction<S, F> {
    #[inline]
    fn __hooks_start(&self, start: Start<'a, S>) -> Started<'a, 'a, S> {
        owned(start, true)
    }
}

/// The function that is not `async` returns the output of the slot.
pub trait ReturnsPlain<S: SlotDef + ?Sized, Args> {
    /// Calls the function with all its arguments.
    fn __hooks_call(&self, args: Args) -> S::Out;
}

/// The function lacks its return type: the compiler reports that at the function.
pub trait LacksPlain<S: SlotDef + ?Sized, Args> {
    /// Refuses to compile a call.
    fn __hooks_call(&self, _: Args) -> S::Out {
        const { panic!("the function does not return the output of its slot") }
    }
}

impl<S, F, Args> ReturnsPlain<S, Args> for &PlainFunction<S, F>
where
    S: SlotDef + ?Sized,
    F: CallPlain<Args, Output = S::Out>,
{
    fn __hooks_call(&self, args: Args) -> S::Out {
        self.function.call_plain(args)
    }
}

impl<S: SlotDef + ?Sized, F, Args> LacksPlain<S, Args> for PlainFunction<S, F> {}

/// The mode of a slot whose hooks may be functions that are not `async`.
#[diagnostic::on_unimplemented(
    message = "this hook is not async; write `async fn`, or add `sync` to the `#[hook(…)]` of its slot",
    label = "not async"
)]
pub trait TakesPlain {
    /// Does nothing; its bound is the check.
    fn __hooks_check(_: PhantomData<Self>) {}
}

#[diagnostic::do_not_recommend]
impl TakesPlain for SyncMode {}

/// The return type of the `call` of a plain function with the output `T`, in a slot `S`.
pub type PlainOutput<S, T> = <ModeOf<S> as Mode>::Plain<T>;

/// Converts the output of a plain function.
#[inline]
pub fn plain<S: SlotDef + ?Sized, T>(output: T) -> PlainOutput<S, T> {
    ModeOf::<S>::plain(output)
}

/// The `last` of a slot that passes none: what a hook without that parameter needs.
#[diagnostic::on_unimplemented(
    message = "missing parameter for the previous output; add `last: {Self}` as the last parameter",
    label = "`last` is missing"
)]
pub trait NotPassed: Sized {
    /// Does nothing; its bound is the check.
    fn __hooks_check(_: PhantomData<Self>) {}
}

#[diagnostic::do_not_recommend]
impl NotPassed for () {}

/// The function returns the output of the slot.
pub trait ReturnsOutput<S: SlotDef + ?Sized, Args> {
    /// Future that it returns.
    type Output: Future<Output = S::Out>;

    /// Calls the function with all its arguments.
    fn __hooks_call(&self, args: Args) -> Self::Output;
}

/// The function lacks its return type: the compiler reports that at the function.
pub trait LacksOutput<S: SlotDef + ?Sized, Args> {
    /// Refuses to compile a call.
    fn __hooks_call(&self, _: Args) -> Never<S::Out> {
        const { panic!("the function does not return the output of its slot") }
    }
}

impl<S, F, Args, const READY: bool> ReturnsOutput<S, Args> for &Function<S, F, READY>
where
    S: SlotDef + ?Sized,
    F: CallPlain<Args>,
    F::Output: Future<Output = S::Out>,
{
    type Output = F::Output;

    fn __hooks_call(&self, args: Args) -> F::Output {
        self.function.call_plain(args)
    }
}

impl<S, F, Args, const READY: bool> LacksOutput<S, Args> for Function<S, F, READY> where
    S: SlotDef + ?Sized
{
}

/// A method under `#[impl_hooks]` with `N` parameters and without `last`, as a hook of the slot
/// `S`.
#[derive(Debug)]
pub struct Method<S: ?Sized, const N: usize>(PhantomData<fn(&S)>);

impl<S: ?Sized, const N: usize> Method<S, N> {
    pub(crate) fn new() -> Self {
        Method(PhantomData)
    }
}

/// The method takes as many parameters as the slot has arguments, so only `last` can be missing.
pub trait TakesArgs<S: SlotDef + ?Sized> {
    /// Returns the type of the `last` that the method does not take.
    fn __hooks_left_out(&self) -> PhantomData<S::Last> {
        PhantomData
    }
}

/// The method takes more or fewer parameters, which the compiler refuses.
pub trait TakesOther {
    /// Returns the type of no `last`.
    fn __hooks_left_out(&self) -> PhantomData<()> {
        PhantomData
    }
}

impl<S, const N: usize> TakesArgs<S> for &Method<S, N>
where
    S: SlotDef + ?Sized,
    S::Args<'static>: Length<N>,
{
}

impl<S: ?Sized, const N: usize> TakesOther for Method<S, N> {}

/// A tuple of `N` values.
pub trait Length<const N: usize> {}

/// A function with these parameters.
pub trait CallPlain<Args> {
    /// Future that it returns.
    type Output;
    /// Calls it.
    fn call_plain(&self, args: Args) -> Self::Output;
}

/// A function with these parameters and `last`.
pub trait CallLast<Args, Last> {
    /// Future that it returns.
    type Output;
    /// Calls it.
    fn call_last(&self, args: Args, last: Last) -> Self::Output;
}

/// A condition on a call with these arguments: a function with a reference to each of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition of this slot; write a closure that takes a reference to each of `{Args}` and returns `bool`",
    label = "not a condition of this slot",
    note = "write the types of its parameters: `|text: &&str, count: &usize| …`"
)]
pub trait Condition<Args> {
    /// Calls it.
    fn holds(&self, args: &Args) -> bool;
}

macro_rules! arity {
    ($($arg:ident $parameter:ident,)*) => {
        impl<$($arg,)*> Length<{ <[&str]>::len(&[$(stringify!($arg)),*]) }> for ($($arg,)*) {}

        #[allow(non_snake_case, reason = "one name serves as type and as variable")]
        impl<$($arg: IntoParameter<$parameter>, $parameter),*> IntoOwned<($($parameter,)*), ()>
            for ($($arg,)*)
        {
            #[allow(clippy::unused_unit, reason = "the empty tuple is one of the tuples")]
            #[inline]
            fn into_owned(self, (): ()) -> ($($parameter,)*) {
                let ($($arg,)*) = self;
                ($($arg.into_parameter(),)*)
            }
        }

        #[allow(non_snake_case, reason = "one name serves as type and as variable")]
        impl<$($arg: IntoParameter<$parameter>, $parameter,)* T>
            IntoOwned<($($parameter,)* Option<T>,), Option<T>> for ($($arg,)*)
        {
            #[inline]
            fn into_owned(self, last: Option<T>) -> ($($parameter,)* Option<T>,) {
                let ($($arg,)*) = self;
                ($($arg.into_parameter(),)* last,)
            }
        }

        #[allow(non_snake_case, reason = "one name serves as type and as variable")]
        impl<Func, Fut $(, $arg)*> CallPlain<($($arg,)*)> for Func
        where
            Func: Fn($($arg),*) -> Fut + ?Sized,
        {
            type Output = Fut;

            #[inline]
            fn call_plain(&self, ($($arg,)*): ($($arg,)*)) -> Fut {
                self($($arg),*)
            }
        }

        #[allow(non_snake_case, reason = "one name serves as type and as variable")]
        impl<Func $(, $arg)*> Condition<($($arg,)*)> for Func
        where
            Func: Fn($(&$arg),*) -> bool,
        {
            fn holds(&self, ($($arg,)*): &($($arg,)*)) -> bool {
                self($($arg),*)
            }
        }

        #[allow(non_snake_case, reason = "one name serves as type and as variable")]
        impl<Func, Fut, Last $(, $arg)*> CallLast<($($arg,)*), Last> for Func
        where
            Func: Fn($($arg,)* Last) -> Fut,
        {
            type Output = Fut;

            #[inline]
            fn call_last(&self, ($($arg,)*): ($($arg,)*), last: Last) -> Fut {
                self($($arg,)* last)
            }
        }
    };
}

/// Implements the traits for these parameters, and for each end of the list.
macro_rules! arities {
    () => {
        arity! {}
    };
    ($arg:ident $parameter:ident, $($rest:tt)*) => {
        arity! { $arg $parameter, $($rest)* }
        arities! { $($rest)* }
    };
}

// The number of parameters that `#[hooks]` allows, and `last`.
arities! {
    A0 P0, A1 P1, A2 P2, A3 P3, A4 P4, A5 P5, A6 P6, A7 P7, A8 P8, A9 P9, A10 P10, A11 P11, A12 P12,
    A13 P13, A14 P14, A15 P15, A16 P16,
}
