//! The dispatch table of typed slots (`REQUIREMENTS` §4.3) as one policy.
//!
//! | Kind | before the hooks | each hook | after the hooks, if none stopped |
//! |---|---|---|---|
//! | always | the default | given `last`, or looked at by the chain | |
//! | fallback | the default, only without hooks | the same | the default, with a chain and without an aggregate |
//! | singleton | the default, only without a hook | the one hook | |
//!
//! What is kept ([`Keep`]) and who may stop the dispatch ([`Gate`]) are parameters;
//! aggregate and finalize work on the outcome, outside this policy.

use std::future::Future;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::task::Poll;

use crate::companion::Gate;
use crate::dispatch::{Combine, Step};
use crate::entry::EntryMeta;
use crate::room::{self, Room};
use crate::typed::keep::Keep;
use crate::typed::kind::Supply;
use crate::typed::signature::{Object, Signature};

/// One dispatch of a typed slot.
pub(crate) struct Typed<'a, S: Signature + ?Sized, M, G, K, D> {
    args: Option<S::Args<'a>>,
    default: D,
    gate: &'a G,
    kept: K,
    hooks: usize,
    /// What [`Combine::wait`] has to do.
    due: Due,
    kind: PhantomData<fn() -> M>,
}

#[derive(Clone, Copy)]
enum Due {
    /// The default that runs before the hooks.
    Default,
    /// The chain's look at the latest output.
    Review,
    /// The default that stands in for hooks which all went on.
    FallBack,
}

impl<'a, S, M, G, K, D, F> Typed<'a, S, M, G, K, D>
where
    S: Signature + ?Sized,
    M: Supply<S>,
    G: Gate<S::Out>,
    K: Keep<S::Out>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out>,
{
    #[inline]
    pub(crate) fn new(args: S::Args<'a>, default: D, gate: &'a G, outputs: usize) -> Self {
        Typed {
            args: Some(args),
            default,
            gate,
            kept: K::with_capacity(outputs),
            hooks: 0,
            due: Due::Default,
            kind: PhantomData,
        }
    }

    /// Whether the default stands in where every hook went on.
    const FALLS_BACK: bool = M::FALLS_BACK && G::CHECKS && !K::COLLECTS;

    #[inline]
    fn wait_for(&mut self, due: Due) -> Step {
        self.due = due;
        Step::Wait
    }

    #[inline]
    fn absorb_default(&mut self, output: S::Out) -> Step {
        if self.hooks == 0 {
            if M::FALLS_BACK {
                self.kept.put_alone(output);
            } else {
                self.kept.put(output);
            }
            return Step::Stop;
        }
        self.kept.put(output);
        self.review()
    }

    #[inline]
    fn review(&mut self) -> Step {
        if !G::CHECKS {
            return Step::Next;
        }
        let output = self.kept.latest().expect(KEPT);
        match self.gate.check_now(output) {
            Some(ControlFlow::Break(())) => Step::Stop,
            Some(ControlFlow::Continue(())) => Step::Next,
            None => self.wait_for(Due::Review),
        }
    }
}

impl<'a, 'h, S, M, G, K, D, F> Combine<dyn Object<S> + 'h> for Typed<'a, S, M, G, K, D>
where
    S: Signature + ?Sized,
    M: Supply<S>,
    G: Gate<S::Out>,
    K: Keep<S::Out>,
    D: Fn(S::Args<'a>) -> F,
    F: Future<Output = S::Out>,
{
    type Yield = S::Out;
    type Outcome = K::Outcome;

    #[inline]
    fn slot_name(&self) -> &'static str {
        S::NAME
    }

    #[inline]
    fn open(&mut self, hooks: usize) -> Step {
        self.hooks = hooks;
        if !M::leads(hooks) {
            return Step::Next;
        }
        if !S::DEFAULT_READY {
            return self.wait_for(Due::Default);
        }
        let args = M::supply(&mut self.args, hooks == 0);
        let output = room::now((self.default)(args));
        self.absorb_default(output)
    }

    #[inline]
    fn invoke<'b>(
        &mut self,
        hook: &'b (dyn Object<S> + 'h),
        last: bool,
        room: &mut Room<'b, S::Out>,
    ) -> Poll<S::Out>
    where
        Self: 'b,
    {
        let args = M::supply(&mut self.args, last && !Self::FALLS_BACK);
        hook.start(args, self.kept.hand_over(), room)
    }

    #[inline]
    fn absorb(&mut self, _: &EntryMeta, output: S::Out) -> Step {
        self.kept.put(output);
        self.review()
    }

    #[inline]
    fn close(&mut self) -> Step {
        if Self::FALLS_BACK {
            self.wait_for(Due::FallBack)
        } else {
            Step::Stop
        }
    }

    async fn wait(&mut self) -> Step {
        let step = match self.due {
            Due::Default => {
                let args = M::supply(&mut self.args, self.hooks == 0);
                let output = (self.default)(args).await;
                self.absorb_default(output)
            }
            Due::FallBack => {
                let output = (self.default)(M::supply(&mut self.args, true)).await;
                self.kept.put(output);
                Step::Stop
            }
            Due::Review => Step::Wait,
        };
        if step != Step::Wait {
            return step;
        }
        let output = self.kept.latest().expect(KEPT);
        match self.gate.check(output).await {
            ControlFlow::Break(()) => Step::Stop,
            ControlFlow::Continue(()) => Step::Next,
        }
    }

    #[inline]
    fn finish(self) -> K::Outcome {
        self.kept.finish()
    }
}

const KEPT: &str = "a chain looks at the output that was just kept";
