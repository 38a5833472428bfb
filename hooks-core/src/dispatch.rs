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

    /// The outcome where nothing is registered, or what has to be waited for first;
    /// overridden only where it can be had for less than [`Combine::open`] and
    /// [`Combine::finish`].
    fn alone(&mut self, room: &mut Room<'_, Self::Yield>) -> Result<Self::Outcome, Self::Wait> {
        match self.open(0, room) {
            Step::Wait(wait) => Err(wait),
            Step::Next | Step::Stop => Ok(self.finish(room)),
        }
    }
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
        state: State<'a, H, C::Yield, C::Wait>,
    }
}

pin_project! {
    /// What the next poll begins with.
    #[project = Waiting]
    #[project_replace = Taken]
    enum State<'a, H: ?Sized, T, W> {
        Start,
        // A hook has not answered yet.
        Hook { run: Run<'a, H, T> },
        // The policy has work of its own.
        Policy { run: Run<'a, H, T>, #[pin] wait: W },
        Over,
    }
}

/// The part of a dispatch that has begun: in locals until it has to wait.
struct Run<'a, H: ?Sized, T> {
    /// The hooks that have not been started.
    rest: &'a [Node<H>],
    /// Whether the policy has been told that there are none.
    closed: bool,
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
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Outcome> {
        let mut this = self.as_mut().project();
        if !matches!(*this.state, State::Start) {
            return self.resume(cx);
        }
        this.state.set(State::Over);
        if !this.nodes.is_empty() {
            return self.start(cx);
        }
        let mut room = Room::new();
        match this.policy.alone(&mut room) {
            Ok(outcome) => Poll::Ready(outcome),
            Err(wait) => self.wait_alone(cx, room, wait),
        }
    }
}

impl<'a, H: ?Sized, C: Combine<H> + 'a> Dispatch<'a, H, C> {
    /// The first poll of a dispatch that has hooks.
    #[inline(always)]
    fn start(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Outcome> {
        let mut this = self.as_mut().project();
        let span = DispatchSpan::new(this.policy.slot_name(), this.nodes.len());
        let mut run = Run::new(this.nodes, span);
        let step = run
            .span
            .within(|| this.policy.open(this.nodes.len(), &mut run.room));
        match this.drive(cx, &mut run, step) {
            Pause::Over => {
                let outcome = this.policy.finish(&mut run.room);
                // There is hardly ever anything left to drop: looking spares the calls.
                if run.is_spent() {
                    std::mem::forget(run);
                }
                Poll::Ready(outcome)
            }
            pause => self.suspend(cx, run, pause),
        }
    }

    /// The first poll of a dispatch without hooks whose policy has to wait.
    #[inline(never)]
    fn wait_alone(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: Room<'a, C::Yield>,
        wait: C::Wait,
    ) -> Poll<C::Outcome> {
        let mut run = Run::new(self.nodes, DispatchSpan::none());
        run.room = room;
        self.suspend(cx, run, Pause::Policy(wait))
    }

    /// Every further poll: goes on with what was waited for, as soon as it is there.
    #[inline(never)]
    fn resume(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Outcome> {
        let mut this = self.as_mut().project();
        let answer = match this.state.as_mut().project() {
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
            this.state.as_mut().project_replace(State::Over)
        else {
            unreachable!("it has just been polled")
        };
        let step = match answer {
            Some(answer) => this.policy.waited(answer, &mut run.room),
            None => this.absorb(&mut run),
        };
        match this.drive(cx, &mut run, step) {
            Pause::Over => Poll::Ready(this.policy.finish(&mut run.room)),
            pause => self.suspend(cx, run, pause),
        }
    }

    /// Puts the dispatch away until what it waits for is there.
    #[inline(never)]
    fn suspend(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        run: Run<'a, H, C::Yield>,
        pause: Pause<C::Wait>,
    ) -> Poll<C::Outcome> {
        let mut state = self.as_mut().project().state;
        match pause {
            Pause::Over => unreachable!("a dispatch that is over has nothing to wait for"),
            Pause::Hook => {
                state.set(State::Hook { run });
                Poll::Pending
            }
            // Where it lies is where it is polled for the first time.
            Pause::Policy(wait) => {
                state.set(State::Policy { run, wait });
                self.resume(cx)
            }
        }
    }
}

impl<'a, H: ?Sized, C: Combine<H> + 'a> Projected<'_, 'a, H, C> {
    /// Goes on until the end, or until something has to be waited for.
    #[inline(always)]
    fn drive(
        &mut self,
        cx: &mut Context<'_>,
        run: &mut Run<'a, H, C::Yield>,
        mut step: Step<C::Wait>,
    ) -> Pause<C::Wait> {
        loop {
            let pause = match step {
                Step::Next => self.advance(run),
                Step::Stop => Pause::Over,
                Step::Wait(wait) => Pause::Policy(wait),
            };
            match pause {
                Pause::Hook if run.room.poll_later(cx).is_ready() => step = self.absorb(run),
                pause => return pause,
            }
        }
    }

    /// The loop: hook after hook, as long as they answer at once.
    #[inline(always)]
    fn advance(&mut self, run: &mut Run<'a, H, C::Yield>) -> Pause<C::Wait> {
        let mut rest = run.rest;
        while let Some((node, behind)) = rest.split_first() {
            rest = behind;
            if run.invoke(self.policy, node, rest.is_empty()).is_pending() {
                run.rest = rest;
                return Pause::Hook;
            }
            match self.policy.absorb(&node.meta, &mut run.room) {
                Step::Next => {}
                Step::Stop => return Pause::Over,
                Step::Wait(wait) => {
                    run.rest = rest;
                    return Pause::Policy(wait);
                }
            }
        }
        run.rest = rest;
        if run.closed {
            return Pause::Over;
        }
        run.closed = true;
        match self.policy.close(&mut run.room) {
            Step::Next | Step::Stop => Pause::Over,
            Step::Wait(wait) => Pause::Policy(wait),
        }
    }

    /// Hands the answer of the hook that was waited for to the policy.
    #[inline]
    fn absorb(&mut self, run: &mut Run<'a, H, C::Yield>) -> Step<C::Wait> {
        let node = &self.nodes[self.nodes.len() - run.rest.len() - 1];
        self.policy.absorb(&node.meta, &mut run.room)
    }
}

impl<'a, H: ?Sized, T: 'a> Run<'a, H, T> {
    #[inline]
    fn new(rest: &'a [Node<H>], span: DispatchSpan) -> Self {
        Run {
            rest,
            closed: false,
            room: Room::new(),
            span,
        }
    }

    /// Whether there is nothing to drop.
    #[inline]
    fn is_spent(&self) -> bool {
        self.room.is_spent() && self.span.is_none()
    }

    #[inline]
    fn invoke<C>(&mut self, policy: &mut C, node: &'a Node<H>, last: bool) -> Poll<()>
    where
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
        let rest = match &self.state {
            State::Start => self.nodes.len(),
            State::Hook { run } | State::Policy { run, .. } => run.rest.len(),
            State::Over => 0,
        };
        f.debug_struct("Dispatch")
            .field("hooks", &self.nodes.len())
            .field("rest", &rest)
            .finish_non_exhaustive()
    }
}
