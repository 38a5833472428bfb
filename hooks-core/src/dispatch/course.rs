//! The loop over hooks, and what can go wrong within it.

use std::future::Future;
use std::ops::ControlFlow::{self, Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tracing::Span;

use super::policy::{Combine, Step};
use crate::answer::Answer;
use crate::bounds::BoxFuture;
use crate::entry::EntryMeta;
use crate::fault::{Fault, discard};
use crate::parked::Parked;
use crate::slot::Node;
use crate::timer::Timer;
use crate::trace;

/// How far a dispatch has come.
pub(super) struct Course<'a, H: ?Sized, T> {
    /// The hooks that have not been started.
    pub(super) rest: &'a [Node<H>],
    /// Those that run side by side, where the policy lets them.
    running: Parked<Running<'a, T>>,
    /// Whether the policy has been told that there are no more.
    closed: bool,
}

/// Hooks that run side by side. That one panics when it is dropped, unfinished, is no news, and
/// must not keep the others from it.
struct Running<'a, T>(Vec<Unanswered<'a, T>>);

impl<T> Default for Running<'_, T> {
    fn default() -> Self {
        Running(Vec::new())
    }
}

impl<T> Drop for Running<'_, T> {
    fn drop(&mut self) {
        self.0.drain(..).for_each(discard);
    }
}

/// A hook that has been started.
pub(super) struct Unanswered<'a, T> {
    entry: &'a EntryMeta,
    answer: BoxFuture<'a, T>,
    limit: Option<Limit>,
}

/// The time that a hook has.
struct Limit {
    time: Duration,
    up: BoxFuture<'static, ()>,
}

/// What has to be waited for.
pub(super) enum Pause<'a, H: ?Sized, C: Combine<H>> {
    Hook(Unanswered<'a, C::Yield>),
    /// Those in [`Course::running`].
    Hooks,
    /// What this function makes.
    Policy(fn(&mut C) -> C::Wait),
    /// What such a function has made, where the dispatch keeps it.
    Asked,
}

/// How far the hooks that answer at once have come.
enum Turn<'a, H: ?Sized, C: Combine<H>> {
    /// There are no more.
    Through,
    /// The policy wants something else.
    Broken(Option<Pause<'a, H, C>>),
    /// This one has its answer later.
    Later(&'a Node<H>, BoxFuture<'a, C::Yield>),
}

impl<'a, H: ?Sized, T> Course<'a, H, T> {
    #[inline]
    pub(super) fn new(nodes: &'a [Node<H>]) -> Self {
        Course {
            rest: nodes,
            running: Parked::none(),
            closed: false,
        }
    }

    /// Does what the policy wants next, and goes on until the end, or until something has to
    /// be waited for, which it returns. This is the loop: hook after hook, as long as they
    /// answer at once.
    #[inline(always)]
    pub(super) fn drive<C>(
        &mut self,
        cx: &mut Context<'_>,
        policy: &mut C,
        mut wait: Pin<&mut Option<C::Wait>>,
        step: Step<C, C::Wait>,
        span: Option<&Span>,
    ) -> Option<Pause<'a, H, C>>
    where
        C: Combine<H, Yield = T> + 'a,
    {
        if let Break(pause) = ask(cx, policy, wait.as_mut(), go_on(step), span) {
            return pause;
        }
        if C::GUARDED || C::CONCURRENT {
            if let Break(pause) = self.run_guarded(cx, policy, wait.as_mut(), span) {
                return pause;
            }
        } else if let Some((mut node, mut rest)) = self.rest.split_first() {
            // The way from a node to its hook is a chain of loads: it is gone while the hook
            // before it runs.
            let mut hook = &*node.hook;
            while let Some((following, behind)) = rest.split_first() {
                let next = &*following.hook;
                self.rest = rest;
                let flow = self.call(cx, policy, node, hook, false, span);
                if let Break(pause) = ask(cx, policy, wait.as_mut(), flow, span) {
                    return pause;
                }
                (node, hook, rest) = (following, next, behind);
            }
            self.rest = rest;
            let flow = self.call(cx, policy, node, hook, true, span);
            if let Break(pause) = ask(cx, policy, wait.as_mut(), flow, span) {
                return pause;
            }
        }
        if C::CONCURRENT
            && self
                .running
                .as_ref()
                .is_some_and(|running| !running.0.is_empty())
        {
            return Some(Pause::Hooks);
        }
        if self.closed {
            return None;
        }
        self.closed = true;
        // As `DispatchSpan::within`, whose closure would keep the policy out of registers.
        let step = match span {
            None => policy.close(),
            Some(span) => span.in_scope(|| policy.close()),
        };
        match ask(cx, policy, wait, go_on(step), span) {
            Continue(()) => None,
            Break(pause) => pause,
        }
    }

    /// Runs one hook, and says whether to go on; if not, what has to be waited for, unless the
    /// dispatch is over.
    #[inline(always)]
    fn call<C>(
        &mut self,
        cx: &mut Context<'_>,
        policy: &mut C,
        node: &'a Node<H>,
        hook: &'a H,
        last: bool,
        span: Option<&Span>,
    ) -> ControlFlow<Option<Pause<'a, H, C>>>
    where
        C: Combine<H, Yield = T> + 'a,
    {
        let answer = match invoke(policy, node, hook, last, span) {
            Answer::Ready(answer) => answer,
            Answer::Later(mut answer) => match answer.as_mut().poll(cx) {
                Poll::Ready(answer) => answer,
                Poll::Pending => {
                    return Break(Some(Pause::Hook(Unanswered {
                        entry: &node.meta,
                        answer,
                        limit: None,
                    })));
                }
            },
        };
        go_on(policy.absorb(&node.meta, answer))
    }

    /// Runs the hooks of policies that have faults caught, or hooks run side by side.
    ///
    /// What may be caught has to lie in memory, and to be ready for it costs as much as the way
    /// to a hook: one region is for all hooks that answer at once. Whoever is being asked when a
    /// panic comes out of it is who panicked.
    #[inline(always)]
    fn run_guarded<C>(
        &mut self,
        cx: &mut Context<'_>,
        policy: &mut C,
        mut wait: Pin<&mut Option<C::Wait>>,
        span: Option<&Span>,
    ) -> ControlFlow<Option<Pause<'a, H, C>>>
    where
        C: Combine<H, Yield = T> + 'a,
    {
        while !self.rest.is_empty() {
            let mut asked = None;
            let turn = catch_raw::<H, C, _>(|| self.ask_in_turn(policy, span, &mut asked));
            let flow = match turn {
                Ok(Turn::Through) => return Continue(()),
                Ok(Turn::Broken(pause)) => Break(pause),
                Ok(Turn::Later(node, answer)) => self.take_later(cx, policy, node, answer),
                Err(payload) => match asked {
                    Some(node) => go_on(policy.fault(&node.meta, Fault::panic(payload))),
                    // The policy's own methods do not panic; if one does, it is no hook's fault.
                    None => resume_unwind(payload),
                },
            };
            ask(cx, policy, wait.as_mut(), flow, span)?;
        }
        Continue(())
    }

    /// Hook after hook, as long as they answer at once; `asked` is the one that has not
    /// answered yet.
    #[inline(always)]
    fn ask_in_turn<C>(
        &mut self,
        policy: &mut C,
        span: Option<&Span>,
        asked: &mut Option<&'a Node<H>>,
    ) -> Turn<'a, H, C>
    where
        C: Combine<H, Yield = T> + 'a,
    {
        while let Some((node, rest)) = self.rest.split_first() {
            self.rest = rest;
            *asked = Some(node);
            let answer = match invoke(policy, node, &*node.hook, rest.is_empty(), span) {
                Answer::Ready(answer) => answer,
                Answer::Later(answer) => return Turn::Later(node, answer),
            };
            *asked = None;
            if let Break(pause) = go_on(absorb(policy, &node.meta, answer)) {
                return Turn::Broken(pause);
            }
        }
        Turn::Through
    }

    /// Takes the answer of a hook that has it later, if it has it when first asked.
    #[inline]
    fn take_later<C>(
        &mut self,
        cx: &mut Context<'_>,
        policy: &mut C,
        node: &'a Node<H>,
        mut later: BoxFuture<'a, T>,
    ) -> ControlFlow<Option<Pause<'a, H, C>>>
    where
        C: Combine<H, Yield = T> + 'a,
    {
        match catch::<H, C, _>(|| later.as_mut().poll(cx)) {
            Ok(Poll::Pending) => self.wait_for(cx, policy, node, later),
            // What the hook holds goes before its answer counts, as where it is waited for.
            Ok(Poll::Ready(answer)) => {
                drop_quietly::<H, C, _>(later);
                go_on(absorb(policy, &node.meta, answer))
            }
            Err(fault) => {
                drop_quietly::<H, C, _>(later);
                go_on(policy.fault(&node.meta, fault))
            }
        }
    }

    /// Has a hook waited for, for as long as it may take.
    #[cold]
    #[inline(never)]
    fn wait_for<C>(
        &mut self,
        cx: &mut Context<'_>,
        policy: &mut C,
        node: &'a Node<H>,
        answer: BoxFuture<'a, T>,
    ) -> ControlFlow<Option<Pause<'a, H, C>>>
    where
        C: Combine<H, Yield = T>,
    {
        let entry = &*node.meta;
        let mut hook = Unanswered {
            entry,
            answer,
            limit: None,
        };
        if C::GUARDED {
            // A timer is the host's, and may panic, too: a hook whose time cannot be
            // measured has none.
            let limit = catch::<H, C, _>(|| {
                let (timer, time) = (entry.timer()?, policy.timeout(entry)?);
                Some(Limit::new(timer, time))
            });
            match limit {
                Ok(limit) => hook.limit = limit,
                Err(fault) => return go_on(policy.fault(hook.end::<H, C>(), fault)),
            }
        }
        if let Some(fault) = hook.poll_limit::<H, C>(cx) {
            return go_on(policy.fault(hook.end::<H, C>(), fault));
        }
        if C::CONCURRENT {
            self.running.get_or_default().0.push(hook);
            Continue(())
        } else {
            Break(Some(Pause::Hook(hook)))
        }
    }

    /// Asks those that run side by side, and absorbs what has been answered.
    pub(super) fn poll_running<C>(
        &mut self,
        cx: &mut Context<'_>,
        policy: &mut C,
    ) -> Poll<Step<C, C::Wait>>
    where
        C: Combine<H, Yield = T>,
    {
        let running = &mut self.running.get_or_default().0;
        let mut at = 0;
        while let Some(hook) = running.get_mut(at) {
            let Poll::Ready(answer) = hook.poll::<H, C>(cx) else {
                at += 1;
                continue;
            };
            let entry = running.remove(at).end::<H, C>();
            match take(policy, entry, answer) {
                Step::Next => {}
                step => return Poll::Ready(step),
            }
        }
        if running.is_empty() {
            return Poll::Ready(Step::Next);
        }
        // What a runtime lets a task do at a time is used up by another one next time.
        running.rotate_left(1);
        Poll::Pending
    }
}

impl<'a, T> Unanswered<'a, T> {
    /// Drops what the hook holds, and says whose it was.
    pub(super) fn end<H: ?Sized, C: Combine<H, Yield = T>>(self) -> &'a EntryMeta {
        drop_quietly::<H, C, _>(self.answer);
        self.entry
    }

    /// Asks the hook; the fault if its time is up.
    pub(super) fn poll<H: ?Sized, C: Combine<H, Yield = T>>(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, Fault>> {
        match catch::<H, C, _>(|| self.answer.as_mut().poll(cx)) {
            Ok(Poll::Ready(answer)) => return Poll::Ready(Ok(answer)),
            Err(fault) => return Poll::Ready(Err(fault)),
            Ok(Poll::Pending) => {}
        }
        match self.poll_limit::<H, C>(cx) {
            Some(fault) => Poll::Ready(Err(fault)),
            None => Poll::Pending,
        }
    }

    /// The fault, if the hook's time is up.
    fn poll_limit<H: ?Sized, C: Combine<H, Yield = T>>(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Option<Fault> {
        let limit = self.limit.as_mut()?;
        // A host's timer may round up what is nothing.
        if limit.time.is_zero() {
            return Some(Fault::Timeout(limit.time));
        }
        match catch::<H, C, _>(|| limit.up.as_mut().poll(cx)) {
            Ok(Poll::Pending) => None,
            Ok(Poll::Ready(())) => Some(Fault::Timeout(limit.time)),
            Err(fault) => Some(fault),
        }
    }
}

impl Limit {
    fn new(timer: &dyn Timer, time: Duration) -> Self {
        let up = timer.sleep(time);
        Limit { time, up }
    }
}

/// Runs what belongs to a hook; the panic, if it panics and faults are caught.
#[inline(always)]
fn catch_raw<H, C, R>(work: impl FnOnce() -> R) -> std::thread::Result<R>
where
    H: ?Sized,
    C: Combine<H>,
{
    if !C::GUARDED {
        return Ok(work());
    }
    // What a policy and a hook hold may be half done: the policy's own methods do not panic,
    // and the hook's state is the hook's affair.
    catch_unwind(AssertUnwindSafe(work))
}

/// The same, with the panic as a fault.
#[inline(always)]
fn catch<H, C, R>(work: impl FnOnce() -> R) -> Result<R, Fault>
where
    H: ?Sized,
    C: Combine<H>,
{
    catch_raw::<H, C, R>(work).map_err(Fault::panic)
}

/// Drops what a hook holds; where faults are caught, a panic of a destructor adds none.
pub(super) fn drop_quietly<H, C, T>(held: T)
where
    H: ?Sized,
    C: Combine<H>,
{
    if C::GUARDED {
        discard(held);
    }
}

/// Hands the policy what a hook answered.
#[inline(always)]
fn absorb<H, C>(policy: &mut C, entry: &EntryMeta, answer: C::Yield) -> Step<C, C::Wait>
where
    H: ?Sized,
    C: Combine<H>,
{
    if !C::GUARDED {
        return policy.absorb(entry, answer);
    }
    match policy.check(answer) {
        Ok(answer) => policy.absorb(entry, answer),
        Err(fault) => policy.fault(entry, fault),
    }
}

/// Hands the policy what came of a hook that was waited for.
pub(super) fn take<H, C>(
    policy: &mut C,
    entry: &EntryMeta,
    answer: Result<C::Yield, Fault>,
) -> Step<C, C::Wait>
where
    H: ?Sized,
    C: Combine<H>,
{
    match answer {
        Ok(answer) => absorb(policy, entry, answer),
        Err(fault) => policy.fault(entry, fault),
    }
}

/// Whether there is a next hook.
#[inline(always)]
fn go_on<'a, H, C>(step: Step<C, C::Wait>) -> ControlFlow<Option<Pause<'a, H, C>>>
where
    H: ?Sized,
    C: Combine<H>,
{
    match step {
        Step::Next => Continue(()),
        Step::Stop => Break(None),
        Step::Wait(make) => Break(Some(Pause::Policy(make))),
    }
}

/// Asks a brief policy for what it waits for, on the spot.
#[inline(always)]
fn ask<'a, H, C>(
    cx: &mut Context<'_>,
    policy: &mut C,
    mut wait: Pin<&mut Option<C::Wait>>,
    mut flow: ControlFlow<Option<Pause<'a, H, C>>>,
    span: Option<&Span>,
) -> ControlFlow<Option<Pause<'a, H, C>>>
where
    H: ?Sized,
    C: Combine<H>,
{
    if !C::BRIEF {
        return flow;
    }
    while let Break(Some(Pause::Policy(make))) = flow {
        wait.set(Some(make(policy)));
        let asked = wait
            .as_mut()
            .as_pin_mut()
            .expect("it has just been put there");
        let answer = match span {
            None => asked.poll(cx),
            Some(span) => span.in_scope(|| asked.poll(cx)),
        };
        let Poll::Ready(answer) = answer else {
            return Break(Some(Pause::Asked));
        };
        // What has ended stays there: it holds nothing more, and to drop it is a call.
        flow = go_on(policy.waited(answer));
    }
    flow
}

/// Starts a hook, inside a span of its own if the dispatch has one.
#[inline(always)]
fn invoke<'a, H, C>(
    policy: &mut C,
    node: &'a Node<H>,
    hook: &'a H,
    last: bool,
    dispatch: Option<&Span>,
) -> Answer<'a, C::Yield>
where
    H: ?Sized,
    C: Combine<H> + 'a,
{
    let Some(dispatch) = dispatch else {
        return policy.invoke(&node.meta, hook, last);
    };
    let span = trace::hook(dispatch, &node.meta);
    let answer = span.in_scope(|| policy.invoke(&node.meta, hook, last));
    answer.instrument(span)
}
