//! What can be an event hook.
//!
//! | A hook | Is given | Costs |
//! |---|---|---|
//! | `fn(Arc<str>, Arc<Map>) -> R`, a function or a closure | shared data | nothing but the two `Arc`s |
//! | the same, `async` | shared data | its future, in a box |
//! | `fn(Event<'_>) -> R`, a function or a closure | borrowed data | nothing |
//! | an `async fn(Event<'_>)` under `#[impl_hook(EventHook)]` | borrowed data | nothing, unless it awaits |
//! | a type that implements [`EventHook`] | borrowed data | its future, in a box, and what it holds of the event |
//! | `Stateful::new(…)` of a type that implements [`StatefulEventHook`] | borrowed data | the same |
//!
//! `R` is a [`HookResult`] or a `Result<HookResult, E>`.

use std::any::type_name;
use std::error::Error;
use std::future::Future;
use std::sync::Arc;

use hooks_core::{Answer, EntryMeta, Fault, hooks};

use super::event::{Event, Scene};
use super::result::{APPROVAL_TIMEOUT, Action, HookResult};
use crate::{HookError, Map};

/// The slot behind every event. Hooks of it are registered with a
/// [`HookRegistry`](super::HookRegistry), by the name of their event.
#[hooks]
#[doc(hidden)]
pub trait EventHooks {
    /// Answers an event, which it borrows.
    #[hook(singleton)]
    async fn event_hook(event: Event<'_>) -> Result<HookResult, HookError> {
        let _ = event;
        Ok(HookResult::proceed())
    }
}

/// A hook as an emission calls it.
pub trait Handler: Send + Sync {
    /// Starts the hook of this entry. What it is to keep of the event while it waits, it
    /// holds by itself.
    fn start<'a>(&'a self, entry: &'a EntryMeta, scene: Scene<'_>) -> Answer<'a, Reply>;
}

/// What a hook answered: nothing where it goes on, or has changed single fields, which have
/// their new values already. A word, because it travels through every call in registers.
#[derive(Debug)]
pub struct Reply(pub(crate) Option<Box<Spoken>>);

/// What a hook says besides.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is never anywhere but in a box"
)]
pub enum Spoken {
    /// Its answer.
    Result(HookResult),
    /// What went wrong.
    Fault(Fault),
}

impl Reply {
    // Where the hook is inlined, so is this, and most of the fields never exist.
    #[inline(always)]
    fn of(result: HookResult, scene: Option<Scene<'_>>) -> Self {
        let is_bare = result.data.is_none()
            && result.reason.is_none()
            && result.context_injection.is_none()
            && result.approval_prompt.is_none()
            && result.approval_options.is_none()
            && result.approval_timeout == APPROVAL_TIMEOUT
            && !result.suppress_output
            && result.user_message.is_none()
            && result.extra.is_none();
        match (result.action, scene) {
            (Action::Continue, _) if is_bare && result.changes.is_empty() => Reply(None),
            (Action::Modify, Some(scene))
                if is_bare && scene.is_chained && !result.changes.is_empty() =>
            {
                scene.fields.change(result.changes);
                Reply(None)
            }
            _ => Reply(Some(Box::new(Spoken::Result(result)))),
        }
    }

    /// The fault that the answer says, if it says one.
    #[inline(always)]
    pub(crate) fn check(self) -> Result<Self, Fault> {
        match self.0 {
            None => Ok(self),
            Some(spoken) => match *spoken {
                Spoken::Fault(fault) => Err(fault),
                Spoken::Result(_) => Ok(Reply(Some(spoken))),
            },
        }
    }

    #[cold]
    fn failed(fault: Fault) -> Self {
        Reply(Some(Box::new(Spoken::Fault(fault))))
    }
}

/// What a hook may answer.
#[doc(hidden)]
pub trait Answers {
    /// The answer of a hook that has been waited for, or of one that is asked on this scene.
    fn reply(self, scene: Option<Scene<'_>>) -> Reply;
}

impl Answers for HookResult {
    #[inline(always)]
    fn reply(self, scene: Option<Scene<'_>>) -> Reply {
        Reply::of(self, scene)
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> Answers for Result<HookResult, E> {
    #[inline(always)]
    fn reply(self, scene: Option<Scene<'_>>) -> Reply {
        match self {
            Ok(result) => Reply::of(result, scene),
            Err(error) => Reply::failed(Fault::error(error)),
        }
    }
}

#[inline(always)]
fn typed_reply(result: Result<HookResult, HookError>, scene: Option<Scene<'_>>) -> Reply {
    match result {
        Ok(result) => Reply::of(result, scene),
        Err(error) => Reply::failed(error.into_fault()),
    }
}

/// What can be registered for an event: see the [module](self) for the forms. `Form` is found
/// by the compiler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event hook; take `(event: Arc<str>, data: Arc<Map>)` or `(event: Event<'_>)` and answer a `HookResult` or a `Result<HookResult, E>`, or implement `EventHook`",
    label = "not an event hook",
    note = "an async function is one where it takes `(event: Arc<str>, data: Arc<Map>)`; a closure needs the types of its parameters written out"
)]
pub trait IntoHandler<Form>: Send + Sync + 'static {
    #[doc(hidden)]
    type Handler: Handler + 'static;

    #[doc(hidden)]
    fn into_handler(self) -> Self::Handler;

    /// The name of the function or type, if it has one (`E-09`).
    #[doc(hidden)]
    fn name() -> Option<String> {
        name_of(type_name::<Self>())
    }
}

/// The tail of a type's name; closures and function pointers have none.
fn name_of(full: &str) -> Option<String> {
    if full.ends_with("{{closure}}") || full.starts_with("fn(") || full.starts_with("for<") {
        return None;
    }
    let end = full.find('<').unwrap_or(full.len());
    let start = full[..end].rfind("::").map_or(0, |at| at + 2);
    let tail = &full[start..end];
    match full[end..].strip_prefix('<') {
        // `Stateful<app::Counter>` is known as what is in it.
        Some(inner) if tail == "Stateful" => name_of(inner.strip_suffix('>')?),
        _ => Some(tail.to_owned()),
    }
}

/// The forms of a hook, as types.
pub mod form {
    /// A function of shared data.
    #[derive(Debug)]
    pub enum Shared {}
    /// An async function of shared data.
    #[derive(Debug)]
    pub enum Async {}
    /// A function of borrowed data.
    #[derive(Debug)]
    pub enum Borrowed {}
    /// A type that implements `EventHook`.
    #[derive(Debug)]
    pub enum Typed {}
}

/// See [`form::Shared`].
#[derive(Debug)]
pub struct SharedHandler<F>(F);

impl<F, R> IntoHandler<(form::Shared, R)> for F
where
    F: Fn(Arc<str>, Arc<Map>) -> R + Send + Sync + 'static,
    R: Answers,
{
    type Handler = SharedHandler<F>;

    fn into_handler(self) -> SharedHandler<F> {
        SharedHandler(self)
    }
}

impl<F, R> Handler for SharedHandler<F>
where
    F: Fn(Arc<str>, Arc<Map>) -> R + Send + Sync,
    R: Answers,
{
    #[inline]
    fn start<'a>(&'a self, _: &'a EntryMeta, mut scene: Scene<'_>) -> Answer<'a, Reply> {
        let (event, data) = scene.share();
        let answer = (self.0)(event, data);
        Answer::Ready(answer.reply(Some(scene)))
    }
}

/// See [`form::Async`].
#[derive(Debug)]
pub struct AsyncHandler<F>(F);

impl<F, Fut> IntoHandler<(form::Async, Fut)> for F
where
    F: Fn(Arc<str>, Arc<Map>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: Answers> + Send + 'static,
{
    type Handler = AsyncHandler<F>;

    fn into_handler(self) -> AsyncHandler<F> {
        AsyncHandler(self)
    }
}

impl<F, Fut> Handler for AsyncHandler<F>
where
    F: Fn(Arc<str>, Arc<Map>) -> Fut + Send + Sync,
    Fut: Future<Output: Answers> + Send + 'static,
{
    fn start<'a>(&'a self, _: &'a EntryMeta, mut scene: Scene<'_>) -> Answer<'a, Reply> {
        let (event, data) = scene.share();
        let answer = (self.0)(event, data);
        Answer::later(async move { answer.await.reply(None) })
    }
}

/// See [`form::Borrowed`].
#[derive(Debug)]
pub struct BorrowedHandler<F>(F);

impl<F, R> IntoHandler<(form::Borrowed, R)> for F
where
    F: for<'a> Fn(Event<'a>) -> R + Send + Sync + 'static,
    R: Answers,
{
    type Handler = BorrowedHandler<F>;

    fn into_handler(self) -> BorrowedHandler<F> {
        BorrowedHandler(self)
    }
}

impl<F, R> Handler for BorrowedHandler<F>
where
    F: for<'a> Fn(Event<'a>) -> R + Send + Sync,
    R: Answers,
{
    #[inline]
    fn start<'a>(&'a self, entry: &'a EntryMeta, scene: Scene<'_>) -> Answer<'a, Reply> {
        let answer = (self.0)(scene.event(entry));
        Answer::Ready(answer.reply(Some(scene)))
    }
}

/// See [`form::Typed`].
#[derive(Debug)]
pub struct TypedHandler<H>(H);

impl<H: EventHook + 'static> IntoHandler<form::Typed> for H {
    type Handler = TypedHandler<H>;

    fn into_handler(self) -> TypedHandler<H> {
        TypedHandler(self)
    }
}

impl<H: EventHook> Handler for TypedHandler<H> {
    #[inline]
    fn start<'a>(&'a self, entry: &'a EntryMeta, scene: Scene<'_>) -> Answer<'a, Reply> {
        // A hook that may wait is started anew, with an event that it holds.
        let answer = match self.0.__hooks_start((scene.event(entry),), ()) {
            Ok(Answer::Ready(result)) => Some(result),
            _ => None,
        };
        if let Some(result) = answer {
            return Answer::Ready(typed_reply(result, Some(scene)));
        }
        let held = scene.hold(entry);
        Answer::later(async move { typed_reply(self.0.call(held.event()).await, None) })
    }
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn e_09_a_hook_has_the_name_of_its_function_or_type() {
        let name = |full| name_of(full).unwrap_or_default();
        assert_eq!(name("app::security::no_keys"), "no_keys");
        assert_eq!(name("app::Audit<alloc::string::String>"), "Audit");
        assert_eq!(
            name("hooks_core::stateful::Stateful<app::Counter>"),
            "Counter"
        );
        assert_eq!(name("app::main::{{closure}}"), "");
        assert_eq!(name("fn(alloc::sync::Arc<str>) -> app::R"), "");
    }
}
