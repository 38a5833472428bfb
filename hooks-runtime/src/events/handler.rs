//! Event hooks: the forms that can be registered, and how the registry calls them.
//!
//! | Hook | Argument | Allocations of a call |
//! |---|---|---|
//! | `fn(Arc<str>, Arc<Map>) -> R`, a function or a closure | shared data | none |
//! | an `async` one | shared data | the boxed future |
//! | `fn(Event<'_>) -> R`, a function or a closure | borrowed data | none |
//! | an `async fn(Event<'_>)` under `#[impl_hook(EventHook)]` | borrowed data | none if it does not await |
//! | a type that implements [`EventHook`] | borrowed data | the boxed future and the owned event |
//! | `Stateful::new(…)` of a type that implements [`StatefulEventHook`] | borrowed data | the boxed future and the owned event |
//! | an `Arc`, a `Box` or a `&'static` of a hook | as that hook | as that hook |
//!
//! `R` is a [`HookResult`] or a `Result<HookResult, E>`, or an [`Emission`] or a
//! `Result<Emission, EmitError>` of other hooks, which is merged part by part.

// Attributes that name a row of the bench `performance` hold it. Together:
// `event_continue/16` −20 % instructions.

use std::error::Error;
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;

use hooks_core::__private::Started;
use hooks_core::form::ByState;
use hooks_core::{EntryMeta, Failure, Hook, HookFuture, HookObject, Stateful, hooks};

use super::condition::Conditions;
use super::data::EmitError;
use super::emission::Emission;
use super::event::{Event, EventContext};
use super::result::{Action, HookResult};
use crate::{HookError, Map};

/// The slot behind every event. Hooks of it are registered with a
/// [`HookRegistry`](super::HookRegistry), by the name of their event.
#[hooks]
#[doc(hidden)]
pub trait EventHooks {
    /// Handles an event, which it borrows.
    #[hook(singleton)]
    async fn event_hook(event: Event<'_>) -> Result<HookResult, HookError> {
        let _ = event;
        Ok(HookResult::proceed())
    }
}

/// Type-erased event hook, as the registry stores it.
#[doc(hidden)]
pub trait Handler: Send + Sync {
    /// Starts the hook of this entry. A pending future owns what it needs of the event.
    fn start<'a>(
        &'a self,
        entry: &'a EntryMeta,
        context: EventContext<'_>,
    ) -> HookFuture<'a, HandlerOutput>;

    /// Returns `true` if the hook runs for this event. Called if its entry has a condition.
    fn admits(&self, event: Event<'_>) -> bool {
        let _ = event;
        true
    }
}

/// Output of one event hook, one pointer wide so that it is returned in registers. `None` means
/// that the hook continues; changes of single fields are already applied then.
#[doc(hidden)]
#[derive(Debug)]
pub struct HandlerOutput(pub(crate) Option<Box<ReplyBody>>);

/// Output of an event hook that does more than continue.
#[doc(hidden)]
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the enum is always stored in a box"
)]
pub enum ReplyBody {
    /// The hook returned a result.
    Result(HookResult),
    /// The hook failed.
    Failure(Failure),
    /// The hook returned the emission of other hooks.
    Emission(Emission),
}

impl HandlerOutput {
    // Inlined into the hook, so that most fields are never written.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn of(result: HookResult, context: Option<EventContext<'_>>) -> Self {
        let is_bare = result.is_bare();
        match (result.action, context) {
            (Action::Continue, _) if is_bare && result.changes.is_empty() => {
                // It owns nothing, and a call that drops it is `event_continue/4` +11 %.
                mem::forget(result);
                HandlerOutput(None)
            }
            (Action::Modify, Some(context))
                if is_bare && context.is_chained && !result.changes.is_empty() =>
            {
                context.fields.change(result.changes);
                HandlerOutput(None)
            }
            _ => HandlerOutput(Some(Box::new(ReplyBody::Result(result)))),
        }
    }

    /// Returns the failure of the hook, or of a result with invalid fields. If `stands` accepts
    /// the action of the invalid result, the result is returned unchanged.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    pub(crate) fn check(self, stands: impl FnOnce(Action) -> bool) -> Result<Self, Failure> {
        match self.0 {
            None => Ok(self),
            Some(reply) => match *reply {
                ReplyBody::Failure(failure) => Err(failure),
                ReplyBody::Emission(_) => Ok(HandlerOutput(Some(reply))),
                ReplyBody::Result(ref result) => match result.check() {
                    Err(why) if !stands(result.action) => Err(Failure::invalid(why.to_string())),
                    _ => Ok(HandlerOutput(Some(reply))),
                },
            },
        }
    }

    /// Returns the action of the hook.
    pub(crate) fn action(&self) -> Action {
        match self.0.as_deref() {
            Some(ReplyBody::Result(result)) => result.action,
            Some(ReplyBody::Emission(emission)) => emission.action,
            None | Some(ReplyBody::Failure(_)) => Action::Continue,
        }
    }

    /// Returns the emission that the hook returned, if it did.
    pub(crate) fn emission(&self) -> Option<&Emission> {
        match self.0.as_deref() {
            Some(ReplyBody::Emission(emission)) => Some(emission),
            _ => None,
        }
    }

    /// Returns the result of the hook for operations without a decision. The result of an emission
    /// has its data and the messages of all hooks.
    pub(crate) fn into_result(self) -> Option<HookResult> {
        match *self.0? {
            ReplyBody::Result(result) => Some(result),
            ReplyBody::Emission(emission) => {
                let undecided = Emission {
                    action: Action::Continue,
                    ..emission
                };
                Some(undecided.result())
            }
            ReplyBody::Failure(_) => None,
        }
    }

    #[cold] // event_continue/16
    fn failed(failure: Failure) -> Self {
        HandlerOutput(Some(Box::new(ReplyBody::Failure(failure))))
    }
}

impl HandlerResult for Emission {
    fn apply(self, _: Option<EventContext<'_>>) -> HandlerOutput {
        HandlerOutput(Some(Box::new(ReplyBody::Emission(self))))
    }
}

impl HandlerResult for Result<Emission, EmitError> {
    fn apply(self, context: Option<EventContext<'_>>) -> HandlerOutput {
        match self {
            Ok(emission) => emission.apply(context),
            Err(error) => HandlerOutput::failed(HookError::new(error).into_failure()),
        }
    }
}

/// Return type of a function that is an event hook. The compiler infers `Time`: [`Now`] or
/// [`Later`].
#[diagnostic::on_unimplemented(
    message = "invalid output `{Self}` of an event hook; return a `HookResult`, a `Result<HookResult, E>` whose `E` is a string or an error that is `Send + Sync`, or a future of one of these",
    label = "returns `{Self}`"
)]
pub trait HookReturn<Time> {
    /// The part of the value that is stored while the hook is pending: its future, or `()`.
    type Waits;

    /// Converts the value into the output of the hook.
    #[doc(hidden)]
    fn into_output<'a>(self, context: EventContext<'_>) -> HookFuture<'a, HandlerOutput>
    where
        Self::Waits: Send;
}

/// Marks a hook that returns its result directly.
#[derive(Debug)]
pub enum Now {}

/// Marks a hook that returns a future of its result.
#[derive(Debug)]
pub struct Later<Time>(PhantomData<Time>);

/// A value that is the result of a hook.
#[doc(hidden)]
pub trait HandlerResult {
    /// Converts the value into the output of the hook.
    fn apply(self, context: Option<EventContext<'_>>) -> HandlerOutput;
}

impl HandlerResult for HookResult {
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn apply(self, context: Option<EventContext<'_>>) -> HandlerOutput {
        HandlerOutput::of(self, context)
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> HandlerResult for Result<HookResult, E> {
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn apply(self, context: Option<EventContext<'_>>) -> HandlerOutput {
        match self {
            Ok(result) => HandlerOutput::of(result, context),
            Err(error) => HandlerOutput::failed(HookError::new(error).into_failure()),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<R: HandlerResult> HookReturn<Now> for R {
    type Waits = ();

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn into_output<'a>(self, context: EventContext<'_>) -> HookFuture<'a, HandlerOutput> {
        HookFuture::Ready(self.apply(Some(context)))
    }
}

#[diagnostic::do_not_recommend]
impl<F> HookReturn<Later<Now>> for F
where
    F: Future<Output: HandlerResult> + 'static,
{
    type Waits = F;

    fn into_output<'a>(self, _: EventContext<'_>) -> HookFuture<'a, HandlerOutput>
    where
        F: Send,
    {
        HookFuture::boxed(async move { self.await.apply(None) })
    }
}

/// An event hook: see the [module](self) for the forms. The compiler infers `Form`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event hook; take `(event: Arc<str>, data: Arc<Map>)` (or `(event: Event<'_>)` in a function that is not async), or implement `EventHook`",
    label = "not an event hook",
    note = "add `#[impl_hook(EventHook)]` to an `async fn(event: Event<'_>)`"
)]
pub trait IntoHandler<Form>: Send + Sync + 'static {
    /// Return type of the hook.
    type Return;

    /// Default of [`RegisterOptions::trusted`](crate::RegisterOptions::trusted) for this form.
    #[doc(hidden)]
    const TRUSTED: bool = true;

    /// Starts the hook of this entry. `convert` converts its return value.
    #[doc(hidden)]
    fn start<'a>(
        &'a self,
        entry: &'a EntryMeta,
        context: EventContext<'_>,
        convert: impl FnOnce(Self::Return, EventContext<'_>) -> HookFuture<'a, HandlerOutput>,
    ) -> HookFuture<'a, HandlerOutput>;

    /// Returns the explicit name of this hook; by default, it is the name of its function or type.
    #[doc(hidden)]
    fn name(&self) -> Option<String> {
        None
    }
}

/// A hook of one form, as a [`Handler`].
struct Registered<H, Form, Time> {
    hook: H,
    form: PhantomData<fn() -> (Form, Time)>,
}

impl<H, Form, Time: 'static> Handler for Registered<H, Form, Time>
where
    H: IntoHandler<Form, Return: HookReturn<Time, Waits: Send>>,
{
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn start<'a>(
        &'a self,
        entry: &'a EntryMeta,
        context: EventContext<'_>,
    ) -> HookFuture<'a, HandlerOutput> {
        // A closure, because the shim of a function item is not inlined: `event_continue/16` with
        // the function is +57 % instructions.
        let convert = |answer: H::Return, context: EventContext<'_>| answer.into_output(context);
        self.hook.start(entry, context, convert)
    }
}

/// Erases the type of a hook.
pub(crate) fn handler<H, Form: 'static, Time: 'static>(hook: H) -> Arc<dyn Handler>
where
    H: IntoHandler<Form, Return: HookReturn<Time, Waits: Send>>,
{
    Arc::new(Registered {
        hook,
        form: PhantomData::<fn() -> (Form, Time)>,
    })
}

/// A hook with conditions.
struct ConditionalHandler {
    hook: Arc<dyn Handler>,
    conditions: Conditions,
}

impl Handler for ConditionalHandler {
    fn start<'a>(
        &'a self,
        entry: &'a EntryMeta,
        context: EventContext<'_>,
    ) -> HookFuture<'a, HandlerOutput> {
        Handler::start(&*self.hook, entry, context)
    }

    fn admits(&self, event: Event<'_>) -> bool {
        self.conditions.hold(event)
    }
}

/// Adds conditions to a hook.
pub(crate) fn conditional(hook: Arc<dyn Handler>, conditions: Conditions) -> Arc<dyn Handler> {
    Arc::new(ConditionalHandler { hook, conditions })
}

/// Prefixes of type names that no user has written.
const ANONYMOUS: &[&str] = &[
    "fn(",
    "for<",
    "dyn ",
    "(dyn ",
    "alloc::boxed::Box<",
    "alloc::sync::Arc<",
];

/// Returns the last segment of the name of a hook's type, or `None` for a closure, a function
/// pointer and a `dyn Trait`.
pub(crate) fn name_of(hook_type: &str) -> Option<String> {
    let full = hook_type.trim_start_matches('&');
    let full = full.strip_prefix("mut ").unwrap_or(full);
    let is_anonymous =
        full.ends_with("{{closure}}") || ANONYMOUS.iter().any(|start| full.starts_with(start));
    if is_anonymous {
        return None;
    }
    let tail = last_segment(full);
    Some(tail.split('<').next().unwrap_or(tail).to_owned())
}

/// Returns the part after the last `::` that is not within `<…>`.
fn last_segment(path: &str) -> &str {
    let (mut depth, mut start, mut before) = (0_usize, 0, ' ');
    for (at, character) in path.char_indices() {
        match character {
            '<' => depth += 1,
            // Skip the `>` of an arrow.
            '>' if before != '-' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => start = at + 1,
            _ => {}
        }
        before = character;
    }
    &path[start..]
}

/// Marker types of the forms of a hook.
pub mod form {
    use std::marker::PhantomData;

    /// Marks a function of shared data that returns `R`.
    #[derive(Debug)]
    pub struct Shared<R>(PhantomData<R>);
    /// Marks a function of borrowed data that returns `R`.
    #[derive(Debug)]
    pub struct Borrowed<R>(PhantomData<R>);
    /// Marks a type that implements `EventHook`.
    #[derive(Debug)]
    pub enum Typed {}
    /// Marks a `Stateful` of a type that implements `StatefulEventHook`.
    #[derive(Debug)]
    pub enum State {}
    /// Marks a program.
    #[derive(Debug)]
    pub enum Program {}
    /// Marks a pointer to a hook of another form.
    #[derive(Debug)]
    pub struct Pointer<Form>(PhantomData<Form>);
}

impl<F, R> IntoHandler<form::Shared<R>> for F
where
    F: Fn(Arc<str>, Arc<Map>) -> R + HookObject + 'static + ?Sized,
{
    type Return = R;

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn start<'a>(
        &'a self,
        _: &'a EntryMeta,
        mut context: EventContext<'_>,
        convert: impl FnOnce(Self::Return, EventContext<'_>) -> HookFuture<'a, HandlerOutput>,
    ) -> HookFuture<'a, HandlerOutput> {
        let (event, data) = context.share();
        convert(self(event, data), context)
    }
}

impl<F, R> IntoHandler<form::Borrowed<R>> for F
where
    F: for<'e> Fn(Event<'e>) -> R + HookObject + 'static + ?Sized,
{
    type Return = R;

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn start<'a>(
        &'a self,
        entry: &'a EntryMeta,
        context: EventContext<'_>,
        convert: impl FnOnce(Self::Return, EventContext<'_>) -> HookFuture<'a, HandlerOutput>,
    ) -> HookFuture<'a, HandlerOutput> {
        convert(self(context.event(entry)), context)
    }
}

impl<H: EventHook + 'static> IntoHandler<form::Typed> for H {
    type Return = HookResult;

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn start<'a>(
        &'a self,
        entry: &'a EntryMeta,
        context: EventContext<'_>,
        _: impl FnOnce(Self::Return, EventContext<'_>) -> HookFuture<'a, HandlerOutput>,
    ) -> HookFuture<'a, HandlerOutput> {
        // Call a hook that may await again, with an event that its future owns.
        let answer = match self.__hooks_start(Some(((context.event(entry),), ()))) {
            Started::Future(HookFuture::Ready(result)) => Some(result),
            _ => None,
        };
        if let Some(result) = answer {
            return HookFuture::Ready(result.apply(Some(context)));
        }
        let owned = context.to_owned_event(entry);
        HookFuture::boxed(async move { self.call(owned.event()).await.apply(None) })
    }
}

#[diagnostic::do_not_recommend]
impl<T> IntoHandler<form::State> for Stateful<T>
where
    T: StatefulEventHook + 'static,
{
    type Return = HookResult;

    fn start<'a>(
        &'a self,
        entry: &'a EntryMeta,
        context: EventContext<'_>,
        _: impl FnOnce(Self::Return, EventContext<'_>) -> HookFuture<'a, HandlerOutput>,
    ) -> HookFuture<'a, HandlerOutput> {
        let owned = context.to_owned_event(entry);
        HookFuture::boxed(async move {
            let started = Hook::<dyn EventHook, ByState>::start(self, (owned.event(),), ());
            let result = match started {
                HookFuture::Ready(result) => result,
                HookFuture::Boxed(future) => future.await,
            };
            result.apply(None)
        })
    }
}

/// Hooks of any form behind an `Arc`.
#[diagnostic::do_not_recommend]
impl<H, Form> IntoHandler<form::Pointer<Form>> for Arc<H>
where
    H: IntoHandler<Form> + ?Sized,
{
    type Return = H::Return;

    const TRUSTED: bool = H::TRUSTED;

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn start<'a>(
        &'a self,
        entry: &'a EntryMeta,
        context: EventContext<'_>,
        convert: impl FnOnce(Self::Return, EventContext<'_>) -> HookFuture<'a, HandlerOutput>,
    ) -> HookFuture<'a, HandlerOutput> {
        (**self).start(entry, context, convert)
    }

    fn name(&self) -> Option<String> {
        (**self).name()
    }
}

/// A `Box` or a reference of a function is a function itself; this macro implements the trait for
/// pointers to other hooks.
macro_rules! pointers_to_hooks {
    ($($pointer:ty: $bound:path, $form:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<H: $bound + 'static> IntoHandler<form::Pointer<$form>> for $pointer {
            type Return = HookResult;

            #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
            fn start<'a>(
                &'a self,
                entry: &'a EntryMeta,
                context: EventContext<'_>,
                convert: impl FnOnce(Self::Return, EventContext<'_>) -> HookFuture<'a, HandlerOutput>,
            ) -> HookFuture<'a, HandlerOutput>
            {
                IntoHandler::<$form>::start(&**self, entry, context, convert)
            }
        }
    )*};
}

pointers_to_hooks! {
    Box<H>: EventHook, form::Typed;
    &'static H: EventHook, form::Typed;
    Box<Stateful<H>>: StatefulEventHook, form::State;
    &'static Stateful<H>: StatefulEventHook, form::State;
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn e_09_a_hook_has_the_name_of_its_function_or_type() {
        let name = |full| name_of(full).unwrap_or_default();
        assert_eq!(name("app::security::no_keys"), "no_keys");
        assert_eq!(name("app::Audit<alloc::string::String>"), "Audit");
        assert_eq!(name("app::Checker<u8>::check"), "check");
        assert_eq!(name("<app::Audit as app::Checks>::by_trait"), "by_trait");
        assert_eq!(name("app::check<app::Strict>"), "check");
        assert_eq!(name("alloc::boxed::Box<dyn core::ops::Fn()>"), "");
        assert_eq!(name("app::main::{{closure}}"), "");
        assert_eq!(name("fn(alloc::sync::Arc<str>) -> app::R"), "");
    }
}
