//! Traits, sets and slots are used by paths, of whatever visibility they are.

use futures_executor::block_on;
use hooks_core::{Chain, hooks, impl_hook, impl_hooks};

mod declared {
    pub(crate) mod inner {
        use std::ops::ControlFlow;

        #[derive(Default)]
        pub(in crate::pass::slots_in_modules::declared) struct Stop;

        impl super::super::Chain<bool> for Stop {
            async fn call(&self, output: &bool) -> ControlFlow<()> {
                if *output { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
        }

        #[hooks_core::hooks]
        pub(in crate::pass::slots_in_modules::declared) trait DeepHooks {
            #[hook(singleton)]
            async fn deep() -> u8 {
                1
            }
        }
    }

    #[hooks_core::hooks]
    #[nested_hooks(deep = inner::DeepHooksSet)]
    pub(super) trait AppHooks {
        #[hook(always, chain = inner::Stop)]
        async fn check(prompt: &str) -> bool {
            prompt.is_empty()
        }

        #[hook(fallback)]
        async fn choose(prompt: &super::Prompt) -> usize {
            prompt.0.len()
        }
    }

    pub(super) async fn deep(set: &AppHooksSet<'_>) -> u8 {
        set.deep.deep().await
    }
}

pub(crate) struct Prompt(&'static str);

struct Policy;

#[impl_hooks(declared::AppHooksSet)]
impl declared::AppHooks for Policy {
    async fn check(&self, prompt: &str) -> bool {
        prompt.len() == 1
    }

    async fn choose(&self, prompt: &Prompt, _last: Option<usize>) -> usize {
        prompt.0.len() + 1
    }
}

#[impl_hook(declared::Choose)]
pub(crate) async fn twice(_prompt: &Prompt, last: Option<usize>) -> usize {
    2 * last.unwrap()
}

type Alias<'h> = declared::AppHooksSet<'h>;

mod aliased {
    use super::Alias as Renamed;
    use super::declared::AppHooks as Hooks;

    pub(super) struct Other;

    #[hooks_core::impl_hooks(Renamed)]
    impl Hooks for Other {
        async fn check(&self, _: &str) -> bool {
            true
        }
    }
}

/// A set that is more public than its companions and its pipeline.
pub mod public {
    use std::ops::ControlFlow;

    use hooks_core::{Aggregate, FinalizeInto, Pipeline, ShortCircuit, hooks};

    #[derive(Default)]
    struct Maximum;

    impl Aggregate<usize> for Maximum {
        async fn call(&self, outputs: Vec<usize>) -> usize {
            outputs.into_iter().max().unwrap_or_default()
        }
    }

    #[derive(Default)]
    struct Succeeds;

    impl FinalizeInto<Result<(), u8>, bool> for Succeeds {
        async fn call(&self, result: Result<(), u8>) -> bool {
            result.is_ok()
        }
    }

    struct UntilOdd;

    impl Pipeline<u8, u8> for UntilOdd {
        fn next(output: u8) -> ControlFlow<u8, u8> {
            if output % 2 == 1 { ControlFlow::Break(output) } else { ControlFlow::Continue(output) }
        }
    }

    #[hooks]
    pub trait PublicHooks {
        #[hook(always, aggregate = Maximum)]
        async fn longest(text: &str) -> usize {
            text.len()
        }

        #[hook(always, chain = ShortCircuit<(), u8>, finalize = Succeeds, output = bool)]
        async fn is_ok(text: &str) -> Result<(), u8> {
            if text.is_empty() { Err(1) } else { Ok(()) }
        }

        #[hook(fallback, custom = UntilOdd)]
        async fn count(number: u8) -> u8 {
            number
        }
    }
}

#[hooks]
trait Unused {}

pub(crate) fn main() {
    let set = Alias::new().with_hooks(Policy).with_hooks(aliased::Other).with_choose(Twice);
    assert!(block_on(set.check("ab")));
    assert_eq!(block_on(set.choose(&Prompt("ab"))), 6);
    assert_eq!(block_on(declared::deep(&set)), 1);
    let public = public::PublicHooksSet::new();
    assert_eq!(block_on(public.longest("ab")), 2);
    assert!(block_on(public.is_ok("ab")));
    assert_eq!(block_on(public.count(4)), 4);
    let _ = UnusedSet::new();
}
