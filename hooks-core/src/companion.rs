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

/// Looks at each output of a dispatch and may stop it (`#[hook(…, chain = Type)]`).
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
/// (`#[hook(…, aggregate = Type)]`).
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
/// (`#[hook(…, aggregate = Type, output = O)]`).
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

/// Transforms the result of a dispatch (`#[hook(…, finalize = Type)]`).
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
/// (`#[hook(…, finalize = Type, output = O)]`).
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
