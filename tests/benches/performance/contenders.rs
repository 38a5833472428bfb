//! The same work through the framework, through `async_trait` objects, and written by
//! hand as static calls (the limit).

use hooks_core::{Aggregate, ShortCircuit, hooks, impl_hooks};

use crate::workload::{Word, default};

pub(crate) type Verdict = Result<(), String>;

/// Keeps the first refusal.
#[derive(Default)]
pub(crate) struct FirstRefusal;

impl Aggregate<Verdict> for FirstRefusal {
    async fn call(&self, verdicts: Vec<Verdict>) -> Verdict {
        verdicts.into_iter().collect()
    }
}

#[hooks]
pub(crate) trait Bench {
    #[hook(always)]
    async fn fold(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(fallback)]
    async fn fallback_fold(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(always, chain = ShortCircuit<(), String>)]
    async fn chain(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(singleton)]
    async fn single(prompt: &str) -> Verdict {
        default(prompt)
    }

    #[hook(always, aggregate = FirstRefusal)]
    async fn gather(prompt: &str) -> Verdict {
        default(prompt)
    }
}

/// A hook of every slot whose bodies contain no `.await`.
pub(crate) struct Ready(pub(crate) Word);

#[impl_hooks(BenchSet)]
impl Bench for Ready {
    async fn fold(&self, prompt: &str, last: Option<Verdict>) -> Verdict {
        last.unwrap_or(Ok(()))?;
        self.0.check(prompt)
    }

    async fn fallback_fold(&self, prompt: &str, last: Option<Verdict>) -> Verdict {
        last.unwrap_or(Ok(()))?;
        self.0.check(prompt)
    }

    async fn chain(&self, prompt: &str) -> Verdict {
        self.0.check(prompt)
    }

    async fn single(&self, prompt: &str) -> Verdict {
        self.0.check(prompt)
    }

    async fn gather(&self, prompt: &str) -> Verdict {
        self.0.check(prompt)
    }
}

/// The same with an `.await` in every body.
pub(crate) struct Waiting(pub(crate) Word);

#[impl_hooks(BenchSet)]
impl Bench for Waiting {
    async fn fold(&self, prompt: &str, last: Option<Verdict>) -> Verdict {
        std::future::ready(()).await;
        last.unwrap_or(Ok(()))?;
        self.0.check(prompt)
    }

    async fn chain(&self, prompt: &str) -> Verdict {
        std::future::ready(()).await;
        self.0.check(prompt)
    }
}

/// The same as trait objects.
#[async_trait::async_trait]
pub(crate) trait Boxed: Send + Sync {
    async fn fold(&self, prompt: &str, last: Option<Verdict>) -> Verdict;
    async fn chain(&self, prompt: &str) -> Verdict;
}

pub(crate) struct BoxedWaiting(pub(crate) Word);

#[async_trait::async_trait]
impl Boxed for BoxedWaiting {
    async fn fold(&self, prompt: &str, last: Option<Verdict>) -> Verdict {
        std::future::ready(()).await;
        last.unwrap_or(Ok(()))?;
        self.0.check(prompt)
    }

    async fn chain(&self, prompt: &str) -> Verdict {
        std::future::ready(()).await;
        self.0.check(prompt)
    }
}

pub(crate) async fn boxed_fold(hooks: &[Box<dyn Boxed>], prompt: &str) -> Verdict {
    let mut last = default(prompt);
    for hook in hooks {
        last = hook.fold(prompt, Some(last)).await;
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

/// Static calls, inlined.
pub(crate) async fn limit_fold<const N: usize>(hooks: &[Word; N], prompt: &str) -> Verdict {
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

pub(crate) async fn limit_single<const N: usize>(hooks: &[Word; N], prompt: &str) -> Verdict {
    match hooks.last() {
        None => default(prompt),
        Some(hook) => hook.check(prompt),
    }
}

pub(crate) async fn limit_gather<const N: usize>(hooks: &[Word; N], prompt: &str) -> Verdict {
    let mut verdicts = Vec::with_capacity(N + 1);
    verdicts.push(default(prompt));
    for hook in hooks {
        verdicts.push(hook.check(prompt));
    }
    verdicts.into_iter().collect()
}
