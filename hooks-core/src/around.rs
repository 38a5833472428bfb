//! Around hooks: hooks that enclose a call.
//!
//! An around hook receives the arguments of a call and [`Next`], the rest of the call. It calls
//! `next` once, several times or not at all, and returns the output. Other frameworks call such a
//! hook *middleware*, *wrapper* or *layer*.
//!
//! The around hooks of a call are the entries of a [`Slot`]. The first one is the outermost. After
//! the last one, `next` performs the innermost call ([`Innermost`]), such as the dispatch of a typed
//! slot.

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::bounds::{BoxFuture, HookObject, MaybeSend};
use crate::entry::{Entry, EntryMeta, When};
use crate::form::{Bare, ByClosure, ByTrait, Conditional, InArc, InEntry};
use crate::slot::{Cursor, Slot};
use crate::stack;
use crate::trace;
use crate::typed::direct::{CallLast, Condition};
use crate::typed::into_hook::SingleHook;

/// A call that around hooks can enclose: its arguments and its output. `#[hooks]` implements it for
/// `dyn SlotTrait` if the slot has the option `around`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no around hooks; add `around` to the `#[hook(…)]` of the slot",
    label = "a slot without the option `around`"
)]
pub trait AroundCall {
    /// The arguments as a tuple.
    type Args<'a>: MaybeSend;
    /// The output of the call.
    type Output: MaybeSend;
}

/// A hook that encloses a call `C`, such as `dyn SlotTrait`.
///
/// Functions and closures with the parameters of the call and `next` are around hooks, too:
/// `async fn timed(text: &str, next: Next<'_, dyn Check>) -> bool`.
///
/// ```
/// use hooks_core::{Around, Next, hooks};
///
/// #[hooks]
/// trait AppHooks {
///     #[hook(fallback, around)]
///     async fn fetch(url: &str) -> Result<String, u16> {
///         Err(503)
///     }
/// }
///
/// /// Calls again after a failure.
/// struct Retry {
///     times: usize,
/// }
///
/// impl Around<dyn Fetch> for Retry {
///     async fn call<'a>(
///         &'a self,
///         (url,): (&'a str,),
///         next: Next<'a, dyn Fetch>,
///     ) -> Result<String, u16> {
///         let mut result = next.call((url,)).await;
///         for _ in 0..self.times {
///             if result.is_ok() {
///                 break;
///             }
///             result = next.call((url,)).await;
///         }
///         result
///     }
/// }
///
/// let hooks = AppHooksSet::new().with_fetch_around(Retry { times: 2 });
/// # fn block_on<T>(f: impl Future<Output = T>) -> T {
/// #     let mut f = std::pin::pin!(f);
/// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
/// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
/// # }
/// # block_on(async {
/// assert_eq!(hooks.fetch("/").await, Err(503));
/// # });
/// ```
pub trait Around<C: AroundCall + ?Sized>: HookObject {
    /// Performs the call, usually by way of `next`.
    fn call<'a>(
        &'a self,
        args: C::Args<'a>,
        next: Next<'a, C>,
    ) -> impl Future<Output = C::Output> + MaybeSend;
}

/// The call that around hooks enclose, such as the dispatch of a slot.
pub trait Innermost<C: AroundCall + ?Sized>: HookObject {
    /// Performs the call.
    fn call<'a>(&'a self, args: C::Args<'a>) -> BoxFuture<'a, C::Output>;
}

/// An around hook as its slot stores it.
pub trait DynAround<C: AroundCall + ?Sized>: HookObject {
    /// Starts the hook.
    fn start<'a>(&'a self, args: C::Args<'a>, next: Next<'a, C>) -> BoxFuture<'a, C::Output>;

    /// Returns `true` if the hook's condition holds, or the hook has none.
    fn admits(&self, args: &C::Args<'_>) -> bool;

    /// Returns the registration of the hook, if it is not the entry that stores this value.
    #[doc(hidden)]
    fn __registration(&self) -> Option<&EntryMeta> {
        None
    }
}

/// The rest of a call: the remaining around hooks, and the innermost call.
pub struct Next<'a, C: AroundCall + ?Sized> {
    remaining: Cursor<'a, dyn DynAround<C> + 'a>,
    innermost: &'a (dyn Innermost<C> + 'a),
}

impl<'a, C: AroundCall + ?Sized> Next<'a, C> {
    /// Creates the whole call: all hooks of a slot around the innermost call.
    pub fn new(
        hooks: &'a Slot<dyn DynAround<C> + 'a>,
        innermost: &'a (dyn Innermost<C> + 'a),
    ) -> Self {
        Next {
            remaining: hooks.cursor(),
            innermost,
        }
    }

    /// Performs the rest of the call with these arguments. Nothing runs before the first poll of
    /// the future, and nothing more once it is dropped.
    pub fn call<'n>(&self, args: C::Args<'n>) -> NextFuture<'n, C>
    where
        'a: 'n,
    {
        NextFuture {
            call: Some((*self, args)),
            future: None,
        }
    }

    fn start(mut self, args: C::Args<'a>) -> BoxFuture<'a, C::Output> {
        while let Some(node) = self.remaining.next() {
            if node.meta.is_conditional() && !node.hook.admits(&args) {
                continue;
            }
            if trace::is_wanted() {
                let meta = node.hook.__registration().unwrap_or(&node.meta);
                return trace::in_around_span(meta, || node.hook.start(args, self));
            }
            return node.hook.start(args, self);
        }
        self.innermost.call(args)
    }
}

impl<C: AroundCall + ?Sized> Copy for Next<'_, C> {}

impl<C: AroundCall + ?Sized> Clone for Next<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: AroundCall + ?Sized> fmt::Debug for Next<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next")
            .field("around_hooks", &self.remaining.count())
            .finish_non_exhaustive()
    }
}

/// Future returned by [`Next::call`].
#[must_use = "a call does nothing unless it is awaited"]
pub struct NextFuture<'a, C: AroundCall + ?Sized> {
    /// `None` after the first poll.
    call: Option<(Next<'a, C>, C::Args<'a>)>,
    future: Option<BoxFuture<'a, C::Output>>,
}

/// The arguments are not pinned.
impl<C: AroundCall + ?Sized> Unpin for NextFuture<'_, C> {}

impl<C: AroundCall + ?Sized> Future for NextFuture<'_, C> {
    type Output = C::Output;

    /// # Panics
    /// If the call is polled after its completion.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Output> {
        if let Some((next, args)) = self.call.take() {
            self.future = Some(next.start(args));
        }
        let future = self.future.as_mut();
        let future = future.expect("a call was polled after its completion");
        let polled = stack::poll(future.as_mut(), cx);
        if polled.is_ready() {
            self.future = None;
        }
        polled
    }
}

impl<C: AroundCall + ?Sized> fmt::Debug for NextFuture<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextFuture").finish_non_exhaustive()
    }
}

/// A value that can be registered around the call `C`: an [`Around`], a function or a closure, one
/// of these in an `Arc`, or an [`Entry`] of any of these. The compiler infers `M`, the form of the
/// hook. The trait cannot be implemented by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an around hook of this slot; implement `Around<{C}>`, or write an `async fn` with the parameters of the slot and `next: Next<'_, {C}>`",
    label = "not an around hook of `{C}`",
    note = "an async closure is an around hook if it captures nothing: `async |text: &str, next: Next<'_, {C}>| …`"
)]
pub trait IntoAround<C: AroundCall + ?Sized, M> {
    /// Converts the value into the stored form.
    #[doc(hidden)]
    fn __hooks_into_entry<'h>(self) -> Entry<Arc<dyn DynAround<C> + 'h>>
    where
        Self: 'h,
        C: 'h;
}

/// Converts an around hook into an entry of a slot of around hooks, for front ends.
pub fn entry<'h, C, M>(hook: impl IntoAround<C, M> + 'h) -> Entry<Arc<dyn DynAround<C> + 'h>>
where
    C: AroundCall + ?Sized + 'h,
{
    hook.__hooks_into_entry()
}

/// An around hook of the call `C`, in the form `M`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an around hook of this slot; implement `Around<{C}>`, or write an `async fn` with the parameters of the slot and `next: Next<'_, {C}>`",
    label = "not an around hook of `{C}`"
)]
pub trait AroundHook<C: AroundCall + ?Sized, M>: HookObject {
    /// Starts the hook.
    fn start<'a>(&'a self, args: C::Args<'a>, next: Next<'a, C>) -> BoxFuture<'a, C::Output>;

    /// Returns `true` if the hook's condition holds, or the hook has none.
    fn admits(&self, _: &C::Args<'_>) -> bool {
        true
    }

    /// Returns the type name to display for the hook.
    #[must_use]
    fn type_name() -> &'static str {
        type_name::<Self>()
    }
}

#[diagnostic::do_not_recommend]
impl<C, H, M> IntoAround<C, Bare<M>> for H
where
    C: AroundCall + ?Sized,
    H: AroundHook<C, M>,
    M: 'static,
{
    fn __hooks_into_entry<'h>(self) -> Entry<Arc<dyn DynAround<C> + 'h>>
    where
        Self: 'h,
        C: 'h,
    {
        Entry::with_type_name(Arc::new(SingleHook::new(self)), H::type_name())
    }
}

#[diagnostic::do_not_recommend]
impl<C, H, M> IntoAround<C, InEntry<M>> for Entry<H>
where
    C: AroundCall + ?Sized,
    H: AroundHook<C, M>,
    M: 'static,
{
    fn __hooks_into_entry<'h>(self) -> Entry<Arc<dyn DynAround<C> + 'h>>
    where
        Self: 'h,
        C: 'h,
    {
        let entry = self.with_pointee_name(H::type_name());
        entry.map(|hook| Arc::new(SingleHook::new(hook)) as _)
    }
}

impl<C: AroundCall + ?Sized, H: AroundHook<C, M>, M> DynAround<C> for SingleHook<H, M> {
    fn start<'a>(&'a self, args: C::Args<'a>, next: Next<'a, C>) -> BoxFuture<'a, C::Output> {
        self.hook.start(args, next)
    }

    fn admits(&self, args: &C::Args<'_>) -> bool {
        self.hook.admits(args)
    }
}

#[diagnostic::do_not_recommend]
impl<C: AroundCall + ?Sized, H: Around<C>> AroundHook<C, ByTrait> for H {
    fn start<'a>(&'a self, args: C::Args<'a>, next: Next<'a, C>) -> BoxFuture<'a, C::Output> {
        Box::pin(self.call(args, next))
    }
}

#[diagnostic::do_not_recommend]
impl<C, F> AroundHook<C, ByClosure> for F
where
    C: AroundCall + ?Sized + 'static,
    F: for<'a> CallLast<C::Args<'a>, Next<'a, C>> + HookObject,
    for<'a> <F as CallLast<C::Args<'a>, Next<'a, C>>>::Output:
        Future<Output = C::Output> + MaybeSend,
{
    fn start<'a>(&'a self, args: C::Args<'a>, next: Next<'a, C>) -> BoxFuture<'a, C::Output> {
        Box::pin(self.call_last(args, next))
    }
}

#[diagnostic::do_not_recommend]
impl<C: AroundCall + ?Sized, H: AroundHook<C, M>, M> AroundHook<C, InArc<M>> for Arc<H> {
    fn start<'a>(&'a self, args: C::Args<'a>, next: Next<'a, C>) -> BoxFuture<'a, C::Output> {
        H::start(self, args, next)
    }

    fn admits(&self, args: &C::Args<'_>) -> bool {
        H::admits(self, args)
    }

    fn type_name() -> &'static str {
        H::type_name()
    }
}

#[diagnostic::do_not_recommend]
impl<C, H, F, M> AroundHook<C, Conditional<M>> for When<H, F>
where
    C: AroundCall + ?Sized,
    H: AroundHook<C, M>,
    F: for<'a> Condition<C::Args<'a>> + HookObject,
{
    fn start<'a>(&'a self, args: C::Args<'a>, next: Next<'a, C>) -> BoxFuture<'a, C::Output> {
        self.hook.start(args, next)
    }

    fn admits(&self, args: &C::Args<'_>) -> bool {
        self.condition.holds(args) && self.hook.admits(args)
    }

    fn type_name() -> &'static str {
        H::type_name()
    }
}
