//! Hooks without `last`, for a set whose names shadow the names of a set that passes `last`; and
//! slots with the names of traits of the prelude.

#![allow(missing_docs, reason = "a program that shows what compiles")]

use hooks_core::{hooks, impl_hook, impl_hooks};

#[hooks]
pub trait AppHooks {
    #[hook(always)]
    async fn check(prompt: &str) -> bool {
        prompt.is_empty()
    }

    #[hook(always, name = Hash)]
    async fn hash(prompt: &str) -> usize {
        prompt.len()
    }
}

/// The derives have the names of slots.
#[derive(Debug, Clone, Hash)]
struct Policy;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn check(&self, prompt: &str, last: Option<bool>) -> bool {
        last == Some(true) && prompt.is_empty()
    }
}

#[impl_hook(Hash)]
async fn sum(prompt: &str, _: Option<usize>) -> usize {
    prompt.bytes().map(usize::from).sum()
}

mod shadowing {
    use super::*;

    #[hooks]
    pub trait AppHooks {
        #[hook(singleton)]
        async fn check(prompt: &str) -> bool {
            prompt.is_empty()
        }
    }

    #[impl_hook(Check)]
    async fn no_keys(prompt: &str) -> bool {
        prompt.is_empty()
    }

    #[impl_hooks(AppHooksSet)]
    impl AppHooks for Policy {
        async fn check(&self, prompt: &str) -> bool {
            prompt.is_empty()
        }
    }

    pub(crate) fn set() -> AppHooksSet<'static> {
        AppHooksSet::new().with_check(NoKeys).with_hooks(Policy)
    }
}

type Last = Option<bool>;

#[impl_hook(Check)]
async fn by_alias(prompt: &str, last: Last) -> bool {
    last == Some(true) && prompt.is_empty()
}

fn main() {
    let _ = AppHooksSet::new()
        .with_check(ByAlias)
        .with_hash(Sum)
        .with_hooks(Policy);
    drop(shadowing::set());
    in_a_function();
}

fn in_a_function() {
    #[hooks]
    trait AppHooks {
        #[hook(singleton)]
        async fn check(prompt: &str) -> bool {
            prompt.is_empty()
        }
    }
    #[impl_hook(Check)]
    async fn no_keys(prompt: &str) -> bool {
        prompt.is_empty()
    }
    let _ = AppHooksSet::new().with_check(NoKeys);
}
