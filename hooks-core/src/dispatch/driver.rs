//! The loop over hooks: starts them, polls them, and catches their failures.

use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::ops::ControlFlow::{self, Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
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

/// The part of a dispatch that outlives one poll.
pub(super) struct Progress<'a, H: ?Sized, T> {
    /// The hooks that have not been started.
    pub(super) remaining: Cursor<'a, H>,
    /// The pending hooks of a policy that runs hooks concurrently.
    running: ColdOption<RunningHooks<'a, T>>,
    /// `true` once [`Policy::after_hooks`] was called.
    called_after_hooks: bool,
}

impl<'a, H: ?Sized, T> Progress<'a, H, T> {
    #[inline]
    pub(super) fn new(remaining: Cursor<'a, H>) -> Self {
        Progress {
            remaining,
            running: ColdOption::none(),
            called_after_hooks: false,
        }
    }
}

/// Hooks that run concurrently.
struct RunningHooks<'a, T>(VecDeque<PendingHook<'a, T>>);

impl<T> Default for RunningHooks<'_, T> {
    fn default() -> Self {
        RunningHooks(VecDeque::new())
    }
}

impl<T> Drop for RunningHooks<'_, T> {
    /// Dropping a pending hook may panic. Swallows the panic so that the remaining hooks are
    /// still dropped.
    fn drop(&mut self) {
        self.0.drain(..).for_each(drop_catching_panic);
    }
}

/// Pending futures of a suspended dispatch.
pub(super) enum Waiting<'a, H: ?Sized, C: Policy<H>> {
    /// One hook.
    Hook(PendingHook<'a, C::HookOutput>),
    /// The hooks in [`Progress::running`].
    Hooks,
    /// The policy's future, which this function creates.
    NewFuture(fn(&mut C) -> C::Future),
    /// The policy's future, which the dispatch stores.
    Future,
}

/// `Continue` starts the next hook. `Break` leaves the loop: with the reason to suspend, or with
/// `None` if the dispatch is complete.
type Flow<'a, H, C> = ControlFlow<Option<Waiting<'a, H, C>>>;

/// Runs a dispatch for the duration of one poll.
///
/// The methods of the loop are `#[inline(always)]`, so that policy and progress stay in registers:
/// `always/1` −19 %, `always/4` −12 %, `own_chain/4` −30 %, `event_continue/4` −6 % instructions.
///
/// `LEAVES` is `false` in the first poll of a slot with one leaf of entries: the loop is over a
/// slice there, and its last hook is known without a test.
pub(super) struct Driver<'d, 'a, H: ?Sized, C: Policy<H>, const LEAVES: bool> {
    pub(super) policy: &'d mut C,
    /// Where the dispatch stores the policy's future.
    pub(super) future: Pin<&'d mut Option<C::Future>>,
    pub(super) progress: &'d mut Progress<'a, H, C::HookOutput>,
    /// The span of the dispatch, if a subscriber records spans.
    pub(super) span: Option<&'d Span>,
}

impl<'a, H: ?Sized, C: Policy<H> + 'a, const LEAVES: bool> Driver<'_, 'a, H, C, LEAVES> {
    /// Returns a driver of the same dispatch, to be passed to a function that is not inlined: the
    /// references of this one stay in registers then. `event_continue/1` −3 % instructions.
    #[inline(always)]
    fn reborrow(&mut self) -> Driver<'_, 'a, H, C, LEAVES> {
        Driver {
            policy: &mut *self.policy,
            future: self.future.as_mut(),
            progress: &mut *self.progress,
            span: self.span,
        }
    }

    /// Performs a step and runs the remaining hooks. Returns what the dispatch has to wait for,
    /// or `None` if it is complete.
    #[inline(always)]
    pub(super) fn run(
        &mut self,
        cx: &mut Context<'_>,
        step: Step<C, C::Future>,
    ) -> Option<Waiting<'a, H, C>> {
        match self.run_hooks(cx, step) {
            Continue(()) => None,
            Break(waiting) => waiting,
        }
    }

    #[inline(always)]
    fn run_hooks(&mut self, cx: &mut Context<'_>, step: Step<C, C::Future>) -> Flow<'a, H, C> {
        self.poll_policy(cx, into_control_flow(step))?;
        if C::CATCH_FAILURES || C::CONCURRENT {
            self.run_catching(cx)?;
        } else {
            self.run_propagating(cx)?;
        }
        if C::CONCURRENT
            && self
                .progress
                .running
                .as_ref()
                .is_some_and(|running| !running.0.is_empty())
        {
            return Break(Some(Waiting::Hooks));
        }
        if mem::replace(&mut self.progress.called_after_hooks, true) {
            return Continue(());
        }
        let step = match self.span {
            None => self.policy.after_hooks(),
            Some(span) => span.in_scope(|| self.policy.after_hooks()),
        };
        self.poll_policy(cx, into_control_flow(step))
    }

    /// Runs the hooks of a policy whose failures propagate to the caller.
    #[inline(always)]
    fn run_propagating(&mut self, cx: &mut Context<'_>) -> Flow<'a, H, C> {
        if LEAVES {
            while let Some(node) = self.progress.remaining.next() {
                let is_final = self.progress.remaining.leaf.is_empty();
                let flow = self.run_hook(cx, node, &node.hook, is_final);
                self.poll_policy(cx, flow)?;
            }
            return Continue(());
        }
        let Some((mut node, mut rest)) = self.progress.remaining.leaf.split_first() else {
            return Continue(());
        };
        // The next hook's address is a chain of loads: it is ready when the current hook ends.
        let mut hook = &*node.hook;
        while let Some((next_node, next_rest)) = rest.split_first() {
            let next_hook = &*next_node.hook;
            self.progress.remaining.leaf = rest;
            let flow = self.run_hook(cx, node, hook, false);
            self.poll_policy(cx, flow)?;
            (node, hook, rest) = (next_node, next_hook, next_rest);
        }
        self.progress.remaining.leaf = rest;
        let flow = self.run_hook(cx, node, hook, true);
        self.poll_policy(cx, flow)
    }

    #[inline(always)]
    fn run_hook(
        &mut self,
        cx: &mut Context<'_>,
        node: &'a Node<H>,
        hook: &'a H,
        is_final: bool,
    ) -> Flow<'a, H, C> {
        let output = match self.start_hook(node, hook, is_final) {
            HookFuture::Ready(output) => output,
            HookFuture::Boxed(mut future) => match stack::poll(future.as_mut(), cx) {
                Poll::Ready(output) => output,
                Poll::Pending => {
                    return Break(Some(Waiting::Hook(PendingHook::new(node, future))));
                }
            },
        };
        into_control_flow(self.deliver(&node.meta, output))
    }

    /// Runs the hooks of a policy that catches failures or runs hooks concurrently.
    ///
    /// One `catch_unwind` covers all hooks that complete at once, because entering it costs as
    /// much as starting a hook. `current` records which hook was running if it panics.
    #[inline(always)]
    fn run_catching(&mut self, cx: &mut Context<'_>) -> Flow<'a, H, C> {
        while !self.progress.remaining.leaf.is_empty() {
            let mut current = None;
            let result = catch(C::CATCH_FAILURES, || {
                self.reborrow().run_ready_hooks(&mut current)
            });
            let flow = match result {
                Ok(Continue(())) => return Continue(()),
                Ok(Break(Some(Waiting::Hook(hook)))) => self.reborrow().poll_new_hook(cx, hook),
                Ok(Break(waiting)) => Break(waiting),
                Err(payload) => match current {
                    Some(node) => into_control_flow(
                        self.policy.on_failure(&node.meta, Failure::panic(payload)),
                    ),
                    // The policy itself panicked, which is no failure of a hook.
                    None => resume_unwind(payload),
                },
            };
            self.poll_policy(cx, flow)?;
        }
        Continue(())
    }

    /// Runs hooks as long as they complete at once. Returns the first that is boxed without
    /// polling it; `current` is the hook that is being started.
    #[inline(always)]
    fn run_ready_hooks(&mut self, current: &mut Option<&'a Node<H>>) -> Flow<'a, H, C> {
        while let Some(node) = self.next_hook() {
            *current = Some(node);
            let is_final = self.progress.remaining.leaf.is_empty();
            let output = match self.start_hook(node, &node.hook, is_final) {
                HookFuture::Ready(output) => output,
                HookFuture::Boxed(future) => {
                    return Break(Some(Waiting::Hook(PendingHook::new(node, future))));
                }
            };
            *current = None;
            match self.deliver(&node.meta, output) {
                Step::Next => {}
                step => return into_control_flow(step),
            }
        }
        Continue(())
    }

    /// Returns the next hook to start.
    #[inline(always)]
    fn next_hook(&mut self) -> Option<&'a Node<H>> {
        let remaining = &mut self.progress.remaining;
        if LEAVES {
            return remaining.next();
        }
        let (node, rest) = remaining.leaf.split_first()?;
        remaining.leaf = rest;
        Some(node)
    }

    /// Polls a hook for the first time.
    #[inline]
    fn poll_new_hook(
        &mut self,
        cx: &mut Context<'_>,
        mut hook: PendingHook<'a, C::HookOutput>,
    ) -> Flow<'a, H, C> {
        match hook.poll_future(cx, C::CATCH_FAILURES) {
            Poll::Ready(output) => into_control_flow(self.finish_hook(hook, output)),
            Poll::Pending => self.suspend_hook(cx, hook),
        }
    }

    /// Starts the timeout of a pending hook and keeps the hook.
    // Called apart from the loop: `event_continue/1` −5 %, `event_continue/4` −3 % instructions.
    #[cold]
    #[inline(never)]
    fn suspend_hook(
        &mut self,
        cx: &mut Context<'_>,
        mut hook: PendingHook<'a, C::HookOutput>,
    ) -> Flow<'a, H, C> {
        if C::CATCH_FAILURES {
            // The host's timer may panic. A hook that cannot be timed has failed.
            let started = catch(true, || {
                let (timer, duration) = (hook.entry.timer()?, self.policy.timeout(hook.entry)?);
                Some(Timeout::new(timer, duration))
            });
            let failure = match started {
                Ok(timeout) => {
                    hook.timeout = timeout;
                    hook.poll_timeout(cx)
                }
                Err(payload) => Some(Failure::panic(payload)),
            };
            if let Some(failure) = failure {
                return into_control_flow(self.finish_hook(hook, Err(failure)));
            }
        }
        if C::CONCURRENT {
            self.progress.running.get_or_default().0.push_back(hook);
            Continue(())
        } else {
            Break(Some(Waiting::Hook(hook)))
        }
    }

    /// Polls what the dispatch waits for. Returns the next step, or `Err` if it is still pending.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        waiting: Waiting<'a, H, C>,
    ) -> Result<Step<C, C::Future>, Waiting<'a, H, C>> {
        match waiting {
            Waiting::Hook(mut hook) => match hook.poll(cx, C::CATCH_FAILURES) {
                Poll::Ready(output) => Ok(self.finish_hook(hook, output)),
                Poll::Pending => Err(Waiting::Hook(hook)),
            },
            Waiting::Hooks => match self.poll_running(cx) {
                Poll::Ready(step) => Ok(step),
                Poll::Pending => Err(Waiting::Hooks),
            },
            Waiting::NewFuture(create) => {
                self.future.set(Some(create(self.policy)));
                self.poll(cx, Waiting::Future)
            }
            Waiting::Future => match self.poll_future(cx) {
                Poll::Ready(output) => Ok(self.policy.on_future_ready(output)),
                Poll::Pending => Err(Waiting::Future),
            },
        }
    }

    /// Polls the hooks that run concurrently and delivers their outputs.
    fn poll_running(&mut self, cx: &mut Context<'_>) -> Poll<Step<C, C::Future>> {
        let running = self.progress.running.get_or_default().0.len();
        for _ in 0..running {
            let running = &mut self.progress.running.get_or_default().0;
            let Some(hook) = running.front_mut() else {
                break;
            };
            let Poll::Ready(output) = hook.poll(cx, C::CATCH_FAILURES) else {
                running.rotate_left(1);
                continue;
            };
            let Some(hook) = running.pop_front() else {
                break;
            };
            match self.finish_hook(hook, output) {
                Step::Next => {}
                step => return Poll::Ready(step),
            }
        }
        let running = &mut self.progress.running.get_or_default().0;
        if running.is_empty() {
            return Poll::Ready(Step::Next);
        }
        // A runtime's cooperative budget may end before the last hook: start with another hook
        // the next time.
        running.rotate_left(1);
        Poll::Pending
    }

    /// Polls the policy's future as soon as the policy requests it, for policies that mostly need
    /// not wait for it.
    #[inline(always)]
    fn poll_policy(&mut self, cx: &mut Context<'_>, mut flow: Flow<'a, H, C>) -> Flow<'a, H, C> {
        if !C::__POLL_FUTURE_INLINE {
            return flow;
        }
        while let Break(Some(Waiting::NewFuture(create))) = flow {
            self.future.set(Some(create(self.policy)));
            // A completed future stays where it is: it holds nothing, and dropping it is a call.
            flow = match self.poll_future(cx) {
                Poll::Ready(output) => into_control_flow(self.policy.on_future_ready(output)),
                Poll::Pending => return Break(Some(Waiting::Future)),
            };
        }
        flow
    }

    #[inline(always)]
    fn poll_future(&mut self, cx: &mut Context<'_>) -> Poll<<C::Future as Future>::Output> {
        let future = self.future.as_mut().as_pin_mut();
        let future = future.expect("the policy's future was stored");
        match self.span {
            None => future.poll(cx),
            Some(span) => span.in_scope(|| future.poll(cx)),
        }
    }

    /// Starts a hook, inside a span of its own if the dispatch has one.
    #[inline(always)]
    fn start_hook(
        &mut self,
        node: &'a Node<H>,
        hook: &'a H,
        is_final: bool,
    ) -> HookFuture<'a, C::HookOutput> {
        let Some(dispatch) = self.span else {
            return self.policy.invoke(&node.meta, hook, is_final);
        };
        let span = trace::hook(dispatch, &node.meta);
        let future = span.in_scope(|| self.policy.invoke(&node.meta, hook, is_final));
        future.instrument(span)
    }

    /// Drops a hook that has completed, then delivers its output or its failure.
    fn finish_hook(
        &mut self,
        hook: PendingHook<'a, C::HookOutput>,
        output: Result<C::HookOutput, Failure>,
    ) -> Step<C, C::Future> {
        let entry = hook.into_entry(C::CATCH_FAILURES);
        match output {
            Ok(output) => self.deliver(entry, output),
            Err(failure) => self.policy.on_failure(entry, failure),
        }
    }

    /// Delivers the output of a hook to the policy.
    #[inline(always)]
    fn deliver(&mut self, entry: &EntryMeta, output: C::HookOutput) -> Step<C, C::Future> {
        if !C::CATCH_FAILURES {
            return self.policy.on_output(entry, output);
        }
        match self.policy.validate_output(output) {
            Ok(output) => self.policy.on_output(entry, output),
            Err(failure) => self.policy.on_failure(entry, failure),
        }
    }
}

#[inline(always)]
fn into_control_flow<'a, H, C>(step: Step<C, C::Future>) -> Flow<'a, H, C>
where
    H: ?Sized,
    C: Policy<H>,
{
    match step {
        Step::Next => Continue(()),
        Step::Stop => Break(None),
        Step::Wait(create) => Break(Some(Waiting::NewFuture(create))),
    }
}

/// A hook that was started and has not completed.
pub(super) struct PendingHook<'a, T> {
    entry: &'a EntryMeta,
    future: BoxFuture<'a, T>,
    timeout: Option<Timeout>,
}

/// The time limit of one call of a hook.
struct Timeout {
    duration: Duration,
    future: BoxFuture<'static, ()>,
}

impl Timeout {
    fn new(timer: &dyn Timer, duration: Duration) -> Self {
        let future = timer.sleep(duration);
        Timeout { duration, future }
    }
}

impl<'a, T> PendingHook<'a, T> {
    #[inline]
    fn new<H: ?Sized>(node: &'a Node<H>, future: BoxFuture<'a, T>) -> Self {
        PendingHook {
            entry: &node.meta,
            future,
            timeout: None,
        }
    }

    /// Drops the hook's future and returns its entry.
    #[inline]
    fn into_entry(self, catches_failures: bool) -> &'a EntryMeta {
        if catches_failures {
            drop_catching_panic(self.future);
        }
        self.entry
    }

    /// Polls the hook, then its timeout.
    #[inline]
    fn poll(&mut self, cx: &mut Context<'_>, catches_failures: bool) -> Poll<Result<T, Failure>> {
        match self.poll_future(cx, catches_failures) {
            Poll::Pending => match self.poll_timeout(cx) {
                Some(failure) => Poll::Ready(Err(failure)),
                None => Poll::Pending,
            },
            ready => ready,
        }
    }

    #[inline]
    fn poll_future(
        &mut self,
        cx: &mut Context<'_>,
        catches_failures: bool,
    ) -> Poll<Result<T, Failure>> {
        match catch(catches_failures, || stack::poll(self.future.as_mut(), cx)) {
            Ok(polled) => polled.map(Ok),
            Err(payload) => Poll::Ready(Err(Failure::panic(payload))),
        }
    }

    /// Returns the failure if the hook's time has expired.
    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Option<Failure> {
        let timeout = self.timeout.as_mut()?;
        // The host's timer may round up a duration of zero.
        if timeout.duration.is_zero() {
            return Some(Failure::Timeout(timeout.duration));
        }
        match catch(true, || timeout.future.as_mut().poll(cx)) {
            Ok(Poll::Pending) => None,
            Ok(Poll::Ready(())) => Some(Failure::Timeout(timeout.duration)),
            Err(payload) => Some(Failure::panic(payload)),
        }
    }
}

/// Calls `work`. Returns the payload of its panic if `catches_failures`.
#[inline(always)]
fn catch<R>(catches_failures: bool, work: impl FnOnce() -> R) -> thread::Result<R> {
    if !catches_failures {
        return Ok(work());
    }
    // A panic may leave the policy or the hook half-updated. The methods of a policy do not
    // panic, and a hook keeps its state consistent itself.
    catch_unwind(AssertUnwindSafe(work))
}
