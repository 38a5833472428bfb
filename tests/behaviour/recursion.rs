//! Defaults that dispatch their own slot.

use futures::executor::block_on;
use hooks_core::hooks;

#[hooks]
trait CountHooks {
    #[hook(singleton)]
    async fn sum(set: &CountHooksSet<'_>, up_to: u32) -> u32 {
        match up_to {
            0 => 0,
            n => n + set.sum(set, n - 1).await,
        }
    }

    #[hook(always)]
    async fn even(set: &CountHooksSet<'_>, n: u32) -> bool {
        n == 0 || set.odd(set, n - 1).await
    }

    #[hook(fallback)]
    async fn odd(set: &CountHooksSet<'_>, n: u32) -> bool {
        n != 0 && set.even(set, n - 1).await
    }
}

#[test]
fn a_default_can_dispatch_its_own_slot() {
    let set = CountHooksSet::new();
    assert_eq!(block_on(set.sum(&set, 4)), 10);
}

#[test]
fn a_hook_can_end_the_recursion_of_a_default() {
    let outer = CountHooksSet::new();
    let inner = CountHooksSet::new().with_sum(async |_: &CountHooksSet<'_>, n: u32| n * 100);
    assert_eq!(block_on(outer.sum(&inner, 4)), 304);
}

#[test]
fn defaults_can_be_mutually_recursive() {
    let set = CountHooksSet::new();
    assert!(block_on(set.even(&set, 6)));
    assert!(!block_on(set.even(&set, 7)));
}
