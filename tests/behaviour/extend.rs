//! `extend` and `with_extended`: one set takes in another of its type (T-40).

use futures::executor::block_on;
use hooks_core::{Entry, hooks, impl_hooks};

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
                async fn choose(task: &str, log: &Log) -> String {
                    $($pause)*
                    log.add("default");
                    format!("default {task}")
                }

                #[hook(singleton)]
                async fn cost_center() -> &'static str {
                    $($pause)*
                    "default"
                }
            }

            struct Named(&'static str);

            #[impl_hooks(StepsSet)]
            impl Steps for Named {
                async fn step(&self, log: &Log) {
                    $($pause)*
                    log.add(self.0);
                }

                async fn choose(&self, task: &str, log: &Log, last: Option<String>) -> String {
                    $($pause)*
                    log.add(format!("{} after {last:?}", self.0));
                    format!("{} {task}", self.0)
                }

                async fn cost_center(&self) -> &'static str {
                    $($pause)*
                    self.0
                }
            }

            struct OneStep(&'static str);

            impl Step for OneStep {
                async fn call(&self, log: &Log) {
                    $($pause)*
                    log.add(self.0);
                }
            }

            fn steps(set: &StepsSet<'_>) -> Vec<String> {
                let log = Log::new();
                block_on(set.step(&log));
                let mut lines = log.lines();
                assert_eq!(lines.remove(0), "default");
                lines
            }

            /// T-40: appended after the receiver's own
            #[test]
            fn extend_appends_the_hooks_of_the_other_set_in_order() {
                let mut set = StepsSet::new().with_hooks(Named("a")).with_hooks(Named("b"));
                set.extend(StepsSet::new().with_hooks(Named("c")).with_hooks(Named("d")));
                assert_eq!(steps(&set), ["a", "b", "c", "d"]);
                let log = Log::new();
                assert_eq!(block_on(set.choose("x", &log)), "d x");
                assert_eq!(
                    log.lines(),
                    [
                        "a after None",
                        r#"b after Some("a x")"#,
                        r#"c after Some("b x")"#,
                        r#"d after Some("c x")"#,
                    ]
                );
            }

            /// T-40: the singleton of the other set replaces the receiver's
            #[test]
            fn a_singleton_of_the_other_set_replaces_the_existing_one() {
                let mut set = StepsSet::new().with_hooks(Named("a"));
                set.extend(StepsSet::new().with_hooks(Named("b")));
                assert_eq!(block_on(set.cost_center()), "b");
            }

            /// T-40: an empty singleton of the other set removes nothing
            #[test]
            fn a_singleton_is_kept_if_the_other_set_has_none() {
                let mut set = StepsSet::new().with_hooks(Named("a"));
                set.extend(StepsSet::new().with_step(OneStep("b")));
                assert_eq!(block_on(set.cost_center()), "a");
                assert_eq!(steps(&set), ["a", "b"]);
            }

            /// T-40: an empty set changes nothing, and an empty receiver takes everything
            #[test]
            fn extending_with_or_from_an_empty_set_changes_no_hooks() {
                let full = StepsSet::new().with_hooks(Named("a")).with_hooks(Named("b"));
                let mut left = full.clone();
                left.extend(StepsSet::new());
                let mut right = StepsSet::new();
                right.extend(full);
                for set in [left, right] {
                    assert_eq!(steps(&set), ["a", "b"]);
                    assert_eq!(block_on(set.cost_center()), "b");
                }
            }

            /// T-40, T-04: the form for builder chains
            #[test]
            fn with_extended_extends_in_a_builder_chain() {
                let set = StepsSet::new()
                    .with_hooks(Named("a"))
                    .with_extended(StepsSet::new().with_hooks(Named("b")))
                    .with_hooks(Named("c"));
                assert_eq!(steps(&set), ["a", "b", "c"]);
                assert_eq!(block_on(set.cost_center()), "c");
            }

            /// T-40: extended entries keep their priority
            #[test]
            fn extended_entries_keep_their_priority() {
                let mut set = StepsSet::new()
                    .with_step(Entry::new(OneStep("late")).priority(5))
                    .with_step(OneStep("own"));
                set.extend(
                    StepsSet::new()
                        .with_step(Entry::new(OneStep("last")).priority(9))
                        .with_step(Entry::new(OneStep("first")).priority(-9))
                        .with_step(OneStep("taken")),
                );
                assert_eq!(steps(&set), ["first", "own", "taken", "late", "last"]);
            }

            /// T-40: extended entries take a new sequence, behind equals of the receiver
            #[test]
            fn extended_entries_follow_existing_entries_of_equal_priority() {
                // Made first, so that an old sequence would put it in front.
                let other = StepsSet::new()
                    .with_step(Entry::new(OneStep("taken")).priority(2))
                    .with_step(Entry::new(OneStep("taken too")).priority(2));
                let mut set = StepsSet::new();
                for name in ["own", "own too", "own as well"] {
                    set.register_step(Entry::new(OneStep(name)).priority(2));
                }
                set.extend(other);
                set.register_step(Entry::new(OneStep("later")).priority(2));
                let expected = ["own", "own too", "own as well", "taken", "taken too", "later"];
                assert_eq!(steps(&set), expected);
            }

            /// T-40: a key that exists is replaced in place, a new one is appended
            #[test]
            fn an_extended_entry_with_an_existing_key_replaces_in_place() {
                let mut set = StepsSet::new()
                    .with_step(Entry::new(OneStep("old")).key("k"))
                    .with_step(OneStep("own"));
                set.extend(
                    StepsSet::new()
                        .with_step(Entry::new(OneStep("other")).key("other"))
                        .with_step(Entry::new(OneStep("new")).key("k")),
                );
                assert_eq!(steps(&set), ["new", "own", "other"]);
                assert!(set.step_mut().remove("k"));
                assert!(set.step_mut().remove("other"));
                assert_eq!(steps(&set), ["own"]);
            }

            /// T-40, T-03: hooks that were taken over are shared with clones of the other set, and
            /// nothing else
            #[test]
            fn extending_does_not_affect_clones_of_the_other_set() {
                let other = StepsSet::new().with_hooks(Named("b"));
                let mut set = StepsSet::new().with_hooks(Named("a"));
                set.extend(other.clone());
                set.register_hooks(Named("c"));
                assert_eq!(steps(&set), ["a", "b", "c"]);
                assert_eq!(steps(&other), ["b"]);
            }

            /// T-40: a set may take in a clone of itself
            #[test]
            fn a_set_can_be_extended_with_its_own_clone() {
                let mut set = StepsSet::new()
                    .with_step(OneStep("a"))
                    .with_step(Entry::new(OneStep("k")).key("k"));
                let clone = set.clone();
                set.extend(clone);
                assert_eq!(steps(&set), ["a", "k", "a"]);
            }

            /// T-40, T-50: sets with different lifetimes combine to the shorter one
            #[test]
            fn a_static_set_can_extend_a_set_that_borrows() {
                struct Borrowed<'a>(&'a str);

                impl Step for Borrowed<'_> {
                    async fn call(&self, log: &Log) {
                        $($pause)*
                        log.add(self.0);
                    }
                }

                let everywhere: StepsSet<'static> = StepsSet::new().with_step(OneStep("static"));
                let name = String::from("borrowed");
                let set = StepsSet::new().with_step(Borrowed(&name)).with_extended(everywhere);
                assert_eq!(steps(&set), ["borrowed", "static"]);
            }
        }
    };
}

in_every_form!(rules);

/// Companions and `extend`: decided in `docs/decisions/0007-extend-takes-set-companions.md`.
mod companions {
    use std::ops::ControlFlow;

    use futures::executor::block_on;
    use hooks_core::{Chain, Finalize, hooks};

    #[derive(Default)]
    struct Plain;
    impl Finalize<String> for Plain {
        async fn call(&self, result: String) -> String {
            result
        }
    }

    #[derive(Default)]
    struct GoOn;
    impl Chain<String> for GoOn {
        async fn call(&self, _: &String) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    struct Mark(&'static str);
    impl Finalize<String> for Mark {
        async fn call(&self, result: String) -> String {
            format!("{result}{}", self.0)
        }
    }

    struct StopAt(&'static str);
    impl Chain<String> for StopAt {
        async fn call(&self, output: &String) -> ControlFlow<()> {
            if output == self.0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }

    #[hooks]
    trait Words {
        #[hook(always, chain = GoOn, finalize = Plain)]
        async fn word() -> String {
            "default".to_owned()
        }
    }

    /// T-40: a replaced companion is taken over, chain and finalize alike
    #[test]
    fn a_replaced_companion_of_the_other_set_is_taken_over() {
        let other = WordsSet::new()
            .with_word_chain(StopAt("default"))
            .with_word_finalize(Mark("!"))
            .with_word(|| async { "hook".to_owned() });
        let set = WordsSet::new().with_extended(other);
        assert_eq!(block_on(set.word()), "default!");
    }

    /// T-40: a declared companion replaces nothing
    #[test]
    fn a_declared_companion_of_the_other_set_replaces_nothing() {
        let set = WordsSet::new()
            .with_word_finalize(Mark("?"))
            .with_extended(WordsSet::new());
        assert_eq!(block_on(set.word()), "default?");
    }

    /// T-40: if both sets replaced a companion, that of the other set wins
    #[test]
    fn the_companion_of_the_other_set_wins_if_both_were_replaced() {
        let set = WordsSet::new()
            .with_word_finalize(Mark("?"))
            .with_extended(WordsSet::new().with_word_finalize(Mark("!")));
        assert_eq!(block_on(set.word()), "default!");
    }
}

/// Sets that cannot be merged: the set that extends is as before.
mod refused {
    use hooks_core::{Next, RegistrationError};
    use hooks_tests::panic_of;

    use super::*;

    #[hooks]
    trait Inner {
        #[hook(fallback)]
        async fn deep(_n: u8) -> u8 {
            0
        }
    }

    #[hooks]
    #[nested_hooks(inner = InnerSet)]
    trait Outer {
        #[hook(fallback)]
        async fn first(_n: u8) -> u8 {
            0
        }

        #[hook(fallback, around)]
        async fn last(_n: u8) -> u8 {
            0
        }
    }

    /// A set in which `y` runs before `x` in one slot, and another in which `x` is to run before `y`.
    type Sets = (
        &'static str,
        fn() -> OuterSet<'static>,
        fn() -> OuterSet<'static>,
    );

    #[test]
    fn t_40_a_refused_extension_changes_no_slot_and_blames_the_caller() {
        let sets: [Sets; 3] = [
            (
                "a slot after others",
                || {
                    let mut set = OuterSet::new();
                    set.register_last(hook_y())
                        .register_last(hook_x().after("y"));
                    set
                },
                || {
                    let mut set = OuterSet::new();
                    set.register_first(hook_y());
                    set.register_last(hook_x())
                        .register_last(hook_y().after("x"));
                    assert!(set.last_mut().remove("x"));
                    set
                },
            ),
            (
                "around hooks",
                || {
                    let mut set = OuterSet::new();
                    set.register_last_around(around().key("y"));
                    set.register_last_around(around().key("x").after("y"));
                    set
                },
                || {
                    let mut set = OuterSet::new();
                    set.register_first(hook_y());
                    set.register_last(hook_y());
                    set.register_last_around(around().key("x"));
                    set.register_last_around(around().key("y").after("x"));
                    assert!(set.last_around_mut().remove("x"));
                    set
                },
            ),
            (
                "a nested set",
                || {
                    let mut set = OuterSet::new();
                    set.inner
                        .register_deep(hook_y())
                        .register_deep(hook_x().after("y"));
                    set
                },
                || {
                    let mut set = OuterSet::new();
                    set.register_first(hook_y());
                    set.register_last(hook_y());
                    set.inner
                        .register_deep(hook_x())
                        .register_deep(hook_y().after("x"));
                    assert!(set.inner.deep_mut().remove("x"));
                    set
                },
            ),
        ];
        for (what, host, plugin) in sets {
            let mut set = host();
            let before = set.describe().to_string();
            let error = set.try_extend(plugin()).map(drop);
            assert!(
                matches!(error, Err(RegistrationError::Cycle { .. })),
                "{what}: {error:?}"
            );
            assert_eq!(set.describe().to_string(), before, "{what}");

            let (file, message) = panic_of(|| _ = set.extend(plugin()));
            assert!(file.ends_with("extend.rs"), "{what}: {file}");
            assert!(message.contains("is a cycle"), "{what}: {message}");
            assert_eq!(set.describe().to_string(), before, "{what}");
            let (file, _) = panic_of(|| _ = set.clone().with_extended(plugin()));
            assert!(file.ends_with("extend.rs"), "{what}: {file}");

            // The host's set still takes others.
            let mut other = OuterSet::new();
            other.register_first(hook_x());
            assert!(set.try_extend(other).is_ok(), "{what}");
            assert_eq!(block_on(set.first(3)), 3, "{what}");
        }
    }

    fn hook_x() -> Entry<X> {
        Entry::new(X).key("x")
    }

    fn hook_y() -> Entry<X> {
        Entry::new(X).key("y")
    }

    #[derive(Clone)]
    struct X;

    impl First for X {
        async fn call(&self, n: u8, _: Option<u8>) -> u8 {
            n
        }
    }

    impl Last for X {
        async fn call(&self, n: u8, _: Option<u8>) -> u8 {
            n
        }
    }

    impl Deep for X {
        async fn call(&self, n: u8, _: Option<u8>) -> u8 {
            n
        }
    }

    impl hooks_core::Around<dyn Last> for X {
        async fn call<'a>(&'a self, args: (u8,), next: Next<'a, dyn Last>) -> u8 {
            next.call(args).await
        }
    }

    fn around() -> Entry<X> {
        Entry::new(X)
    }
}
