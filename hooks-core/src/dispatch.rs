//! The engine: the one loop over hooks in this workspace.
//!
//! A dispatch is a [`Combine`] policy driven over the entries of a slot. [`Dispatch`] is a
//! future written by hand: its loop goes on while hooks answer at once, keeps everything
//! in locals, and puts itself away only when something has to be waited for. So hooks
//! that never wait cost neither a future nor an allocation.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::bounds::BoxFuture;
use crate::entry::EntryMeta;
use crate::room::Room;
use crate::slot::Node;
use crate::trace::DispatchSpan;

/// The policy of one dispatch: how a hook is invoked, how its answer is absorbed,
/// and what comes out at the end. The data live in the policy, so that an early stop
/// loses nothing.
pub trait Combine<H: ?Sized>: Sized {
    /// What one hook answers.
    type Yield;
    /// What the whole dispatch answers.
    type Outcome;
    /// The policy's own asynchronous work; [`Never`](crate::Never) where it has none.
    type Wait: Future;

    /// The name of the slot, for spans.
    fn slot_name(&self) -> &'static str;

    /// Called once, before the first hook, with the number of hooks.
    fn open(&mut self, hooks: usize) -> Step<Self::Wait> {
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
    fn absorb(&mut self, entry: &EntryMeta, answer: Self::Yield) -> Step<Self::Wait>;

    /// Called once after the last hook, unless something stopped the dispatch before.
    fn close(&mut self) -> Step<Self::Wait> {
        Step::Stop
    }

    /// Takes the answer of what the policy waited for.
    fn waited(&mut self, answer: <Self::Wait as Future>::Output) -> Step<Self::Wait>;

    /// The outcome, whether all hooks ran or something stopped the dispatch.
    fn finish(self) -> Self::Outcome;
}

/// What a policy wants next.
#[derive(Debug)]
pub enum Step<W> {
    /// The next hook, if there is one.
    Next,
    /// Nothing more.
    Stop,
    /// The answer of this future, handed to [`Combine::waited`].
    Wait(W),
}

pin_project! {
    /// A dispatch: lazy, and done with everything the moment it is dropped.
    #[must_use = "a dispatch does nothing unless it is awaited"]
    pub struct Dispatch<'a, H: ?Sized, C: Combine<H>> {
        nodes: &'a [Node<H>],
        // The index of the next hook; past the end once the policy was closed.
        next: usize,
        // Taken while the loop runs, and for good at the end.
        policy: Option<C>,
        span: DispatchSpan,
        // At most one of the two is waited for.
        answer: Option<BoxFuture<'a, C::Yield>>,
        #[pin]
        wait: Option<C::Wait>,
    }
}

impl<'a, H: ?Sized, C: Combine<H>> Dispatch<'a, H, C> {
    #[inline]
    pub(crate) fn new(nodes: &'a [Node<H>], policy: C) -> Self {
        Dispatch {
            nodes,
            next: 0,
            policy: Some(policy),
            span: DispatchSpan::none(),
            answer: None,
            wait: None,
        }
    }
}

impl<'a, H: ?Sized, C: Combine<H> + 'a> Future for Dispatch<'a, H, C> {
    type Output = C::Outcome;

    /// # Panics
    /// If the dispatch is polled again after its end.
    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Outcome> {
        let mut this = self.project();
        let nodes = *this.nodes;
        let mut policy;
        let mut step;

        // What was waited for, if this is not the first poll.
        if let Some(answer) = this.answer {
            let Poll::Ready(answer) = answer.as_mut().poll(cx) else {
                return Poll::Pending;
            };
            *this.answer = None;
            policy = this.policy.take().expect(ENDED);
            step = policy.absorb(&nodes[*this.next - 1].meta, answer);
        } else if let Some(wait) = this.wait.as_mut().as_pin_mut() {
            let Poll::Ready(answer) = this.span.within(|| wait.poll(cx)) else {
                return Poll::Pending;
            };
            this.wait.set(None);
            policy = this.policy.take().expect(ENDED);
            step = policy.waited(answer);
        } else {
            policy = this.policy.take().expect(ENDED);
            if !nodes.is_empty() {
                *this.span = DispatchSpan::new(policy.slot_name(), nodes.len());
            }
            step = this.span.within(|| policy.open(nodes.len()));
        }

        loop {
            match step {
                Step::Next => {}
                Step::Stop => return Poll::Ready(policy.finish()),
                Step::Wait(wait) => {
                    this.wait.set(Some(wait));
                    let wait = this.wait.as_mut().as_pin_mut().expect("it was just set");
                    let Poll::Ready(answer) = this.span.within(|| wait.poll(cx)) else {
                        *this.policy = Some(policy);
                        return Poll::Pending;
                    };
                    this.wait.set(None);
                    step = policy.waited(answer);
                    continue;
                }
            }
            let at = *this.next;
            *this.next += 1;
            let Some(node) = nodes.get(at) else {
                step = if at == nodes.len() {
                    policy.close()
                } else {
                    Step::Stop
                };
                continue;
            };
            let mut room = Room::new();
            let span = this.span.hook(&node.meta);
            let last = at + 1 == nodes.len();
            let answer = match span.within(|| policy.invoke(&node.hook, last, &mut room)) {
                Poll::Ready(answer) => answer,
                Poll::Pending => {
                    let mut later = span.instrument(room.take());
                    match later.as_mut().poll(cx) {
                        Poll::Ready(answer) => answer,
                        Poll::Pending => {
                            *this.answer = Some(later);
                            *this.policy = Some(policy);
                            return Poll::Pending;
                        }
                    }
                }
            };
            step = policy.absorb(&node.meta, answer);
        }
    }
}

const ENDED: &str = "a dispatch is not polled after its end";

impl<H: ?Sized, C: Combine<H>> fmt::Debug for Dispatch<'_, H, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatch")
            .field("hooks", &self.nodes.len())
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
