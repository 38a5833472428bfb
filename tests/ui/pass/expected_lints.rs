//! An `#[expect(…)]` reaches all generated code that an `#[allow(…)]` reaches, and none of it leaves
//! the expectation unfulfilled.

#![deny(warnings)]

use hooks_core::{hooks, impl_hook, impl_hooks};

#[deprecated]
pub(crate) struct Old;

#[deprecated]
fn old() -> bool {
    true
}

macro_rules! under {
    ($form:ident, $level:ident) => {
        mod $form {
            #[allow(unused_imports)]
            use super::*;

            #[hooks]
            #[$level(non_snake_case)]
            pub(crate) trait WholeHooks {
                #[hook(always)]
                async fn checkAll(prompt: &str) -> bool {
                    prompt.is_empty()
                }
            }

            #[hooks]
            pub(crate) trait SlotHooks {
                #[hook(singleton)]
                #[$level(deprecated)]
                async fn default_uses_it() -> bool {
                    old()
                }

                #[hook(fallback)]
                #[$level(deprecated)]
                async fn argument_is_it(value: &Old) -> bool {
                    std::mem::size_of_val(value) == 0
                }

                #[hook(singleton)]
                #[$level(non_snake_case)]
                async fn nameHasIt() {}

                #[hook(singleton)]
                #[$level(unused_mut)]
                async fn body_has_it() -> u8 {
                    std::future::ready(()).await;
                    let mut one = 1;
                    one
                }
            }

            #[derive(Default)]
            pub(crate) struct Policy;

            #[impl_hooks(SlotHooksSet)]
            impl SlotHooks for Policy {
                #[$level(deprecated)]
                async fn default_uses_it(&self) -> bool {
                    old()
                }

                #[$level(unused_mut)]
                async fn body_has_it(&self) -> u8 {
                    let mut two = 2;
                    two
                }
            }

            #[impl_hook(ArgumentIsIt)]
            #[$level(deprecated)]
            async fn of_old(value: &Old, last: Option<bool>) -> bool {
                last.is_none() || old() == (std::mem::size_of_val(value) == 0)
            }

            pub(crate) fn set() -> SlotHooksSet<'static> {
                SlotHooksSet::new().with_hooks(Policy).with_argument_is_it(OfOld)
            }
        }
    };
}

under!(allowed, allow);
under!(expected, expect);

pub(crate) fn main() {
    use futures_executor::block_on;
    let (allowed, expected) = (allowed::set(), expected::set());
    assert_eq!(block_on(allowed.body_has_it()), 2);
    assert_eq!(block_on(expected.body_has_it()), 2);
    assert!(block_on(allowed::WholeHooksSet::new().checkAll("")));
    assert!(block_on(expected::WholeHooksSet::new().checkAll("")));
}
