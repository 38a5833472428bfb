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
use std::task::{Context, Poll, ready};

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
    pub struct Dispatch<'a, H: ?Sized, C: Combine<H>> {
        nodes: &'a [Node<H>],
        policy: C,
        #[pin]
        state: State<'a, H, C::Yield, C::Wait>,
    }
}

pin_project! {
    /// What the next poll begins with.
    #[project = Resumed]
    enum State<'a, H: ?Sized, T, W> {
        Start,
        // The policy has work of its own, or else a hook has not answered yet.
        Waiting { run: Run<'a, H, T>, #[pin] wait: Option<W> },
        Over,
    }
}

/// The part of a dispatch that has begun: in locals until it has to wait.
struct Run<'a, H: ?Sized, T> {
    nodes: &'a [Node<H>],
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
        // Looked at through the projection: a plain reference would cover a future that may
        // point into itself.
        if !matches!(this.state.as_mut().project(), Resumed::Start) {
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
        let this = self.as_mut().project();
        let span = DispatchSpan::new(this.policy.slot_name(), this.nodes.len());
        let mut run = Run::new(this.nodes, span);
        let step = run
            .span
            .within(|| this.policy.open(this.nodes.len(), &mut run.room));
        match run.drive(cx, this.policy, step) {
            Pause::Over => {
                let outcome = this.policy.finish(&mut run.room);
                // There is hardly ever anything left to drop: looking spares the calls.
                if run.is_spent() {
                    std::mem::forget(run);
                }
                Poll::Ready(outcome)
            }
            Pause::Hook => self.suspend(cx, run, None),
            Pause::Policy(wait) => self.suspend(cx, run, Some(wait)),
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
        self.suspend(cx, run, Some(wait))
    }

    /// Every further poll: goes on with what was waited for, as soon as it is there.
    #[inline(never)]
    fn resume(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Outcome> {
        let mut this = self.as_mut().project();
        let Resumed::Waiting { run, mut wait } = this.state.as_mut().project() else {
            panic!("a dispatch was polled again after its end");
        };
        // What is waited for next takes the place of what was waited for: nothing moves.
        loop {
            let step = match wait.as_mut().as_pin_mut() {
                Some(wait) => {
                    let answer = ready!(run.span.within(|| wait.poll(cx)));
                    this.policy.waited(answer, &mut run.room)
                }
                None => {
                    ready!(run.room.poll_later(cx));
                    run.absorb(this.policy)
                }
            };
            wait.set(None);
            match run.drive(cx, this.policy, step) {
                Pause::Over => break,
                Pause::Hook => return Poll::Pending,
                Pause::Policy(next) => wait.set(Some(next)),
            }
        }
        let outcome = this.policy.finish(&mut run.room);
        this.state.set(State::Over);
        Poll::Ready(outcome)
    }

    /// Puts the dispatch away until what it waits for is there.
    #[inline(never)]
    fn suspend(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        run: Run<'a, H, C::Yield>,
        wait: Option<C::Wait>,
    ) -> Poll<C::Outcome> {
        let policy_waits = wait.is_some();
        let mut state = self.as_mut().project().state;
        state.set(State::Waiting { run, wait });
        if policy_waits {
            // Where it lies is where it is polled for the first time.
            return self.resume(cx);
        }
        Poll::Pending
    }
}

impl<'a, H: ?Sized, T: 'a> Run<'a, H, T> {
    #[inline]
    fn new(nodes: &'a [Node<H>], span: DispatchSpan) -> Self {
        Run {
            nodes,
            rest: nodes,
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

    /// Goes on until the end, or until something has to be waited for.
    #[inline(always)]
    fn drive<C>(
        &mut self,
        cx: &mut Context<'_>,
        policy: &mut C,
        mut step: Step<C::Wait>,
    ) -> Pause<C::Wait>
    where
        C: Combine<H, Yield = T> + 'a,
    {
        loop {
            let pause = match step {
                Step::Next => self.advance(policy),
                Step::Stop => Pause::Over,
                Step::Wait(wait) => Pause::Policy(wait),
            };
            match pause {
                Pause::Hook if self.room.poll_later(cx).is_ready() => step = self.absorb(policy),
                pause => return pause,
            }
        }
    }

    /// The loop: hook after hook, as long as they answer at once.
    #[inline(always)]
    fn advance<C>(&mut self, policy: &mut C) -> Pause<C::Wait>
    where
        C: Combine<H, Yield = T> + 'a,
    {
        let mut rest = self.rest;
        while let Some((node, behind)) = rest.split_first() {
            rest = behind;
            if self.invoke(policy, node, rest.is_empty()).is_pending() {
                self.rest = rest;
                return Pause::Hook;
            }
            match policy.absorb(&node.meta, &mut self.room) {
                Step::Next => {}
                Step::Stop => return Pause::Over,
                Step::Wait(wait) => {
                    self.rest = rest;
                    return Pause::Policy(wait);
                }
            }
        }
        self.rest = rest;
        if self.closed {
            return Pause::Over;
        }
        self.closed = true;
        match policy.close(&mut self.room) {
            Step::Next | Step::Stop => Pause::Over,
            Step::Wait(wait) => Pause::Policy(wait),
        }
    }

    /// Hands the answer of the hook that was waited for to the policy.
    #[inline]
    fn absorb<C: Combine<H, Yield = T>>(&mut self, policy: &mut C) -> Step<C::Wait> {
        let node = &self.nodes[self.nodes.len() - self.rest.len() - 1];
        policy.absorb(&node.meta, &mut self.room)
    }

    #[inline(always)]
    fn invoke<C>(&mut self, policy: &mut C, node: &'a Node<H>, last: bool) -> Poll<()>
    where
        C: Combine<H, Yield = T> + 'a,
    {
        if self.span.is_none() {
            policy.invoke(&node.hook, last, &mut self.room)
        } else {
            self.invoke_traced(policy, node, last)
        }
    }

    /// The same inside a span of the hook's own.
    #[cold]
    #[inline(never)]
    fn invoke_traced<C>(&mut self, policy: &mut C, node: &'a Node<H>, last: bool) -> Poll<()>
    where
        C: Combine<H, Yield = T> + 'a,
    {
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
            State::Waiting { run, .. } => run.rest.len(),
            State::Over => 0,
        };
        f.debug_struct("Dispatch")
            .field("hooks", &self.nodes.len())
            .field("rest", &rest)
            .finish_non_exhaustive()
    }
}
