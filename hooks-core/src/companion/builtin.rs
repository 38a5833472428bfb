//! Chains that are part of the framework.

use std::future::{Future, ready};
use std::marker::PhantomData;
use std::ops::ControlFlow;

use super::chain::Chain;
use super::stored::NoCompanion;
use super::synchronous::SyncChain;
use crate::bounds::MaybeSend;

/// Stops a dispatch on the first `Err`.
///
/// ```
/// use hooks_core::{ShortCircuit, hooks};
///
/// #[hooks]
/// trait Checks {
///     #[hook(always, chain = ShortCircuit<(), String>)]
///     async fn check(text: &str) -> Result<(), String> {
///         if text.is_empty() { Err("empty".into()) } else { Ok(()) }
///     }
/// }
///
/// # fn block_on<T>(f: impl Future<Output = T>) -> T {
/// #     let mut f = std::pin::pin!(f);
/// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
/// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
/// # }
/// # block_on(async {
/// let checks = ChecksSet::new().with_check(async |_text: String| Err("not today".to_owned()));
/// assert_eq!(checks.check("").await, Err("empty".to_owned()));
/// assert_eq!(checks.check("hello").await, Err("not today".to_owned()));
/// # });
/// ```
pub struct ShortCircuit<T, E>(PhantomData<fn() -> Result<T, E>>);

/// Stops a dispatch on the first `Some`. In a `fallback` slot the default runs if
/// every hook returns `None`.
///
/// ```
/// use hooks_core::{FirstSuccess, hooks};
///
/// #[hooks]
/// trait Lookup {
///     #[hook(fallback, chain = FirstSuccess<u32>)]
///     async fn price(_item: &str) -> Option<u32> {
///         None
///     }
/// }
///
/// # fn block_on<T>(f: impl Future<Output = T>) -> T {
/// #     let mut f = std::pin::pin!(f);
/// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
/// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
/// # }
/// # block_on(async {
/// let lookup = LookupSet::new()
///     .with_price(async |item: String| (item == "tea").then_some(400))
///     .with_price(async |_item: String| Some(1));
/// assert_eq!(lookup.price("tea").await, Some(400));
/// assert_eq!(lookup.price("cake").await, Some(1));
/// # });
/// ```
pub struct FirstSuccess<T>(PhantomData<fn() -> Option<T>>);

impl<T, E> SyncChain<Result<T, E>> for ShortCircuit<T, E> {
    #[inline]
    fn call(&self, output: &Result<T, E>) -> ControlFlow<()> {
        stop_if(output.is_err())
    }
}

impl<T, E> Chain<Result<T, E>> for ShortCircuit<T, E> {
    const __HOOKS_AT_ONCE: bool = true;

    fn call(&self, output: &Result<T, E>) -> impl Future<Output = ControlFlow<()>> + MaybeSend {
        ready(stop_if(output.is_err()))
    }

    #[inline]
    fn __hooks_check_now(&self, output: &Result<T, E>) -> Option<ControlFlow<()>> {
        Some(stop_if(output.is_err()))
    }
}

impl<T> SyncChain<Option<T>> for FirstSuccess<T> {
    #[inline]
    fn call(&self, output: &Option<T>) -> ControlFlow<()> {
        stop_if(output.is_some())
    }
}

impl<T> Chain<Option<T>> for FirstSuccess<T> {
    const __HOOKS_AT_ONCE: bool = true;

    fn call(&self, output: &Option<T>) -> impl Future<Output = ControlFlow<()>> + MaybeSend {
        ready(stop_if(output.is_some()))
    }

    #[inline]
    fn __hooks_check_now(&self, output: &Option<T>) -> Option<ControlFlow<()>> {
        Some(stop_if(output.is_some()))
    }
}

#[diagnostic::do_not_recommend]
impl<T> SyncChain<T> for NoCompanion {
    fn call(&self, _: &T) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The chain of a slot whose `chain` option has an error: the hooks of the slot have the
/// parameters of a slot with a chain, so that they cause no further errors.
#[diagnostic::do_not_recommend]
impl<T> Chain<T> for NoCompanion {
    fn call(&self, _: &T) -> impl Future<Output = ControlFlow<()>> + MaybeSend {
        ready(ControlFlow::Continue(()))
    }
}

#[inline]
fn stop_if(stop: bool) -> ControlFlow<()> {
    if stop {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

impl<T, E> Default for ShortCircuit<T, E> {
    fn default() -> Self {
        ShortCircuit(PhantomData)
    }
}

impl<T> Default for FirstSuccess<T> {
    fn default() -> Self {
        FirstSuccess(PhantomData)
    }
}

impl<T, E> std::fmt::Debug for ShortCircuit<T, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ShortCircuit")
    }
}

impl<T> std::fmt::Debug for FirstSuccess<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FirstSuccess")
    }
}
