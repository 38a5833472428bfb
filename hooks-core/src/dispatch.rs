//! The engine: the one loop over hooks in this workspace.
//!
//! A dispatch runs the hooks of a [`Slot`] by the rules of a [`Policy`]. [`Dispatch`] is a
//! hand-written future: it starts one hook after the other as long as they complete at once, and
//! suspends only if a hook or the policy is pending. Hooks that never suspend cost neither a future
//! nor an allocation. Until a dispatch suspends, its policy is a local variable of `poll`; then it
//! moves into the future that the executor holds.
//!
//! | Module | Content |
//! |---|---|
//! | `policy` | [`Policy`], the rules of a dispatch, and [`Step`] |
//! | `driver` | the loop: runs hooks in sequence or concurrently, and catches failures |
//! | `monitor` | [`Monitored`], the one decorator of policies, and its [`Monitor`] |

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tracing::Span;

use crate::cold_option::ColdOption;
use crate::failure::drop_catching_panic;
use crate::run_now;
use crate::slot::{Cursor, Node, Slot};
use crate::trace::{self, DispatchSpan};

mod driver;
mod monitor;
mod policy;

pub use monitor::{Decision, Monitor, Monitored};
pub use policy::{Policy, Step};

use driver::{Driver, Progress, Waiting};

impl<H: ?Sized> Slot<H> {
    /// Returns a future that runs the hooks by this policy. Nothing runs before the first poll,
    /// and nothing more once the future is dropped.
    #[inline]
    pub fn dispatch<'a, P: Policy<H>>(&'a self, policy: P) -> Dispatch<'a, H, P> {
        Dispatch {
            suspended: ColdOption::none(),
            future: None,
            policy: Some(policy),
            slot: self,
        }
    }
}

pin_project! {
    /// Future returned by [`Slot::dispatch`]. Dropping it drops the pending hooks.
    #[must_use = "a dispatch does nothing unless it is awaited"]
    pub struct Dispatch<'a, H: ?Sized, P: Policy<H>> {
        // Field order matters: pending hooks may borrow from the policy's data, so they are
        // dropped first.
        //
        // `None` until the dispatch suspends.
        suspended: ColdOption<Suspended<'a, H, P>>,
        // The policy's own future, once the policy has requested one.
        #[pin]
        future: Option<P::Future>,
        // `None` while a poll has it as a local variable, and after completion.
        policy: Option<P>,
        slot: &'a Slot<H>,
    }
}

/// State of a suspended dispatch.
struct Suspended<'a, H: ?Sized, P: Policy<H>> {
    /// `None` if a poll panicked.
    waiting: Option<Waiting<'a, H, P>>,
    progress: Progress<'a, H, P::HookOutput>,
    span: DispatchSpan,
}

const POLLED_AFTER_COMPLETION: &str = "a dispatch was polled after its completion";

impl<'a, H: ?Sized, P: Policy<H> + 'a> Future for Dispatch<'a, H, P> {
    type Output = P::Output;

    /// # Panics
    /// If the dispatch is polled after its completion.
    // Inlined with `start` and `complete`: `always/0` −38 %, `own_chain/4` −3 % instructions.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<P::Output> {
        let this = self.as_mut().project();
        if this.suspended.as_ref().is_some() {
            let polled = self.as_mut().resume(cx);
            return self.complete(polled);
        }
        let mut policy = this.policy.take().expect(POLLED_AFTER_COMPLETION);
        let nodes = match this.slot.leaf() {
            Some([]) => {
                // An empty slot has no span, and the compiler removes the loop.
                let step = policy.before_hooks(0);
                return self.start(cx, policy, &[], step);
            }
            Some(nodes) if !trace::is_wanted() => nodes,
            _ => {
                let polled = self.as_mut().start_cold(cx, policy);
                return self.complete(polled);
            }
        };
        let step = policy.before_hooks(nodes.len());
        self.start(cx, policy, nodes, step)
    }
}

impl<'a, H: ?Sized, P: Policy<H> + 'a> Dispatch<'a, H, P> {
    /// Performs the first poll. The policy is a local variable.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn start(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut policy: P,
        nodes: &'a [Node<H>],
        step: Step<P, P::Future>,
    ) -> Poll<P::Output> {
        let mut progress = Progress::new(Cursor::of_leaf(nodes));
        let mut driver = Driver::<H, P, false> {
            policy: &mut policy,
            future: self.as_mut().project().future,
            progress: &mut progress,
            span: None,
        };
        match driver.run(cx, step) {
            None => Poll::Ready(policy.finish()),
            Some(waiting) => {
                let span = DispatchSpan::none();
                let polled = self.as_mut().suspend(cx, policy, progress, span, waiting);
                self.complete(polled)
            }
        }
    }

    /// Returns the output if the dispatch is complete.
    ///
    /// `start_cold`, `suspend` and `resume` are seldom called, and not inlined: `own_chain/4` −2 %
    /// instructions. They return `Poll<()>` and leave the policy in its field, so that the output of
    /// an untraced dispatch that does not suspend stays in registers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn complete(self: Pin<&mut Self>, polled: Poll<()>) -> Poll<P::Output> {
        polled.map(|()| {
            let policy = self.project().policy.take();
            policy.expect(POLLED_AFTER_COMPLETION).finish()
        })
    }

    /// Performs the first poll of a slot with several leaves or conditions, or with a subscriber that
    /// may record spans.
    #[cold]
    #[inline(never)]
    fn start_cold(mut self: Pin<&mut Self>, cx: &mut Context<'_>, mut policy: P) -> Poll<()> {
        let this = self.as_mut().project();
        let admits = |node: &Node<H>| policy.admits(&node.meta, &node.hook);
        let (hooks, mut progress) = match this.slot.select(admits) {
            None => (this.slot.enabled_len(), Progress::new(this.slot.cursor())),
            Some(selected) => (selected.len(), Progress::of_selected(selected)),
        };
        let span = if trace::is_wanted() {
            DispatchSpan::new(policy.slot_name(), hooks)
        } else {
            DispatchSpan::none()
        };
        let entered = span.get().map(Span::enter);
        let step = policy.before_hooks(hooks);
        drop(entered);
        let mut driver = Driver::<H, P, true> {
            policy: &mut policy,
            future: this.future,
            progress: &mut progress,
            span: span.get(),
        };
        match driver.run(cx, step) {
            None => {
                *this.policy = Some(policy);
                Poll::Ready(())
            }
            Some(waiting) => self.suspend(cx, policy, progress, span, waiting),
        }
    }

    /// Stores the dispatch until its pending futures are ready.
    #[cold]
    #[inline(never)]
    fn suspend(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        policy: P,
        progress: Progress<'a, H, P::HookOutput>,
        span: DispatchSpan,
        waiting: Waiting<'a, H, P>,
    ) -> Poll<()> {
        let is_new = matches!(waiting, Waiting::NewPolicyFuture(_));
        if !is_new {
            run_now::note(|| waiting.name(policy.slot_name(), &progress));
        }
        let this = self.as_mut().project();
        *this.policy = Some(policy);
        this.suspended.set(Some(Suspended {
            waiting: Some(waiting),
            progress,
            span,
        }));
        if is_new {
            return self.resume(cx);
        }
        Poll::Pending
    }

    /// Polls the pending futures of a suspended dispatch, and continues once they are ready.
    #[inline(never)]
    fn resume(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let suspended = this.suspended.as_mut().expect(POLLED_AFTER_COMPLETION);
        let mut driver = Driver::<H, P, true> {
            policy: this.policy.as_mut().expect(POLLED_AFTER_COMPLETION),
            future: this.future.as_mut(),
            progress: &mut suspended.progress,
            span: suspended.span.get(),
        };
        // A future that panics is not polled again: `waiting` is `None` then.
        let mut waiting = suspended.waiting.take().expect(POLLED_AFTER_COMPLETION);
        loop {
            let is_polled = match driver.poll(cx, waiting) {
                Err(pending) => {
                    waiting = pending;
                    true
                }
                Ok(step) => match driver.run(cx, step) {
                    None => break,
                    Some(next) => {
                        waiting = next;
                        matches!(waiting, Waiting::Hook(_) | Waiting::PolicyFuture)
                    }
                },
            };
            if is_polled {
                run_now::note(|| waiting.name(driver.policy.slot_name(), driver.progress));
                suspended.waiting = Some(waiting);
                return Poll::Pending;
            }
        }
        this.future.set(None);
        this.suspended.set(None);
        Poll::Ready(())
    }

    /// Ends the dispatch: drops the pending hooks, starts no others, and returns the policy's
    /// output without a call of [`Policy::after_hooks`].
    ///
    /// # Panics
    /// If the dispatch is complete.
    pub fn finish_early(self: Pin<&mut Self>) -> P::Output {
        let mut this = self.project();
        this.future.set(None);
        let suspended = this.suspended.take();
        if P::CATCH_FAILURES {
            drop_catching_panic(suspended);
        } else {
            drop(suspended);
        }
        let policy = this.policy.take();
        policy.expect(POLLED_AFTER_COMPLETION).finish()
    }
}

impl<H: ?Sized, P: Policy<H>> fmt::Debug for Dispatch<'_, H, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hooks = self.slot.len();
        let remaining = match (&self.policy, self.suspended.as_ref()) {
            (None, _) => 0,
            (Some(_), None) => hooks,
            (Some(_), Some(suspended)) => suspended.progress.remaining(),
        };
        f.debug_struct("Dispatch")
            .field("hooks", &hooks)
            .field("remaining", &remaining)
            .finish_non_exhaustive()
    }
}
