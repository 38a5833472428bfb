//! The engine: the one loop over hooks in this workspace.
//!
//! A dispatch is a [`Combine`] policy driven over the entries of a slot. [`Dispatch`] is a
//! future written by hand: its loop goes on while hooks answer at once, and it returns
//! to the executor only when something has to be waited for. So hooks that never wait
//! cost neither a future nor an allocation. Until it has to wait, a dispatch lives in
//! locals: only then is it put away into the future that the executor holds.

use std::fmt;
use std::future::Future;
use std::mem;
use std::ops::ControlFlow::{self, Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tracing::Span;

use crate::answer::Answer;
use crate::bounds::BoxFuture;
use crate::entry::EntryMeta;
use crate::fault::{Fault, discard};
use crate::parked::Parked;
use crate::slot::{Node, Slot};
use crate::timer::Timer;
use crate::trace::{self, DispatchSpan};

/// The policy of one dispatch: how a hook is invoked, how its answer is absorbed,
/// and what comes out at the end. The data live in the policy, so that an early stop
/// loses nothing.
///
/// ```
/// use std::sync::Arc;
///
/// use hooks_core::{Answer, Combine, Entry, EntryMeta, Never, Slot, Step};
///
/// /// Looks for something wrong with a text.
/// trait Rule: Send + Sync {
///     fn check<'a>(&'a self, text: &'a str) -> Answer<'a, Option<String>>;
/// }
///
/// /// The rules are asked in order; the first that finds something has the last word.
/// struct FirstFinding<'t> {
///     text: &'t str,
///     finding: Option<String>,
/// }
///
/// impl Combine<dyn Rule> for FirstFinding<'_> {
///     type Yield = Option<String>;
///     type Outcome = Option<String>;
///     type Wait = Never<()>;
///
///     fn slot_name(&self) -> &str {
///         "rules"
///     }
///
///     fn invoke<'a>(
///         &mut self,
///         _: &'a EntryMeta,
///         rule: &'a dyn Rule,
///         _last: bool,
///     ) -> Answer<'a, Option<String>>
///     where
///         Self: 'a,
///     {
///         rule.check(self.text)
///     }
///
///     fn absorb(&mut self, _: &EntryMeta, finding: Option<String>) -> Step<Self, Never<()>> {
///         self.finding = finding;
///         if self.finding.is_some() { Step::Stop } else { Step::Next }
///     }
///
///     fn waited(&mut self, _: ()) -> Step<Self, Never<()>> {
///         Step::Next
///     }
///
///     fn finish(self) -> Option<String> {
///         self.finding
///     }
/// }
///
/// struct NoTabs;
///
/// impl Rule for NoTabs {
///     fn check<'a>(&'a self, text: &'a str) -> Answer<'a, Option<String>> {
///         Answer::Ready(text.contains('\t').then(|| "a tab".to_owned()))
///     }
/// }
///
/// struct NoSecrets;
///
/// impl Rule for NoSecrets {
///     fn check<'a>(&'a self, text: &'a str) -> Answer<'a, Option<String>> {
///         Answer::later(async move { text.contains("sk-").then(|| "a key".to_owned()) })
///     }
/// }
///
/// let mut rules: Slot<dyn Rule> = Slot::new();
/// rules.insert(Entry::new(Arc::new(NoTabs)).map(|rule| rule as Arc<dyn Rule>));
/// rules.insert(Entry::new(Arc::new(NoSecrets)).map(|rule| rule as Arc<dyn Rule>));
///
/// # fn block_on<T>(f: impl Future<Output = T>) -> T {
/// #     let mut f = std::pin::pin!(f);
/// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
/// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
/// # }
/// let check = |text| block_on(rules.dispatch(FirstFinding { text, finding: None }));
/// assert_eq!(check("fn main() {}"), None);
/// assert_eq!(check("let key = \"sk-1\";").as_deref(), Some("a key"));
/// ```
pub trait Combine<H: ?Sized>: Sized {
    /// What one hook answers.
    type Yield;
    /// What the whole dispatch answers.
    type Outcome;
    /// The policy's own asynchronous work; [`Never`](crate::Never) where it has none.
    type Wait: Future;

    /// Whether panics and timeouts of hooks are handed to [`fault`](Self::fault). If not, a
    /// panic goes on to the caller, and nothing is timed.
    ///
    /// Under `panic = "abort"`, and on wasm, a panic ends the process whatever stands here.
    const GUARDED: bool = false;
    /// Whether a hook is started without waiting for the one before it. Answers are then
    /// absorbed as they come.
    const CONCURRENT: bool = false;

    /// The name of the slot, for spans.
    fn slot_name(&self) -> &str;

    /// Called once, before the first hook, with the number of hooks.
    fn open(&mut self, hooks: usize) -> Step<Self, Self::Wait> {
        let _ = hooks;
        Step::Next
    }

    /// Starts a hook; `last` is true for the final entry of the list.
    fn invoke<'a>(
        &mut self,
        entry: &'a EntryMeta,
        hook: &'a H,
        last: bool,
    ) -> Answer<'a, Self::Yield>
    where
        Self: 'a;

    /// Takes the answer of a hook.
    fn absorb(&mut self, entry: &EntryMeta, answer: Self::Yield) -> Step<Self, Self::Wait>;

    /// Tells an answer that is one from one that says what went wrong, where the policy is
    /// [`GUARDED`](Self::GUARDED).
    #[inline(always)]
    fn check(&mut self, answer: Self::Yield) -> Result<Self::Yield, Fault> {
        Ok(answer)
    }

    /// Takes what went wrong in a hook, where the policy is [`GUARDED`](Self::GUARDED).
    fn fault(&mut self, entry: &EntryMeta, fault: Fault) -> Step<Self, Self::Wait> {
        unreachable!("`{}` {fault}, which no policy asked for", entry.name())
    }

    /// The time that one call of a hook may take, where the policy is
    /// [`GUARDED`](Self::GUARDED) and the slot has a timer.
    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        entry.timeout()
    }

    /// Called once after the last hook, unless something stopped the dispatch before.
    fn close(&mut self) -> Step<Self, Self::Wait> {
        Step::Stop
    }

    /// Takes the answer of what the policy waited for.
    fn waited(&mut self, answer: <Self::Wait as Future>::Output) -> Step<Self, Self::Wait>;

    /// The outcome, whether all hooks ran or something stopped the dispatch.
    fn finish(self) -> Self::Outcome;
}

/// What a policy `C` wants next.
pub enum Step<C, W> {
    /// The next hook, if there is one.
    Next,
    /// Nothing more.
    Stop,
    /// To wait for the future that this function makes; its answer goes to
    /// [`Combine::waited`]. It is made where it is to stay.
    Wait(fn(&mut C) -> W),
}

impl<C, W> fmt::Debug for Step<C, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Next => "Next",
            Step::Stop => "Stop",
            Step::Wait(_) => "Wait",
        })
    }
}

pin_project! {
    /// A dispatch: lazy, and done with everything the moment it is dropped.
    #[must_use = "a dispatch does nothing unless it is awaited"]
    pub struct Dispatch<'a, H: ?Sized, C: Combine<H>> {
        // What is waited for is dropped before what it was made from.
        //
        // Nothing until the dispatch has to wait.
        suspended: Parked<Suspended<'a, H, C::Yield>>,
        // What the policy waits for. It does not move once it has been polled.
        #[pin]
        wait: Option<C::Wait>,
        // Nothing while it is in a local, and once the dispatch is over.
        policy: Option<C>,
        slot: &'a Slot<H>,
    }
}

/// A dispatch that waits.
struct Suspended<'a, H: ?Sized, T> {
    pending: Pending<'a, T>,
    course: Course<'a, H, T>,
    span: DispatchSpan,
}

/// Who has not answered yet.
enum Pending<'a, T> {
    Hook(Unanswered<'a, T>),
    /// Those in [`Course::running`].
    Hooks,
    Policy,
    /// Nobody: only after a panic.
    Nobody,
}

/// How far a dispatch has come.
struct Course<'a, H: ?Sized, T> {
    /// The hooks that have not been started.
    rest: &'a [Node<H>],
    /// Those that run side by side, where the policy lets them.
    running: Parked<Vec<Unanswered<'a, T>>>,
    /// Whether the policy has been told that there are no more.
    closed: bool,
}

/// A hook that has been started.
struct Unanswered<'a, T> {
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
enum Pause<'a, H: ?Sized, C: Combine<H>> {
    Hook(Unanswered<'a, C::Yield>),
    /// Those in [`Course::running`].
    Hooks,
    /// What this function makes.
    Policy(fn(&mut C) -> C::Wait),
}

impl<'a, H: ?Sized, C: Combine<H>> Dispatch<'a, H, C> {
    #[inline]
    pub(crate) fn new(slot: &'a Slot<H>, policy: C) -> Self {
        Dispatch {
            suspended: Parked::none(),
            wait: None,
            policy: Some(policy),
            slot,
        }
    }
}

const OVER: &str = "a dispatch was polled again after its end";

impl<'a, H: ?Sized, C: Combine<H> + 'a> Future for Dispatch<'a, H, C> {
    type Output = C::Outcome;

    /// # Panics
    /// If the dispatch is polled again after its end.
    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Outcome> {
        let this = self.as_mut().project();
        if this.suspended.as_ref().is_some() {
            return self.resume(cx);
        }
        let mut policy = this.policy.take().expect(OVER);
        let nodes = this.slot.nodes();
        if nodes.is_empty() {
            // Makes no span; and the compiler leaves out the loop.
            let step = policy.open(0);
            return self.begin(cx, policy, &[], DispatchSpan::none(), step);
        }
        if trace::is_wanted() {
            return self.begin_traced(cx, policy);
        }
        let step = policy.open(nodes.len());
        self.begin(cx, policy, nodes, DispatchSpan::none(), step)
    }
}

impl<'a, H: ?Sized, C: Combine<H> + 'a> Dispatch<'a, H, C> {
    /// The first poll, with the policy in a local.
    #[inline(always)]
    fn begin(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut policy: C,
        nodes: &'a [Node<H>],
        span: DispatchSpan,
        step: Step<C, C::Wait>,
    ) -> Poll<C::Outcome> {
        let mut course = Course::new(nodes);
        match course.drive(cx, &mut policy, step, span.get()) {
            None => Poll::Ready(policy.finish()),
            Some(pause) => self.suspend(cx, policy, course, span, pause),
        }
    }

    /// The first poll where somebody may want spans.
    #[cold]
    #[inline(never)]
    fn begin_traced(self: Pin<&mut Self>, cx: &mut Context<'_>, mut policy: C) -> Poll<C::Outcome> {
        let nodes = self.slot.nodes();
        let span = DispatchSpan::new(policy.slot_name(), nodes.len());
        let step = span.within(|| policy.open(nodes.len()));
        self.begin(cx, policy, nodes, span, step)
    }

    /// Puts the dispatch away until what it waits for is there.
    #[cold]
    #[inline(never)]
    fn suspend(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut policy: C,
        course: Course<'a, H, C::Yield>,
        span: DispatchSpan,
        pause: Pause<'a, H, C>,
    ) -> Poll<C::Outcome> {
        let (pending, wait) = match pause {
            Pause::Hook(hook) => (Pending::Hook(hook), None),
            Pause::Hooks => (Pending::Hooks, None),
            Pause::Policy(make) => (Pending::Policy, Some(make(&mut policy))),
        };
        let policy_waits = wait.is_some();
        let mut this = self.as_mut().project();
        this.suspended.set(Some(Suspended {
            pending,
            course,
            span,
        }));
        this.wait.set(wait);
        *this.policy = Some(policy);
        if policy_waits {
            // Where it lies is where it is polled for the first time.
            return self.resume(cx);
        }
        Poll::Pending
    }

    /// Goes on with what was waited for, as soon as it is there.
    #[inline(never)]
    fn resume(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Outcome> {
        let mut this = self.project();
        let policy = this.policy.as_mut().expect(OVER);
        let Suspended {
            pending,
            course,
            span,
        } = this.suspended.as_mut().expect(OVER);
        loop {
            // What panics is not asked again.
            let step = match mem::replace(pending, Pending::Nobody) {
                Pending::Hook(mut hook) => {
                    let Poll::Ready(answer) = hook.poll::<H, C>(cx) else {
                        *pending = Pending::Hook(hook);
                        return Poll::Pending;
                    };
                    take(policy, hook.end::<H, C>(), answer)
                }
                Pending::Hooks => {
                    let Poll::Ready(step) = course.poll_running(cx, policy) else {
                        *pending = Pending::Hooks;
                        return Poll::Pending;
                    };
                    step
                }
                Pending::Policy => {
                    let wait = this.wait.as_mut().as_pin_mut().expect(OVER);
                    let Poll::Ready(answer) = span.within(|| wait.poll(cx)) else {
                        *pending = Pending::Policy;
                        return Poll::Pending;
                    };
                    policy.waited(answer)
                }
                Pending::Nobody => panic!("{OVER}"),
            };
            match course.drive(cx, policy, step, span.get()) {
                None => break,
                Some(Pause::Hook(hook)) => {
                    *pending = Pending::Hook(hook);
                    return Poll::Pending;
                }
                // Some of them have not been asked since the policy waited.
                Some(Pause::Hooks) => *pending = Pending::Hooks,
                Some(Pause::Policy(make)) => {
                    this.wait.set(Some(make(policy)));
                    *pending = Pending::Policy;
                }
            }
        }
        this.wait.set(None);
        this.suspended.set(None);
        let policy = this.policy.take().expect(OVER);
        Poll::Ready(policy.finish())
    }

    /// Ends the dispatch where it is: what runs is dropped, nothing more is started, and the
    /// policy is asked for its outcome, without having been told that there are no more hooks.
    ///
    /// # Panics
    /// If the dispatch is over already.
    pub fn cut_short(self: Pin<&mut Self>) -> C::Outcome {
        let mut this = self.project();
        this.wait.set(None);
        if C::GUARDED {
            discard(this.suspended.take());
        } else {
            this.suspended.set(None);
        }
        this.policy.take().expect(OVER).finish()
    }
}

impl<'a, H: ?Sized, T> Course<'a, H, T> {
    #[inline]
    fn new(nodes: &'a [Node<H>]) -> Self {
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
    fn drive<C>(
        &mut self,
        cx: &mut Context<'_>,
        policy: &mut C,
        step: Step<C, C::Wait>,
        span: Option<&Span>,
    ) -> Option<Pause<'a, H, C>>
    where
        C: Combine<H, Yield = T> + 'a,
    {
        match step {
            Step::Next => {}
            Step::Stop => return None,
            Step::Wait(make) => return Some(Pause::Policy(make)),
        }
        if let Some((mut node, mut rest)) = self.rest.split_first() {
            // The way from a node to its hook is a chain of loads: it is gone while the hook
            // before it runs.
            let mut hook = &*node.hook;
            while let Some((following, behind)) = rest.split_first() {
                let next = &*following.hook;
                self.rest = rest;
                if let Break(pause) = self.call(cx, policy, node, hook, false, span) {
                    return pause;
                }
                (node, hook, rest) = (following, next, behind);
            }
            self.rest = rest;
            if let Break(pause) = self.call(cx, policy, node, hook, true, span) {
                return pause;
            }
        }
        if C::CONCURRENT
            && self
                .running
                .as_ref()
                .is_some_and(|running| !running.is_empty())
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
        match step {
            Step::Next | Step::Stop => None,
            Step::Wait(make) => Some(Pause::Policy(make)),
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
        if C::GUARDED || C::CONCURRENT {
            return self.call_guarded(cx, policy, node, hook, last, span);
        }
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

    /// The same for policies that have faults caught, or hooks run side by side. Apart from
    /// it, because what may be caught has to lie in memory.
    #[inline(always)]
    fn call_guarded<C>(
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
        // Taken apart where it is caught: what passes as a whole is written in words, read in
        // one piece, and waited for in between.
        let (mut ready, mut later) = (None, None);
        let started = catch::<H, C, _>(|| match invoke(policy, node, hook, last, span) {
            Answer::Ready(answer) => ready = Some(answer),
            Answer::Later(answer) => later = Some(answer),
        });
        if let Err(fault) = started {
            return go_on(policy.fault(&node.meta, fault));
        }
        if let Some(answer) = ready {
            return go_on(absorb(policy, &node.meta, answer));
        }
        let mut later = later.expect("a hook answers at once, or later");
        match catch::<H, C, _>(|| later.as_mut().poll(cx)) {
            Ok(Poll::Ready(answer)) => go_on(absorb(policy, &node.meta, answer)),
            Ok(Poll::Pending) => self.wait_for(cx, policy, node, later),
            Err(fault) => go_on(policy.fault(&node.meta, fault)),
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
        if let Some(fault) = hook.poll_limit(cx) {
            return go_on(policy.fault(hook.end::<H, C>(), fault));
        }
        if C::CONCURRENT {
            self.running.get_or_default().push(hook);
            Continue(())
        } else {
            Break(Some(Pause::Hook(hook)))
        }
    }

    /// Asks those that run side by side, and absorbs what has been answered.
    fn poll_running<C>(&mut self, cx: &mut Context<'_>, policy: &mut C) -> Poll<Step<C, C::Wait>>
    where
        C: Combine<H, Yield = T>,
    {
        let running = self.running.get_or_default();
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
            Poll::Ready(Step::Next)
        } else {
            Poll::Pending
        }
    }
}

impl<'a, T> Unanswered<'a, T> {
    /// Drops what the hook holds, and says whose it was.
    fn end<H: ?Sized, C: Combine<H, Yield = T>>(self) -> &'a EntryMeta {
        if C::GUARDED {
            discard(self.answer);
        }
        self.entry
    }

    /// Asks the hook; the fault if its time is up.
    fn poll<H: ?Sized, C: Combine<H, Yield = T>>(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, Fault>> {
        match catch::<H, C, _>(|| self.answer.as_mut().poll(cx)) {
            Ok(Poll::Ready(answer)) => return Poll::Ready(Ok(answer)),
            Err(fault) => return Poll::Ready(Err(fault)),
            Ok(Poll::Pending) => {}
        }
        match self.poll_limit(cx) {
            Some(fault) => Poll::Ready(Err(fault)),
            None => Poll::Pending,
        }
    }

    /// The fault, if the hook's time is up.
    fn poll_limit(&mut self, cx: &mut Context<'_>) -> Option<Fault> {
        let limit = self.limit.as_mut()?;
        // A host's timer may round up what is nothing.
        let up = limit.time.is_zero() || limit.up.as_mut().poll(cx).is_ready();
        up.then_some(Fault::Timeout(limit.time))
    }
}

impl Limit {
    fn new(timer: &dyn Timer, time: Duration) -> Self {
        let up = timer.sleep(time);
        Limit { time, up }
    }
}

/// Runs what belongs to a hook; this is where panics are caught.
#[inline(always)]
fn catch<H, C, R>(work: impl FnOnce() -> R) -> Result<R, Fault>
where
    H: ?Sized,
    C: Combine<H>,
{
    if !C::GUARDED {
        return Ok(work());
    }
    // What a policy and a hook hold may be half done: the policy's own methods do not panic,
    // and the hook's state is the hook's affair.
    catch_unwind(AssertUnwindSafe(work)).map_err(Fault::panic)
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
fn take<H, C>(
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

impl<H: ?Sized, C: Combine<H>> fmt::Debug for Dispatch<'_, H, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hooks = self.slot.len();
        let rest = match (&self.policy, self.suspended.as_ref()) {
            (None, _) => 0,
            (Some(_), None) => hooks,
            (Some(_), Some(suspended)) => suspended.course.rest.len(),
        };
        f.debug_struct("Dispatch")
            .field("hooks", &hooks)
            .field("rest", &rest)
            .finish_non_exhaustive()
    }
}
