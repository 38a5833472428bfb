//! The macros work inside a function's body, where items have no path.

use futures_executor::block_on;

pub(crate) fn main() {
    use hooks_core::{Aggregate, hooks, impl_hook, impl_hooks};

    struct Local(u8);

    #[derive(Default)]
    struct Sum;

    impl Aggregate<u8> for Sum {
        async fn call(&self, outputs: Vec<u8>) -> u8 {
            outputs.iter().sum()
        }
    }

    #[hooks]
    trait AppHooks {
        #[hook(always, aggregate = Sum)]
        async fn count(local: &Local) -> u8 {
            local.0
        }
    }

    struct Policy;

    #[impl_hooks(AppHooksSet)]
    impl AppHooks for Policy {
        async fn count(&self, local: &Local) -> u8 {
            local.0 + 1
        }
    }

    #[impl_hook(Count)]
    async fn two(_local: &Local) -> u8 {
        2
    }

    let set = AppHooksSet::new().with_hooks(Policy).with_count(Two);
    assert_eq!(block_on(set.count(&Local(1))), 5);
}
