//! One workload in three forms: through the framework, through `async_trait` objects, and written
//! by hand as static calls (the limit).

use std::ops::ControlFlow;

use hooks_core::{Next, ShortCircuit, hooks, impl_hook, impl_hooks};

use crate::workload::{Word, default};

pub(crate) type Verdict = Result<(), String>;

/// Keeps the first refusal.
#[derive(Default)]
pub(crate) struct FirstRefusal;

impl hooks_core::Aggregate<Verdict> for FirstRefusal {
    async fn call(&self, verdicts: Vec<Verdict>) -> Verdict {
        verdicts.into_iter().collect()
    }
}

/// Stops on the first refusal, as an application would write it.
#[derive(Default)]
pub(crate) struct UntilRefusal;

impl hooks_core::Chain<Verdict> for UntilRefusal {
    async fn call(&self, verdict: &Verdict) -> ControlFlow<()> {
        match verdict {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

#[hooks]
pub(crate) trait Bench {
    #[hook(always)]
    async fn always(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(fallback)]
    async fn fallback(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(always, chain = ShortCircuit<(), String>)]
    async fn chain(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(always, chain = UntilRefusal)]
    async fn own_chain(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(singleton)]
    async fn singleton(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(always, aggregate = FirstRefusal)]
    async fn aggregate(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(always)]
    async fn owned(prompt: String) -> Verdict {
        default(&prompt)
    }
}

/// Slots with options, and hooks of entries with options.
#[hooks]
pub(crate) trait OptionBench {
    #[hook(always, around)]
    async fn enclosed(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(always, aggregate = FirstRefusal, concurrent)]
    async fn joined(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(always, chain = ShortCircuit<(), String>)]
    async fn arranged(prompt: &str) -> Verdict {
        default(prompt)
    }
}

#[impl_hook(Enclosed)]
pub(crate) async fn enclosed_function(prompt: &str, last: Option<Verdict>) -> Verdict {
    last.unwrap_or(Ok(()))?;
    Word::FIRST.check(prompt)
}

#[impl_hook(Joined)]
pub(crate) async fn joined_function(prompt: &str) -> Verdict {
    Word::FIRST.check(prompt)
}

#[impl_hook(Arranged)]
pub(crate) async fn arranged_function(prompt: &str) -> Verdict {
    Word::FIRST.check(prompt)
}

/// An around hook that checks the prompt before the rest.
pub(crate) async fn around(prompt: &str, next: Next<'_, dyn Enclosed>) -> Verdict {
    Word::FIRST.check(prompt)?;
    next.call((prompt,)).await
}

/// A hook of every slot whose bodies contain no `.await`.
pub(crate) struct Ready(pub(crate) Word);

#[impl_hooks(BenchSet)]
impl Bench for Ready {
    async fn always(&self, prompt: &str, last: Option<Verdict>) -> Verdict {
        last.unwrap_or(Ok(()))?;
        self.0.check(prompt)
    }

    async fn fallback(&self, prompt: &str, last: Option<Verdict>) -> Verdict {
        last.unwrap_or(Ok(()))?;
        self.0.check(prompt)
    }

    async fn chain(&self, prompt: &str) -> Verdict {
        self.0.check(prompt)
    }

    async fn own_chain(&self, prompt: &str) -> Verdict {
        self.0.check(prompt)
    }

    async fn singleton(&self, prompt: &str) -> Verdict {
        self.0.check(prompt)
    }

    async fn aggregate(&self, prompt: &str) -> Verdict {
        self.0.check(prompt)
    }
}

/// As above, with an `.await` in every body.
pub(crate) struct Waiting(pub(crate) Word);

#[impl_hooks(BenchSet)]
impl Bench for Waiting {
    async fn always(&self, prompt: &str, last: Option<Verdict>) -> Verdict {
        std::future::ready(()).await;
        last.unwrap_or(Ok(()))?;
        self.0.check(prompt)
    }

    async fn chain(&self, prompt: &str) -> Verdict {
        std::future::ready(()).await;
        self.0.check(prompt)
    }
}

/// A prompt that hooks change.
pub(crate) struct Draft {
    pub(crate) prompt: &'static str,
    pub(crate) checks: usize,
}

/// A slot whose hooks change a value.
#[hooks]
pub(crate) trait MutableBench {
    #[hook(always, chain = ShortCircuit<(), String>)]
    async fn mutable(draft: &mut Draft) -> Verdict {
        draft.checks += 1;
        default(draft.prompt)
    }

    #[hook(always, sync, chain = ShortCircuit<(), String>)]
    fn synchronous(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(waterfall)]
    async fn waterfall(draft: Draft) -> Result<Draft, String> {
        default(draft.prompt)?;
        Ok(draft)
    }
}

/// A hook of this slot.
pub(crate) struct Changing(pub(crate) Word);

#[impl_hooks(MutableBenchSet)]
impl MutableBench for Changing {
    async fn mutable(&self, draft: &mut Draft) -> Verdict {
        draft.checks += 1;
        self.0.check(draft.prompt)
    }

    fn synchronous(&self, prompt: &str) -> Verdict {
        self.0.check(prompt)
    }

    async fn waterfall(&self, mut draft: Draft) -> Result<Draft, String> {
        draft.checks += 1;
        self.0.check(draft.prompt)?;
        Ok(draft)
    }
}

/// Static calls, inlined, without a future.
pub(crate) fn limit_synchronous<const N: usize>(hooks: &[Word; N], prompt: &str) -> Verdict {
    default(prompt)?;
    for hook in hooks {
        hook.check(prompt)?;
    }
    Ok(())
}

/// Static calls that move a value, inlined.
pub(crate) async fn limit_waterfall<const N: usize>(
    hooks: &[Word; N],
    mut draft: Draft,
) -> Result<Draft, String> {
    for hook in hooks {
        draft.checks += 1;
        hook.check(draft.prompt)?;
    }
    default(draft.prompt)?;
    Ok(draft)
}

/// Static calls that change a value, inlined.
pub(crate) async fn limit_mutable<const N: usize>(hooks: &[Word; N], draft: &mut Draft) -> Verdict {
    draft.checks += 1;
    default(draft.prompt)?;
    for hook in hooks {
        draft.checks += 1;
        hook.check(draft.prompt)?;
    }
    Ok(())
}

/// A function as a hook of a slot that passes a reference.
#[impl_hook(Always)]
pub(crate) async fn borrowing_function(prompt: &str, last: Option<Verdict>) -> Verdict {
    last.unwrap_or(Ok(()))?;
    Word::FIRST.check(prompt)
}

/// A function as a hook of a slot that passes a `String`.
#[impl_hook(Owned)]
pub(crate) async fn owning_function(prompt: String, last: Option<Verdict>) -> Verdict {
    last.unwrap_or(Ok(()))?;
    Word::FIRST.check(&prompt)
}

/// As above, as trait objects.
#[async_trait::async_trait]
pub(crate) trait Boxed: Send + Sync {
    async fn always(&self, prompt: &str, last: Option<Verdict>) -> Verdict;
    async fn chain(&self, prompt: &str) -> Verdict;
}

pub(crate) struct BoxedWaiting(pub(crate) Word);

#[async_trait::async_trait]
impl Boxed for BoxedWaiting {
    async fn always(&self, prompt: &str, last: Option<Verdict>) -> Verdict {
        std::future::ready(()).await;
        last.unwrap_or(Ok(()))?;
        self.0.check(prompt)
    }

    async fn chain(&self, prompt: &str) -> Verdict {
        std::future::ready(()).await;
        self.0.check(prompt)
    }
}

pub(crate) async fn boxed_always(hooks: &[Box<dyn Boxed>], prompt: &str) -> Verdict {
    let mut last = default(prompt);
    for hook in hooks {
        last = hook.always(prompt, Some(last)).await;
    }
    last
}

pub(crate) async fn boxed_chain(hooks: &[Box<dyn Boxed>], prompt: &str) -> Verdict {
    default(prompt)?;
    for hook in hooks {
        hook.chain(prompt).await?;
    }
    Ok(())
}

/// As above, as trait objects whose methods are not async: the cost of a list of hooks without any
/// framework.
pub(crate) trait Plain: Send + Sync {
    fn always(&self, prompt: &str, last: Option<Verdict>) -> Verdict;
}

impl Plain for Word {
    fn always(&self, prompt: &str, last: Option<Verdict>) -> Verdict {
        last.unwrap_or(Ok(()))?;
        self.check(prompt)
    }
}

pub(crate) async fn plain_always(hooks: &[Box<dyn Plain>], prompt: &str) -> Verdict {
    let mut last = default(prompt);
    for hook in hooks {
        last = hook.always(prompt, Some(last));
    }
    last
}

/// Static calls, inlined.
pub(crate) async fn limit_always<const N: usize>(hooks: &[Word; N], prompt: &str) -> Verdict {
    let mut last = default(prompt);
    for hook in hooks {
        last = match last {
            Ok(()) => hook.check(prompt),
            refusal => refusal,
        };
    }
    last
}

pub(crate) async fn limit_fallback<const N: usize>(hooks: &[Word; N], prompt: &str) -> Verdict {
    let mut last = None;
    for hook in hooks {
        last = Some(match last {
            None | Some(Ok(())) => hook.check(prompt),
            Some(refusal) => refusal,
        });
    }
    last.unwrap_or_else(|| default(prompt))
}

pub(crate) async fn limit_chain<const N: usize>(hooks: &[Word; N], prompt: &str) -> Verdict {
    default(prompt)?;
    for hook in hooks {
        hook.check(prompt)?;
    }
    Ok(())
}

pub(crate) async fn limit_singleton<const N: usize>(hooks: &[Word; N], prompt: &str) -> Verdict {
    match hooks.last() {
        None => default(prompt),
        Some(hook) => hook.check(prompt),
    }
}

pub(crate) async fn limit_aggregate<const N: usize>(hooks: &[Word; N], prompt: &str) -> Verdict {
    let mut verdicts = Vec::with_capacity(N + 1);
    verdicts.push(default(prompt));
    for hook in hooks {
        verdicts.push(hook.check(prompt));
    }
    verdicts.into_iter().collect()
}

/// The clones that a `String` for every hook needs, the last one left out.
pub(crate) async fn limit_owned<const N: usize>(hooks: &[Word; N], prompt: String) -> Verdict {
    let Some((final_hook, hooks)) = hooks.split_last() else {
        return default(&prompt);
    };
    let mut last = default(&prompt.clone());
    for hook in hooks {
        let prompt = prompt.clone();
        last = match last {
            Ok(()) => hook.check(&prompt),
            refusal => refusal,
        };
    }
    match last {
        Ok(()) => final_hook.check(&prompt),
        refusal => refusal,
    }
}
