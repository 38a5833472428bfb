//! Aggregates and finalizers: companions that turn the outputs of a dispatch into its result.

use std::any::type_name;
use std::future::Future;

use super::stored::{Companion, Named, Role};
use crate::bounds::{BoxFuture, HookObject, MaybeSend};
use crate::future::{ColdFuture, Either};

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
    /// Reduces the outputs, which are in execution order.
    fn call(&self, outputs: Vec<T>) -> impl Future<Output = T> + MaybeSend;

    #[doc(hidden)]
    #[inline]
    fn __hooks_end<'s, 'h>(
        stored: &'s Aggregated<'h, ByAggregate<Self>, T, T>,
    ) -> &'s impl PostProcess<Outputs<T>, T>
    where
        Self: Sized,
    {
        stored
    }
}

/// Reduces the outputs of a dispatch to one value of another type
/// (`#[hook(…, aggregate = Type, output = O)]`).
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
    /// Reduces the outputs, which are in execution order.
    fn call(&self, outputs: Vec<I>) -> impl Future<Output = O> + MaybeSend;

    #[doc(hidden)]
    #[inline]
    fn __hooks_end<'s, 'h>(
        stored: &'s Aggregated<'h, ByAggregateInto<Self>, I, O>,
    ) -> &'s impl PostProcess<Outputs<I>, O>
    where
        Self: Sized,
    {
        stored
    }
}

/// Transforms the result of a dispatch (`#[hook(…, finalize = Type)]`): the output of the default or
/// of a hook, whether the chain stopped the dispatch or not.
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
    /// Returns the result of the dispatch.
    fn call(&self, result: T) -> impl Future<Output = T> + MaybeSend;

    #[doc(hidden)]
    #[inline]
    fn __hooks_end<'s, 'h>(
        stored: &'s Finalized<'h, ByFinalize<Self>, T, T>,
    ) -> &'s impl PostProcess<T, T>
    where
        Self: Sized,
    {
        stored
    }
}

/// Transforms the result of a dispatch into a value of another type
/// (`#[hook(…, finalize = Type, output = O)]`).
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
    /// Returns the result of the dispatch.
    fn call(&self, result: I) -> impl Future<Output = O> + MaybeSend;

    #[doc(hidden)]
    #[inline]
    fn __hooks_end<'s, 'h>(
        stored: &'s Finalized<'h, ByFinalizeInto<Self>, I, O>,
    ) -> &'s impl PostProcess<I, O>
    where
        Self: Sized,
    {
        stored
    }
}

/// The outputs of a dispatch, for an aggregate.
#[derive(Debug)]
pub enum Outputs<T> {
    /// All outputs, in execution order.
    All(Vec<T>),
    /// The output of the default of a `fallback` slot without hooks.
    Default(T),
}

impl<T> Outputs<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            Outputs::All(outputs) => outputs,
            Outputs::Default(output) => vec![output],
        }
    }
}

/// A slot's aggregate.
pub type Aggregated<'h, C, I, O> = Finalized<'h, C, Outputs<I>, O>;
/// A slot's finalizer.
pub type Finalized<'h, C, I, O> = Companion<C, dyn DynPostProcess<I, O> + 'h>;

/// The last part of a dispatch: an aggregate or a finalizer.
pub trait PostProcess<I, O>: HookObject {
    /// Returns the result of the dispatch if it needs no post-processing, otherwise the input.
    fn skip(input: I) -> Result<O, I> {
        Err(input)
    }

    /// Returns the result of the dispatch.
    fn post_process(&self, input: I) -> impl Future<Output = O> + MaybeSend;
}

/// Type-erased twin of [`PostProcess`].
pub trait DynPostProcess<I, O>: HookObject {
    /// Returns the result of the dispatch.
    fn post_process_boxed<'a>(&'a self, input: I) -> BoxFuture<'a, O>
    where
        I: 'a,
        O: 'a;
}

impl<I, O, C: PostProcess<I, O>> DynPostProcess<I, O> for C {
    fn post_process_boxed<'a>(&'a self, input: I) -> BoxFuture<'a, O>
    where
        I: 'a,
        O: 'a,
    {
        Box::pin(self.post_process(input))
    }
}

impl<C: PostProcess<I, O>, I, O> PostProcess<I, O> for Finalized<'_, C, I, O> {
    fn skip(input: I) -> Result<O, I> {
        C::skip(input)
    }

    fn post_process(&self, input: I) -> impl Future<Output = O> + MaybeSend {
        match self {
            Companion::Default(companion) => Either::left(companion.post_process(input)),
            Companion::Override(companion, _) => {
                Either::right(ColdFuture::new(companion.post_process_boxed(input)))
            }
        }
    }
}

impl<C: Named, I, O> Role for Finalized<'_, C, I, O> {
    fn role(&self) -> Option<(&'static str, &'static str)> {
        Some((C::ROLE, self.name(C::name())))
    }

    fn extend(&mut self, other: Self, slot: &'static str) {
        self.replace_with(other, slot, C::ROLE);
    }
}

/// Defines the wrapper that makes a type of one of the four companion traits a [`PostProcess`].
macro_rules! post_process {
    ($($(#[$doc:meta])* $name:ident: $role:literal;)+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, Default)]
            pub struct $name<C>(pub C);

            impl<C> Named for $name<C> {
                const ROLE: &'static str = $role;

                fn name() -> &'static str {
                    type_name::<C>()
                }
            }
        )+
    };
}

post_process! {
    /// [`Aggregate`] as a [`PostProcess`].
    ByAggregate: "aggregate";
    /// [`AggregateInto`] as a [`PostProcess`].
    ByAggregateInto: "aggregate";
    /// [`Finalize`] as a [`PostProcess`].
    ByFinalize: "finalize";
    /// [`FinalizeInto`] as a [`PostProcess`].
    ByFinalizeInto: "finalize";
}

impl<T, C: Aggregate<T>> PostProcess<Outputs<T>, T> for ByAggregate<C> {
    fn skip(outputs: Outputs<T>) -> Result<T, Outputs<T>> {
        match outputs {
            Outputs::Default(output) => Ok(output),
            outputs @ Outputs::All(_) => Err(outputs),
        }
    }

    fn post_process(&self, outputs: Outputs<T>) -> impl Future<Output = T> + MaybeSend {
        self.0.call(outputs.into_vec())
    }
}

impl<I, O, C: AggregateInto<I, O>> PostProcess<Outputs<I>, O> for ByAggregateInto<C> {
    fn post_process(&self, outputs: Outputs<I>) -> impl Future<Output = O> + MaybeSend {
        self.0.call(outputs.into_vec())
    }
}

impl<T, C: Finalize<T>> PostProcess<T, T> for ByFinalize<C> {
    fn post_process(&self, result: T) -> impl Future<Output = T> + MaybeSend {
        self.0.call(result)
    }
}

impl<I, O, C: FinalizeInto<I, O>> PostProcess<I, O> for ByFinalizeInto<C> {
    fn post_process(&self, result: I) -> impl Future<Output = O> + MaybeSend {
        self.0.call(result)
    }
}
