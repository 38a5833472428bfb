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
use std::marker::PhantomData;
use std::sync::Arc;

use hooks_core::{EntryMeta, Failure, HookFuture, hooks};

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
#[doc(hidden)]
pub trait Handler: Send + Sync {
    /// Starts the hook of this entry. What it is to keep of the event while it waits, it
    /// holds by itself.
    fn start<'a>(&'a self, entry: &'a EntryMeta, scene: Scene<'_>) -> HookFuture<'a, Reply>;
}

/// What a hook answered: nothing where it goes on, or has changed single fields, which have
/// their new values already. A word, because it travels through every call in registers.
#[doc(hidden)]
#[derive(Debug)]
pub struct Reply(pub(crate) Option<Box<Spoken>>);

/// What a hook says besides.
#[doc(hidden)]
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is never anywhere but in a box"
)]
pub enum Spoken {
    /// Its answer.
    Result(HookResult),
    /// What went wrong.
    Failure(Failure),
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

    /// The failure that the answer says, if it says one, or is: fields that do not hold are, unless
    /// the action stands all the same.
    #[inline(always)]
    pub(crate) fn check(self, stands: impl FnOnce(Action) -> bool) -> Result<Self, Failure> {
        match self.0 {
            None => Ok(self),
            Some(spoken) => match *spoken {
                Spoken::Failure(failure) => Err(failure),
                Spoken::Result(ref result) => match result.check() {
                    Err(why) if !stands(result.action) => Err(Failure::invalid(why.to_string())),
                    _ => Ok(Reply(Some(spoken))),
                },
            },
        }
    }

    #[cold]
    fn failed(failure: Failure) -> Self {
        Reply(Some(Box::new(Spoken::Failure(failure))))
    }
}

/// What a function may answer as an event hook (`E-13`). `Time` is found by the compiler:
/// [`Now`] or [`Later`].
#[diagnostic::on_unimplemented(
    message = "an event hook cannot answer `{Self}`; answer a `HookResult`, a `Result<HookResult, E>` whose `E` is an error or a text, or a future of those",
    label = "answers `{Self}`"
)]
pub trait HookAnswer<Time> {
    /// The answer, as an emission takes it.
    #[doc(hidden)]
    fn give<'a>(self, scene: Scene<'_>) -> HookFuture<'a, Reply>
    where
        Self: Send;
}

/// The answer is there at once (`E-13`).
#[derive(Debug)]
pub enum Now {}

/// The answer has to be waited for (`E-13`).
#[derive(Debug)]
pub struct Later<Time>(PhantomData<Time>);

/// An answer that is there.
#[doc(hidden)]
pub trait Given {
    fn reply(self, scene: Option<Scene<'_>>) -> Reply;
}

impl Given for HookResult {
    #[inline(always)]
    fn reply(self, scene: Option<Scene<'_>>) -> Reply {
        Reply::of(self, scene)
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> Given for Result<HookResult, E> {
    #[inline(always)]
    fn reply(self, scene: Option<Scene<'_>>) -> Reply {
        match self {
            Ok(result) => Reply::of(result, scene),
            Err(error) => Reply::failed(HookError::new(error).into_fault()),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<R: Given> HookAnswer<Now> for R {
    #[inline(always)]
    fn give<'a>(self, scene: Scene<'_>) -> HookFuture<'a, Reply> {
        HookFuture::Ready(self.reply(Some(scene)))
    }
}

#[diagnostic::do_not_recommend]
impl<F> HookAnswer<Later<Now>> for F
where
    F: Future<Output: Given> + 'static,
{
    fn give<'a>(self, _: Scene<'_>) -> HookFuture<'a, Reply>
    where
        F: Send,
    {
        HookFuture::boxed(async move { self.await.reply(None) })
    }
}

/// What can be registered for an event: see the [module](self) for the forms (`E-13`). `Form`
/// is found by the compiler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event hook; have it take `(event: Arc<str>, data: Arc<Map>)`, or `(event: Event<'_>)` where it is not async, or implement `EventHook`",
    label = "not an event hook",
    note = "an `async fn(event: Event<'_>)` is one under `#[impl_hook(EventHook)]`"
)]
pub trait IntoHandler<Form>: Send + Sync + 'static {
    /// What it answers.
    type Answer;

    /// Whether a host vouches for such a hook unless it says otherwise.
    #[doc(hidden)]
    const TRUSTED: bool = true;

    #[doc(hidden)]
    fn into_handler<Time: 'static>(self) -> Arc<dyn Handler>
    where
        Self::Answer: HookAnswer<Time> + Send;

    /// The name of the function or type, if it has one (`E-09`).
    #[doc(hidden)]
    fn name(&self) -> Option<String> {
        name_of(type_name::<Self>())
    }
}

/// What the names of types begin with that are none of the user's.
const ANONYMOUS: &[&str] = &[
    "fn(",
    "for<",
    "dyn ",
    "(dyn ",
    "alloc::boxed::Box<",
    "alloc::sync::Arc<",
];

/// The tail of a type's name; closures, also in a box, and function pointers have none.
fn name_of(full: &str) -> Option<String> {
    let full = full.trim_start_matches('&');
    let full = full.strip_prefix("mut ").unwrap_or(full);
    let is_anonymous =
        full.ends_with("{{closure}}") || ANONYMOUS.iter().any(|start| full.starts_with(start));
    if is_anonymous {
        return None;
    }
    let tail = last_segment(full);
    match tail.split_once('<') {
        // `Stateful<app::Counter>` is known as what is in it.
        Some(("Stateful", inner)) => name_of(inner.strip_suffix('>')?),
        Some((name, _)) => Some(name.to_owned()),
        None => Some(tail.to_owned()),
    }
}

/// What follows the last `::` that is not within `<…>`.
fn last_segment(path: &str) -> &str {
    let (mut depth, mut start, mut before) = (0_usize, 0, ' ');
    for (at, character) in path.char_indices() {
        match character {
            '<' => depth += 1,
            // But for that of an arrow.
            '>' if before != '-' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => start = at + 1,
            _ => {}
        }
        before = character;
    }
    &path[start..]
}

/// The forms of a hook, as types.
pub mod form {
    use std::marker::PhantomData;

    /// A function of shared data that answers `R` (`E-13`).
    #[derive(Debug)]
    pub struct Shared<R>(PhantomData<R>);
    /// A function of borrowed data that answers `R` (`E-13`).
    #[derive(Debug)]
    pub struct Borrowed<R>(PhantomData<R>);
    /// A type that implements `EventHook` (`E-13`).
    #[derive(Debug)]
    pub enum Typed {}
    /// A program (`E-13`).
    #[derive(Debug)]
    pub enum Program {}
}

/// See [`form::Shared`]; answers in `Time`.
struct SharedHandler<F, Time>(F, PhantomData<fn() -> Time>);

impl<F, R> IntoHandler<form::Shared<R>> for F
where
    F: Fn(Arc<str>, Arc<Map>) -> R + Send + Sync + 'static,
{
    type Answer = R;

    fn into_handler<Time: 'static>(self) -> Arc<dyn Handler>
    where
        R: HookAnswer<Time> + Send,
    {
        Arc::new(SharedHandler(self, PhantomData::<fn() -> Time>))
    }
}

impl<F, R, Time> Handler for SharedHandler<F, Time>
where
    F: Fn(Arc<str>, Arc<Map>) -> R + Send + Sync,
    R: HookAnswer<Time> + Send,
{
    #[inline]
    fn start<'a>(&'a self, _: &'a EntryMeta, mut scene: Scene<'_>) -> HookFuture<'a, Reply> {
        let (event, data) = scene.share();
        (self.0)(event, data).give(scene)
    }
}

/// See [`form::Borrowed`]; answers in `Time`.
struct BorrowedHandler<F, Time>(F, PhantomData<fn() -> Time>);

impl<F, R> IntoHandler<form::Borrowed<R>> for F
where
    F: for<'a> Fn(Event<'a>) -> R + Send + Sync + 'static,
{
    type Answer = R;

    fn into_handler<Time: 'static>(self) -> Arc<dyn Handler>
    where
        R: HookAnswer<Time> + Send,
    {
        Arc::new(BorrowedHandler(self, PhantomData::<fn() -> Time>))
    }
}

impl<F, R, Time> Handler for BorrowedHandler<F, Time>
where
    F: for<'a> Fn(Event<'a>) -> R + Send + Sync,
    R: HookAnswer<Time> + Send,
{
    #[inline]
    fn start<'a>(&'a self, entry: &'a EntryMeta, scene: Scene<'_>) -> HookFuture<'a, Reply> {
        (self.0)(scene.event(entry)).give(scene)
    }
}

/// See [`form::Typed`].
struct TypedHandler<H>(H);

impl<H: EventHook + 'static> IntoHandler<form::Typed> for H {
    type Answer = HookResult;

    fn into_handler<Time: 'static>(self) -> Arc<dyn Handler> {
        Arc::new(TypedHandler(self))
    }
}

impl<H: EventHook> Handler for TypedHandler<H> {
    #[inline]
    fn start<'a>(&'a self, entry: &'a EntryMeta, scene: Scene<'_>) -> HookFuture<'a, Reply> {
        // A hook that may wait is started anew, with an event that it holds.
        let answer = match self.0.__hooks_start(((scene.event(entry),), ())) {
            Ok(HookFuture::Ready(result)) => Some(result),
            _ => None,
        };
        if let Some(result) = answer {
            return HookFuture::Ready(result.reply(Some(scene)));
        }
        let held = scene.hold(entry);
        HookFuture::boxed(async move { self.0.call(held.event()).await.reply(None) })
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
        assert_eq!(name("app::Checker<u8>::check"), "check");
        assert_eq!(name("<app::Audit as app::Checks>::by_trait"), "by_trait");
        assert_eq!(name("app::check<app::Strict>"), "check");
        assert_eq!(name("alloc::boxed::Box<dyn core::ops::Fn()>"), "");
        assert_eq!(name("app::main::{{closure}}"), "");
        assert_eq!(name("fn(alloc::sync::Arc<str>) -> app::R"), "");
    }
}
