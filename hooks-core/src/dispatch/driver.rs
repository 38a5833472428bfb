//! The loop over the hooks of a slot: starts each hook, polls its future, and catches its failures.
//!
//! `H` is the type of the stored hooks, `P` the policy of the dispatch. A hook is stored in a
//! [`Node`], with the options of its registration ([`EntryMeta`]).

use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::ops::ControlFlow::{self, Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::slice;
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

/// Progress of a dispatch through its hooks. A suspended dispatch stores it between polls.
pub(super) struct Progress<'a, H: ?Sized, T> {
    /// The hooks that have not been started.
    remaining: Cursor<'a, H>,
    /// The hooks that conditions selected, and the pending hooks of a policy that runs hooks
    /// concurrently. Most dispatches have neither, so an `Option` optimised for `None` stores them.
    rare: ColdOption<Rare<'a, H, T>>,
    /// `true` once [`Policy::after_hooks`] was called.
    called_after_hooks: bool,
}

impl<'a, H: ?Sized, T> Progress<'a, H, T> {
    #[inline]
    pub(super) fn new(remaining: Cursor<'a, H>) -> Self {
        Progress {
            remaining,
            rare: ColdOption::none(),
            called_after_hooks: false,
        }
    }

    /// Returns the state of a dispatch that runs some of the hooks of a slot.
    pub(super) fn of_selected(mut selected: Vec<&'a Node<H>>) -> Self {
        let mut progress = Progress::new(Cursor::of_leaf(&[]));
        selected.reverse();
        progress.rare.get_or_default().selected = selected;
        progress.next_selected();
        progress
    }

    /// Returns the number of hooks that have not been started.
    pub(super) fn remaining(&self) -> usize {
        let rare = self.rare.as_ref();
        self.remaining.count() + rare.map_or(0, |rare| rare.selected.len())
    }

    /// Returns the next hook to start, of any leaf.
    #[inline]
    fn next(&mut self) -> Option<&'a Node<H>> {
        let node = self.remaining.next()?;
        if self.remaining.leaf.is_empty() {
            self.next_selected();
        }
        Some(node)
    }

    /// Makes the next selected hook, if there is one, the only hook of the current leaf.
    #[inline]
    fn next_selected(&mut self) {
        let rare = self.rare.as_mut();
        if let Some(node) = rare.and_then(|rare| rare.selected.pop()) {
            self.remaining = Cursor::of_leaf(slice::from_ref(node));
        }
    }

    #[inline]
    fn pending(&mut self) -> &mut VecDeque<PendingHook<'a, T>> {
        let pending = &mut self.rare.get_or_default().pending;
        &mut pending.get_or_insert_default().0
    }
}

/// State that most dispatches do not have. With 8 bytes more, a suspended dispatch would exceed 128
/// bytes, and be moved by a call of `memcpy`, whose registers the drop of every dispatch would save:
/// `chain/0` +5 % instructions.
struct Rare<'a, H: ?Sized, T> {
    /// The hooks that conditions selected, after the first of [`Progress::remaining`], the last one
    /// first.
    selected: Vec<&'a Node<H>>,
    pending: Option<Box<PendingHooks<'a, T>>>,
}

impl<H: ?Sized, T> Default for Rare<'_, H, T> {
    fn default() -> Self {
        Rare {
            selected: Vec::new(),
            pending: None,
        }
    }
}

/// The pending hooks of a dispatch that runs hooks concurrently, in the order of the next polls.
struct PendingHooks<'a, T>(VecDeque<PendingHook<'a, T>>);

impl<T> Default for PendingHooks<'_, T> {
    fn default() -> Self {
        PendingHooks(VecDeque::new())
    }
}

impl<T> Drop for PendingHooks<'_, T> {
    /// Dropping a pending hook may panic. Swallows the panic so that the remaining hooks are
    /// still dropped.
    fn drop(&mut self) {
        self.0.drain(..).for_each(drop_catching_panic);
    }
}

/// The hook or future that the next poll of a suspended dispatch polls.
pub(super) enum Waiting<'a, H: ?Sized, P: Policy<H>> {
    /// One pending hook.
    Hook(PendingHook<'a, P::HookOutput>),
    /// The concurrent hooks of the dispatch, in [`Progress`].
    PendingHooks,
    /// A future of the policy. The function creates the future at its first poll.
    NewPolicyFuture(fn(&mut P) -> P::Future),
    /// A future of the policy that has been polled. The field `future` of the dispatch stores it.
    PolicyFuture,
}

impl<'a, H: ?Sized, P: Policy<H>> Waiting<'a, H, P> {
    /// Returns the slot and the hook that is pending, or the first of several; `None` for a future of the
    /// policy.
    pub(super) fn name<'n>(
        &self,
        slot: &'n str,
        progress: &Progress<'a, H, P::HookOutput>,
    ) -> (&'n str, Option<String>) {
        let entry = match self {
            Waiting::Hook(hook) => Some(hook.entry),
            Waiting::PendingHooks => {
                let pending = progress.rare.as_ref();
                let pending = pending.and_then(|rare| rare.pending.as_ref());
                // A poll rotates the queue.
                let entries = pending.map(|hooks| hooks.0.iter().map(|hook| hook.entry));
                entries.and_then(|entries| entries.min_by_key(|entry| entry.rank()))
            }
            Waiting::NewPolicyFuture(_) | Waiting::PolicyFuture => None,
        };
        let name = entry.map(|entry| match (entry.explicit_name(), entry.key()) {
            (None, Some(key)) => key.to_owned(),
            _ => entry.name().into_owned(),
        });
        (slot, name)
    }
}

/// Control flow of the loop.
///
/// | Value | Effect |
/// |---|---|
/// | `Continue(())` | the loop starts the next hook; after the last hook, the dispatch is complete |
/// | `Break(Some(waiting))` | the dispatch suspends |
/// | `Break(None)` | the policy returned [`Step::Stop`]: the dispatch is complete, and the remaining hooks do not run |
type Flow<'a, H, P> = ControlFlow<Option<Waiting<'a, H, P>>>;

/// Runs a dispatch for the duration of one poll.
///
/// The functions of the loop are `#[inline(always)]`, so that policy and progress stay in registers:
/// `always/1` −19 %, `always/4` −12 %, `own_chain/4` −30 %, `event_continue/4` −6 % instructions.
/// These are rows of the bench `performance`: a slot, and the number of its hooks. The attribute
/// depends on `debug_assertions`: without optimisation, each caller of a dispatch would contain a copy
/// of the loop, and tests of typed slots would take 1.5 times as long to compile.
///
/// A slot stores its entries in *leaves*, slices of at most 64 entries; [`Cursor::next`] continues
/// with the next leaf. If the slot has one leaf of entries without conditions and no subscriber
/// records spans, `WALKS_LEAVES` is `false` in the first poll: the loop then runs over one slice. [`run_propagating`] calls the last
/// hook after this loop, so that no call tests whether its hook is the last one.
///
/// [`run_propagating`]: Self::run_propagating
pub(super) struct Driver<'d, 'a, H: ?Sized, P: Policy<H>, const WALKS_LEAVES: bool> {
    pub(super) policy: &'d mut P,
    /// The field of the dispatch that stores the policy's future.
    pub(super) future: Pin<&'d mut Option<P::Future>>,
    pub(super) progress: &'d mut Progress<'a, H, P::HookOutput>,
    /// The span of the dispatch, if a subscriber records spans.
    pub(super) span: Option<&'d Span>,
}

impl<'a, H: ?Sized, P: Policy<H> + 'a, const WALKS_LEAVES: bool>
    Driver<'_, 'a, H, P, WALKS_LEAVES>
{
    /// Returns a second driver of this dispatch, for a closure or a function that is not inlined.
    /// The references in `self` then stay in registers: `event_continue/1` −3 % instructions.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn reborrow(&mut self) -> Driver<'_, 'a, H, P, WALKS_LEAVES> {
        Driver {
            policy: &mut *self.policy,
            future: self.future.as_mut(),
            progress: &mut *self.progress,
            span: self.span,
        }
    }

    /// Performs a step and runs the remaining hooks. Returns `None` if the dispatch is complete.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn run(
        &mut self,
        cx: &mut Context<'_>,
        step: Step<P, P::Future>,
    ) -> Option<Waiting<'a, H, P>> {
        match self.run_hooks(cx, step) {
            Continue(()) => None,
            Break(waiting) => waiting,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_hooks(&mut self, cx: &mut Context<'_>, step: Step<P, P::Future>) -> Flow<'a, H, P> {
        self.poll_new_future(cx, into_control_flow(step))?;
        // Hooks without failures to catch are polled where they start. All other policies run
        // hooks in batches.
        if P::CATCH_FAILURES || P::CONCURRENT {
            self.run_batches(cx)?;
        } else {
            self.run_propagating(cx)?;
        }
        let rare = self.progress.rare.as_ref();
        let pending = rare.and_then(|rare| rare.pending.as_ref());
        if P::CONCURRENT && pending.is_some_and(|hooks| !hooks.0.is_empty()) {
            return Break(Some(Waiting::PendingHooks));
        }
        if mem::replace(&mut self.progress.called_after_hooks, true) {
            return Continue(());
        }
        let step = match self.span {
            None => self.policy.after_hooks(),
            Some(span) => {
                let _entered = span.enter();
                self.policy.after_hooks()
            }
        };
        self.poll_new_future(cx, into_control_flow(step))
    }

    /// Runs hooks one after the other, and polls each hook where it starts. A panic of a hook
    /// propagates to the caller.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_propagating(&mut self, cx: &mut Context<'_>) -> Flow<'a, H, P> {
        if WALKS_LEAVES {
            while let Some(node) = self.progress.next() {
                let is_final = self.progress.remaining.leaf.is_empty();
                let flow = self.run_hook(cx, node, &node.hook, is_final);
                self.poll_new_future(cx, flow)?;
            }
            return Continue(());
        }
        let Some((mut node, mut rest)) = self.progress.remaining.leaf.split_first() else {
            return Continue(());
        };
        // Loads the address of the next hook before the current hook runs. The address needs
        // several dependent loads, which then overlap with the current hook.
        let mut hook = &*node.hook;
        while let Some((next_node, next_rest)) = rest.split_first() {
            let next_hook = &*next_node.hook;
            self.progress.remaining.leaf = rest;
            let flow = self.run_hook(cx, node, hook, false);
            self.poll_new_future(cx, flow)?;
            (node, hook, rest) = (next_node, next_hook, next_rest);
        }
        self.progress.remaining.leaf = rest;
        let flow = self.run_hook(cx, node, hook, true);
        self.poll_new_future(cx, flow)
    }

    /// Starts a hook, and polls its future if it is boxed. [`stack::poll`] polls a nested hook on a
    /// new stack if little of the current stack is left.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_hook(
        &mut self,
        cx: &mut Context<'_>,
        node: &'a Node<H>,
        hook: &'a H,
        is_final: bool,
    ) -> Flow<'a, H, P> {
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

    /// Runs the hooks of a policy that catches failures, or runs hooks concurrently, or both.
    ///
    /// A batch is a sequence of hooks that are ready immediately, up to the first boxed future.
    /// One `catch_unwind` covers a batch, because entering it costs as much as starting a hook;
    /// without `CATCH_FAILURES`, there is none. `current` records which hook was running if it
    /// panics.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_batches(&mut self, cx: &mut Context<'_>) -> Flow<'a, H, P> {
        while !self.progress.remaining.leaf.is_empty() {
            let mut current = None;
            let result = catch(P::CATCH_FAILURES, || {
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
                    // The policy panicked, not a hook: the panic propagates to the caller.
                    None => resume_unwind(payload),
                },
            };
            self.poll_new_future(cx, flow)?;
        }
        Continue(())
    }

    /// Runs hooks as long as they are ready immediately. Returns the first hook with a boxed
    /// future, which it does not poll. While a hook starts, `current` is this hook.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_ready_hooks(&mut self, current: &mut Option<&'a Node<H>>) -> Flow<'a, H, P> {
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
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next_hook(&mut self) -> Option<&'a Node<H>> {
        if WALKS_LEAVES {
            return self.progress.next();
        }
        let remaining = &mut self.progress.remaining;
        let (node, rest) = remaining.leaf.split_first()?;
        remaining.leaf = rest;
        Some(node)
    }

    /// Polls the boxed future of a hook for the first time.
    #[inline]
    fn poll_new_hook(
        &mut self,
        cx: &mut Context<'_>,
        mut hook: PendingHook<'a, P::HookOutput>,
    ) -> Flow<'a, H, P> {
        match hook.poll_future(cx, P::CATCH_FAILURES) {
            Poll::Ready(output) => into_control_flow(self.finish_hook(hook, output)),
            Poll::Pending => self.suspend_hook(cx, hook),
        }
    }

    /// Starts the timeout of a hook that is pending after its first poll. Then suspends the
    /// dispatch or, with concurrent hooks, adds the hook to the pending hooks.
    // Not inlined into the loop: `event_continue/1` −5 %, `event_continue/4` −3 % instructions.
    #[cold]
    #[inline(never)]
    fn suspend_hook(
        &mut self,
        cx: &mut Context<'_>,
        mut hook: PendingHook<'a, P::HookOutput>,
    ) -> Flow<'a, H, P> {
        if P::CATCH_FAILURES {
            // The timer is code of the host and may panic. The panic counts as a failure of the
            // hook, because nothing would enforce the timeout.
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
        if P::CONCURRENT {
            self.progress.pending().push_back(hook);
            Continue(())
        } else {
            Break(Some(Waiting::Hook(hook)))
        }
    }

    /// Polls the hook or future in `waiting`. Returns the next step, or `waiting` as `Err` if it is
    /// still pending.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        waiting: Waiting<'a, H, P>,
    ) -> Result<Step<P, P::Future>, Waiting<'a, H, P>> {
        match waiting {
            Waiting::Hook(mut hook) => match hook.poll(cx, P::CATCH_FAILURES) {
                Poll::Ready(output) => Ok(self.finish_hook(hook, output)),
                Poll::Pending => Err(Waiting::Hook(hook)),
            },
            Waiting::PendingHooks => match self.poll_pending_hooks(cx) {
                Poll::Ready(step) => Ok(step),
                Poll::Pending => Err(Waiting::PendingHooks),
            },
            Waiting::NewPolicyFuture(create) => {
                self.future.set(Some(create(self.policy)));
                self.poll(cx, Waiting::PolicyFuture)
            }
            Waiting::PolicyFuture => match self.poll_policy_future(cx) {
                Poll::Ready(output) => Ok(self.policy.on_future_ready(output)),
                Poll::Pending => Err(Waiting::PolicyFuture),
            },
        }
    }

    /// Polls each concurrent hook once, and passes the outputs to the policy.
    fn poll_pending_hooks(&mut self, cx: &mut Context<'_>) -> Poll<Step<P, P::Future>> {
        let count = self.progress.pending().len();
        for _ in 0..count {
            let hooks = self.progress.pending();
            let Some(hook) = hooks.front_mut() else {
                break;
            };
            let Poll::Ready(output) = hook.poll(cx, P::CATCH_FAILURES) else {
                hooks.rotate_left(1);
                continue;
            };
            let Some(hook) = hooks.pop_front() else {
                break;
            };
            match self.finish_hook(hook, output) {
                Step::Next => {}
                step => return Poll::Ready(step),
            }
        }
        let hooks = self.progress.pending();
        if hooks.is_empty() {
            return Poll::Ready(Step::Next);
        }
        // The next poll starts with another hook. A runtime limits the work of a task in one poll
        // (its cooperative budget), and hooks that are polled after the limit make no progress.
        hooks.rotate_left(1);
        Poll::Pending
    }

    /// If the flow is a new future of the policy, creates and polls the future within the loop, so
    /// that a ready future does not suspend the dispatch. Applies to policies with
    /// [`__POLL_FUTURE_INLINE`](Policy::__POLL_FUTURE_INLINE), whose futures are mostly ready; the
    /// futures of other policies suspend the dispatch.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll_new_future(
        &mut self,
        cx: &mut Context<'_>,
        mut flow: Flow<'a, H, P>,
    ) -> Flow<'a, H, P> {
        if !P::__POLL_FUTURE_INLINE {
            return flow;
        }
        while let Break(Some(Waiting::NewPolicyFuture(create))) = flow {
            self.future.set(Some(create(self.policy)));
            // The ready future stays in its field, because dropping it here costs a call. It no
            // longer holds data, and is dropped with the dispatch or when the next future is set.
            flow = match self.poll_policy_future(cx) {
                Poll::Ready(output) => into_control_flow(self.policy.on_future_ready(output)),
                Poll::Pending => return Break(Some(Waiting::PolicyFuture)),
            };
        }
        flow
    }

    /// Polls the policy's future in its field.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll_policy_future(&mut self, cx: &mut Context<'_>) -> Poll<<P::Future as Future>::Output> {
        let future = self.future.as_mut().as_pin_mut();
        let future = future.expect("the policy's future was stored");
        match self.span {
            None => future.poll(cx),
            Some(span) => {
                let _entered = span.enter();
                future.poll(cx)
            }
        }
    }

    /// Starts a hook. If the dispatch has a span, the hook gets a child span.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn start_hook(
        &mut self,
        node: &'a Node<H>,
        hook: &'a H,
        is_final: bool,
    ) -> HookFuture<'a, P::HookOutput> {
        let Some(dispatch) = self.span else {
            return self.policy.invoke(&node.meta, hook, is_final);
        };
        if !P::CATCH_FAILURES {
            let slot = Box::from(self.policy.slot_name());
            let start = || self.policy.invoke(&node.meta, hook, is_final);
            return trace::start_hook(dispatch, slot, &node.meta, start);
        }
        let span = trace::hook(dispatch, &node.meta);
        let entered = span.enter();
        let future = self.policy.invoke(&node.meta, hook, is_final);
        drop(entered);
        future.instrument(span)
    }

    /// Drops the future of a completed hook, then passes the hook's output or failure to the
    /// policy.
    fn finish_hook(
        &mut self,
        hook: PendingHook<'a, P::HookOutput>,
        output: Result<P::HookOutput, Failure>,
    ) -> Step<P, P::Future> {
        let entry = hook.into_entry(P::CATCH_FAILURES);
        match output {
            Ok(output) => self.deliver(entry, output),
            Err(failure) => self.policy.on_failure(entry, failure),
        }
    }

    /// Passes the output of a hook to the policy. If the policy catches failures, it validates the
    /// output first; an invalid output is passed as a failure.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deliver(&mut self, entry: &EntryMeta, output: P::HookOutput) -> Step<P, P::Future> {
        if !P::CATCH_FAILURES {
            return self.policy.on_output(entry, output);
        }
        match self.policy.validate_output(output) {
            Ok(output) => self.policy.on_output(entry, output),
            Err(failure) => self.policy.on_failure(entry, failure),
        }
    }
}

/// Converts the step that a policy has returned into the control flow of the loop.
#[cfg_attr(not(debug_assertions), inline(always))]
fn into_control_flow<'a, H, P>(step: Step<P, P::Future>) -> Flow<'a, H, P>
where
    H: ?Sized,
    P: Policy<H>,
{
    match step {
        Step::Next => Continue(()),
        Step::Stop => Break(None),
        Step::Wait(create) => Break(Some(Waiting::NewPolicyFuture(create))),
    }
}

/// A hook with a boxed future that has not completed.
pub(super) struct PendingHook<'a, T> {
    entry: &'a EntryMeta,
    future: BoxFuture<'a, T>,
    timeout: Option<Timeout>,
}

/// The timeout of one call of a hook.
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

    /// Polls the hook's future, and the timeout if the future is pending.
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

    /// Polls the hook's future. With `catches_failures`, a panic is a failure of the hook.
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

    /// Polls the timeout. Returns a failure if the timeout has expired or the timer panicked.
    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Option<Failure> {
        let timeout = self.timeout.as_mut()?;
        // A timer may round a duration of zero up, so a timeout of zero does not use the timer.
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

/// Calls `work`. With `catches_failures`, returns the payload of a panic; otherwise the panic
/// propagates.
#[cfg_attr(not(debug_assertions), inline(always))]
fn catch<R>(catches_failures: bool, work: impl FnOnce() -> R) -> thread::Result<R> {
    if !catches_failures {
        return Ok(work());
    }
    // Unwind safety: a panic may leave the hook or the policy half-updated. Each hook keeps its own
    // state consistent. A panic of `Policy::invoke` or `Policy::timeout` counts as a failure of the
    // hook, so these methods keep the policy consistent if they panic. After a panic of another
    // method of the policy, the dispatch does not continue.
    catch_unwind(AssertUnwindSafe(work))
}
