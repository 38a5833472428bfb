//! `#[hook(singleton)]`: at most one hook, which replaces the default.

use futures::executor::block_on;
use hooks_core::{hooks, impl_hook, impl_hooks};

use crate::kit::{Log, in_every_form};

/// Neither `Clone` nor `Copy`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Budget(u32);

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Costs {
                #[hook(singleton)]
                async fn cost_center() -> &'static str {
                    $($pause)*
                    "default"
                }

                #[hook(singleton)]
                async fn spend(budget: Budget, log: &Log) -> Budget {
                    $($pause)*
                    log.add("default");
                    Budget(budget.0 - 1)
                }

                #[hook(singleton)]
                async fn audit(log: &Log) {
                    $($pause)*
                    log.add("default");
                }
            }

            struct Tenant(&'static str);

            #[impl_hooks(CostsSet)]
            impl Costs for Tenant {
                async fn cost_center(&self) -> &'static str {
                    $($pause)*
                    self.0
                }

                async fn spend(&self, budget: Budget, log: &Log) -> Budget {
                    $($pause)*
                    log.add(self.0);
                    Budget(budget.0 - 10)
                }

                async fn audit(&self, log: &Log) {
                    $($pause)*
                    log.add(self.0);
                }
            }

            #[impl_hook(CostCenter)]
            async fn headquarters() -> &'static str {
                $($pause)*
                "hq"
            }

            /// Dispatch table, singleton, no hooks
            #[test]
            fn without_a_hook_the_default_is_the_result() {
                let set = CostsSet::new();
                assert_eq!(block_on(set.cost_center()), "default");
                let log = Log::new();
                assert_eq!(block_on(set.spend(Budget(20), &log)), Budget(19));
                block_on(set.audit(&log));
                assert_eq!(log.lines(), ["default", "default"]);
            }

            /// Dispatch table, singleton: the hook never gets `last`, and the default does not run
            #[test]
            fn the_hook_runs_instead_of_the_default() {
                let set = CostsSet::new().with_hooks(Tenant("a"));
                assert_eq!(block_on(set.cost_center()), "a");
                let log = Log::new();
                assert_eq!(block_on(set.spend(Budget(20), &log)), Budget(10));
                block_on(set.audit(&log));
                assert_eq!(log.lines(), ["a", "a"]);
            }

            /// T-30: the last registered one wins, the others do not run
            #[test]
            fn the_last_registered_hook_is_the_only_one_that_runs() {
                let set = CostsSet::new()
                    .with_hooks(Tenant("a"))
                    .with_cost_center(Headquarters)
                    .with_hooks(Tenant("b"))
                    .with_hooks(Tenant("c"));
                assert_eq!(block_on(set.cost_center()), "c");
                let log = Log::new();
                block_on(set.audit(&log));
                assert_eq!(log.lines(), ["c"]);
                assert_eq!(block_on(set.with_cost_center(Headquarters).cost_center()), "hq");
            }

            /// T-61: an owned argument is moved to the default or the hook
            #[test]
            fn an_argument_without_clone_is_moved_to_the_default_or_hook() {
                let log = Log::new();
                assert_eq!(block_on(CostsSet::new().spend(Budget(2), &log)), Budget(1));
                let set = CostsSet::new().with_hooks(Tenant("a"));
                assert_eq!(block_on(set.spend(Budget(12), &log)), Budget(2));
            }

            /// T-30: also where a key or a priority is given, there is one place
            #[test]
            fn an_entry_of_any_priority_replaces_the_singleton() {
                let mut set = CostsSet::new().with_hooks(Tenant("a"));
                let entry = hooks_core::Entry::new(Headquarters).key("k").priority(-5);
                set.register_cost_center(entry);
                assert_eq!(block_on(set.cost_center()), "hq");
                set.register_hooks(Tenant("b"));
                assert_eq!(block_on(set.cost_center()), "b");
                assert!(!set.cost_center_mut().remove("k"), "the keyed hook was replaced");
                assert_eq!(block_on(set.cost_center()), "b");
            }
        }
    };
}

in_every_form!(rules);
