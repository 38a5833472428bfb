//! A trait, a block or a function may come out of a `macro_rules` macro, which hands on
//! types in groups.

use futures::executor::block_on;

macro_rules! declare {
    ($name:ident, $method:ident, $kind:ident, $arg:ty, $out:ty, $default:expr) => {
        #[hooks_core::hooks]
        trait $name {
            #[hook($kind)]
            async fn $method(text: $arg, list: &[$out]) -> $out {
                let _ = (text, list);
                $default
            }
        }
    };
}

declare!(AppHooks, check, always, &str, u8, 1);

macro_rules! implement {
    ($set:path, $hooks:path, $policy:ty, $method:ident, $arg:ty, $out:ty, $body:block) => {
        #[hooks_core::impl_hooks($set)]
        impl $hooks for $policy {
            async fn $method(&self, _: $arg, _: &[$out], _: Option<$out>) -> $out $body
        }
    };
}

struct Policy;

implement!(AppHooksSet, AppHooks, Policy, check, &str, u8, { 2 });

macro_rules! hook {
    ($slot:path, $name:ident, $arg:ty, $out:ty) => {
        #[hooks_core::impl_hook($slot)]
        async fn $name(text: $arg, _: &[$out], last: Option<$out>) -> $out {
            text.len() as $out + last.unwrap()
        }
    };
}

hook!(Check, longer, &str, u8);

fn main() {
    let set = AppHooksSet::new().with_hooks(Policy).with_check(Longer);
    assert_eq!(block_on(set.check("abc", &[])), 5);
}
