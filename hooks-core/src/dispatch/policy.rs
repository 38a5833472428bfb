//! The rules of a dispatch.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use crate::entry::EntryMeta;
use crate::failure::Failure;
use crate::hook_future::HookFuture;

/// The rules of one dispatch: how a hook is started, what its output means, and what the result of
/// the dispatch is.
///
/// The data of the dispatch are stored in the policy, so that an early stop loses nothing.
///
/// ```
/// use std::sync::Arc;
///
/// use hooks_core::{HookFuture, Policy, Entry, EntryMeta, Never, Slot, Step};
///
/// /// Checks a text.
/// trait Rule: Send + Sync {
///     fn check<'a>(&'a self, text: &'a str) -> HookFuture<'a, Option<String>>;
/// }
///
/// /// Runs the rules in order, up to the first finding.
/// struct FirstFinding<'t> {
///     text: &'t str,
///     finding: Option<String>,
/// }
///
/// // With a lifetime of its own: a future of `impl Policy<dyn Rule>` is not `Send` in generic code.
/// impl<'h> Policy<dyn Rule + 'h> for FirstFinding<'_> {
///     type HookOutput = Option<String>;
///     type Output = Option<String>;
///     type Future = Never<()>;
///
///     fn slot_name(&self) -> &str {
///         "rules"
///     }
///
///     fn invoke<'a>(
///         &mut self,
///         _: &'a EntryMeta,
///         rule: &'a (dyn Rule + 'h),
///         _is_final: bool,
///     ) -> HookFuture<'a, Option<String>>
///     where
///         Self: 'a,
///     {
///         rule.check(self.text)
///     }
///
///     fn on_output(&mut self, _: &EntryMeta, finding: Option<String>) -> Step<Self, Never<()>> {
///         self.finding = finding;
///         if self.finding.is_some() { Step::Stop } else { Step::Next }
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
///     fn check<'a>(&'a self, text: &'a str) -> HookFuture<'a, Option<String>> {
///         HookFuture::Ready(text.contains('\t').then(|| "a tab".to_owned()))
///     }
/// }
///
/// struct NoSecrets;
///
/// impl Rule for NoSecrets {
///     fn check<'a>(&'a self, text: &'a str) -> HookFuture<'a, Option<String>> {
///         HookFuture::boxed(async move { text.contains("sk-").then(|| "a key".to_owned()) })
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
pub trait Policy<H: ?Sized>: Sized {
    /// The output of one hook.
    type HookOutput;
    /// The result of the dispatch.
    type Output;
    /// The policy's own asynchronous work; [`Never`](crate::Never) if it has none.
    type Future: Future;

    /// If `true`, panics and timeouts of hooks are passed to [`on_failure`](Self::on_failure).
    /// Otherwise a panic propagates to the caller, and hooks have no timeout.
    ///
    /// Under `panic = "abort"` and on wasm a panic ends the process in either case.
    const CATCH_FAILURES: bool = false;
    /// If `true`, a hook starts before the previous hook has completed, and outputs are delivered
    /// in the order in which the hooks complete.
    const CONCURRENT: bool = false;
    /// If `true`, the policy's future is polled as soon as it is created. No result depends on it:
    /// if the future is mostly ready, the dispatch need not be stored and resumed. A completed
    /// future is then dropped with the dispatch, or when the policy requests the next one.
    #[doc(hidden)]
    const __POLL_FUTURE_INLINE: bool = false;

    /// Returns the name of the slot, for spans.
    fn slot_name(&self) -> &str;

    /// Returns `true` if a conditional entry takes part in this dispatch. Called once for each
    /// enabled [conditional](EntryMeta::is_conditional) entry, before
    /// [`before_hooks`](Self::before_hooks). A panic propagates to the caller.
    fn admits(&mut self, entry: &EntryMeta, hook: &H) -> bool {
        let _ = (entry, hook);
        true
    }

    /// Called once before the first hook, with the number of hooks.
    fn before_hooks(&mut self, hooks: usize) -> Step<Self, Self::Future> {
        let _ = hooks;
        Step::Next
    }

    /// Starts a hook. `is_final` is true for the last entry of the slot.
    fn invoke<'a>(
        &mut self,
        entry: &'a EntryMeta,
        hook: &'a H,
        is_final: bool,
    ) -> HookFuture<'a, Self::HookOutput>
    where
        Self: 'a;

    /// Called with the output of each hook.
    fn on_output(
        &mut self,
        entry: &EntryMeta,
        output: Self::HookOutput,
    ) -> Step<Self, Self::Future>;

    /// Checks an output before [`on_output`](Self::on_output), if the policy has
    /// [`CATCH_FAILURES`](Self::CATCH_FAILURES).
    ///
    /// # Errors
    /// If the output is a failure, which [`on_failure`](Self::on_failure) then receives.
    fn validate_output(&mut self, output: Self::HookOutput) -> Result<Self::HookOutput, Failure> {
        Ok(output)
    }

    /// Called with the failure of a hook, if the policy has
    /// [`CATCH_FAILURES`](Self::CATCH_FAILURES).
    ///
    /// # Panics
    /// If it is not implemented. A policy that catches failures has to implement it.
    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Self::Future> {
        unreachable!(
            "`{}` {failure}, which the policy does not handle",
            entry.name()
        )
    }

    /// Returns the timeout of one call of a hook. Applies if the policy has
    /// [`CATCH_FAILURES`](Self::CATCH_FAILURES) and the slot has a timer.
    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        entry.timeout()
    }

    /// Called once after the last hook, unless the dispatch was stopped before.
    fn after_hooks(&mut self) -> Step<Self, Self::Future> {
        Step::Stop
    }

    /// Called with the output of the policy's future. Starts the next hook by default.
    fn on_future_ready(
        &mut self,
        output: <Self::Future as Future>::Output,
    ) -> Step<Self, Self::Future> {
        let _ = output;
        Step::Next
    }

    /// Returns the result, whether all hooks ran or the dispatch was stopped.
    fn finish(self) -> Self::Output;
}

/// The next step of a dispatch, as a policy `P` with the future `F` decides.
pub enum Step<P, F> {
    /// Starts the next hook, if there is one.
    Next,
    /// Ends the dispatch.
    Stop,
    /// Waits for the future that this function creates, then calls [`Policy::on_future_ready`].
    Wait(fn(&mut P) -> F),
}

impl<P, F> fmt::Debug for Step<P, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Next => "Next",
            Step::Stop => "Stop",
            Step::Wait(_) => "Wait",
        })
    }
}
