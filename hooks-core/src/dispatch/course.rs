//! The loop over hooks, and what can go wrong within it.

use std::collections::VecDeque;
use std::future::Future;
use std::ops::ControlFlow::{self, Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tracing::Span;

use super::policy::{Policy, Step};
use crate::bounds::BoxFuture;
use crate::cold_option::ColdOption;
use crate::entry::EntryMeta;
use crate::failure::{Failure, drop_catching_panic};
use crate::hook_future::HookFuture;
use crate::slot::{Cursor, Node};
use crate::stack;
use crate::timer::Timer;
use crate::trace;

/// How far a dispatch has come.
pub(super) struct Course<'a, H: ?Sized, T> {
    /// The hooks that have not been started.
    pub(super) rest: Cursor<'a, H>,
    /// Those that run side by side, where the policy lets them.
    running: ColdOption<Running<'a, T>>,
    /// Whether the policy has been told that there are no more.
    closed: bool,
}

/// Hooks that run side by side. That one panics when it is dropped, unfinished, is no news, and
/// must not keep the others from it.
struct Running<'a, T>(VecDeque<Unanswered<'a, T>>);

impl<T> Default for Running<'_, T> {
    fn default() -> Self {
        Running(VecDeque::new())
    }
}

impl<T> Drop for Running<'_, T> {
    fn drop(&mut self) {
        self.0.drain(..).for_each(drop_catching_panic);
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
pub(super) enum Pause<'a, H: ?Sized, C: Policy<H>> {
    Hook(Unanswered<'a, C::HookOutput>),
    /// Those in [`Course::running`].
    Hooks,
    /// What this function makes.
    Policy(fn(&mut C) -> C::Future),
    /// What such a function has made, where the dispatch keeps it.
    Asked,
}

/// How far the hooks that answer at once have come.
enum Turn<'a, H: ?Sized, C: Policy<H>> {
    /// There are no more.
    Through,
    /// The policy wants something else.
    Broken(Option<Pause<'a, H, C>>),
    /// This one has its answer later.
    Later(&'a Node<H>, BoxFuture<'a, C::HookOutput>),
}

impl<'a, H: ?Sized, T> Course<'a, H, T> {
    #[inline]
    pub(super) fn new(nodes: Cursor<'a, H>) -> Self {
        Course {
            rest: nodes,
            running: ColdOption::none(),
            closed: false,
        }
    }

    /// Does what the policy wants next, and goes on until the end, or until something has to
    /// be waited for, which it returns. This is the loop: hook after hook, as long as they
    /// answer at once.
    ///
    /// `LEAVES`: whether the slot may have several leaves. The first poll of a slot that has one
    /// goes without the test, and its final hook is known where the code is compiled.
    #[inline(always)]
    pub(super) fn drive<C, const LEAVES: bool>(
        &mut self,
        cx: &mut Context<'_>,
        policy: &mut C,
        mut wait: Pin<&mut Option<C::Future>>,
        step: Step<C, C::Future>,
        span: Option<&Span>,
    ) -> Option<Pause<'a, H, C>>
    where
        C: Policy<H, HookOutput = T> + 'a,
    {
        if let Break(pause) = ask(cx, policy, wait.as_mut(), go_on(step), span) {
            return pause;
        }
        if C::CATCH_FAILURES || C::CONCURRENT {
            if let Break(pause) = self.run_guarded::<C, LEAVES>(cx, policy, wait.as_mut(), span) {
                return pause;
            }
        } else if LEAVES {
            while let Some(node) = self.rest.next() {
                let is_final = self.rest.leaf.is_empty();
                let flow = self.call(cx, policy, node, &node.hook, is_final, span);
                if let Break(pause) = ask(cx, policy, wait.as_mut(), flow, span) {
                    return pause;
                }
            }
        } else if let Some((mut node, mut rest)) = self.rest.leaf.split_first() {
            // The way from a node to its hook is a chain of loads: it is gone while the hook
            // before it runs.
            let mut hook = &*node.hook;
            while let Some((following, behind)) = rest.split_first() {
                let next = &*following.hook;
                self.rest.leaf = rest;
                let flow = self.call(cx, policy, node, hook, false, span);
                if let Break(pause) = ask(cx, policy, wait.as_mut(), flow, span) {
                    return pause;
                }
                (node, hook, rest) = (following, next, behind);
            }
            self.rest.leaf = rest;
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
            None => policy.after_hooks(),
            Some(span) => span.in_scope(|| policy.after_hooks()),
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
        C: Policy<H, HookOutput = T> + 'a,
    {
        let answer = match invoke(policy, node, hook, last, span) {
            HookFuture::Ready(answer) => answer,
            HookFuture::Boxed(mut answer) => match stack::poll(answer.as_mut(), cx) {
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
        go_on(policy.on_output(&node.meta, answer))
    }

    /// Runs the hooks of policies that have failures caught, or hooks run side by side.
    ///
    /// What may be caught has to lie in memory, and to be ready for it costs as much as the way
    /// to a hook: one region is for all hooks that answer at once. Whoever is being asked when a
    /// panic comes out of it is who panicked.
    #[inline(always)]
    fn run_guarded<C, const LEAVES: bool>(
        &mut self,
        cx: &mut Context<'_>,
        policy: &mut C,
        mut wait: Pin<&mut Option<C::Future>>,
        span: Option<&Span>,
    ) -> ControlFlow<Option<Pause<'a, H, C>>>
    where
        C: Policy<H, HookOutput = T> + 'a,
    {
        while !self.rest.leaf.is_empty() {
            let mut asked = None;
            let turn =
                catch_raw::<H, C, _>(|| self.ask_in_turn::<C, LEAVES>(policy, span, &mut asked));
            let flow = match turn {
                Ok(Turn::Through) => return Continue(()),
                Ok(Turn::Broken(pause)) => Break(pause),
                Ok(Turn::Later(node, answer)) => self.take_later(cx, policy, node, answer),
                Err(payload) => match asked {
                    Some(node) => go_on(policy.on_failure(&node.meta, Failure::panic(payload))),
                    // The policy's own methods do not panic; if one does, it is no hook's failure.
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
    fn ask_in_turn<C, const LEAVES: bool>(
        &mut self,
        policy: &mut C,
        span: Option<&Span>,
        asked: &mut Option<&'a Node<H>>,
    ) -> Turn<'a, H, C>
    where
        C: Policy<H, HookOutput = T> + 'a,
    {
        while let Some(node) = self.next_node::<LEAVES>() {
            let is_final = self.rest.leaf.is_empty();
            *asked = Some(node);
            let answer = match invoke(policy, node, &*node.hook, is_final, span) {
                HookFuture::Ready(answer) => answer,
                HookFuture::Boxed(answer) => return Turn::Later(node, answer),
            };
            *asked = None;
            if let Break(pause) = go_on(absorb(policy, &node.meta, answer)) {
                return Turn::Broken(pause);
            }
        }
        Turn::Through
    }

    #[inline(always)]
    fn next_node<const LEAVES: bool>(&mut self) -> Option<&'a Node<H>> {
        if LEAVES {
            return self.rest.next();
        }
        let (node, rest) = self.rest.leaf.split_first()?;
        self.rest.leaf = rest;
        Some(node)
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
        C: Policy<H, HookOutput = T> + 'a,
    {
        match catch::<H, C, _>(|| stack::poll(later.as_mut(), cx)) {
            Ok(Poll::Pending) => self.wait_for(cx, policy, node, later),
            // What the hook holds goes before its answer counts, as where it is waited for.
            Ok(Poll::Ready(answer)) => {
                drop_held::<H, C, _>(later);
                go_on(absorb(policy, &node.meta, answer))
            }
            Err(failure) => {
                drop_held::<H, C, _>(later);
                go_on(policy.on_failure(&node.meta, failure))
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
        C: Policy<H, HookOutput = T>,
    {
        let entry = &*node.meta;
        let mut hook = Unanswered {
            entry,
            answer,
            limit: None,
        };
        if C::CATCH_FAILURES {
            // A timer is the host's, and may panic, too: a hook whose time cannot be
            // measured has none.
            let limit = catch::<H, C, _>(|| {
                let (timer, time) = (entry.timer()?, policy.timeout(entry)?);
                Some(Limit::new(timer, time))
            });
            match limit {
                Ok(limit) => hook.limit = limit,
                Err(failure) => return go_on(policy.on_failure(hook.end::<H, C>(), failure)),
            }
        }
        if let Some(failure) = hook.poll_limit::<H, C>(cx) {
            return go_on(policy.on_failure(hook.end::<H, C>(), failure));
        }
        if C::CONCURRENT {
            self.running.get_or_default().0.push_back(hook);
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
    ) -> Poll<Step<C, C::Future>>
    where
        C: Policy<H, HookOutput = T>,
    {
        let running = &mut self.running.get_or_default().0;
        for _ in 0..running.len() {
            let Poll::Ready(answer) = running[0].poll::<H, C>(cx) else {
                running.rotate_left(1);
                continue;
            };
            let hook = running.pop_front().expect("it has just been polled");
            match take(policy, hook.end::<H, C>(), answer) {
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
    pub(super) fn end<H: ?Sized, C: Policy<H, HookOutput = T>>(self) -> &'a EntryMeta {
        drop_held::<H, C, _>(self.answer);
        self.entry
    }

    /// Asks the hook; the failure if its time is up.
    pub(super) fn poll<H: ?Sized, C: Policy<H, HookOutput = T>>(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, Failure>> {
        match catch::<H, C, _>(|| stack::poll(self.answer.as_mut(), cx)) {
            Ok(Poll::Ready(answer)) => return Poll::Ready(Ok(answer)),
            Err(failure) => return Poll::Ready(Err(failure)),
            Ok(Poll::Pending) => {}
        }
        match self.poll_limit::<H, C>(cx) {
            Some(failure) => Poll::Ready(Err(failure)),
            None => Poll::Pending,
        }
    }

    /// The failure, if the hook's time is up.
    fn poll_limit<H: ?Sized, C: Policy<H, HookOutput = T>>(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Option<Failure> {
        let limit = self.limit.as_mut()?;
        // A host's timer may round up what is nothing.
        if limit.time.is_zero() {
            return Some(Failure::Timeout(limit.time));
        }
        match catch::<H, C, _>(|| limit.up.as_mut().poll(cx)) {
            Ok(Poll::Pending) => None,
            Ok(Poll::Ready(())) => Some(Failure::Timeout(limit.time)),
            Err(failure) => Some(failure),
        }
    }
}

impl Limit {
    fn new(timer: &dyn Timer, time: Duration) -> Self {
        let up = timer.sleep(time);
        Limit { time, up }
    }
}

/// Runs what belongs to a hook; the panic, if it panics and failures are caught.
#[inline(always)]
fn catch_raw<H, C, R>(work: impl FnOnce() -> R) -> std::thread::Result<R>
where
    H: ?Sized,
    C: Policy<H>,
{
    if !C::CATCH_FAILURES {
        return Ok(work());
    }
    // What a policy and a hook hold may be half done: the policy's own methods do not panic,
    // and the hook's state is the hook's affair.
    catch_unwind(AssertUnwindSafe(work))
}

/// The same, with the panic as a failure.
#[inline(always)]
fn catch<H, C, R>(work: impl FnOnce() -> R) -> Result<R, Failure>
where
    H: ?Sized,
    C: Policy<H>,
{
    catch_raw::<H, C, R>(work).map_err(Failure::panic)
}

/// Drops what a hook holds; where failures are caught, a panic of a destructor adds none.
pub(super) fn drop_held<H, C, T>(held: T)
where
    H: ?Sized,
    C: Policy<H>,
{
    if C::CATCH_FAILURES {
        drop_catching_panic(held);
    }
}

/// Hands the policy what a hook answered.
#[inline(always)]
fn absorb<H, C>(policy: &mut C, entry: &EntryMeta, answer: C::HookOutput) -> Step<C, C::Future>
where
    H: ?Sized,
    C: Policy<H>,
{
    if !C::CATCH_FAILURES {
        return policy.on_output(entry, answer);
    }
    match policy.validate_output(answer) {
        Ok(answer) => policy.on_output(entry, answer),
        Err(failure) => policy.on_failure(entry, failure),
    }
}

/// Hands the policy what came of a hook that was waited for.
pub(super) fn take<H, C>(
    policy: &mut C,
    entry: &EntryMeta,
    answer: Result<C::HookOutput, Failure>,
) -> Step<C, C::Future>
where
    H: ?Sized,
    C: Policy<H>,
{
    match answer {
        Ok(answer) => absorb(policy, entry, answer),
        Err(failure) => policy.on_failure(entry, failure),
    }
}

/// Whether there is a next hook.
#[inline(always)]
fn go_on<'a, H, C>(step: Step<C, C::Future>) -> ControlFlow<Option<Pause<'a, H, C>>>
where
    H: ?Sized,
    C: Policy<H>,
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
    mut wait: Pin<&mut Option<C::Future>>,
    mut flow: ControlFlow<Option<Pause<'a, H, C>>>,
    span: Option<&Span>,
) -> ControlFlow<Option<Pause<'a, H, C>>>
where
    H: ?Sized,
    C: Policy<H>,
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
        flow = go_on(policy.on_future_ready(answer));
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
) -> HookFuture<'a, C::HookOutput>
where
    H: ?Sized,
    C: Policy<H> + 'a,
{
    let Some(dispatch) = dispatch else {
        return policy.invoke(&node.meta, hook, last);
    };
    let span = trace::hook(dispatch, &node.meta);
    let answer = span.in_scope(|| policy.invoke(&node.meta, hook, last));
    answer.instrument(span)
}
