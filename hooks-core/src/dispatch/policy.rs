//! What a dispatch does with its hooks.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use crate::entry::EntryMeta;
use crate::failure::Failure;
use crate::hook_future::HookFuture;

/// The policy of one dispatch: how a hook is invoked, how its answer is absorbed,
/// and what comes out at the end. The data live in the policy, so that an early stop
/// loses nothing (`X-5`).
///
/// ```
/// use std::sync::Arc;
///
/// use hooks_core::{HookFuture, Policy, Entry, EntryMeta, Never, Slot, Step};
///
/// /// Looks for something wrong with a text.
/// trait Rule: Send + Sync {
///     fn check<'a>(&'a self, text: &'a str) -> HookFuture<'a, Option<String>>;
/// }
///
/// /// The rules are asked in order; the first that finds something has the last word.
/// struct FirstFinding<'t> {
///     text: &'t str,
///     finding: Option<String>,
/// }
///
/// impl Policy<dyn Rule> for FirstFinding<'_> {
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
///         rule: &'a dyn Rule,
///         _last: bool,
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
///     fn on_future_ready(&mut self, _: ()) -> Step<Self, Never<()>> {
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
    /// What one hook answers.
    type HookOutput;
    /// What the whole dispatch answers.
    type Output;
    /// The policy's own asynchronous work; [`Never`](crate::Never) where it has none.
    type Future: Future;

    /// Whether panics and timeouts of hooks are handed to [`failure`](Self::on_failure). If not, a
    /// panic goes on to the caller, and nothing is timed.
    ///
    /// Under `panic = "abort"`, and on wasm, a panic ends the process whatever stands here.
    const CATCH_FAILURES: bool = false;
    /// Whether a hook is started without waiting for the one before it. Answers are then
    /// absorbed as they come.
    const CONCURRENT: bool = false;
    /// Whether what the policy waits for is mostly there at once. It is then asked for where the
    /// loop is, and the dispatch is put away only if it has to wait indeed. No outcome depends on
    /// it, only what is compiled; and what has been waited for may be kept until the policy waits
    /// for something else, or the dispatch is dropped.
    #[doc(hidden)]
    const __POLL_FUTURE_INLINE: bool = false;

    /// The name of the slot, for spans.
    fn slot_name(&self) -> &str;

    /// Called once, before the first hook, with the number of hooks.
    fn before_hooks(&mut self, hooks: usize) -> Step<Self, Self::Future> {
        let _ = hooks;
        Step::Next
    }

    /// Starts a hook; `last` is true for the final entry of the list.
    fn invoke<'a>(
        &mut self,
        entry: &'a EntryMeta,
        hook: &'a H,
        last: bool,
    ) -> HookFuture<'a, Self::HookOutput>
    where
        Self: 'a;

    /// Takes the answer of a hook.
    fn on_output(
        &mut self,
        entry: &EntryMeta,
        answer: Self::HookOutput,
    ) -> Step<Self, Self::Future>;

    /// Tells an answer that is one from one that says what went wrong, where the policy is
    /// [`CATCH_FAILURES`](Self::CATCH_FAILURES).
    ///
    /// # Errors
    /// With what went wrong, which [`failure`](Self::on_failure) is then given (`X-2`).
    #[inline(always)]
    fn validate_output(&mut self, answer: Self::HookOutput) -> Result<Self::HookOutput, Failure> {
        Ok(answer)
    }

    /// Takes what went wrong in a hook, where the policy is [`CATCH_FAILURES`](Self::CATCH_FAILURES) (`X-2`).
    ///
    /// # Panics
    /// As long as it is not implemented: a guarded policy has to say what a failure means. The
    /// others are not told of any.
    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Self::Future> {
        unreachable!("`{}` {failure}, which no policy asked for", entry.name())
    }

    /// The time that one call of a hook may take, where the policy is
    /// [`CATCH_FAILURES`](Self::CATCH_FAILURES) and the slot has a timer.
    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        entry.timeout()
    }

    /// Called once after the last hook, unless something stopped the dispatch before.
    fn after_hooks(&mut self) -> Step<Self, Self::Future> {
        Step::Stop
    }

    /// Takes the answer of what the policy waited for.
    fn on_future_ready(
        &mut self,
        answer: <Self::Future as Future>::Output,
    ) -> Step<Self, Self::Future>;

    /// The outcome, whether all hooks ran or something stopped the dispatch.
    fn finish(self) -> Self::Output;
}

/// What a policy `C` wants next (`X-4`).
pub enum Step<C, W> {
    /// The next hook, if there is one.
    Next,
    /// Nothing more.
    Stop,
    /// To wait for the future that this function makes; its answer goes to
    /// [`Policy::on_future_ready`]. It is made where it is to stay.
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
