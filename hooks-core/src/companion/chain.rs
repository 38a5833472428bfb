//! Chains: companions that may stop a dispatch after an output.

use std::future::Future;
use std::ops::ControlFlow;

use super::stored::{By, ChainRole, Companion, NoCompanion};
use crate::bounds::{BoxFuture, HookObject, MaybeSend};
use crate::future::{ColdFuture, Either, Never};

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
    /// `Break` stops the dispatch with this output, `Continue` starts the next hook.
    fn call(&self, output: &T) -> impl Future<Output = ControlFlow<()>> + MaybeSend;

    /// `true` if [`__hooks_check_now`](Self::__hooks_check_now) always decides.
    #[doc(hidden)]
    const __HOOKS_AT_ONCE: bool = false;

    /// Decides without a future, or returns `None`.
    #[doc(hidden)]
    fn __hooks_check_now(&self, output: &T) -> Option<ControlFlow<()>> {
        let _ = output;
        None
    }

    #[doc(hidden)]
    #[inline]
    fn __hooks_condition(chain: &Chained<'_, By<ChainRole, Self>, T>) -> impl StopCondition<T>
    where
        Self: Sized,
    {
        chain
    }
}

/// A slot's chain.
pub type Chained<'h, C, T> = Companion<C, dyn DynChain<T> + 'h>;

/// Decides after each output whether a dispatch stops: the chain of a slot, or none.
///
/// [`check_override`](Self::check_override) and [`check`](Self::check) take the output and return it:
/// an output whose address is passed to a function that is not inlined is kept in memory for the
/// whole dispatch.
pub trait StopCondition<T>: HookObject + Copy {
    /// `true` if the slot has a chain.
    const IS_PRESENT: bool;
    /// `true` if [`check_now`](Self::check_now) decides, unless the chain was replaced.
    const IS_IMMEDIATE: bool;
    /// Decides without a future, by the default companion.
    fn check_now(self, output: &T) -> Option<ControlFlow<()>>;
    /// Decides without a future, by the companion that replaced the default.
    fn check_override(self, output: T) -> (T, Option<ControlFlow<()>>);
    /// Decides.
    fn check(self, output: T) -> impl Future<Output = (T, ControlFlow<()>)> + MaybeSend
    where
        T: MaybeSend;
}

impl<T> StopCondition<T> for NoCompanion {
    const IS_PRESENT: bool = false;
    const IS_IMMEDIATE: bool = true;

    fn check_now(self, _: &T) -> Option<ControlFlow<()>> {
        Some(ControlFlow::Continue(()))
    }

    fn check_override(self, output: T) -> (T, Option<ControlFlow<()>>) {
        (output, Some(ControlFlow::Continue(())))
    }

    fn check(self, _: T) -> impl Future<Output = (T, ControlFlow<()>)> + MaybeSend {
        unreachable::<Never<_>>()
    }
}

fn unreachable<F>() -> F {
    unreachable!("a slot without a chain polls no chain")
}

impl<T, C: Chain<T>> StopCondition<T> for &Chained<'_, By<ChainRole, C>, T> {
    const IS_PRESENT: bool = true;
    const IS_IMMEDIATE: bool = C::__HOOKS_AT_ONCE;

    fn check_now(self, output: &T) -> Option<ControlFlow<()>> {
        match self {
            Companion::Default(chain) => chain.0.__hooks_check_now(output),
            Companion::Override(..) => None,
        }
    }

    // Keeps the output of a default companion in registers: `chain/0` −4 %, `chain/4` −1 %
    // instructions.
    #[cold]
    #[inline(never)]
    fn check_override(self, output: T) -> (T, Option<ControlFlow<()>>) {
        let flow = match self {
            Companion::Default(_) => None,
            Companion::Override(chain) => chain.companion.check_now(&output),
        };
        (output, flow)
    }

    fn check(self, output: T) -> impl Future<Output = (T, ControlFlow<()>)> + MaybeSend
    where
        T: MaybeSend,
    {
        match self {
            Companion::Default(chain) => Either::left(check(&*chain.0, output)),
            Companion::Override(chain) => {
                Either::right(ColdFuture::new(chain.companion.check(output)))
            }
        }
    }
}

#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` moves its arguments into variables before it polls"
)]
fn check<T: MaybeSend, C: Chain<T>>(
    chain: &C,
    output: T,
) -> impl Future<Output = (T, ControlFlow<()>)> + MaybeSend {
    async move {
        let flow = chain.call(&output).await;
        (output, flow)
    }
}

/// Type-erased twin of [`Chain`].
pub trait DynChain<T>: HookObject {
    /// Decides without a future, or returns `None`.
    fn check_now(&self, output: &T) -> Option<ControlFlow<()>>;
    /// Decides, and returns the output.
    fn check<'a>(&'a self, output: T) -> BoxFuture<'a, (T, ControlFlow<()>)>
    where
        T: MaybeSend + 'a;
}

impl<T, C: Chain<T>> DynChain<T> for C {
    fn check_now(&self, output: &T) -> Option<ControlFlow<()>> {
        self.__hooks_check_now(output)
    }

    fn check<'a>(&'a self, output: T) -> BoxFuture<'a, (T, ControlFlow<()>)>
    where
        T: MaybeSend + 'a,
    {
        Box::pin(check(self, output))
    }
}
