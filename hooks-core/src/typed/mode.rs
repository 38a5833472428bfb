//! How the hooks of a slot return their output: as a future, or at once.

use std::future::Future;

use crate::bounds::MaybeSend;
use crate::hook_future::HookFuture;

/// How the hooks of a slot return their output.
pub trait Mode {
    /// `true` if the hooks are functions that return their output.
    const IS_SYNC: bool;
    /// The return type of a function that is not `async`, as the `call` of a hook with the output `T`.
    type Plain<T>;

    /// Converts the output of a function that is not `async`.
    fn plain<T>(output: T) -> Self::Plain<T>;
}

/// Hooks return futures.
#[derive(Debug)]
pub enum AsyncMode {}

/// Hooks return their output.
#[derive(Debug)]
pub enum SyncMode {}

impl Mode for AsyncMode {
    const IS_SYNC: bool = false;
    type Plain<T> = std::future::Ready<T>;

    fn plain<T>(output: T) -> std::future::Ready<T> {
        std::future::ready(output)
    }
}

impl Mode for SyncMode {
    const IS_SYNC: bool = true;
    type Plain<T> = T;

    #[inline]
    fn plain<T>(output: T) -> T {
        output
    }
}

/// The value that a closure returns, as the output of a hook of a slot with the output `T` and the mode
/// `M`.
pub trait Returns<T, M> {
    /// Converts the value.
    fn into_hook_future<'a>(self) -> HookFuture<'a, T>
    where
        Self: 'a;
}

#[diagnostic::do_not_recommend]
impl<T, F: Future<Output = T> + MaybeSend> Returns<T, AsyncMode> for F {
    #[inline]
    fn into_hook_future<'a>(self) -> HookFuture<'a, T>
    where
        Self: 'a,
    {
        HookFuture::boxed(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Returns<T, SyncMode> for T {
    #[inline]
    fn into_hook_future<'a>(self) -> HookFuture<'a, T>
    where
        Self: 'a,
    {
        HookFuture::Ready(self)
    }
}
