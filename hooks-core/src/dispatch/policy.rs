//! What a dispatch does with its hooks.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use crate::answer::Answer;
use crate::entry::EntryMeta;
use crate::fault::Fault;

/// The policy of one dispatch: how a hook is invoked, how its answer is absorbed,
/// and what comes out at the end. The data live in the policy, so that an early stop
/// loses nothing (`X-5`).
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
    /// Whether what the policy waits for is mostly there at once. It is then asked for where the
    /// loop is, and the dispatch is put away only if it has to wait indeed. No outcome depends on
    /// it, only what is compiled; and what has been waited for may be kept until the policy waits
    /// for something else, or the dispatch is dropped.
    const BRIEF: bool = false;

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
    ///
    /// # Errors
    /// With what went wrong, which [`fault`](Self::fault) is then given (`X-2`).
    #[inline(always)]
    fn check(&mut self, answer: Self::Yield) -> Result<Self::Yield, Fault> {
        Ok(answer)
    }

    /// Takes what went wrong in a hook, where the policy is [`GUARDED`](Self::GUARDED) (`X-2`).
    ///
    /// # Panics
    /// As long as it is not implemented: a guarded policy has to say what a fault means. The
    /// others are not told of any.
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

/// What a policy `C` wants next (`X-4`).
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
