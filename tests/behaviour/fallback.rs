//! `#[hook(fallback)]`: the hooks run instead of the default.

use futures::executor::block_on;
use hooks_core::{hooks, impl_hook, impl_hooks};

use crate::kit::{Log, in_every_form};

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Models {
                #[hook(fallback)]
                async fn choose(task: &str, log: &Log) -> String {
                    $($pause)*
                    log.add("default");
                    format!("default for {task}")
                }

                #[hook(fallback)]
                async fn announce(task: &str, log: &Log) {
                    $($pause)*
                    log.add(format!("default announces {task}"));
                }
            }

            struct Named(&'static str);

            #[impl_hooks(ModelsSet)]
            impl Models for Named {
                async fn choose(&self, task: &str, log: &Log, last: Option<String>) -> String {
                    $($pause)*
                    log.add(format!("{} after {last:?}", self.0));
                    format!("{} for {task}", self.0)
                }

                async fn announce(&self, task: &str, log: &Log) {
                    $($pause)*
                    log.add(format!("{} announces {task}", self.0));
                }
            }

            #[impl_hook(Choose)]
            async fn keep(_task: &str, _log: &Log, last: Option<String>) -> String {
                $($pause)*
                last.unwrap_or_else(|| "nothing to keep".to_owned())
            }

            /// Dispatch table, fallback, no hooks
            #[test]
            fn without_hooks_the_default_is_the_result() {
                let log = Log::new();
                assert_eq!(block_on(ModelsSet::new().choose("sum", &log)), "default for sum");
                assert_eq!(log.lines(), ["default"]);
            }

            /// Dispatch table, fallback: default not run
            #[test]
            fn with_a_hook_the_default_does_not_run() {
                let log = Log::new();
                let set = ModelsSet::new().with_hooks(Named("a"));
                assert_eq!(block_on(set.choose("sum", &log)), "a for sum");
                assert_eq!(log.lines(), ["a after None"]);
            }

            /// Dispatch table, fallback: `last` is `None`, then `Some` of the previous output
            #[test]
            fn last_is_none_for_the_first_hook_then_the_previous_output() {
                let set = ModelsSet::new()
                    .with_hooks(Named("a"))
                    .with_hooks(Named("b"))
                    .with_hooks(Named("c"));
                let log = Log::new();
                block_on(set.choose("sum", &log));
                assert_eq!(
                    log.lines(),
                    [
                        "a after None",
                        r#"b after Some("a for sum")"#,
                        r#"c after Some("b for sum")"#,
                    ]
                );
            }

            /// Dispatch table, fallback: hooks fold
            #[test]
            fn the_last_output_is_the_result() {
                let set = ModelsSet::new().with_hooks(Named("a")).with_hooks(Named("b"));
                assert_eq!(block_on(set.choose("sum", &Log::new())), "b for sum");
                let set = set.with_choose(Keep);
                assert_eq!(block_on(set.choose("sum", &Log::new())), "b for sum");
                let alone = ModelsSet::new().with_choose(Keep);
                assert_eq!(block_on(alone.choose("sum", &Log::new())), "nothing to keep");
            }

            /// T-24: a slot that returns nothing runs its hooks in order, without `last`
            #[test]
            fn a_unit_slot_runs_hooks_in_order_instead_of_the_default() {
                let log = Log::new();
                block_on(ModelsSet::new().announce("sum", &log));
                assert_eq!(log.lines(), ["default announces sum"]);

                let set = ModelsSet::new().with_hooks(Named("a")).with_hooks(Named("b"));
                let log = Log::new();
                block_on(set.announce("sum", &log));
                assert_eq!(log.lines(), ["a announces sum", "b announces sum"]);
            }

            /// Dispatch table: removing the only hook brings the default back
            #[test]
            fn the_default_runs_again_after_the_last_hook_is_removed() {
                let mut set = ModelsSet::new();
                set.register_choose(hooks_core::Entry::new(Keep).key("k"));
                assert_eq!(block_on(set.choose("sum", &Log::new())), "nothing to keep");
                assert!(set.choose_mut().remove("k"));
                assert_eq!(block_on(set.choose("sum", &Log::new())), "default for sum");
            }
        }
    };
}

in_every_form!(rules);
