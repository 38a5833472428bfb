//! Companions of a slot: chain, aggregate, finalize (`T-32`, `T-33`).
//!
//! A companion is named in the slot's definition and made by its `Default`; an
//! application may put another value in its place (`with_<slot>_chain(…)`). Write
//! `call` as `async fn`; no attribute is needed.

mod builtin;
mod end;
mod stored;

use std::future::Future;
use std::ops::ControlFlow;

use crate::bounds::{ChainOutput, HookObject, MaybeSend};

pub use builtin::{FirstSuccess, ShortCircuit};
#[doc(hidden)]
pub use end::{
    Aggregated, Alone, ByAggregate, ByAggregateInto, ByFinalize, ByFinalizeInto, End, Erased,
    Finalized, Named, Reduce, Transform,
};
#[doc(hidden)]
pub use stored::{Chained, Companion, ErasedChain, Gate, NoCompanion, Role};

/// Looks at each output of a dispatch and may stop it (`#[hook(…, chain = Type)]`, `T-32`).
///
/// ```
/// use std::ops::ControlFlow;
///
/// #[derive(Default)]
/// struct UntilEmpty;
///
/// impl hooks_core::Chain<String> for UntilEmpty {
///     async fn call(&self, output: &String) -> ControlFlow<()> {
///         if output.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a chain for this slot; implement `Chain<{T}>` for it",
    label = "does not implement `Chain<{T}>`"
)]
pub trait Chain<T>: HookObject {
    /// `Break` stops the dispatch with this output, `Continue` goes on.
    fn call(&self, output: &T) -> impl Future<Output = ControlFlow<()>> + MaybeSend;

    /// Whether the verdict never needs waiting.
    #[doc(hidden)]
    const __HOOKS_AT_ONCE: bool = false;

    /// The verdict, where it needs no waiting: spares the dispatch a coroutine.
    #[doc(hidden)]
    fn __hooks_check_now(&self, output: &T) -> Option<ControlFlow<()>> {
        let _ = output;
        None
    }

    #[doc(hidden)]
    #[inline]
    fn __hooks_gate<'s, 'h>(stored: &'s Chained<'h, Self, T>) -> impl Gate<T>
    where
        Self: Sized,
        T: ChainOutput,
    {
        stored
    }
}

/// Reduces the outputs of a dispatch to one value of the same type
/// (`#[hook(…, aggregate = Type)]`, `T-32`).
///
/// ```
/// #[derive(Default)]
/// struct Join;
///
/// impl hooks_core::Aggregate<String> for Join {
///     async fn call(&self, outputs: Vec<String>) -> String {
///         outputs.join(", ")
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an aggregate for this slot; implement `Aggregate<{T}>` for it",
    label = "does not implement `Aggregate<{T}>`"
)]
pub trait Aggregate<T>: HookObject {
    /// Reduces the outputs, which stand in execution order.
    fn call(&self, outputs: Vec<T>) -> impl Future<Output = T> + MaybeSend;

    #[doc(hidden)]
    #[inline]
    fn __hooks_end<'s, 'h>(
        stored: &'s Aggregated<'h, ByAggregate<Self>, T, T>,
    ) -> &'s impl Reduce<T, T>
    where
        Self: Sized,
    {
        stored
    }
}

/// Reduces the outputs of a dispatch to one value of another type
/// (`#[hook(…, aggregate = Type, output = O)]`, `T-32`).
///
/// ```
/// #[derive(Default)]
/// struct Count;
///
/// impl hooks_core::AggregateInto<bool, usize> for Count {
///     async fn call(&self, outputs: Vec<bool>) -> usize {
///         outputs.into_iter().filter(|vote| *vote).count()
///     }
/// }
///
/// #[hooks_core::hooks]
/// trait Votes {
///     #[hook(always, aggregate = Count, output = usize)]
///     async fn in_favour(proposal: &str) -> bool {
///         !proposal.is_empty()
///     }
/// }
/// # fn block_on<T>(f: impl Future<Output = T>) -> T {
/// #     let mut f = std::pin::pin!(f);
/// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
/// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
/// # }
/// # block_on(async {
/// assert_eq!(VotesSet::new().in_favour("tea at four").await, 1);
/// # });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an aggregate for this slot; implement `AggregateInto<{I}, {O}>` for it",
    label = "does not implement `AggregateInto<{I}, {O}>`"
)]
pub trait AggregateInto<I, O>: HookObject {
    /// Reduces the outputs, which stand in execution order.
    fn call(&self, outputs: Vec<I>) -> impl Future<Output = O> + MaybeSend;

    #[doc(hidden)]
    #[inline]
    fn __hooks_end<'s, 'h>(
        stored: &'s Aggregated<'h, ByAggregateInto<Self>, I, O>,
    ) -> &'s impl Reduce<I, O>
    where
        Self: Sized,
    {
        stored
    }
}

/// Transforms the result of a dispatch (`#[hook(…, finalize = Type)]`, `T-32`): the default's as
/// well as the hooks', and also one at which a chain has stopped.
///
/// ```
/// #[derive(Default)]
/// struct OneLine;
///
/// impl hooks_core::Finalize<String> for OneLine {
///     async fn call(&self, output: String) -> String {
///         output.replace('\n', " ")
///     }
/// }
///
/// #[hooks_core::hooks]
/// trait Titles {
///     #[hook(fallback, finalize = OneLine)]
///     async fn title(text: &str) -> String {
///         text.to_owned()
///     }
/// }
/// # fn block_on<T>(f: impl Future<Output = T>) -> T {
/// #     let mut f = std::pin::pin!(f);
/// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
/// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
/// # }
/// # block_on(async {
/// assert_eq!(TitlesSet::new().title("two\nlines").await, "two lines");
/// # });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a finalizer for this slot; implement `Finalize<{T}>` for it",
    label = "does not implement `Finalize<{T}>`"
)]
pub trait Finalize<T>: HookObject {
    /// The result that the dispatch answers.
    fn call(&self, result: T) -> impl Future<Output = T> + MaybeSend;

    #[doc(hidden)]
    #[inline]
    fn __hooks_end<'s, 'h>(
        stored: &'s Finalized<'h, ByFinalize<Self>, T, T>,
    ) -> &'s impl Transform<T, T>
    where
        Self: Sized,
    {
        stored
    }
}

/// Transforms the result of a dispatch into a value of another type
/// (`#[hook(…, finalize = Type, output = O)]`, `T-32`).
///
/// ```
/// #[derive(Default)]
/// struct OrNothing;
///
/// impl hooks_core::FinalizeInto<Option<String>, String> for OrNothing {
///     async fn call(&self, output: Option<String>) -> String {
///         output.unwrap_or_default()
///     }
/// }
///
/// #[hooks_core::hooks]
/// trait Names {
///     #[hook(fallback, finalize = OrNothing, output = String)]
///     async fn name() -> Option<String> {
///         None
///     }
/// }
/// # fn block_on<T>(f: impl Future<Output = T>) -> T {
/// #     let mut f = std::pin::pin!(f);
/// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
/// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
/// # }
/// # block_on(async {
/// assert_eq!(NamesSet::new().name().await, "");
/// # });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a finalizer for this slot; implement `FinalizeInto<{I}, {O}>` for it",
    label = "does not implement `FinalizeInto<{I}, {O}>`"
)]
pub trait FinalizeInto<I, O>: HookObject {
    /// The result that the dispatch answers.
    fn call(&self, result: I) -> impl Future<Output = O> + MaybeSend;

    #[doc(hidden)]
    #[inline]
    fn __hooks_end<'s, 'h>(
        stored: &'s Finalized<'h, ByFinalizeInto<Self>, I, O>,
    ) -> &'s impl Transform<I, O>
    where
        Self: Sized,
    {
        stored
    }
}
