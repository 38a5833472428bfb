//! `&'_ str` is `&str`, and is treated so everywhere (T-60).

use hooks_core::{hooks, impl_hook, impl_hooks};

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn elided(prompt: &'_ str) -> usize {
        prompt.len()
    }

    #[hook(always)]
    async fn plain(prompt: &str) -> usize {
        prompt.len()
    }
}

#[impl_hook(Plain)]
async fn counted(prompt: &'_ str, _: Option<usize>) -> usize {
    prompt.len()
}

#[impl_hook(Elided)]
async fn counted_too(prompt: &str, _: Option<usize>) -> usize {
    prompt.len()
}

struct Policy;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn elided(&self, prompt: &str, _: Option<usize>) -> usize {
        prompt.len()
    }

    async fn plain(&self, prompt: &'_ str, _: Option<usize>) -> usize {
        prompt.len()
    }
}

pub(crate) fn main() {
    let closure = |prompt: String, _: Option<usize>| async move { prompt.len() };
    let hooks = AppHooksSet::new()
        .with_hooks(Policy)
        .with_plain(Counted)
        .with_elided(CountedToo)
        .with_elided(closure);
    drop((hooks.elided("a"), hooks.plain("a")));
}
