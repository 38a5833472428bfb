//! The forms of a hook: a value that implements the slot's trait, a closure, a [`Stateful`], an
//! [`Entry`] of any of these, and hooks behind a pointer.
//!
//! The compiler infers the form, which is the parameter `M` of [`IntoHook`], from the traits that
//! the value implements. The forms do not overlap, so `M` never has to be written.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::bounds::{HookObject, MaybeSend};
use crate::entry::{Entry, EntryMeta, When};
use crate::form::{
    Bare, Borrowed, Boxed, ByClosure, ByState, ByTrait, Conditional, InArc, InBox, InEntry,
};
use crate::hook_future::HookFuture;
use crate::stateful::Stateful;
use crate::typed::direct::{CallPlain, Condition};
use crate::typed::mode::{AsyncMode, Mode, Returns, SyncMode};
use crate::typed::slot_def::{
    CallHook, CallStateful, DynHook, IntoOwned, Lend, ModeOf, OwnedArgs, SlotDef,
};

/// A value that can be registered in the slot `S`.
///
/// Registrable are
///
/// - a value that implements the slot's trait,
/// - an `Arc`, a `Box` or a reference of such a value,
/// - a closure or function that takes the parameters of the slot's `call` and returns a future of
///   its output, or the output itself if the slot is synchronous, also in an `Arc`,
/// - a [`Stateful`] of a value that implements the slot's `Stateful…` trait,
/// - an [`Entry`] of any of these, with a key, a name or a priority,
/// - a [`BoxHook`] of any of these.
///
/// The compiler infers `M`, the form of the hook. `Params` and `Out`, the parameters and the output of
/// the slot's `call`, are there for the compiler's message. The trait cannot be implemented by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a hook of this slot; implement the slot's trait, or implement its `Stateful…` trait and register `Stateful::new(…)`",
    label = "not a hook of the slot `{S}`",
    note = "a closure is a hook if it takes `{Params}` (references of any lifetime; `last`, if the slot passes it, is the final parameter) and returns a future of `{Out}`, or `{Out}` itself if the slot is `sync`",
    note = "hooks are shared between threads: a closure is `Fn`, changes no variable that it captures (`Stateful` does), and captures no `Rc`, no `Cell` and no box that is not `Send` and `Sync`",
    note = "an `async` closure captures nothing; write `move |…| {{ let own = own.clone(); async move {{ … }} }}` or, if the slot passes references, implement the slot's trait"
)]
pub trait IntoHook<
    S: SlotDef + ?Sized,
    M,
    Params = <S as SlotDef>::Owned<'static>,
    Out = <S as SlotDef>::Out,
>
{
    /// Converts the value into the stored form.
    #[doc(hidden)]
    fn __hooks_into_entry<'h>(self) -> Entry<Arc<dyn DynHook<S> + 'h>>
    where
        Self: 'h,
        S: 'h;
}

/// A hook of the slot `S` whose type is erased: for lists of hooks of different types, and for functions
/// that return one of several hooks. Clones share the hook.
///
/// ```
/// use hooks_core::{BoxHook, Entry, hooks, impl_hook, run_now};
///
/// #[hooks]
/// trait Greetings {
///     #[hook(always)]
///     async fn greet(name: &str) -> String { name.to_owned() }
/// }
///
/// #[impl_hook(Greet)]
/// async fn polite(_name: &str, last: Option<String>) -> String {
///     format!("dear {}", last.unwrap_or_default())
/// }
///
/// let plugins = [
///     BoxHook::<dyn Greet>::new(Entry::new(Polite).key("polite")),
///     BoxHook::<dyn Greet>::new(async |_: String, last: Option<String>| last.unwrap_or_default() + "!"),
/// ];
/// let set = plugins.into_iter().fold(GreetingsSet::new(), GreetingsSet::with_greet);
/// assert_eq!(run_now(set.greet("Ada")).unwrap(), "dear Ada!");
/// ```
pub struct BoxHook<'h, S: SlotDef + ?Sized> {
    entry: Entry<Arc<dyn DynHook<S> + 'h>>,
}

impl<'h, S: SlotDef + ?Sized + 'h> BoxHook<'h, S> {
    /// Erases the type of a hook, and keeps the options of an entry. Write the slot, as in
    /// `BoxHook::<dyn Greet>::new(…)`: the form of a hook is not inferred without it.
    pub fn new<M>(hook: impl IntoHook<S, M> + 'h) -> Self {
        BoxHook {
            entry: hook.__hooks_into_entry(),
        }
    }

    /// Returns the options of the registration.
    #[must_use]
    pub fn meta(&self) -> &EntryMeta {
        self.entry.meta()
    }
}

impl<S: SlotDef + ?Sized> Clone for BoxHook<'_, S> {
    fn clone(&self) -> Self {
        BoxHook {
            entry: self.entry.clone(),
        }
    }
}

impl<S: SlotDef + ?Sized> fmt::Debug for BoxHook<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoxHook").field(&self.entry.meta()).finish()
    }
}

#[diagnostic::do_not_recommend]
impl<S: SlotDef + ?Sized, Params, Out> IntoHook<S, Boxed, Params, Out> for BoxHook<'_, S> {
    fn __hooks_into_entry<'h>(self) -> Entry<Arc<dyn DynHook<S> + 'h>>
    where
        Self: 'h,
        S: 'h,
    {
        self.entry.map(|hook| hook as _)
    }
}

/// A hook of the slot `S`, in the form `M`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a hook of this slot; implement the slot's trait, or implement its `Stateful…` trait and register `Stateful::new(…)`",
    label = "not a hook of the slot `{S}`"
)]
pub trait Hook<S: SlotDef + ?Sized, M>: HookObject {
    /// Starts the hook.
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out>;

    /// Returns `true` if the hook cannot suspend.
    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        false
    }

    /// Returns `true` if the hook's condition holds, or the hook has none.
    fn admits(&self, _: &S::Args<'_>) -> bool {
        true
    }

    /// Returns the type name to display for the hook.
    #[must_use]
    fn type_name() -> &'static str {
        type_name::<Self>()
    }
}

#[diagnostic::do_not_recommend]
impl<S, H, M, Params, Out> IntoHook<S, Bare<M>, Params, Out> for H
where
    S: SlotDef + ?Sized,
    H: Hook<S, M>,
    M: 'static,
{
    fn __hooks_into_entry<'h>(self) -> Entry<Arc<dyn DynHook<S> + 'h>>
    where
        Self: 'h,
        S: 'h,
    {
        Entry::with_type_name(Arc::new(SingleHook::new(self)), H::type_name())
    }
}

#[diagnostic::do_not_recommend]
impl<S, H, M, Params, Out> IntoHook<S, InEntry<M>, Params, Out> for Entry<H>
where
    S: SlotDef + ?Sized,
    H: Hook<S, M>,
    M: 'static,
{
    fn __hooks_into_entry<'h>(self) -> Entry<Arc<dyn DynHook<S> + 'h>>
    where
        Self: 'h,
        S: 'h,
    {
        let entry = self.with_pointee_name(H::type_name());
        entry.map(|hook| Arc::new(SingleHook::new(hook)) as _)
    }
}

/// A stored hook of the form `M`: of a slot, or around a call.
#[derive(Debug)]
pub struct SingleHook<H, M> {
    pub(crate) hook: H,
    form: PhantomData<fn() -> M>,
}

impl<H, M> SingleHook<H, M> {
    pub(crate) fn new(hook: H) -> Self {
        SingleHook {
            hook,
            form: PhantomData,
        }
    }
}

impl<S: SlotDef + ?Sized, H: Hook<S, M>, M> DynHook<S> for SingleHook<H, M> {
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out> {
        self.hook.start(args, last)
    }

    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        self.hook.is_ready()
    }

    fn admits(&self, args: &S::Args<'_>) -> bool {
        self.hook.admits(args)
    }
}

#[diagnostic::do_not_recommend]
impl<S: CallHook<H> + ?Sized + 'static, H: HookObject> Hook<S, ByTrait> for H {
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out> {
        S::start(self, args, last)
    }

    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        S::is_ready(self)
    }
}

#[diagnostic::do_not_recommend]
impl<S, F> Hook<S, ByClosure> for F
where
    S: SlotDef + ?Sized + 'static,
    F: for<'a> CallPlain<S::Owned<'a>> + HookObject + ?Sized,
    for<'a> <F as CallPlain<S::Owned<'a>>>::Output: Returns<S::Out, ModeOf<S>>,
{
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out> {
        self.call_plain(args.into_owned(last)).into_hook_future()
    }

    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        ModeOf::<S>::IS_SYNC
    }
}

/// How a [`Stateful`] hook is called with the owned arguments `A` of a slot with this mode.
pub trait StartStateful<A> {
    /// Starts the hook.
    fn start_stateful<'b, S, T>(hook: &'b Stateful<T>, owned: A) -> HookFuture<'b, S::Out>
    where
        S: for<'s> CallStateful<&'s mut T, A> + ?Sized + 'static,
        T: MaybeSend,
        A: 'b;
}

#[diagnostic::do_not_recommend]
impl<A: MaybeSend> StartStateful<A> for AsyncMode {
    fn start_stateful<'b, S, T>(hook: &'b Stateful<T>, owned: A) -> HookFuture<'b, S::Out>
    where
        S: for<'s> CallStateful<&'s mut T, A> + ?Sized + 'static,
        T: MaybeSend,
        A: 'b,
    {
        HookFuture::boxed(hook.call::<S, A>(owned))
    }
}

#[diagnostic::do_not_recommend]
impl<A> StartStateful<A> for SyncMode {
    fn start_stateful<'b, S, T>(hook: &'b Stateful<T>, owned: A) -> HookFuture<'b, S::Out>
    where
        S: for<'s> CallStateful<&'s mut T, A> + ?Sized + 'static,
        T: MaybeSend,
        A: 'b,
    {
        HookFuture::Ready(hook.call_now::<S, A>(owned))
    }
}

#[diagnostic::do_not_recommend]
impl<S, T> Hook<S, ByState> for Stateful<T>
where
    S: SlotDef + ?Sized + 'static,
    S: for<'s, 'a> CallStateful<&'s mut T, OwnedArgs<'a, S>>,
    T: MaybeSend,
    ModeOf<S>: for<'a> StartStateful<OwnedArgs<'a, S>>,
{
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out> {
        ModeOf::<S>::start_stateful::<S, T>(self, OwnedArgs(args.into_owned(last)))
    }

    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        ModeOf::<S>::IS_SYNC
    }
}

#[diagnostic::do_not_recommend]
impl<S: SlotDef + ?Sized, T: Hook<S, M> + ?Sized, M> Hook<S, InArc<M>> for Arc<T> {
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out> {
        T::start(self, args, last)
    }

    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        T::is_ready(self)
    }

    fn admits(&self, args: &S::Args<'_>) -> bool {
        T::admits(self, args)
    }

    fn type_name() -> &'static str {
        T::type_name()
    }
}

#[diagnostic::do_not_recommend]
impl<S: CallHook<T> + ?Sized + 'static, T: HookObject> Hook<S, InBox> for Box<T> {
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out> {
        S::start(self, args, last)
    }

    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        S::is_ready(self)
    }

    fn type_name() -> &'static str {
        type_name::<T>()
    }
}

#[diagnostic::do_not_recommend]
impl<S: CallHook<T> + ?Sized + 'static, T: HookObject> Hook<S, Borrowed> for &T {
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out> {
        S::start(self, args, last)
    }

    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        S::is_ready(self)
    }

    fn type_name() -> &'static str {
        type_name::<T>()
    }
}

#[diagnostic::do_not_recommend]
impl<S, H, F, M> Hook<S, Conditional<M>> for When<H, F>
where
    S: SlotDef + ?Sized,
    H: Hook<S, M>,
    F: for<'a> Condition<S::Args<'a>> + HookObject,
{
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out> {
        self.hook.start(args, last)
    }

    fn is_ready(&self) -> bool
    where
        S: Lend,
    {
        self.hook.is_ready()
    }

    fn admits(&self, args: &S::Args<'_>) -> bool {
        self.condition.holds(args) && self.hook.admits(args)
    }

    fn type_name() -> &'static str {
        H::type_name()
    }
}
