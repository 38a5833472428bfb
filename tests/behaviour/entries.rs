//! Entries: priority, key, removal.

use std::time::Duration;

use futures::executor::block_on;
use hooks_core::{Entry, FailurePolicy, hooks, impl_hook, impl_hooks};

use crate::kit::{Log, in_every_form};

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Steps {
                #[hook(always)]
                async fn step(log: &Log) {
                    $($pause)*
                    log.add("default");
                }

                #[hook(fallback)]
                async fn other(log: &Log) {
                    $($pause)*
                    log.add("default");
                }

                #[hook(singleton)]
                async fn only() -> &'static str {
                    $($pause)*
                    "default"
                }
            }

            struct Named(&'static str);

            impl Step for Named {
                async fn call(&self, log: &Log) {
                    $($pause)*
                    log.add(self.0);
                }
            }

            impl Only for Named {
                async fn call(&self) -> &'static str {
                    $($pause)*
                    self.0
                }
            }

            #[impl_hook(Step)]
            async fn function(log: &Log) {
                $($pause)*
                log.add("function");
            }

            #[impl_hook(Other)]
            async fn other_function(log: &Log) {
                $($pause)*
                log.add("other function");
            }

            #[impl_hooks(StepsSet)]
            impl Steps for Named {
                async fn step(&self, log: &Log) {
                    $($pause)*
                    log.add(format!("{} by value", self.0));
                }
            }

            fn steps(set: &StepsSet<'_>) -> Vec<String> {
                let log = Log::new();
                block_on(set.step(&log));
                let mut lines = log.lines();
                assert_eq!(lines.remove(0), "default", "no priority comes before the default");
                lines
            }

            /// Entries: lower number first, negatives allowed
            #[test]
            fn a_lower_priority_runs_first() {
                let set = StepsSet::new()
                    .with_step(Entry::new(Named("ten")).priority(10))
                    .with_step(Entry::new(Named("minus five")).priority(-5))
                    .with_step(Entry::new(Named("five")).priority(5));
                assert_eq!(steps(&set), ["minus five", "five", "ten"]);
            }

            /// Entries: first in, first out among equals
            #[test]
            fn hooks_of_equal_priority_run_in_registration_order() {
                let set = StepsSet::new()
                    .with_step(Entry::new(Named("a")).priority(3))
                    .with_step(Entry::new(Named("early")).priority(1))
                    .with_step(Entry::new(Named("b")).priority(3))
                    .with_step(Entry::new(Named("c")).priority(3));
                assert_eq!(steps(&set), ["early", "a", "b", "c"]);
            }

            /// 0 is the priority of everything registered without one
            #[test]
            fn the_default_priority_is_zero() {
                let set = StepsSet::new()
                    .with_step(Named("plain"))
                    .with_step(Entry::new(Named("one")).priority(1))
                    .with_step(Entry::new(Named("entry")))
                    .with_step(Entry::new(Named("minus one")).priority(-1))
                    .with_hooks(Named("impl"))
                    .with_step(Function)
                    .with_step(Entry::new(Named("zero")).priority(0));
                let expected =
                    ["minus one", "plain", "entry", "impl by value", "function", "zero", "one"];
                assert_eq!(steps(&set), expected);
            }

            /// Entries: the whole range of numbers
            #[test]
            fn extreme_priorities_are_ordered() {
                let set = StepsSet::new()
                    .with_step(Entry::new(Named("max")).priority(i32::MAX))
                    .with_step(Entry::new(Named("min")).priority(i32::MIN))
                    .with_step(Named("zero"));
                assert_eq!(steps(&set), ["min", "zero", "max"]);
            }

            /// an existing key is replaced in place
            #[test]
            fn an_entry_with_the_same_key_replaces_in_place() {
                let set = StepsSet::new()
                    .with_step(Named("a"))
                    .with_step(Entry::new(Named("old")).key("k"))
                    .with_step(Named("b"))
                    .with_step(Entry::new(Named("new")).key("k"));
                assert_eq!(steps(&set), ["a", "new", "b"]);
            }

            /// Entries: the place among equals is kept again and again
            #[test]
            fn replacing_an_entry_repeatedly_never_moves_it() {
                let mut set = StepsSet::new();
                for key in ["x", "y", "z"] {
                    set.register_step(Entry::new(Named(key)).key(key).priority(2));
                }
                for name in ["y1", "y2", "y3"] {
                    set.register_step(Entry::new(Named(name)).key("y").priority(2));
                    set.register_step(Entry::new(Named("x")).key("x").priority(2));
                    assert_eq!(steps(&set), ["x", name, "z"]);
                }
            }

            /// Entries: a replacement brings its own priority
            #[test]
            fn a_replacement_with_another_priority_moves_to_it() {
                let mut set = StepsSet::new()
                    .with_step(Entry::new(Named("k")).key("k").priority(-1))
                    .with_step(Named("a"));
                assert_eq!(steps(&set), ["k", "a"]);
                set.register_step(Entry::new(Named("k")).key("k").priority(1));
                assert_eq!(steps(&set), ["a", "k"]);
                set.register_step(Entry::new(Named("k")).key("k").priority(-7));
                assert_eq!(steps(&set), ["k", "a"]);
            }

            /// Entries: without a key every registration is a separate one
            #[test]
            fn entries_without_a_key_never_replace_each_other() {
                let set = StepsSet::new()
                    .with_step(Entry::new(Named("a")))
                    .with_step(Entry::new(Named("a")))
                    .with_step(Named("a"));
                assert_eq!(steps(&set), ["a", "a", "a"]);
            }

            /// Entries: `remove` removes the entry with that key, and returns whether it existed
            #[test]
            fn remove_removes_the_entry_with_the_key_and_returns_true() {
                let mut set = StepsSet::new()
                    .with_step(Entry::new(Named("a")).key("a"))
                    .with_step(Named("plain"))
                    .with_step(Entry::new(Named("b")).key("b"));
                assert!(set.step_mut().remove("a"));
                assert_eq!(steps(&set), ["plain", "b"]);
                assert!(!set.step_mut().remove("a"), "it is gone already");
                assert!(!set.step_mut().remove("plain"), "this is no key");
                assert!(!set.step_mut().remove(""), "an entry without a key has no empty key");
                assert_eq!(steps(&set), ["plain", "b"]);
            }

            /// Entries: a removed hook that is registered again runs last
            #[test]
            fn a_key_registered_again_after_removal_runs_last() {
                let mut set = StepsSet::new()
                    .with_step(Entry::new(Named("k")).key("k"))
                    .with_step(Named("a"));
                assert!(set.step_mut().remove("k"));
                set.register_step(Entry::new(Named("k")).key("k"));
                assert_eq!(steps(&set), ["a", "k"]);
            }

            /// Entries: keys belong to one slot
            #[test]
            fn keys_are_separate_per_slot() {
                let mut set = StepsSet::new()
                    .with_step(Entry::new(Function).key("k"))
                    .with_other(Entry::new(OtherFunction).key("k"));
                assert!(set.step_mut().remove("k"));
                assert_eq!(steps(&set), [""; 0]);
                let log = Log::new();
                block_on(set.other(&log));
                assert_eq!(log.lines(), ["other function"]);
                assert!(!set.step_mut().remove("k"));
                assert!(set.other_mut().remove("k"));
            }

            /// Entries, T-30: a singleton's hook can be taken out by its key
            #[test]
            fn a_singleton_with_a_key_can_be_removed() {
                let mut set = StepsSet::new().with_only(Entry::new(Named("a")).key("k"));
                assert_eq!(block_on(set.only()), "a");
                assert!(!set.only_mut().remove("other"));
                assert!(set.only_mut().remove("k"));
                assert_eq!(block_on(set.only()), "default");
                assert!(!set.only_mut().remove("k"));
            }

            /// T-03: replacing or removing in a clone does not change the original
            #[test]
            fn replacing_and_removing_do_not_affect_clones() {
                let set = StepsSet::new()
                    .with_step(Entry::new(Named("a")).key("a"))
                    .with_step(Entry::new(Named("b")).key("b"));
                let mut clone = set.clone();
                assert!(clone.step_mut().remove("a"));
                clone.register_step(Entry::new(Named("b2")).key("b"));
                assert_eq!(steps(&set), ["a", "b"]);
                assert_eq!(steps(&clone), ["b2"]);
            }

            /// T-04
            #[test]
            fn registering_an_entry_returns_the_set() {
                let mut set = StepsSet::new();
                let same: &mut StepsSet<'_> =
                    set.register_step(Entry::new(Named("b")).priority(1));
                same.register_step(Entry::new(Named("a"))).register_step(Named("c"));
                assert_eq!(steps(&set), ["a", "c", "b"]);
            }

            /// Entries: a key may be made at run time
            #[test]
            fn a_key_can_be_an_owned_string() {
                let key = format!("tenant-{}", 7);
                let mut set = StepsSet::new();
                set.register_step(Entry::new(Named("a")).key(key.clone()));
                assert!(set.step_mut().remove(&key));
                assert_eq!(steps(&set), [""; 0]);
            }
        }
    };
}

in_every_form!(rules);

#[hooks]
trait Checks {
    #[hook(always)]
    async fn check() -> bool {
        true
    }
}

#[impl_hook(Check)]
async fn check_hook(last: Option<bool>) -> bool {
    last.unwrap_or(true)
}

/// A typed slot propagates every failure: it refuses entries with a timeout.
#[test]
#[should_panic(expected = "`slow` has a timeout, and hooks of the typed slot `check` have none")]
fn registering_an_entry_with_a_timeout_panics() {
    let entry = Entry::new(CheckHook)
        .name("slow")
        .timeout(Duration::from_secs(1));
    ChecksSet::new().register_check(entry);
}

#[test]
#[should_panic(expected = "has a failure policy, and failures of hooks of the typed slot `check`")]
fn registering_an_entry_with_fail_closed_panics() {
    let entry = Entry::new(CheckHook).on_failure(FailurePolicy::FailClosed);
    ChecksSet::new().register_check(entry);
}

#[test]
fn registering_an_entry_with_propagate_is_allowed() {
    let entry = Entry::new(CheckHook).on_failure(FailurePolicy::Propagate);
    ChecksSet::new().register_check(entry);
}
