//! The engine: the one loop over hooks in this workspace.
//!
//! A dispatch is a [`Combine`] policy driven over the entries of a slot. The loop
//! ([`Run::advance`]) is ordinary synchronous code that goes on while hooks answer at
//! once; only when one does not, the dispatch becomes a coroutine ([`resume`]) that
//! waits for that one answer and enters the same loop again. So hooks that never
//! wait cost neither a future nor an allocation.

use std::future::Future;
use std::task::Poll;

use crate::bounds::BoxFuture;
use crate::entry::EntryMeta;
use crate::future::{Attempt, SyncFirst};
use crate::room::Room;
use crate::slot::Node;
use crate::trace::DispatchSpan;

/// The policy of one dispatch: how a hook is invoked, how its answer is absorbed,
/// and what comes out at the end. The data live in the policy.
pub trait Combine<H: ?Sized>: Sized {
    /// What one hook answers.
    type Yield;
    /// What the whole dispatch answers.
    type Outcome;

    /// The name of the slot, for spans.
    fn slot_name(&self) -> &'static str;

    /// Called once, before the first hook, with the number of hooks.
    fn open(&mut self, hooks: usize) -> Step {
        let _ = hooks;
        Step::Next
    }

    /// Starts a hook; `last` is true for the final entry of the list.
    fn invoke<'a>(
        &mut self,
        hook: &'a H,
        last: bool,
        room: &mut Room<'a, Self::Yield>,
    ) -> Poll<Self::Yield>
    where
        Self: 'a;

    /// Takes a hook's answer.
    fn absorb(&mut self, entry: &EntryMeta, answer: Self::Yield) -> Step;

    /// Called once after the last hook, unless something stopped the dispatch before.
    fn close(&mut self) -> Step {
        Step::Stop
    }

    /// The policy's own asynchronous work, awaited whenever it answered [`Step::Wait`].
    ///
    /// Where the dispatch has to be `Send`, this future has to be.
    fn wait(&mut self) -> impl Future<Output = Step> {
        std::future::ready(Step::Next)
    }

    /// The outcome, whether all hooks ran or something stopped the dispatch.
    fn finish(self) -> Self::Outcome;
}

/// What a policy wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The next hook, if there is one.
    Next,
    /// Nothing more.
    Stop,
    /// [`Combine::wait`], and then what that answers.
    Wait,
}

/// Drives a policy over the entries, lazily: everything happens in `poll`.
pub(crate) fn run<'a, H, C>(
    nodes: &'a [Node<H>],
    policy: C,
) -> impl Future<Output = C::Outcome> + use<'a, H, C>
where
    H: ?Sized,
    C: Combine<H> + 'a,
{
    SyncFirst::new(move || {
        let mut run = Run::new(nodes, policy);
        match run.begin() {
            Pause::Done => Attempt::Done(run.policy.finish()),
            pause => Attempt::Resume(resume(run, pause)),
        }
    })
}

/// A dispatch under way.
struct Run<'a, H: ?Sized, C> {
    nodes: &'a [Node<H>],
    /// The index of the next hook; past the end once the policy was closed.
    next: usize,
    policy: C,
    span: DispatchSpan,
}

/// Why the loop came to a halt.
enum Pause<'a, T> {
    Done,
    Policy,
    Hook(BoxFuture<'a, T>),
}

impl<'a, H: ?Sized, C: Combine<H> + 'a> Run<'a, H, C> {
    #[inline]
    fn new(nodes: &'a [Node<H>], policy: C) -> Self {
        Run {
            nodes,
            next: 0,
            policy,
            span: DispatchSpan::none(),
        }
    }

    #[inline]
    fn begin(&mut self) -> Pause<'a, C::Yield> {
        if !self.nodes.is_empty() {
            self.span = DispatchSpan::new(self.policy.slot_name(), self.nodes.len());
        }
        let step = {
            let _inside = self.span.enter();
            self.policy.open(self.nodes.len())
        };
        self.advance(step)
    }

    /// The loop: runs hook after hook until something has to be waited for.
    #[inline]
    fn advance(&mut self, mut step: Step) -> Pause<'a, C::Yield> {
        loop {
            match step {
                Step::Next => {}
                Step::Stop => return Pause::Done,
                Step::Wait => return Pause::Policy,
            }
            let at = self.next;
            self.next += 1;
            step = match self.nodes.get(at) {
                Some(node) => {
                    let last = self.next == self.nodes.len();
                    let mut room = Room::new();
                    let hook_span = self.span.hook(&node.meta);
                    let answer = {
                        let _inside = hook_span.enter();
                        self.policy.invoke(&node.hook, last, &mut room)
                    };
                    match answer {
                        Poll::Ready(answer) => self.policy.absorb(&node.meta, answer),
                        Poll::Pending => return Pause::Hook(hook_span.instrument(room.take())),
                    }
                }
                None if at == self.nodes.len() => self.policy.close(),
                None => Step::Stop,
            };
        }
    }
}

/// Waits for what the loop came to a halt for, and enters it again.
async fn resume<'a, H, C>(mut run: Run<'a, H, C>, mut pause: Pause<'a, C::Yield>) -> C::Outcome
where
    H: ?Sized,
    C: Combine<H> + 'a,
{
    loop {
        let step = match pause {
            Pause::Done => return run.policy.finish(),
            Pause::Policy => run.span.within(run.policy.wait()).await,
            Pause::Hook(answer) => {
                let answer = answer.await;
                run.policy.absorb(&run.nodes[run.next - 1].meta, answer)
            }
        };
        pause = run.advance(step);
    }
}
