//! The prototype of `docs/decisions/0046-sets-are-not-generic.md`: a generic set with one slot, written by
//! hand. It has the items that `#[hooks]` would generate for
//! `trait Pipeline<C: Context> { #[hook(always)] async fn check(context: &C, name: &str) -> bool { … } }`.

use std::future::Future;

use hooks_core::__private as core;
use hooks_core::{HookObject, IntoHook, MaybeSend};

trait Context: HookObject {
    fn admits(&self, name: &str) -> bool;
}

struct PipelineSet<'h, C: Context + 'static> {
    check: core::TypedSlot<'h, dyn Check<C>, core::NoCompanion, core::NoCompanion>,
}

impl<'h, C: Context + 'static> PipelineSet<'h, C> {
    fn new() -> Self {
        PipelineSet {
            check: core::TypedSlot::without_companions(),
        }
    }

    fn with_check<M>(mut self, hook: impl IntoHook<dyn Check<C>, M> + 'h) -> Self {
        self.check.__hooks_register(hook);
        self
    }

    fn check<'a>(
        &'a self,
        context: &'a C,
        name: &'a str,
    ) -> impl Future<Output = bool> + MaybeSend {
        self.check.__hooks_dispatch((context, name))
    }
}

trait Check<C: Context + 'static>: HookObject {
    fn call(
        &self,
        context: &C,
        name: String,
        last: Option<bool>,
    ) -> impl Future<Output = bool> + MaybeSend
    where
        Self: Sized;
}

impl<C: Context + 'static> core::SlotDef for dyn Check<C> + '_ {
    type Args<'a> = (&'a C, &'a str);
    type Passing = core::Copied;
    type Last = Option<bool>;
    type Out = bool;
    type Owned<'a> = (&'a C, String, Option<bool>);
    type Kind = core::Sequential<core::Always>;
    const NAME: &'static str = "check";

    fn now<'a>((context, name): Self::Args<'a>) -> bool {
        context.admits(name)
    }
}

impl<C: Context + 'static> core::AsyncSlot for dyn Check<C> + '_ {}

impl<C: Context + 'static, H: Check<C>> core::CallHook<H> for dyn Check<C> {
    fn start<'b, 'a: 'b>(
        hook: &'b H,
        (context, name): (&'a C, &'a str),
        last: Option<bool>,
    ) -> core::HookFuture<'b, bool> {
        core::pin(hook.call(context, core::text(name), last))
    }
}

struct Short(usize);

impl Context for Short {
    fn admits(&self, name: &str) -> bool {
        name.len() <= self.0
    }
}

/// A hook for every context.
struct NoSpaces;

impl<C: Context + 'static> Check<C> for NoSpaces {
    async fn call(&self, _: &C, name: String, last: Option<bool>) -> bool {
        last == Some(true) && !name.contains(' ')
    }
}

/// Generic code dispatches, and its future is `Send`.
fn checked<C: Context + 'static>(
    set: PipelineSet<'static, C>,
    context: C,
    name: &'static str,
) -> impl Future<Output = bool> + Send {
    async move { set.check(&context, name).await }
}

pub fn main() {
    let set = || {
        PipelineSet::new().with_check(NoSpaces).with_check(
            async |_: &Short, name: String, last: Option<bool>| {
                last == Some(true) && !name.is_empty()
            },
        )
    };
    let run = |name| hooks_core::run_now(checked(set(), Short(4), name)).unwrap();
    assert!(run("ada"));
    assert!(!run("a b"));
    assert!(!run(""));
    assert!(!run("a long name"));
}
