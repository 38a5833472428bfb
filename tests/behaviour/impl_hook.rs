//! `#[impl_hook(Slot)]`: one function becomes one hook.

use futures::executor::block_on;
use hooks_core::{hooks, impl_hook};

use crate::kit::{Log, in_every_form};

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            pub(crate) mod slots {
                use super::*;

                #[hooks]
                pub(crate) trait AppHooks {
                    #[hook(always)]
                    async fn validate_prompt(prompt: &str) -> Result<(), String> {
                        $($pause)*
                        if prompt.is_empty() { Err("empty".to_owned()) } else { Ok(()) }
                    }

                    #[hook(singleton)]
                    async fn cost_center(tenant: String) -> String {
                        $($pause)*
                        tenant
                    }

                    #[hook(always)]
                    async fn observe(log: &Log) {
                        $($pause)*
                        log.add("default");
                    }
                }
            }

            use slots::{AppHooksSet, ValidatePrompt};

            #[impl_hook(ValidatePrompt)]
            async fn reject_api_keys(
                prompt: &str,
                last: Option<Result<(), String>>,
            ) -> Result<(), String> {
                $($pause)*
                last.unwrap()?;
                if prompt.contains("sk-") { Err("looks like a key".to_owned()) } else { Ok(()) }
            }

            /// T-25
            #[test]
            fn a_function_becomes_a_hook_named_in_upper_camel_case() {
                let set = AppHooksSet::new().with_validate_prompt(RejectApiKeys);
                assert_eq!(block_on(set.validate_prompt("hello")), Ok(()));
                let refused = block_on(set.validate_prompt("sk-1"));
                assert_eq!(refused, Err("looks like a key".to_owned()));
                assert_eq!(block_on(set.validate_prompt("")), Err("empty".to_owned()));
            }

            /// T-25
            #[test]
            fn the_hook_type_is_zero_sized() {
                assert_eq!(size_of::<RejectApiKeys>(), 0);
            }

            #[impl_hook(slots::CostCenter)]
            async fn by_path(tenant: String) -> String {
                $($pause)*
                format!("{tenant} by path")
            }

            #[impl_hook(slots::Observe)]
            async fn noted(log: &Log) {
                $($pause)*
                log.add("noted");
            }

            /// T-25: path slots
            #[test]
            fn the_slot_can_be_a_path() {
                let set = AppHooksSet::new().with_cost_center(ByPath).with_observe(Noted);
                assert_eq!(block_on(set.cost_center("t".to_owned())), "t by path");
                let log = Log::new();
                block_on(set.observe(&log));
                assert_eq!(log.lines(), ["default", "noted"]);
            }

            mod elsewhere {
                use super::slots::ValidatePrompt;
                use super::*;

                #[impl_hook(ValidatePrompt)]
                pub(crate) async fn reject_everything(
                    _prompt: &str,
                    _last: Option<Result<(), String>>,
                ) -> Result<(), String> {
                    $($pause)*
                    Err("everything".to_owned())
                }
            }

            /// T-25: the type has the visibility of the function
            #[test]
            fn the_hook_type_has_the_visibility_of_its_function() {
                let set = AppHooksSet::new().with_validate_prompt(elsewhere::RejectEverything);
                assert_eq!(block_on(set.validate_prompt("x")), Err("everything".to_owned()));
            }

            /// T-25: inside a function body, next to its use
            #[test]
            fn a_hook_can_be_defined_inside_a_function() {
                #[impl_hook(ValidatePrompt)]
                async fn local(
                    prompt: &str,
                    last: Option<Result<(), String>>,
                ) -> Result<(), String> {
                    $($pause)*
                    last.unwrap().map_err(|error| format!("{prompt}{error}"))
                }

                let set = AppHooksSet::new().with_validate_prompt(Local);
                assert_eq!(block_on(set.validate_prompt("")), Err("empty".to_owned()));
            }

            /// T-25: the hook implements the slot trait, so it can be called by hand
            #[test]
            fn the_hook_implements_its_slot_trait() {
                let answer = block_on(RejectApiKeys.call("sk-1".to_owned(), Some(Ok(()))));
                assert_eq!(answer, Err("looks like a key".to_owned()));
            }

            /// T-25, T-10: each `&str` counts as a `String`, also if the function takes only some of them
            /// as such
            #[test]
            fn a_function_takes_texts_borrowed_or_owned() {
                #[hooks]
                trait Texts {
                    #[hook(fallback)]
                    async fn join(first: &str, second: &str) -> String {
                        format!("{first} {second}")
                    }
                }

                #[impl_hook(Join)]
                async fn owned(first: String, second: String, last: Option<String>) -> String {
                    $($pause)*
                    format!("{first}+{second}{}", last.unwrap_or_default())
                }

                #[impl_hook(Join)]
                async fn mixed(first: &str, second: String, last: Option<String>) -> String {
                    $($pause)*
                    format!("{first}-{second} after {last:?}")
                }

                let set = TextsSet::new().with_join(Owned).with_join(Mixed);
                assert_eq!(block_on(set.join("a", "b")), "a-b after Some(\"a+b\")");
            }

            /// T-25: one hook value may be registered more than once, each counts
            #[test]
            fn a_function_hook_can_be_registered_twice() {
                let set = AppHooksSet::new().with_observe(Noted).with_observe(Noted);
                let log = Log::new();
                block_on(set.observe(&log));
                assert_eq!(log.lines(), ["default", "noted", "noted"]);
            }
        }
    };
}

in_every_form!(rules);
