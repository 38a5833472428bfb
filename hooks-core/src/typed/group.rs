//! Values that provide several hooks of a set (`T-20`, `T-22`).

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use crate::bounds::HookObject;

/// A value whose hooks can be registered with a set, as `#[impl_hooks]` generates it.
/// A borrow of such a value, or an `Arc` of it, is one too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` provides no hooks for `{Set}`; put `#[impl_hooks(…)]` with the name of the set above the `impl` block of the hook trait",
    label = "no hooks for this set"
)]
pub trait HookGroup<'h, Set>: Sized {
    /// Registers the methods present in the `impl` block, for a value that `owner` points at.
    #[doc(hidden)]
    fn __hooks_register<P>(owner: P, set: &mut Set)
    where
        P: Deref<Target = Self> + Clone + HookObject + 'h;

    /// Wraps the value once and registers its methods.
    #[doc(hidden)]
    fn __hooks_register_owned(self, set: &mut Set)
    where
        Self: HookObject + 'h,
    {
        Self::__hooks_register(Arc::new(self), set);
    }
}

#[diagnostic::do_not_recommend]
impl<'h, Set, T: HookGroup<'h, Set> + HookObject> HookGroup<'h, Set> for &'h T {
    fn __hooks_register<P>(owner: P, set: &mut Set)
    where
        P: Deref<Target = Self> + Clone + HookObject + 'h,
    {
        T::__hooks_register(*owner, set);
    }

    fn __hooks_register_owned(self, set: &mut Set) {
        T::__hooks_register(self, set);
    }
}

#[diagnostic::do_not_recommend]
impl<'h, Set, T: HookGroup<'h, Set> + HookObject + 'h> HookGroup<'h, Set> for Arc<T> {
    fn __hooks_register<P>(owner: P, set: &mut Set)
    where
        P: Deref<Target = Self> + Clone + HookObject + 'h,
    {
        T::__hooks_register(Arc::clone(&owner), set);
    }

    fn __hooks_register_owned(self, set: &mut Set) {
        T::__hooks_register(self, set);
    }
}

/// A value without hooks: each method of a hook trait answers for it with its default.
#[derive(Debug)]
pub struct NoHooks;

/// Whether the set that `#[impl_hooks(…)]` names is the one of the block's hook trait.
/// Every set is its own.
#[diagnostic::on_unimplemented(
    message = "`{Given}` is the set of another hook trait; name `{Self}`, which `#[hooks]` generated from this one",
    label = "the set of another trait"
)]
pub trait SameSet<Given>: Sized {
    #[doc(hidden)]
    fn __hooks_own(given: &mut Given, own: PhantomData<Self>) -> &mut Self;
}

impl<Set> SameSet<Set> for Set {
    fn __hooks_own(given: &mut Set, _: PhantomData<Set>) -> &mut Set {
        given
    }
}
