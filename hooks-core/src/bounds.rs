//! The bounds of hooks, which differ by target.
//!
//! On native targets hooks are shared between threads, so they are `Send + Sync` and their futures
//! are `Send`. On wasm there is one thread, and these traits require nothing. The cfg
//! `hooks_single_threaded` selects the wasm rules on any target, so that tests need no wasm
//! runtime.

use std::future::Future;
use std::pin::Pin;

#[cfg(not(any(target_family = "wasm", hooks_single_threaded)))]
mod rules {
    use super::{Future, Pin};

    // `Send` and `Sync` themselves, not traits that have them as supertraits: the compiler would
    // prove each bound twice, and execute 6 % more instructions in `cargo check` of declared slots.
    /// `Send` on native targets, no bound on wasm.
    pub use std::marker::Send as MaybeSend;
    /// `Sync` on native targets, no bound on wasm.
    pub use std::marker::Sync as MaybeSync;

    /// Boxed, pinned future of a hook, `Send` on native targets.
    pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

    pub(crate) type AnyObject = dyn std::any::Any + Send + Sync;
}

#[cfg(any(target_family = "wasm", hooks_single_threaded))]
mod rules {
    use super::{Future, Pin};

    /// `Send` on native targets, no bound on wasm.
    pub trait MaybeSend {}
    impl<T: ?Sized> MaybeSend for T {}

    /// `Sync` on native targets, no bound on wasm.
    pub trait MaybeSync {}
    impl<T: ?Sized> MaybeSync for T {}

    /// Boxed, pinned future of a hook, `Send` on native targets.
    pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

    pub(crate) type AnyObject = dyn std::any::Any;
}

/// Unused second items with the names of the bounds.
///
/// If an item has several names, the compiler's errors contain the first one in alphabetical order
/// that is unique among all items of the dependencies. With these items, errors contain `Send` and
/// not `MaybeSend`, also errors about other code of the program.
pub mod second_names {
    pub use std::convert::Infallible as MaybeSend;
    pub use std::convert::Infallible as MaybeSync;
}

pub(crate) use rules::AnyObject;
pub use rules::{BoxFuture, MaybeSend, MaybeSync};

/// Bounds of a value that is stored in a slot; supertrait of every hook trait. Implemented for
/// every matching type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared between threads; replace `Rc` with `Arc`, and `Cell` with a lock or an atomic",
    label = "not `Send` and `Sync`"
)]
pub trait HookObject: MaybeSend + MaybeSync {}

#[diagnostic::do_not_recommend]
impl<T: MaybeSend + MaybeSync + ?Sized> HookObject for T {}

/// Bound of an argument that is passed to more than one hook: `Clone`, unless the slot is a
/// singleton. Implemented for every matching type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is passed to several hooks and is not `Clone`; implement `Clone`, take `&{Self}` or `&mut {Self}`, or make the slot a `singleton` or a `waterfall`",
    label = "does not implement `Clone`"
)]
pub trait HookArgument {
    /// Clones the argument for one more hook.
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

/// Bound of a slot's output, which is sent between threads on native targets. Implemented for every
/// matching type.
#[diagnostic::on_unimplemented(
    message = "the output of this slot cannot be sent between threads; replace `Box<dyn Error>` with `Box<dyn Error + Send + Sync>`, and `Rc` with `Arc`",
    label = "not `Send`"
)]
#[allow(
    unknown_lints,
    unknown_or_malformed_diagnostic_attributes,
    misplaced_diagnostic_attributes,
    reason = "the compiler also checks each supertrait, and reports the innermost type with files of `std`; with `do_not_recommend` on the trait it reports the output, and a compiler that ignores the attribute reports as before"
)]
#[diagnostic::do_not_recommend]
pub trait SlotOutput: MaybeSend {}

#[diagnostic::do_not_recommend]
impl<T: MaybeSend> SlotOutput for T {}
