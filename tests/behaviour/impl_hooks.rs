//! `#[impl_hooks(…Set)]`: one value provides several slots.

use std::sync::Arc;

use futures::executor::block_on;
use hooks_core::{hooks, impl_hooks};

use crate::kit::{Log, in_every_form};

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            pub(crate) mod app {
                use super::*;

                #[hooks]
                pub(crate) trait AppHooks {
                    #[hook(always)]
                    async fn validate(prompt: &str) -> Result<(), String> {
                        $($pause)*
                        if prompt.is_empty() { Err("empty".to_owned()) } else { Ok(()) }
                    }

                    #[hook(fallback)]
                    async fn choose_model(task: &str) -> String {
                        $($pause)*
                        format!("default for {task}")
                    }

                    #[hook(singleton)]
                    async fn cost_center() -> &'static str {
                        $($pause)*
                        "default"
                    }

                    #[hook(always)]
                    async fn observe(log: &Log, words: Vec<String>) {
                        $($pause)*
                        log.add(format!("default {words:?}"));
                    }
                }
            }

            use app::{AppHooks, AppHooksSet};

            struct Policy<'a> {
                prefix: &'a str,
            }

            #[impl_hooks(AppHooksSet)]
            impl<'a> AppHooks for Policy<'a> {
                async fn validate(
                    &self,
                    prompt: &str,
                    last: Option<Result<(), String>>,
                ) -> Result<(), String> {
                    $($pause)*
                    last.unwrap()?;
                    if prompt.contains("sk-") { Err("looks like a key".to_owned()) } else { Ok(()) }
                }

                async fn choose_model(&self, task: &str, _last: Option<String>) -> String {
                    $($pause)*
                    format!("{}:{task}", self.prefix)
                }
            }

            /// T-20
            #[test]
            fn a_value_is_registered_for_every_slot_it_implements() {
                let set = AppHooksSet::new().with_hooks(Policy { prefix: "tenant" });
                assert_eq!(block_on(set.validate("hello")), Ok(()));
                assert_eq!(block_on(set.validate("sk-1")), Err("looks like a key".to_owned()));
                assert_eq!(block_on(set.validate("")), Err("empty".to_owned()));
                assert_eq!(block_on(set.choose_model("sum")), "tenant:sum");
            }

            /// T-20: a trait default that the block omits is not registered
            #[test]
            fn an_omitted_method_is_not_registered() {
                struct OnlyCost;

                #[impl_hooks(AppHooksSet)]
                impl AppHooks for OnlyCost {
                    async fn cost_center(&self) -> &'static str {
                        $($pause)*
                        "only"
                    }
                }

                let policy = Policy { prefix: "p" };
                let set = AppHooksSet::new().with_hooks(policy).with_hooks(OnlyCost);
                assert_eq!(block_on(set.cost_center()), "only");
                // Had the omitted defaults been registered, they would answer last.
                assert_eq!(block_on(set.choose_model("sum")), "p:sum");
                let log = Log::new();
                block_on(set.observe(&log, vec!["w".to_owned()]));
                assert_eq!(log.lines(), [r#"default ["w"]"#]);
            }

            /// T-22: the set owns the value, and drops it exactly once
            #[test]
            fn an_owned_value_is_shared_without_clone_and_dropped_with_the_last_set() {
                struct Owned(Arc<()>);

                #[impl_hooks(AppHooksSet)]
                impl AppHooks for Owned {
                    async fn choose_model(&self, _task: &str, _last: Option<String>) -> String {
                        $($pause)*
                        Arc::strong_count(&self.0).to_string()
                    }

                    async fn cost_center(&self) -> &'static str {
                        $($pause)*
                        "owned"
                    }
                }

                let witness = Arc::new(());
                let set = AppHooksSet::new().with_hooks(Owned(Arc::clone(&witness)));
                let clone = set.clone();
                assert_eq!(block_on(clone.choose_model("x")), "2", "the value was duplicated");
                drop(set);
                assert_eq!(block_on(clone.choose_model("x")), "2");
                drop(clone);
                assert_eq!(Arc::strong_count(&witness), 1);
            }

            /// T-22: two slots of one value share the value
            #[test]
            fn the_slots_of_one_value_share_the_value() {
                use std::sync::atomic::{AtomicUsize, Ordering};

                #[derive(Default)]
                struct Counts(AtomicUsize);

                #[impl_hooks(AppHooksSet)]
                impl AppHooks for Counts {
                    async fn choose_model(&self, _task: &str, _last: Option<String>) -> String {
                        $($pause)*
                        self.0.fetch_add(1, Ordering::SeqCst).to_string()
                    }

                    async fn observe(&self, _log: &Log, _words: Vec<String>) {
                        $($pause)*
                        self.0.fetch_add(10, Ordering::SeqCst);
                    }
                }

                let counts = Counts::default();
                let set = AppHooksSet::new().with_hooks(&counts);
                block_on(set.observe(&Log::new(), Vec::new()));
                assert_eq!(block_on(set.choose_model("x")), "10");
                assert_eq!(counts.0.load(Ordering::SeqCst), 11);
            }

            /// T-22: a borrowed value
            #[test]
            fn a_set_can_borrow_a_value() {
                let prefix = String::from("borrowed");
                let policy = Policy { prefix: &prefix };
                {
                    let set = AppHooksSet::new().with_hooks(&policy);
                    assert_eq!(block_on(set.choose_model("sum")), "borrowed:sum");
                }
                assert_eq!(policy.prefix, "borrowed");
            }

            /// T-04
            #[test]
            fn register_hooks_changes_the_set_in_place_and_returns_it() {
                let mut set = AppHooksSet::new();
                let same: &mut AppHooksSet<'_> = set.register_hooks(Policy { prefix: "a" });
                same.register_hooks(&Policy { prefix: "b" });
                assert_eq!(block_on(set.choose_model("sum")), "b:sum");
            }

            /// T-21: the argument may be a path through modules
            #[test]
            fn the_set_can_be_a_module_path() {
                struct Far;

                #[impl_hooks(app::AppHooksSet)]
                impl app::AppHooks for Far {
                    async fn cost_center(&self) -> &'static str {
                        $($pause)*
                        "far"
                    }
                }

                assert_eq!(block_on(AppHooksSet::new().with_hooks(Far).cost_center()), "far");
            }

            /// T-21: only methods are non-generic; the type that implements them may be generic
            #[test]
            fn a_generic_type_can_implement_hooks() {
                struct Named<T>(T);

                #[impl_hooks(AppHooksSet)]
                impl<T: std::fmt::Display + Send + Sync> AppHooks for Named<T> {
                    async fn choose_model(&self, task: &str, _last: Option<String>) -> String {
                        $($pause)*
                        format!("{} {task}", self.0)
                    }
                }

                struct NamedWhere<T>(T);

                #[impl_hooks(AppHooksSet)]
                impl<T> AppHooks for NamedWhere<T>
                where
                    T: Fn(&str) -> String + Send + Sync,
                {
                    async fn choose_model(&self, task: &str, _last: Option<String>) -> String {
                        $($pause)*
                        (self.0)(task)
                    }
                }

                let set = AppHooksSet::new().with_hooks(Named(7));
                assert_eq!(block_on(set.choose_model("sum")), "7 sum");
                let set = AppHooksSet::new().with_hooks(NamedWhere(str::to_uppercase));
                assert_eq!(block_on(set.choose_model("sum")), "SUM");
            }

            #[hooks]
            trait OtherHooks {
                #[hook(singleton)]
                async fn cost_center() -> &'static str {
                    $($pause)*
                    "other default"
                }
            }

            /// T-20: one value may provide hooks of several sets
            #[test]
            fn one_type_can_implement_hooks_of_two_sets() {
                struct Both;

                #[impl_hooks(AppHooksSet)]
                impl AppHooks for Both {
                    async fn cost_center(&self) -> &'static str {
                        $($pause)*
                        "app"
                    }
                }

                #[impl_hooks(OtherHooksSet)]
                impl OtherHooks for Both {
                    async fn cost_center(&self) -> &'static str {
                        $($pause)*
                        "other"
                    }
                }

                let both = Both;
                assert_eq!(block_on(AppHooksSet::new().with_hooks(&both).cost_center()), "app");
                assert_eq!(block_on(OtherHooksSet::new().with_hooks(both).cost_center()), "other");
            }

            /// T-20, T-03: registered like any other hook, in its turn
            #[test]
            fn values_run_in_registration_order_with_other_hooks() {
                let hand = |task: String, last: Option<String>| async move {
                    $($pause)*
                    format!("{task} after {}", last.unwrap_or_default())
                };
                let policy = Policy { prefix: "p" };
                let set = AppHooksSet::new().with_hooks(policy).with_choose_model(hand);
                assert_eq!(block_on(set.choose_model("sum")), "sum after p:sum");
            }

            /// T-01: implemented methods can still be called directly
            #[test]
            fn a_value_with_registered_hooks_can_still_be_called_directly() {
                let policy = Policy { prefix: "direct" };
                assert_eq!(block_on(policy.choose_model("sum", None)), "direct:sum");
                assert_eq!(block_on(AppHooks::cost_center(&policy)), "default");
            }
        }
    };
}

in_every_form!(rules);
