//! The engine: the one loop over hooks in this workspace.
//!
//! A dispatch is a [`Policy`] policy driven over the entries of a slot. [`Dispatch`] is a
//! future written by hand: its loop goes on while hooks answer at once, and it returns
//! to the executor only when something has to be waited for. So hooks that never wait
//! cost neither a future nor an allocation. Until it has to wait, a dispatch lives in
//! locals: only then is it put away into the future that the executor holds.
//!
//! | Module | Subject |
//! |---|---|
//! | `policy` | [`Policy`], what a dispatch does with its hooks, and [`Step`] |
//! | `course` | the loop: hook after hook, or side by side; failures are caught there |

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::cold_option::ColdOption;
use crate::slot::{Cursor, Node, Slot};
use crate::trace::{self, DispatchSpan};

mod course;
mod policy;

pub use policy::{Policy, Step};

use course::{Course, Pause, Unanswered, drop_held, take};

pin_project! {
    /// A dispatch: lazy, and done with everything the moment it is dropped (`E-42`).
    #[must_use = "a dispatch does nothing unless it is awaited"]
    pub struct Dispatch<'a, H: ?Sized, C: Policy<H>> {
        // What is waited for is dropped before what it was made from.
        //
        // Nothing until the dispatch has to wait.
        suspended: ColdOption<Suspended<'a, H, C::HookOutput>>,
        // What the policy waits for. It does not move once it has been polled.
        #[pin]
        wait: Option<C::Future>,
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

impl<'a, H: ?Sized, C: Policy<H>> Dispatch<'a, H, C> {
    #[inline]
    pub(crate) fn new(slot: &'a Slot<H>, policy: C) -> Self {
        Dispatch {
            suspended: ColdOption::none(),
            wait: None,
            policy: Some(policy),
            slot,
        }
    }
}

const OVER: &str = "a dispatch was polled again after its end";

impl<'a, H: ?Sized, C: Policy<H> + 'a> Future for Dispatch<'a, H, C> {
    type Output = C::Output;

    /// # Panics
    /// If the dispatch is polled again after its end.
    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Output> {
        let this = self.as_mut().project();
        if this.suspended.as_ref().is_some() {
            let flow = self.as_mut().resume(cx);
            return self.end(flow);
        }
        let mut policy = this.policy.take().expect(OVER);
        let nodes = match this.slot.leaf() {
            Some([]) => {
                // Makes no span; and the compiler leaves out the loop.
                let step = policy.before_hooks(0);
                return self.begin(cx, policy, &[], step);
            }
            Some(nodes) if !trace::is_wanted() => nodes,
            _ => {
                let flow = self.as_mut().begin_cold(cx, policy);
                return self.end(flow);
            }
        };
        let step = policy.before_hooks(nodes.len());
        self.begin(cx, policy, nodes, step)
    }
}

impl<'a, H: ?Sized, C: Policy<H> + 'a> Dispatch<'a, H, C> {
    /// The first poll, with the policy in a local.
    #[inline(always)]
    fn begin(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut policy: C,
        nodes: &'a [Node<H>],
        step: Step<C, C::Future>,
    ) -> Poll<C::Output> {
        let mut course = Course::new(Cursor::of_leaf(nodes));
        let wait = self.as_mut().project().wait;
        match course.drive::<C, false>(cx, &mut policy, wait, step, None) {
            None => Poll::Ready(policy.finish()),
            Some(pause) => {
                let span = DispatchSpan::none();
                let flow = self.as_mut().suspend(cx, policy, course, span, pause);
                self.end(flow)
            }
        }
    }

    /// The outcome, once the dispatch is through. What is seldom called leaves the policy where it
    /// belongs, and no outcome behind: that one need not lie in memory then where nobody waits.
    #[inline(always)]
    fn end(self: Pin<&mut Self>, flow: Poll<()>) -> Poll<C::Output> {
        flow.map(|()| self.project().policy.take().expect(OVER).finish())
    }

    /// The first poll of a slot with several leaves, or where spans may be enabled: as
    /// [`begin`](Self::begin), but that it leaves no outcome behind.
    #[cold]
    #[inline(never)]
    fn begin_cold(mut self: Pin<&mut Self>, cx: &mut Context<'_>, mut policy: C) -> Poll<()> {
        let this = self.as_mut().project();
        let hooks = this.slot.len();
        let span = if trace::is_wanted() {
            DispatchSpan::new(policy.slot_name(), hooks)
        } else {
            DispatchSpan::none()
        };
        let step = span.within(|| policy.before_hooks(hooks));
        let mut course = Course::new(this.slot.cursor());
        match course.drive::<C, true>(cx, &mut policy, this.wait, step, span.get()) {
            None => {
                *this.policy = Some(policy);
                Poll::Ready(())
            }
            Some(pause) => self.suspend(cx, policy, course, span, pause),
        }
    }

    /// Puts the dispatch away until what it waits for is there.
    #[cold]
    #[inline(never)]
    fn suspend(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut policy: C,
        course: Course<'a, H, C::HookOutput>,
        span: DispatchSpan,
        pause: Pause<'a, H, C>,
    ) -> Poll<()> {
        let (pending, wait) = match pause {
            Pause::Hook(hook) => (Pending::Hook(hook), None),
            Pause::Hooks => (Pending::Hooks, None),
            Pause::Policy(make) => (Pending::Policy, Some(make(&mut policy))),
            Pause::Asked => (Pending::Policy, None),
        };
        let mut this = self.as_mut().project();
        this.suspended.set(Some(Suspended {
            pending,
            course,
            span,
        }));
        *this.policy = Some(policy);
        if wait.is_some() {
            this.wait.set(wait);
            // Where it lies is where it is polled for the first time.
            return self.resume(cx);
        }
        Poll::Pending
    }

    /// Goes on with what was waited for, as soon as it is there.
    #[inline(never)]
    fn resume(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
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
                    policy.on_future_ready(answer)
                }
                Pending::Nobody => panic!("{OVER}"),
            };
            match course.drive::<C, true>(cx, policy, this.wait.as_mut(), step, span.get()) {
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
                Some(Pause::Asked) => {
                    *pending = Pending::Policy;
                    return Poll::Pending;
                }
            }
        }
        this.wait.set(None);
        this.suspended.set(None);
        Poll::Ready(())
    }

    /// Ends the dispatch where it is: what runs is dropped, nothing more is started, and the
    /// policy is asked for its outcome, without having been told that there are no more hooks.
    ///
    /// # Panics
    /// If the dispatch is over already.
    pub fn finish_early(self: Pin<&mut Self>) -> C::Output {
        let mut this = self.project();
        this.wait.set(None);
        drop_held::<H, C, _>(this.suspended.take());
        this.policy.take().expect(OVER).finish()
    }
}

impl<H: ?Sized, C: Policy<H>> fmt::Debug for Dispatch<'_, H, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hooks = self.slot.len();
        let rest = match (&self.policy, self.suspended.as_ref()) {
            (None, _) => 0,
            (Some(_), None) => hooks,
            (Some(_), Some(suspended)) => suspended.course.rest.count(),
        };
        f.debug_struct("Dispatch")
            .field("hooks", &hooks)
            .field("rest", &rest)
            .finish_non_exhaustive()
    }
}
