//! A slot's trait may be called `…Hooks`, as sets usually are, and be implemented by a function.

mod sets {
    use hooks_core::hooks;

    #[hooks]
    pub trait AppHooks {
        #[hook(always)]
        async fn run_hooks(prompt: &str) -> usize {
            prompt.len()
        }
    }
}

use hooks_core::impl_hook;
use sets::{AppHooksSet, RunHooks};

#[impl_hook(RunHooks)]
async fn count(prompt: &str, last: Option<usize>) -> usize {
    prompt.len() + last.unwrap_or(0)
}

#[impl_hook(sets::RunHooks)]
#[cfg(test)]
async fn twice(prompt: &str, last: Option<usize>) -> usize {
    prompt.len() + 2 * last.unwrap_or(0)
}

pub(crate) fn main() {
    let set = AppHooksSet::new().with_run_hooks(Count).with_run_hooks(Twice);
    let sum = futures_executor::block_on(set.run_hooks("abc"));
    assert_eq!(sum, 15);
    in_function();
}

fn in_function() {
    use hooks_core::hooks;

    #[hooks]
    trait LocalHooks {
        #[hook(singleton)]
        async fn other_hooks() -> u8 {
            1
        }
    }

    #[impl_hook(OtherHooks)]
    async fn two() -> u8 {
        2
    }

    let set = LocalHooksSet::new().with_other_hooks(Two);
    assert_eq!(futures_executor::block_on(set.other_hooks()), 2);
}
