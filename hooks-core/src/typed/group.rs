//! Values that provide several hooks of a set.

use std::any::type_name;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::bounds::HookObject;
use crate::entry::{Entry, EntryMeta, When};
use crate::hook_future::HookFuture;
use crate::refusal::RegistrationError;
use crate::typed::mode::Mode;
use crate::typed::slot_def::{CallMethod, DynHook, Lend, ModeOf};

/// A value with several hooks of a set; `#[impl_hooks]` implements it. Also implemented for
/// references and `Arc`s of such a value, and for an [`Entry`] of one of these, whose options each hook
/// gets.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no hooks for `{Set}`; add `#[impl_hooks(…)]`, with the name of the set, to the `impl` block of the hook trait",
    label = "no hooks for this set",
    note = "the condition of an entry with several hooks has no parameters: `Entry::new(value).when(|| …)`"
)]
pub trait HookGroup<'h, Set>: Sized {
    /// The methods of the `impl` block whose bodies cannot suspend.
    #[doc(hidden)]
    const __HOOKS_READY: &'static [&'static str] = &[];

    /// Registers the methods of the `impl` block, for a value behind `provider`.
    #[doc(hidden)]
    fn __hooks_register<P>(
        provider: &Arc<HookGroupPtr<P, Set>>,
        set: &mut Set,
    ) -> Result<(), RegistrationError>
    where
        P: GroupPointer<Target = Self> + 'h;

    /// Wraps the value once and registers its methods with these options.
    #[doc(hidden)]
    fn __hooks_register_owned(
        self,
        options: Option<Arc<EntryMeta>>,
        set: &mut Set,
    ) -> Result<(), RegistrationError>
    where
        Self: HookObject + 'h,
    {
        Self::__hooks_register(&HookGroupPtr::shared(Held(self), options), set)
    }
}

/// Writes the methods of a pointer to `$T`: they register the hooks of the value, with `$with` of the
/// options of the entry.
macro_rules! pointee_hooks {
    ($h:lifetime, $Set:ty, $T:ty, |$options:ident| $with:expr) => {
        fn __hooks_register<P>(
            provider: &Arc<HookGroupPtr<P, $Set>>,
            set: &mut $Set,
        ) -> Result<(), RegistrationError>
        where
            P: GroupPointer<Target = Self> + $h,
        {
            <$T>::__hooks_register(&provider.through(), set)
        }

        fn __hooks_register_owned(
            self,
            $options: Option<Arc<EntryMeta>>,
            set: &mut $Set,
        ) -> Result<(), RegistrationError> {
            <$T>::__hooks_register(&HookGroupPtr::shared(self, $with), set)
        }
    };
}

#[diagnostic::do_not_recommend]
impl<'h, Set: 'h, T: HookGroup<'h, Set> + HookObject> HookGroup<'h, Set> for &'h T {
    pointee_hooks!('h, Set, T, |options| options);
}

#[diagnostic::do_not_recommend]
impl<'h, Set: 'h, T: HookGroup<'h, Set> + HookObject + 'h> HookGroup<'h, Set> for Arc<T> {
    pointee_hooks!('h, Set, T, |options| options);
}

/// A value with a condition: its hooks run in dispatches for which the condition returns `true`.
#[diagnostic::do_not_recommend]
impl<'h, Set: 'h, T, F> HookGroup<'h, Set> for When<T, F>
where
    T: HookGroup<'h, Set> + HookObject + 'h,
    F: Fn() -> bool + HookObject + 'h,
{
    // Without an entry, `Entry::when` has not been called.
    pointee_hooks!('h, Set, T, |options| {
        Some(options.unwrap_or_else(|| Entry::new(()).conditional(true).into_parts().1))
    });
}

/// If the entry is refused in one of the slots, it is in none of them.
#[diagnostic::do_not_recommend]
impl<'h, Set: Clone, T> HookGroup<'h, Set> for Entry<T>
where
    T: HookGroup<'h, Set> + HookObject + 'h,
{
    fn __hooks_register<P>(
        provider: &Arc<HookGroupPtr<P, Set>>,
        _: &mut Set,
    ) -> Result<(), RegistrationError>
    where
        P: GroupPointer<Target = Self> + 'h,
    {
        Err(nested(provider.pointer.target().meta()))
    }

    fn __hooks_register_owned(
        self,
        outer: Option<Arc<EntryMeta>>,
        set: &mut Set,
    ) -> Result<(), RegistrationError> {
        if outer.is_some() {
            return Err(nested(self.meta()));
        }
        let (value, options) = self.into_parts();
        let mut changed = set.clone();
        value.__hooks_register_owned(Some(options), &mut changed)?;
        *set = changed;
        Ok(())
    }
}

/// Returns the error for an entry that is not registered itself: its options would have no effect.
fn nested(entry: &EntryMeta) -> RegistrationError {
    RegistrationError::invalid_option(format!(
        "`{}` is an entry inside of a pointer or of another entry; register the entry itself",
        entry.name()
    ))
}

/// A pointer to a value with several hooks, as a set stores it.
pub trait GroupPointer: HookObject {
    /// The value.
    type Target;

    /// Returns the value.
    fn target(&self) -> &Self::Target;

    /// Returns `true` if the hooks take part in a dispatch.
    fn admits(&self) -> bool {
        true
    }
}

/// An owned value.
#[derive(Debug)]
pub struct Held<T>(pub T);

impl<T: HookObject> GroupPointer for Held<T> {
    type Target = T;

    #[inline]
    fn target(&self) -> &T {
        &self.0
    }
}

impl<T: HookObject> GroupPointer for &T {
    type Target = T;

    #[inline]
    fn target(&self) -> &T {
        self
    }
}

impl<T: HookObject> GroupPointer for Arc<T> {
    type Target = T;

    #[inline]
    fn target(&self) -> &T {
        self
    }
}

impl<T: HookObject, F: Fn() -> bool + HookObject> GroupPointer for When<T, F> {
    type Target = T;

    fn target(&self) -> &T {
        &self.hook
    }

    fn admits(&self) -> bool {
        (self.condition)()
    }
}

/// Pointer to the value that a stored pointer points to.
#[derive(Debug)]
pub struct Through<P, Set>(Arc<HookGroupPtr<P, Set>>);

impl<P: GroupPointer<Target: GroupPointer>, Set> GroupPointer for Through<P, Set> {
    type Target = <P::Target as GroupPointer>::Target;

    fn target(&self) -> &Self::Target {
        self.0.pointer.target().target()
    }

    fn admits(&self) -> bool {
        self.0.pointer.admits() && self.0.pointer.target().admits()
    }
}

/// A value with several hooks of the set `Set`, in one allocation; `P` is a pointer to it.
#[derive(Debug)]
pub struct HookGroupPtr<P, Set> {
    pointer: P,
    /// The options of the entry that contains the value.
    options: Option<Arc<EntryMeta>>,
    set: PhantomData<fn() -> Set>,
}

impl<P, Set> HookGroupPtr<P, Set> {
    fn shared(pointer: P, options: Option<Arc<EntryMeta>>) -> Arc<Self> {
        Arc::new(HookGroupPtr {
            pointer,
            options,
            set: PhantomData,
        })
    }

    /// Returns a pointer to the value that the value points to.
    fn through(self: &Arc<Self>) -> Arc<HookGroupPtr<Through<P, Set>, Set>> {
        HookGroupPtr::shared(Through(Arc::clone(self)), self.options.clone())
    }

    /// Returns the options of each hook of the value.
    pub(crate) fn options(&self) -> Arc<EntryMeta>
    where
        P: GroupPointer,
    {
        let hook_type = type_name::<P::Target>();
        let options = self.options.as_ref().map(Arc::clone);
        options_of(options, hook_type)
    }
}

/// Returns options with the name of the hook's type, or the default ones.
fn options_of(options: Option<Arc<EntryMeta>>, hook_type: &'static str) -> Arc<EntryMeta> {
    let entry = match options {
        Some(options) => Entry::from_parts((), options).with_hook_type(hook_type),
        None => Entry::with_type_name((), hook_type),
    };
    entry.into_parts().1
}

impl<'h, S, P, Set> DynHook<S> for HookGroupPtr<P, Set>
where
    P: GroupPointer<Target: HookGroup<'h, Set>>,
    S: CallMethod<P::Target> + ?Sized,
{
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out> {
        let is_ready = const { contains(P::Target::__HOOKS_READY, S::NAME) };
        S::start(self.pointer.target(), args, last, is_ready)
    }

    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        ModeOf::<S>::IS_SYNC || const { contains(P::Target::__HOOKS_READY, S::NAME) }
    }

    fn admits(&self, _: &S::Args<'_>) -> bool {
        self.pointer.admits()
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
    pub fn __hooks_register<P, Set>(
        self,
        _: &Arc<HookGroupPtr<P, Set>>,
    ) -> Result<(), RegistrationError> {
        Ok(())
    }
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
