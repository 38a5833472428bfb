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
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tracing::Span;

use crate::answer::Answer;
use crate::bounds::BoxFuture;
use crate::entry::EntryMeta;
use crate::parked::Parked;
use crate::slot::{Node, Slot};
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
///     fn slot_name(&self) -> &'static str {
///         "rules"
///     }
///
///     fn invoke<'a>(&mut self, rule: &'a dyn Rule, _last: bool) -> Answer<'a, Option<String>>
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

    /// The name of the slot, for spans.
    fn slot_name(&self) -> &'static str;

    /// Called once, before the first hook, with the number of hooks.
    fn open(&mut self, hooks: usize) -> Step<Self, Self::Wait> {
        let _ = hooks;
        Step::Next
    }

    /// Starts a hook; `last` is true for the final entry of the list.
    fn invoke<'a>(&mut self, hook: &'a H, last: bool) -> Answer<'a, Self::Yield>
    where
        Self: 'a;

    /// Takes the answer of a hook.
    fn absorb(&mut self, entry: &EntryMeta, answer: Self::Yield) -> Step<Self, Self::Wait>;

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
    course: Course<'a, H>,
    span: DispatchSpan,
}

/// Who has not answered yet.
enum Pending<'a, T> {
    Hook(Unanswered<'a, T>),
    Policy,
    /// Nobody: only after a panic.
    Nobody,
}

/// How far a dispatch has come.
struct Course<'a, H: ?Sized> {
    /// The hooks that have not been started.
    rest: &'a [Node<H>],
    /// Whether the policy has been told that there are no more.
    closed: bool,
}

/// A hook that has been started.
struct Unanswered<'a, T> {
    entry: &'a EntryMeta,
    answer: BoxFuture<'a, T>,
}

/// What has to be waited for.
enum Pause<'a, H: ?Sized, C: Combine<H>> {
    Hook(Unanswered<'a, C::Yield>),
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
        course: Course<'a, H>,
        span: DispatchSpan,
        pause: Pause<'a, H, C>,
    ) -> Poll<C::Outcome> {
        let (pending, wait) = match pause {
            Pause::Hook(hook) => (Pending::Hook(hook), None),
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
                    let Poll::Ready(answer) = hook.answer.as_mut().poll(cx) else {
                        *pending = Pending::Hook(hook);
                        return Poll::Pending;
                    };
                    policy.absorb(hook.entry, answer)
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
}

impl<'a, H: ?Sized> Course<'a, H> {
    #[inline]
    fn new(nodes: &'a [Node<H>]) -> Self {
        Course {
            rest: nodes,
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
        C: Combine<H> + 'a,
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
                if let Break(pause) = call(cx, policy, node, hook, false, span) {
                    return pause;
                }
                (node, hook, rest) = (following, next, behind);
            }
            self.rest = rest;
            if let Break(pause) = call(cx, policy, node, hook, true, span) {
                return pause;
            }
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
}

/// Runs one hook, and says whether to go on; if not, what has to be waited for, unless the
/// dispatch is over.
#[inline(always)]
fn call<'a, H, C>(
    cx: &mut Context<'_>,
    policy: &mut C,
    node: &'a Node<H>,
    hook: &'a H,
    last: bool,
    span: Option<&Span>,
) -> ControlFlow<Option<Pause<'a, H, C>>>
where
    H: ?Sized,
    C: Combine<H> + 'a,
{
    let answer = match invoke(policy, node, hook, last, span) {
        Answer::Ready(answer) => answer,
        Answer::Later(mut answer) => match answer.as_mut().poll(cx) {
            Poll::Ready(answer) => answer,
            Poll::Pending => {
                let entry = &*node.meta;
                return Break(Some(Pause::Hook(Unanswered { entry, answer })));
            }
        },
    };
    match policy.absorb(&node.meta, answer) {
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
        return policy.invoke(hook, last);
    };
    let span = trace::hook(dispatch, &node.meta);
    let answer = span.in_scope(|| policy.invoke(hook, last));
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
