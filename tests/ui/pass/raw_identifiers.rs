//! Methods, parameters and nested sets may be raw identifiers.

use futures_executor::block_on;
use hooks_core::{hooks, impl_hook, impl_hooks};

#[hooks]
trait Inner {
    #[hook(singleton)]
    async fn r#fn(r#type: &str) -> usize {
        r#type.len()
    }
}

#[hooks]
#[nested_hooks(r#mod = InnerSet)]
trait Outer {
    #[hook(always)]
    async fn r#match(r#type: &str, r#async: u8) -> bool {
        r#type.len() == r#async as usize
    }

    #[hook(fallback)]
    async fn self_(r#use: &str) -> usize {
        r#use.len()
    }
}

struct Policy;

#[impl_hooks(OuterSet)]
impl Outer for Policy {
    async fn r#match(&self, r#type: &str, r#async: u8, last: Option<bool>) -> bool {
        !last.unwrap() && r#type.is_empty() && r#async == 0
    }
}

#[impl_hook(Fn)]
async fn r#struct(r#type: &str) -> usize {
    r#type.len() + 1
}

pub(crate) fn main() {
    let set = OuterSet::new()
        .with_hooks(Policy)
        .with_mod(InnerSet::new().with_fn(Struct));
    assert!(!block_on(set.r#match("", 0)));
    assert_eq!(block_on(set.self_("ab")), 2);
    assert_eq!(block_on(set.r#mod.r#fn("ab")), 3);
    let names: Vec<_> = set.describe().slots.iter().map(|slot| slot.slot).collect();
    assert_eq!(names, ["match", "self_"]);
    assert_eq!(set.describe().nested[0].field, "mod");
}
