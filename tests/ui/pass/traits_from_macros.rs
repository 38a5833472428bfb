//! A trait, a block or a function may come out of a `macro_rules` macro, which hands on
//! types in groups.

use futures_executor::block_on;

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

macro_rules! see {
    ($name:ident, $text:ty, $hook:ident) => {
        #[hooks_core::hooks]
        trait $name {
            #[hook(singleton)]
            async fn see(text: &$text, same: &($text)) -> usize {
                text.len() + same.len()
            }
        }

        #[hooks_core::impl_hook(See)]
        async fn $hook(text: &str, same: &str) -> usize {
            text.len() * same.len()
        }
    };
}

see!(Eyes, str, product);

impl See for u8 {
    async fn call(&self, text: String, same: String) -> usize {
        text.len() - same.len()
    }
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

pub(crate) fn main() {
    let set = AppHooksSet::new().with_hooks(Policy).with_check(Longer);
    assert_eq!(block_on(set.check("abc", &[])), 5);
    assert_eq!(block_on(EyesSet::new().see("ab", "c")), 3);
    assert_eq!(block_on(EyesSet::new().with_see(Product).see("ab", "cd")), 4);
    assert_eq!(block_on(EyesSet::new().with_see(1_u8).see("ab", "c")), 1);
}
