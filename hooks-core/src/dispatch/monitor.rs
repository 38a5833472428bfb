//! The one decorator of policies: it runs the hooks by another policy, and tells a [`Monitor`] of each.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use super::policy::{Policy, Step};
use crate::entry::EntryMeta;
use crate::failure::Failure;
use crate::hook_future::HookFuture;

/// Receives what happens to each hook of a dispatch, and changes nothing: it records statuses, or
/// counts failures.
///
/// [`Monitored`] calls it. Each method does nothing by default.
///
/// ```
/// use std::sync::Arc;
///
/// use hooks_core::dispatch::{Decision, Monitor, Monitored};
/// use hooks_core::{Entry, EntryMeta, HookFuture, Never, Policy, Slot, Step};
///
/// /// Runs all functions.
/// struct All;
///
/// impl Policy<fn()> for All {
///     type HookOutput = ();
///     type Output = ();
///     type Future = Never<()>;
///
///     fn slot_name(&self) -> &str {
///         "all"
///     }
///
///     fn invoke<'a>(&mut self, _: &'a EntryMeta, hook: &'a fn(), _: bool) -> HookFuture<'a, ()>
///     where
///         Self: 'a,
///     {
///         HookFuture::Ready(hook())
///     }
///
///     fn on_output(&mut self, _: &EntryMeta, (): ()) -> Step<Self, Never<()>> {
///         Step::Next
///     }
///
///     fn finish(self) {}
/// }
///
/// /// The names of the hooks that completed.
/// #[derive(Default)]
/// struct Names(Vec<String>);
///
/// impl Monitor for Names {
///     type Output = Vec<String>;
///
///     fn completed(&mut self, entry: &EntryMeta) {
///         self.0.push(entry.name().into_owned());
///     }
///
///     fn finish(self) -> Vec<String> {
///         self.0
///     }
/// }
///
/// let mut slot: Slot<fn()> = Slot::new();
/// slot.insert(Entry::new(Arc::new((|| {}) as fn())).name("first"));
/// # fn block_on<T>(f: impl Future<Output = T>) -> T {
/// #     let mut f = std::pin::pin!(f);
/// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
/// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
/// # }
/// let ((), names) = block_on(slot.dispatch(Monitored::new(All, Names::default())));
/// assert_eq!(names, ["first"]);
/// ```
pub trait Monitor {
    /// The result of the monitor.
    type Output;

    /// Called for each enabled conditional hook, before the first hook starts.
    fn selected(&mut self, entry: &EntryMeta, is_admitted: bool) {
        let _ = (entry, is_admitted);
    }

    /// Called once, after the hooks were selected.
    fn begin(&mut self) {}

    /// Called before a hook starts.
    fn started(&mut self, entry: &EntryMeta) {
        let _ = entry;
    }

    /// Called with the registration of a hook whose output is valid, before the policy receives the
    /// output.
    fn completed(&mut self, entry: &EntryMeta) {
        let _ = entry;
    }

    /// Called with a failure, before the policy receives it.
    fn failed(&mut self, entry: &EntryMeta, failure: &Failure) {
        let _ = (entry, failure);
    }

    /// Called with what the policy decided after an output or a failure of a hook, or, with `None`,
    /// after its own future.
    fn decided(&mut self, entry: Option<&EntryMeta>, decision: Decision) {
        let _ = (entry, decision);
    }

    /// Called after the last hook, unless the dispatch was stopped before.
    fn end(&mut self) {}

    /// Returns the result.
    fn finish(self) -> Self::Output;
}

/// The decision of a policy: a [`Step`] without its future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The next hook starts.
    Next,
    /// The dispatch ends.
    Stop,
    /// The dispatch waits for the policy's future.
    Wait,
}

impl<P, F> Step<P, F> {
    fn decision(&self) -> Decision {
        match self {
            Step::Next => Decision::Next,
            Step::Stop => Decision::Stop,
            Step::Wait(_) => Decision::Wait,
        }
    }
}

/// A policy that has the effect of another policy, and tells a [`Monitor`] of each hook. Its output
/// is the pair of their outputs.
///
/// `F` is the [future](Policy::Future) of the policy.
// `F`, because a type with that of the hooks is not `Send` in a future that borrows the hooks.
pub struct Monitored<P, F, M> {
    policy: P,
    monitor: M,
    create_future: Option<fn(&mut P) -> F>,
}

impl<P, F, M> fmt::Debug for Monitored<P, F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitored").finish_non_exhaustive()
    }
}

impl<P, F, M> Monitored<P, F, M> {
    /// Creates a policy from another one and its monitor.
    pub fn new(policy: P, monitor: M) -> Self {
        Monitored {
            policy,
            monitor,
            create_future: None,
        }
    }

    fn forward(&mut self, step: Step<P, F>) -> Step<Self, F> {
        match step {
            Step::Next => Step::Next,
            Step::Stop => Step::Stop,
            Step::Wait(create) => {
                self.create_future = Some(create);
                Step::Wait(|monitored: &mut Self| {
                    let create = monitored.create_future.take();
                    create.expect("a future was requested")(&mut monitored.policy)
                })
            }
        }
    }
}

impl<H: ?Sized, P, F, M> Policy<H> for Monitored<P, F, M>
where
    P: Policy<H, Future = F>,
    F: Future,
    M: Monitor,
{
    type HookOutput = P::HookOutput;
    type Output = (P::Output, M::Output);
    type Future = F;

    const CATCH_FAILURES: bool = P::CATCH_FAILURES;
    const CONCURRENT: bool = P::CONCURRENT;
    const __POLL_FUTURE_INLINE: bool = P::__POLL_FUTURE_INLINE;

    fn slot_name(&self) -> &str {
        self.policy.slot_name()
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &H) -> bool {
        let is_admitted = self.policy.admits(entry, hook);
        self.monitor.selected(entry, is_admitted);
        is_admitted
    }

    fn before_hooks(&mut self, hooks: usize) -> Step<Self, F> {
        self.monitor.begin();
        let step = self.policy.before_hooks(hooks);
        self.forward(step)
    }

    fn invoke<'a>(
        &mut self,
        entry: &'a EntryMeta,
        hook: &'a H,
        is_final: bool,
    ) -> HookFuture<'a, P::HookOutput>
    where
        Self: 'a,
    {
        self.monitor.started(entry);
        self.policy.invoke(entry, hook, is_final)
    }

    fn on_output(&mut self, entry: &EntryMeta, output: P::HookOutput) -> Step<Self, F> {
        self.monitor.completed(entry);
        let step = self.policy.on_output(entry, output);
        self.monitor.decided(Some(entry), step.decision());
        self.forward(step)
    }

    fn validate_output(&mut self, output: P::HookOutput) -> Result<P::HookOutput, Failure> {
        self.policy.validate_output(output)
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, F> {
        self.monitor.failed(entry, &failure);
        let step = self.policy.on_failure(entry, failure);
        self.monitor.decided(Some(entry), step.decision());
        self.forward(step)
    }

    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        self.policy.timeout(entry)
    }

    fn after_hooks(&mut self) -> Step<Self, F> {
        self.monitor.end();
        let step = self.policy.after_hooks();
        self.forward(step)
    }

    fn on_future_ready(&mut self, output: F::Output) -> Step<Self, F> {
        let step = self.policy.on_future_ready(output);
        self.monitor.decided(None, step.decision());
        self.forward(step)
    }

    fn finish(self) -> Self::Output {
        (self.policy.finish(), self.monitor.finish())
    }
}
