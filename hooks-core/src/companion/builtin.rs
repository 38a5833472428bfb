//! The chains that come with the framework.

use std::future::{Future, ready};
use std::marker::PhantomData;
use std::ops::ControlFlow;

use super::Chain;
use crate::bounds::MaybeSend;

/// Stops a dispatch on the first `Err` (`T-33`).
pub struct ShortCircuit<T, E>(PhantomData<fn() -> Result<T, E>>);

/// Stops a dispatch on the first `Some` (`T-33`).
pub struct FirstSuccess<T>(PhantomData<fn() -> Option<T>>);

impl<T, E> Chain<Result<T, E>> for ShortCircuit<T, E> {
    fn call(&self, output: &Result<T, E>) -> impl Future<Output = ControlFlow<()>> + MaybeSend {
        ready(stop_if(output.is_err()))
    }

    #[inline]
    fn __hooks_check_now(&self, output: &Result<T, E>) -> Option<ControlFlow<()>> {
        Some(stop_if(output.is_err()))
    }
}

impl<T> Chain<Option<T>> for FirstSuccess<T> {
    fn call(&self, output: &Option<T>) -> impl Future<Output = ControlFlow<()>> + MaybeSend {
        ready(stop_if(output.is_some()))
    }

    #[inline]
    fn __hooks_check_now(&self, output: &Option<T>) -> Option<ControlFlow<()>> {
        Some(stop_if(output.is_some()))
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
