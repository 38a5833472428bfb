//! The bounds every hook has to meet, which differ by target.
//!
//! On native targets hooks are shared between threads, so they are `Send + Sync`
//! and their futures are `Send`. On wasm there is one thread, and the same names
//! ask for nothing. The cfg `hooks_single_threaded` selects the wasm rules on any
//! target, so that they can be tested without a wasm runtime.

use std::future::Future;
use std::pin::Pin;

#[cfg(not(any(target_family = "wasm", hooks_single_threaded)))]
mod rules {
    use super::{Future, Pin};

    /// `Send` on native targets, nothing on wasm.
    pub trait MaybeSend: Send {}
    impl<T: Send + ?Sized> MaybeSend for T {}

    /// `Sync` on native targets, nothing on wasm.
    pub trait MaybeSync: Sync {}
    impl<T: Sync + ?Sized> MaybeSync for T {}

    /// A hook's answer that is not there yet.
    pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

    pub(crate) type AnyObject = dyn std::any::Any + Send + Sync;
}

#[cfg(any(target_family = "wasm", hooks_single_threaded))]
mod rules {
    use super::{Future, Pin};

    /// `Send` on native targets, nothing on wasm.
    pub trait MaybeSend {}
    impl<T: ?Sized> MaybeSend for T {}

    /// `Sync` on native targets, nothing on wasm.
    pub trait MaybeSync {}
    impl<T: ?Sized> MaybeSync for T {}

    /// A hook's answer that is not there yet.
    pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

    pub(crate) type AnyObject = dyn std::any::Any;
}

pub(crate) use rules::AnyObject;
pub use rules::{BoxFuture, MaybeSend, MaybeSync};

/// What a value must be to be stored in a slot; every hook trait has it as its
/// supertrait. Implemented for everything that fits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept in a hook set, which threads share; hold an `Arc` in place of an `Rc`, and a lock or an atomic in place of a `Cell`",
    label = "not `Send` and `Sync`"
)]
pub trait HookObject: MaybeSend + MaybeSync {}

#[diagnostic::do_not_recommend]
impl<T: MaybeSend + MaybeSync + ?Sized> HookObject for T {}

/// What an argument must be to be given to more than one hook: `Clone`, unless the slot
/// is a singleton. Implemented for everything that fits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is given to several hooks and cannot be cloned; implement `Clone` for it, take `&{Self}`, or make the slot a `singleton`",
    label = "does not implement `Clone`"
)]
pub trait HookArgument {
    /// The argument for one more hook.
    #[doc(hidden)]
    fn __hooks_clone(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> HookArgument for T {
    #[inline]
    fn __hooks_clone(&self) -> Self {
        self.clone()
    }
}

/// What an output must be for a chain to look at it, which may wait meanwhile. Implemented for
/// everything that fits.
#[diagnostic::on_unimplemented(
    message = "a chain cannot look at `{Self}`, which threads cannot share; answer a type that is `Send` and `Sync`, or leave the chain out",
    label = "not `Send` and `Sync`"
)]
pub trait ChainOutput: MaybeSend + MaybeSync {}

#[diagnostic::do_not_recommend]
impl<T: MaybeSend + MaybeSync> ChainOutput for T {}
