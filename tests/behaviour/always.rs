//! `#[hook(always)]`: the default runs, then every hook in order.

use futures::executor::block_on;
use hooks_core::{hooks, impl_hook, impl_hooks};

use crate::kit::{Log, in_every_form};

/// Cannot be cloned; folding hands it on by value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Trail(Vec<String>);

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Steps {
                #[hook(always)]
                async fn walk(start: &str, log: &Log) -> Trail {
                    $($pause)*
                    log.add("default");
                    Trail(vec![format!("from {start}")])
                }

                #[hook(always)]
                async fn visit(place: &str, log: &Log) {
                    $($pause)*
                    log.add(format!("default visits {place}"));
                }
            }

            struct Step(&'static str);

            #[impl_hooks(StepsSet)]
            impl Steps for Step {
                async fn walk(&self, _start: &str, log: &Log, last: Option<Trail>) -> Trail {
                    $($pause)*
                    log.add(self.0);
                    let mut trail = last.expect("an always slot always has a last output");
                    trail.0.push(self.0.to_owned());
                    trail
                }

                async fn visit(&self, place: &str, log: &Log) {
                    $($pause)*
                    log.add(format!("{} visits {place}", self.0));
                }
            }

            #[impl_hook(Walk)]
            async fn forget(_start: &str, log: &Log, last: Option<Trail>) -> Trail {
                $($pause)*
                log.add(format!("forget {:?}", last.unwrap().0));
                Trail(vec!["nowhere".to_owned()])
            }

            /// Dispatch table, always, no hooks
            #[test]
            fn without_hooks_the_default_is_the_result() {
                let log = Log::new();
                let trail = block_on(StepsSet::new().walk("home", &log));
                assert_eq!(trail.0, ["from home"]);
                assert_eq!(log.lines(), ["default"]);
            }

            /// Dispatch table, always, with hooks
            #[test]
            fn the_default_runs_first_then_hooks_in_registration_order() {
                let set = StepsSet::new()
                    .with_hooks(Step("a"))
                    .with_hooks(Step("b"))
                    .with_hooks(Step("c"));
                let log = Log::new();
                let trail = block_on(set.walk("home", &log));
                assert_eq!(log.lines(), ["default", "a", "b", "c"]);
                assert_eq!(trail.0, ["from home", "a", "b", "c"]);
            }

            /// Dispatch table, always: `last` starts as the default's output
            #[test]
            fn the_first_hook_gets_the_output_of_the_default() {
                let log = Log::new();
                block_on(StepsSet::new().with_walk(Forget).walk("home", &log));
                assert_eq!(log.lines(), ["default", r#"forget ["from home"]"#]);
            }

            /// X-5, dispatch table, always: `last` is then the previous hook's output
            #[test]
            fn a_later_hook_gets_the_output_of_the_previous_hook() {
                let set = StepsSet::new().with_hooks(Step("a")).with_walk(Forget);
                let log = Log::new();
                block_on(set.walk("home", &log));
                assert_eq!(log.lines(), ["default", "a", r#"forget ["from home", "a"]"#]);
            }

            /// Dispatch table, always: the result is the last output, whatever came before
            #[test]
            fn the_last_output_is_the_result() {
                let set = StepsSet::new().with_hooks(Step("a")).with_walk(Forget);
                assert_eq!(block_on(set.walk("home", &Log::new())).0, ["nowhere"]);
                let set = set.with_hooks(Step("b"));
                assert_eq!(block_on(set.walk("home", &Log::new())).0, ["nowhere", "b"]);
            }

            /// T-24: a slot that returns nothing has this order too, and no `last`
            #[test]
            fn a_unit_slot_runs_the_default_and_hooks_in_order_without_last() {
                let log = Log::new();
                block_on(StepsSet::new().visit("rome", &log));
                assert_eq!(log.lines(), ["default visits rome"]);

                let set = StepsSet::new().with_hooks(Step("a")).with_hooks(Step("b"));
                let log = Log::new();
                block_on(set.visit("rome", &log));
                assert_eq!(log.lines(), ["default visits rome", "a visits rome", "b visits rome"]);
            }

            /// Dispatch table: a dispatch keeps no state for the next
            #[test]
            fn every_dispatch_starts_from_the_default() {
                let set = StepsSet::new().with_hooks(Step("a"));
                for _ in 0..3 {
                    let log = Log::new();
                    assert_eq!(block_on(set.walk("home", &log)).0, ["from home", "a"]);
                    assert_eq!(log.lines(), ["default", "a"]);
                }
            }

            /// Dispatch table: dispatches that overlap on one set do not see each other's outputs
            #[test]
            fn concurrent_dispatches_do_not_share_outputs() {
                let set = StepsSet::new().with_hooks(Step("a")).with_hooks(Step("b"));
                let log = Log::new();
                let both = async { futures::join!(set.walk("x", &log), set.walk("y", &log)) };
                let (x, y) = block_on(both);
                assert_eq!(x.0, ["from x", "a", "b"]);
                assert_eq!(y.0, ["from y", "a", "b"]);
            }

            /// Dispatch table: the order holds for more hooks than a small list has
            #[test]
            fn forty_hooks_run_in_order() {
                let mut set = StepsSet::new();
                let mut expected = vec!["default".to_owned()];
                for number in 0..40 {
                    let name: &'static str = format!("h{number}").leak();
                    set.register_hooks(Step(name));
                    expected.push(name.to_owned());
                }
                let log = Log::new();
                assert_eq!(block_on(set.walk("home", &log)).0.len(), 41);
                assert_eq!(log.lines(), expected);
            }
        }
    };
}

in_every_form!(rules);
