//! The companions of synchronous slots.

use std::future::{Future, ready};
use std::ops::ControlFlow;

use super::chain::{Chain, Chained, StopCondition};
use super::post_process::{DynPostProcess, Outputs, PostProcess, post_process};
use super::stored::{
    AggregateIntoRole, AggregateRole, By, ChainRole, Companion, FinalizeIntoRole, FinalizeRole,
    SyncRole,
};
use crate::bounds::{HookObject, MaybeSend};
use crate::future::Never;

/// The [`Chain`] of a synchronous slot: looks at each output of a dispatch and may stop
/// it (`#[hook(…, sync, chain = Type)]`).
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hooks_core::{SyncChain, hooks};
///
/// #[derive(Default)]
/// struct UntilEmpty;
///
/// impl SyncChain<String> for UntilEmpty {
///     fn call(&self, output: &String) -> ControlFlow<()> {
///         if output.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
///     }
/// }
///
/// #[hooks]
/// trait Lines {
///     #[hook(always, sync, chain = UntilEmpty)]
///     fn line(number: usize) -> String {
///         format!("line {number}")
///     }
/// }
///
/// let lines = LinesSet::new().with_line(|_: usize| String::new()).with_line(|_: usize| "end".to_owned());
/// assert_eq!(lines.line(1), "");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a chain for this synchronous slot; implement `SyncChain<{T}>` for it",
    label = "does not implement `SyncChain<{T}>`"
)]
pub trait SyncChain<T>: HookObject {
    /// `Break` stops the dispatch with this output, `Continue` starts the next hook.
    fn call(&self, output: &T) -> ControlFlow<()>;

    #[doc(hidden)]
    #[inline]
    fn __hooks_condition(
        chain: &Chained<'_, By<SyncRole<ChainRole>, Self>, T>,
    ) -> impl StopCondition<T>
    where
        Self: Sized,
    {
        chain
    }
}

/// The [`Aggregate`](super::Aggregate) of a synchronous slot
/// (`#[hook(…, sync, aggregate = Type)]`): reduces the outputs of a dispatch to one value of the same
/// type.
///
/// ```
/// #[derive(Default)]
/// struct Join;
///
/// impl hooks_core::SyncAggregate<String> for Join {
///     fn call(&self, outputs: Vec<String>) -> String {
///         outputs.join(", ")
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an aggregate for this synchronous slot; implement `SyncAggregate<{T}>` for it",
    label = "does not implement `SyncAggregate<{T}>`"
)]
pub trait SyncAggregate<T>: HookObject {
    /// Reduces the outputs, which are in execution order.
    fn call(&self, outputs: Vec<T>) -> T;

    #[doc(hidden)]
    #[inline]
    fn __hooks_finish<'s>(
        end: &'s SyncEnd<'_, AggregateRole, Self, Outputs<T>, T>,
        dispatch: impl Future<Output = Outputs<T>> + MaybeSend + 's,
    ) -> impl Future<Output = T> + MaybeSend
    where
        Self: Sized,
        T: MaybeSend,
    {
        post_process(end, dispatch)
    }
}

/// The [`AggregateInto`](super::AggregateInto) of a synchronous slot
/// (`#[hook(…, sync, aggregate = Type, output = O)]`): reduces the outputs of a dispatch to one value of
/// another type.
///
/// ```
/// use hooks_core::{SyncAggregateInto, hooks};
///
/// #[derive(Default)]
/// struct Count;
///
/// impl SyncAggregateInto<bool, usize> for Count {
///     fn call(&self, outputs: Vec<bool>) -> usize {
///         outputs.into_iter().filter(|vote| *vote).count()
///     }
/// }
///
/// #[hooks]
/// trait Votes {
///     #[hook(always, sync, aggregate = Count, output = usize)]
///     fn in_favour(proposal: &str) -> bool {
///         !proposal.is_empty()
///     }
/// }
///
/// assert_eq!(VotesSet::new().in_favour("tea at four"), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an aggregate for this synchronous slot; implement `SyncAggregateInto<{I}, {O}>` for it",
    label = "does not implement `SyncAggregateInto<{I}, {O}>`"
)]
pub trait SyncAggregateInto<I, O>: HookObject {
    /// Reduces the outputs, which are in execution order.
    fn call(&self, outputs: Vec<I>) -> O;

    #[doc(hidden)]
    #[inline]
    fn __hooks_finish<'s>(
        end: &'s SyncEnd<'_, AggregateIntoRole<O>, Self, Outputs<I>, O>,
        dispatch: impl Future<Output = Outputs<I>> + MaybeSend + 's,
    ) -> impl Future<Output = O> + MaybeSend
    where
        Self: Sized,
        O: MaybeSend,
    {
        post_process(end, dispatch)
    }
}

/// The [`Finalize`](super::Finalize) of a synchronous slot (`#[hook(…, sync, finalize = Type)]`):
/// transforms the result of a dispatch.
///
/// ```
/// use hooks_core::{SyncFinalize, hooks};
///
/// #[derive(Default)]
/// struct OneLine;
///
/// impl SyncFinalize<String> for OneLine {
///     fn call(&self, output: String) -> String {
///         output.replace('\n', " ")
///     }
/// }
///
/// #[hooks]
/// trait Titles {
///     #[hook(fallback, sync, finalize = OneLine)]
///     fn title(text: &str) -> String {
///         text.to_owned()
///     }
/// }
///
/// assert_eq!(TitlesSet::new().title("two\nlines"), "two lines");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a finalizer for this synchronous slot; implement `SyncFinalize<{T}>` for it",
    label = "does not implement `SyncFinalize<{T}>`"
)]
pub trait SyncFinalize<T>: HookObject {
    /// Returns the result of the dispatch.
    fn call(&self, result: T) -> T;

    #[doc(hidden)]
    #[inline]
    fn __hooks_finish<'s>(
        end: &'s SyncEnd<'_, FinalizeRole, Self, T, T>,
        dispatch: impl Future<Output = T> + MaybeSend + 's,
    ) -> impl Future<Output = T> + MaybeSend
    where
        Self: Sized,
        T: MaybeSend,
    {
        post_process(end, dispatch)
    }
}

/// The [`FinalizeInto`](super::FinalizeInto) of a synchronous slot
/// (`#[hook(…, sync, finalize = Type, output = O)]`): transforms the result of a dispatch into a value
/// of another type.
///
/// ```
/// #[derive(Default)]
/// struct OrNothing;
///
/// impl hooks_core::SyncFinalizeInto<Option<String>, String> for OrNothing {
///     fn call(&self, output: Option<String>) -> String {
///         output.unwrap_or_default()
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a finalizer for this synchronous slot; implement `SyncFinalizeInto<{I}, {O}>` for it",
    label = "does not implement `SyncFinalizeInto<{I}, {O}>`"
)]
pub trait SyncFinalizeInto<I, O>: HookObject {
    /// Returns the result of the dispatch.
    fn call(&self, result: I) -> O;

    #[doc(hidden)]
    #[inline]
    fn __hooks_finish<'s>(
        end: &'s SyncEnd<'_, FinalizeIntoRole<O>, Self, I, O>,
        dispatch: impl Future<Output = I> + MaybeSend + 's,
    ) -> impl Future<Output = O> + MaybeSend
    where
        Self: Sized,
        O: MaybeSend,
    {
        post_process(end, dispatch)
    }
}

/// The aggregate or the finalizer `C` of a synchronous slot, in the role `R`.
pub(super) type SyncEnd<'h, R, C, I, O> =
    Companion<By<SyncRole<R>, C>, dyn DynPostProcess<I, O> + 'h>;

impl<T, C: SyncChain<T>> StopCondition<T> for &Chained<'_, By<SyncRole<ChainRole>, C>, T> {
    const IS_PRESENT: bool = true;
    const IS_IMMEDIATE: bool = true;

    #[inline]
    fn check_now(self, output: &T) -> Option<ControlFlow<()>> {
        match self {
            Companion::Default(chain) => Some(chain.0.call(output)),
            Companion::Override(..) => None,
        }
    }

    #[cold]
    #[inline(never)]
    fn check_override(self, output: T) -> (T, Option<ControlFlow<()>>) {
        let flow = match self {
            Companion::Default(chain) => Some(chain.0.call(&output)),
            Companion::Override(chain) => chain.companion.check_now(&output),
        };
        (output, flow)
    }

    fn check(self, _: T) -> impl Future<Output = (T, ControlFlow<()>)> + MaybeSend {
        unreachable::<Never<_>>()
    }
}

fn unreachable<F>() -> F {
    unreachable!("a synchronous chain decides at once")
}

/// A chain that replaces the chain of a synchronous slot.
#[diagnostic::do_not_recommend]
impl<T, C: SyncChain<T>> Chain<T> for By<SyncRole<ChainRole>, C> {
    fn call(&self, output: &T) -> impl Future<Output = ControlFlow<()>> + MaybeSend {
        ready(self.0.call(output))
    }

    fn __hooks_check_now(&self, output: &T) -> Option<ControlFlow<()>> {
        Some(self.0.call(output))
    }
}

impl<T: MaybeSend, C: SyncAggregate<T>> PostProcess<Outputs<T>, T>
    for By<SyncRole<AggregateRole>, C>
{
    fn skip(outputs: Outputs<T>) -> Result<T, Outputs<T>> {
        outputs.into_default()
    }

    fn post_process(&self, outputs: Outputs<T>) -> impl Future<Output = T> + MaybeSend {
        ready(self.0.call(outputs.into_vec()))
    }
}

impl<I, O: MaybeSend, C: SyncAggregateInto<I, O>> PostProcess<Outputs<I>, O>
    for By<SyncRole<AggregateIntoRole<O>>, C>
{
    fn post_process(&self, outputs: Outputs<I>) -> impl Future<Output = O> + MaybeSend {
        ready(self.0.call(outputs.into_vec()))
    }
}

impl<T: MaybeSend, C: SyncFinalize<T>> PostProcess<T, T> for By<SyncRole<FinalizeRole>, C> {
    fn post_process(&self, result: T) -> impl Future<Output = T> + MaybeSend {
        ready(self.0.call(result))
    }
}

impl<I, O: MaybeSend, C: SyncFinalizeInto<I, O>> PostProcess<I, O>
    for By<SyncRole<FinalizeIntoRole<O>>, C>
{
    fn post_process(&self, result: I) -> impl Future<Output = O> + MaybeSend {
        ready(self.0.call(result))
    }
}
