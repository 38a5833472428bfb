//! The engine: the one loop over hooks in this workspace.
//!
//! A dispatch is a [`Combine`] policy driven over the entries of a slot. [`Dispatch`] is a
//! future written by hand: its loop goes on while hooks answer at once, and it returns
//! to the executor only when something has to be waited for. So hooks that never wait
//! cost neither a future nor an allocation. The policy, and the [`Room`] in which hooks
//! leave their answers, never move.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::entry::EntryMeta;
use crate::room::Room;
use crate::slot::Node;
use crate::trace::DispatchSpan;

/// The policy of one dispatch: how a hook is invoked, how its answer is absorbed,
/// and what comes out at the end. The data live in the policy and in its room, so that
/// an early stop loses nothing.
pub trait Combine<H: ?Sized> {
    /// What one hook answers.
    type Yield;
    /// What the whole dispatch answers.
    type Outcome;
    /// The policy's own asynchronous work; [`Never`](crate::Never) where it has none.
    type Wait: Future;

    /// The name of the slot, for spans.
    fn slot_name(&self) -> &'static str;

    /// Called once, before the first hook, with the number of hooks.
    fn open(&mut self, hooks: usize, room: &mut Room<'_, Self::Yield>) -> Step<Self::Wait> {
        let _ = (hooks, room);
        Step::Next
    }

    /// Starts a hook, which leaves its answer in the room; `last` is true for the final
    /// entry of the list.
    fn invoke<'a>(&mut self, hook: &'a H, last: bool, room: &mut Room<'a, Self::Yield>) -> Poll<()>
    where
        Self: 'a;

    /// Takes the answer that a hook has left in the room, or leaves it there.
    fn absorb(&mut self, entry: &EntryMeta, room: &mut Room<'_, Self::Yield>) -> Step<Self::Wait>;

    /// Called once after the last hook, unless something stopped the dispatch before.
    fn close(&mut self, room: &mut Room<'_, Self::Yield>) -> Step<Self::Wait> {
        let _ = room;
        Step::Stop
    }

    /// Takes the answer of what the policy waited for.
    fn waited(
        &mut self,
        answer: <Self::Wait as Future>::Output,
        room: &mut Room<'_, Self::Yield>,
    ) -> Step<Self::Wait>;

    /// The outcome, whether all hooks ran or something stopped the dispatch; the last
    /// call that a policy gets.
    fn finish(&mut self, room: &mut Room<'_, Self::Yield>) -> Self::Outcome;
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
    #[project = Projected]
    pub struct Dispatch<'a, H: ?Sized, C: Combine<H>> {
        nodes: &'a [Node<H>],
        policy: C,
        #[pin]
        state: State<'a, C::Yield, C::Wait>,
    }
}

pin_project! {
    /// What the next poll begins with.
    #[project = Waiting]
    #[project_replace = Taken]
    enum State<'a, T, W> {
        Start,
        // A hook has not answered yet.
        Hook { run: Run<'a, T> },
        // The policy has work of its own.
        Policy { run: Run<'a, T>, #[pin] wait: W },
        Over,
    }
}

/// The part of a dispatch that has begun: in locals until it has to wait.
struct Run<'a, T> {
    /// The index of the next hook; past the end once the policy was closed.
    next: usize,
    room: Room<'a, T>,
    span: DispatchSpan,
}

/// Why the loop came to a halt.
enum Pause<W> {
    Over,
    Hook,
    Policy(W),
}

impl<'a, H: ?Sized, C: Combine<H>> Dispatch<'a, H, C> {
    #[inline]
    pub(crate) fn new(nodes: &'a [Node<H>], policy: C) -> Self {
        Dispatch {
            nodes,
            policy,
            state: State::Start,
        }
    }
}

impl<'a, H: ?Sized, C: Combine<H> + 'a> Future for Dispatch<'a, H, C> {
    type Output = C::Outcome;

    /// # Panics
    /// If the dispatch is polled again after its end.
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Outcome> {
        let mut this = self.project();
        if !matches!(*this.state, State::Start) {
            return this.resume(cx);
        }
        this.state.set(State::Over);
        if !this.nodes.is_empty() {
            return this.start(cx);
        }
        let mut room = Room::new();
        match this.policy.open(0, &mut room) {
            Step::Wait(wait) => this.wait_alone(cx, room, wait),
            Step::Next | Step::Stop => Poll::Ready(this.policy.finish(&mut room)),
        }
    }
}

impl<'a, H: ?Sized, C: Combine<H> + 'a> Projected<'_, 'a, H, C> {
    /// The first poll of a dispatch that has hooks.
    #[inline(never)]
    fn start(&mut self, cx: &mut Context<'_>) -> Poll<C::Outcome> {
        let span = DispatchSpan::new(self.policy.slot_name(), self.nodes.len());
        let mut run = Run::new(span);
        let step = run
            .span
            .within(|| self.policy.open(self.nodes.len(), &mut run.room));
        match self.drive(cx, &mut run, step) {
            Pause::Over => Poll::Ready(self.policy.finish(&mut run.room)),
            pause => self.suspend(cx, run, pause),
        }
    }

    /// The first poll of a dispatch without hooks whose policy has to wait.
    #[inline(never)]
    fn wait_alone(
        &mut self,
        cx: &mut Context<'_>,
        room: Room<'a, C::Yield>,
        wait: C::Wait,
    ) -> Poll<C::Outcome> {
        let mut run = Run::new(DispatchSpan::none());
        run.room = room;
        self.suspend(cx, run, Pause::Policy(wait))
    }

    /// Every further poll: goes on with what was waited for, as soon as it is there.
    #[inline(never)]
    fn resume(&mut self, cx: &mut Context<'_>) -> Poll<C::Outcome> {
        let answer = match self.state.as_mut().project() {
            Waiting::Hook { run } => match run.room.poll_later(cx) {
                Poll::Ready(()) => None,
                Poll::Pending => return Poll::Pending,
            },
            Waiting::Policy { run, wait } => match run.span.within(|| wait.poll(cx)) {
                Poll::Ready(answer) => Some(answer),
                Poll::Pending => return Poll::Pending,
            },
            Waiting::Start | Waiting::Over => panic!("a dispatch was polled again after its end"),
        };
        let (Taken::Hook { mut run } | Taken::Policy { mut run, .. }) =
            self.state.as_mut().project_replace(State::Over)
        else {
            unreachable!("it has just been polled")
        };
        let step = match answer {
            Some(answer) => self.policy.waited(answer, &mut run.room),
            None => self.absorb(&mut run),
        };
        match self.drive(cx, &mut run, step) {
            Pause::Over => Poll::Ready(self.policy.finish(&mut run.room)),
            pause => self.suspend(cx, run, pause),
        }
    }

    /// Puts the dispatch away until what it waits for is there.
    #[inline(never)]
    fn suspend(
        &mut self,
        cx: &mut Context<'_>,
        run: Run<'a, C::Yield>,
        pause: Pause<C::Wait>,
    ) -> Poll<C::Outcome> {
        match pause {
            Pause::Over => unreachable!("a dispatch that is over has nothing to wait for"),
            Pause::Hook => {
                self.state.set(State::Hook { run });
                Poll::Pending
            }
            // Where it lies is where it is polled for the first time.
            Pause::Policy(wait) => {
                self.state.set(State::Policy { run, wait });
                self.resume(cx)
            }
        }
    }

    /// Goes on until the end, or until something has to be waited for.
    #[inline(always)]
    fn drive(
        &mut self,
        cx: &mut Context<'_>,
        run: &mut Run<'a, C::Yield>,
        mut step: Step<C::Wait>,
    ) -> Pause<C::Wait> {
        loop {
            match self.advance(run, step) {
                Pause::Hook if run.room.poll_later(cx).is_ready() => step = self.absorb(run),
                pause => return pause,
            }
        }
    }

    /// The loop: hook after hook, as long as they answer at once.
    #[inline(always)]
    fn advance(&mut self, run: &mut Run<'a, C::Yield>, mut step: Step<C::Wait>) -> Pause<C::Wait> {
        let nodes = *self.nodes;
        let mut rest = nodes.get(run.next..).unwrap_or_default();
        loop {
            match step {
                Step::Next => {}
                Step::Stop => return Pause::Over,
                Step::Wait(wait) => {
                    run.next = run.next.max(nodes.len() - rest.len());
                    return Pause::Policy(wait);
                }
            }
            step = if let Some((node, behind)) = rest.split_first() {
                rest = behind;
                match run.invoke(self.policy, node, behind.is_empty()) {
                    Poll::Ready(()) => self.policy.absorb(&node.meta, &mut run.room),
                    Poll::Pending => {
                        run.next = nodes.len() - behind.len();
                        return Pause::Hook;
                    }
                }
            } else if run.next <= nodes.len() {
                run.next = nodes.len() + 1;
                self.policy.close(&mut run.room)
            } else {
                Step::Stop
            };
        }
    }

    /// Hands the answer of the hook that was waited for to the policy.
    #[inline]
    fn absorb(&mut self, run: &mut Run<'a, C::Yield>) -> Step<C::Wait> {
        let node = &self.nodes[run.next - 1];
        self.policy.absorb(&node.meta, &mut run.room)
    }
}

impl<'a, T: 'a> Run<'a, T> {
    #[inline]
    fn new(span: DispatchSpan) -> Self {
        Run {
            next: 0,
            room: Room::new(),
            span,
        }
    }

    #[inline]
    fn invoke<H, C>(&mut self, policy: &mut C, node: &'a Node<H>, last: bool) -> Poll<()>
    where
        H: ?Sized,
        C: Combine<H, Yield = T> + 'a,
    {
        if self.span.is_none() {
            return policy.invoke(&node.hook, last, &mut self.room);
        }
        let span = self.span.hook(&node.meta);
        let answer = span.in_scope(|| policy.invoke(&node.hook, last, &mut self.room));
        self.room.instrument(span);
        answer
    }
}

impl<H: ?Sized, C: Combine<H>> fmt::Debug for Dispatch<'_, H, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let next = match &self.state {
            State::Start => Some(0),
            State::Hook { run } | State::Policy { run, .. } => Some(run.next),
            State::Over => None,
        };
        f.debug_struct("Dispatch")
            .field("hooks", &self.nodes.len())
            .field("next", &next)
            .finish_non_exhaustive()
    }
}
