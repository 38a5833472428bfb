//! Aggregates and finalizers: companions that turn the outputs of a dispatch into its result.

use std::future::Future;

use super::stored::{
    AggregateIntoRole, AggregateRole, By, Companion, FinalizeIntoRole, FinalizeRole,
};
use crate::bounds::{BoxFuture, HookObject, MaybeSend};
use crate::future::{AndThen, ColdFuture, Continuation, Either};

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
    fn __hooks_finish<'s>(
        end: &'s Companion<By<AggregateRole, Self>, dyn DynPostProcess<Outputs<T>, T> + '_>,
        dispatch: impl Future<Output = Outputs<T>> + MaybeSend + 's,
    ) -> impl Future<Output = T> + MaybeSend
    where
        Self: Sized,
    {
        post_process(end, dispatch)
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
    fn __hooks_finish<'s>(
        end: &'s Companion<By<AggregateIntoRole<O>, Self>, dyn DynPostProcess<Outputs<I>, O> + '_>,
        dispatch: impl Future<Output = Outputs<I>> + MaybeSend + 's,
    ) -> impl Future<Output = O> + MaybeSend
    where
        Self: Sized,
    {
        post_process(end, dispatch)
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
    fn __hooks_finish<'s>(
        end: &'s Companion<By<FinalizeRole, Self>, dyn DynPostProcess<T, T> + '_>,
        dispatch: impl Future<Output = T> + MaybeSend + 's,
    ) -> impl Future<Output = T> + MaybeSend
    where
        Self: Sized,
    {
        post_process(end, dispatch)
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
    fn __hooks_finish<'s>(
        end: &'s Companion<By<FinalizeIntoRole<O>, Self>, dyn DynPostProcess<I, O> + '_>,
        dispatch: impl Future<Output = I> + MaybeSend + 's,
    ) -> impl Future<Output = O> + MaybeSend
    where
        Self: Sized,
    {
        post_process(end, dispatch)
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
    /// Returns the output of a default that is not aggregated.
    pub(super) fn into_default(self) -> Result<T, Self> {
        match self {
            Outputs::Default(output) => Ok(output),
            outputs @ Outputs::All(_) => Err(outputs),
        }
    }

    pub(super) fn into_vec(self) -> Vec<T> {
        match self {
            Outputs::All(outputs) => outputs,
            Outputs::Default(output) => vec![output],
        }
    }
}

/// An aggregate or a finalizer.
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

/// Continues a dispatch with an aggregate or a finalizer.
#[inline]
pub(super) fn post_process<'a, C: PostProcess<I, O>, I, O>(
    end: &'a Companion<C, dyn DynPostProcess<I, O> + '_>,
    dispatch: impl Future<Output = I> + MaybeSend + 'a,
) -> impl Future<Output = O> + MaybeSend {
    AndThen::new(dispatch, move |outputs| match C::skip(outputs) {
        Ok(result) => Continuation::Done(result),
        Err(outputs) => Continuation::Future(match end {
            Companion::Default(end) => Either::left(end.post_process(outputs)),
            Companion::Override(end) => {
                Either::right(ColdFuture::new(end.companion.post_process_boxed(outputs)))
            }
        }),
    })
}

impl<T, C: Aggregate<T>> PostProcess<Outputs<T>, T> for By<AggregateRole, C> {
    fn skip(outputs: Outputs<T>) -> Result<T, Outputs<T>> {
        outputs.into_default()
    }

    fn post_process(&self, outputs: Outputs<T>) -> impl Future<Output = T> + MaybeSend {
        self.0.call(outputs.into_vec())
    }
}

impl<I, O, C: AggregateInto<I, O>> PostProcess<Outputs<I>, O> for By<AggregateIntoRole<O>, C> {
    fn post_process(&self, outputs: Outputs<I>) -> impl Future<Output = O> + MaybeSend {
        self.0.call(outputs.into_vec())
    }
}

impl<T, C: Finalize<T>> PostProcess<T, T> for By<FinalizeRole, C> {
    fn post_process(&self, result: T) -> impl Future<Output = T> + MaybeSend {
        self.0.call(result)
    }
}

impl<I, O, C: FinalizeInto<I, O>> PostProcess<I, O> for By<FinalizeIntoRole<O>, C> {
    fn post_process(&self, result: I) -> impl Future<Output = O> + MaybeSend {
        self.0.call(result)
    }
}
