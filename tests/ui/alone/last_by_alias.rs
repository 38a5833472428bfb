//! Hooks whose last parameter is the previous output by a type alias, which the macros cannot
//! resolve.

#![allow(missing_docs, reason = "a program that shows what compiles")]

use hooks_core::{hooks, impl_hook, impl_hooks};

type Previous = Option<bool>;

#[hooks]
pub trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }
}

#[impl_hook(Check)]
async fn no_keys(prompt: &str, previous: Previous) -> bool {
    previous == Some(true) && prompt.is_empty()
}

struct Policy;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn check(&self, prompt: &str, previous: Previous) -> bool {
        previous == Some(true) && prompt.is_empty()
    }
}

/// A second set, with a slot that has as many parameters as `check` with `last`.
mod other {
    use hooks_core::{hooks, impl_hook};

    #[hooks]
    pub trait OtherHooks {
        #[hook(singleton)]
        async fn accept(prompt: &str, strict: bool) -> bool {
            !strict && prompt.is_empty()
        }
    }

    #[impl_hook(Accept)]
    async fn all(_: &str, _: bool) -> bool {
        true
    }

    pub(crate) fn set() -> OtherHooksSet<'static> {
        OtherHooksSet::new().with_accept(All)
    }
}

fn main() {
    let _ = AppHooksSet::new().with_check(NoKeys).with_hooks(Policy);
    drop(other::set());
}
