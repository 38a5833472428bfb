//! Attributes within a `cfg_attr` apply as without one.
#![deny(missing_docs, unused_must_use, deprecated)]

use futures_executor::block_on;
use hooks_core::hooks;

/// Hooks.
#[hooks]
pub trait AppHooks {
    #[cfg_attr(all(), doc = "Checks.")]
    #[hook(always)]
    async fn check(count: u8) -> bool {
        count > 0
    }

    #[cfg_attr(all(), deprecated)]
    #[cfg_attr(all(), doc = "Is not asked any more.")]
    #[hook(fallback)]
    async fn old(count: u8) -> bool {
        count > 0
    }

    /// Allows the lints about its types.
    #[cfg_attr(all(), allow(deprecated))]
    #[hook(singleton)]
    async fn renewed(count: &Ancient) -> bool {
        count.0 > 0
    }
}

/// A deprecated type.
#[deprecated]
pub struct Ancient(u8);

pub(crate) fn main() {
    let set = AppHooksSet::new();
    assert!(block_on(set.check(1)));
    #[allow(deprecated)]
    {
        assert!(!block_on(set.old(0)));
    }
}
