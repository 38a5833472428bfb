//! A configured-out item removes all code generated from it.

use futures_executor::block_on;
use hooks_core::{hooks, impl_hooks};

#[hooks]
pub trait AppHooks {
    #[cfg(test)]
    #[hook(always)]
    async fn here() -> u8 {
        1
    }

    #[cfg(any())]
    #[hook(always, chain = Missing)]
    async fn gone(_argument: Missing) -> Missing {
        missing()
    }

    #[cfg(test)]
    #[hook(fallback)]
    async fn either() -> u8 {
        1
    }

    #[cfg(any())]
    #[hook(singleton)]
    async fn either(_argument: Missing) -> Missing {
        missing()
    }
}

/// A set without remaining slots.
#[hooks]
pub trait Empty {
    #[cfg(any())]
    #[hook(always)]
    async fn gone() {}
}

#[cfg(any())]
#[hooks]
pub trait Gone {
    #[hook(always)]
    async fn gone(_argument: Missing) {}
}

struct Policy;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    #[cfg(test)]
    async fn here(&self, last: Option<u8>) -> u8 {
        last.unwrap() + 1
    }

    #[cfg(any())]
    async fn gone(&self, _argument: Missing) -> Missing {
        missing()
    }

    #[cfg(test)]
    async fn either(&self, last: Option<u8>) -> u8 {
        std::future::ready(()).await;
        last.unwrap_or(4) + 1
    }

    #[cfg(any())]
    async fn either(&self, _argument: Missing) -> Missing {
        missing()
    }
}

pub(crate) fn main() {
    let set = AppHooksSet::new().with_hooks(Policy);
    assert_eq!(block_on(set.here()), 2);
    assert_eq!(block_on(set.either()), 5);
    let empty: EmptySet<'static> = EmptySet::default();
    assert!(empty.clone().describe().slots.is_empty());
}
