//! Attributes of other crates on items that the macros read: they also decide whether a body may
//! await, and the behaviour is equal either way.

use futures::executor::block_on;
use hooks_core::{hooks, impl_hook, impl_hooks};
use waiting_attribute::waits;

#[hooks]
trait AppHooks {
    #[hook(always)]
    #[waits]
    async fn number(start: u32) -> u32 {
        start
    }
}

struct Doubles;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Doubles {
    #[waits]
    async fn number(&self, start: u32, last: Option<u32>) -> u32 {
        last.unwrap_or(start) * 2
    }
}

#[impl_hook(Number)]
#[waits]
async fn adds_one(start: u32, last: Option<u32>) -> u32 {
    last.unwrap_or(start) + 1
}

/// An attribute may add an `.await` to a body without one: such a body is not assumed to be ready
/// at once
#[test]
fn an_await_added_to_a_body_by_an_attribute_is_awaited() {
    let set = AppHooksSet::new();
    assert_eq!(block_on(set.number(3)), 3);
    let set = set.with_hooks(Doubles).with_number(AddsOne);
    assert_eq!(block_on(set.number(3)), 7);
}
