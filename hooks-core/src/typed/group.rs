//! Values that provide several hooks of a set.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use crate::bounds::HookObject;
use crate::hook_future::HookFuture;
use crate::typed::slot_def::{CallMethod, DynHook, Lend};

/// A value with several hooks of a set; `#[impl_hooks]` implements it. Also implemented for
/// references and `Arc`s of such a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no hooks for `{Set}`; add `#[impl_hooks(…)]`, with the name of the set, to the `impl` block of the hook trait",
    label = "no hooks for this set"
)]
pub trait HookGroup<'h, Set>: Sized {
    /// The methods of the `impl` block whose bodies cannot suspend.
    #[doc(hidden)]
    const __HOOKS_READY: &'static [&'static str] = &[];

    /// Registers the methods of the `impl` block, for a value behind `provider`.
    #[doc(hidden)]
    fn __hooks_register<P>(provider: &Arc<HookGroupPtr<P, Set>>, set: &mut Set)
    where
        P: Deref<Target = Self> + HookObject + 'h;

    /// Wraps the value once and registers its methods.
    #[doc(hidden)]
    fn __hooks_register_owned(self, set: &mut Set)
    where
        Self: HookObject + 'h,
    {
        Self::__hooks_register(&Arc::new(HookGroupPtr::new(Held(self))), set);
    }
}

#[diagnostic::do_not_recommend]
impl<'h, Set, T: HookGroup<'h, Set> + HookObject> HookGroup<'h, Set> for &'h T {
    fn __hooks_register<P>(provider: &Arc<HookGroupPtr<P, Set>>, set: &mut Set)
    where
        P: Deref<Target = Self> + HookObject + 'h,
    {
        (*provider.pointer).__hooks_register_owned(set);
    }

    fn __hooks_register_owned(self, set: &mut Set) {
        T::__hooks_register(&Arc::new(HookGroupPtr::new(self)), set);
    }
}

#[diagnostic::do_not_recommend]
impl<'h, Set, T: HookGroup<'h, Set> + HookObject + 'h> HookGroup<'h, Set> for Arc<T> {
    fn __hooks_register<P>(provider: &Arc<HookGroupPtr<P, Set>>, set: &mut Set)
    where
        P: Deref<Target = Self> + HookObject + 'h,
    {
        Arc::clone(&provider.pointer).__hooks_register_owned(set);
    }

    fn __hooks_register_owned(self, set: &mut Set) {
        T::__hooks_register(&Arc::new(HookGroupPtr::new(self)), set);
    }
}

/// A value with several hooks of the set `Set`, in one allocation; `P` is a pointer to it.
#[derive(Debug)]
pub struct HookGroupPtr<P, Set> {
    pointer: P,
    set: PhantomData<fn() -> Set>,
}

impl<P, Set> HookGroupPtr<P, Set> {
    fn new(pointer: P) -> Self {
        HookGroupPtr {
            pointer,
            set: PhantomData,
        }
    }
}

impl<'h, S, P, Set> DynHook<S> for HookGroupPtr<P, Set>
where
    P: Deref + HookObject,
    P::Target: HookGroup<'h, Set>,
    S: CallMethod<P::Target> + ?Sized,
{
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out> {
        let is_ready = const { contains(P::Target::__HOOKS_READY, S::NAME) };
        S::start(&*self.pointer, args, last, is_ready)
    }

    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        const { contains(P::Target::__HOOKS_READY, S::NAME) }
    }
}

/// An owned value that dereferences to itself.
#[derive(Debug)]
pub struct Held<T>(pub T);

impl<T> Deref for Held<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// The slot of a method that is in no slot.
#[derive(Debug)]
pub struct NoSlot;

impl NoSlot {
    /// Leaves the method unchecked.
    #[must_use]
    pub fn __hooks_method<const N: usize>(self) -> Self {
        self
    }

    /// Returns the type of no `last`.
    #[must_use]
    pub fn __hooks_left_out(&self) -> PhantomData<()> {
        PhantomData
    }

    /// Does nothing.
    pub fn __hooks_register<P, Set>(self, _: &Arc<HookGroupPtr<P, Set>>) {}
}

/// Returns `true` if the list contains the method.
const fn contains(methods: &[&str], method: &str) -> bool {
    let mut at = 0;
    while at < methods.len() {
        if is_same(methods[at].as_bytes(), method.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Checks that the set that `#[impl_hooks(…)]` names belongs to the block's hook trait. Every set
/// implements it for itself.
#[diagnostic::on_unimplemented(
    message = "`{Given}` is not the set of this trait; write `{Self}` without the lifetime",
    label = "not the set of this trait"
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
