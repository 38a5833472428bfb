//! Closures and functions as hooks, where a slot's arguments are owned (T-10).

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_core::{Entry, hooks};

use crate::kit::{Log, in_every_form};

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Ids {
                #[hook(fallback)]
                async fn next_id(seed: usize) -> usize {
                    $($pause)*
                    seed
                }

                #[hook(always)]
                async fn greet(name: &str, log: Log) -> String {
                    $($pause)*
                    log.add("default");
                    format!("hello {name}")
                }

                #[hook(singleton)]
                async fn pick(first: String, second: Option<u8>) -> String {
                    $($pause)*
                    format!("{first} {second:?}")
                }

                #[hook(always)]
                async fn observe(log: Log) {
                    $($pause)*
                    log.add("default");
                }
            }

            /// T-10, fallback: the closure takes `last` as a hand-written hook does
            #[test]
            fn a_closure_can_be_a_hook() {
                let set = IdsSet::new().with_next_id(|seed: usize, last: Option<usize>| async move {
                    $($pause)*
                    last.unwrap_or(seed) + 1
                });
                assert_eq!(block_on(set.next_id(7)), 8);
                let set = set.with_next_id(|_seed: usize, last: Option<usize>| async move {
                    $($pause)*
                    last.unwrap() * 10
                });
                assert_eq!(block_on(set.next_id(7)), 80);
            }

            /// T-10, T-60: a `&str` argument counts as an owned `String`
            #[test]
            fn a_closure_takes_a_str_argument_as_a_string() {
                let set = IdsSet::new().with_greet(
                    |name: String, log: Log, last: Option<String>| async move {
                        $($pause)*
                        log.add("closure");
                        format!("{}, dear {name}", last.unwrap())
                    },
                );
                let log = Log::new();
                assert_eq!(block_on(set.greet("Ada", log.clone())), "hello Ada, dear Ada");
                assert_eq!(log.lines(), ["default", "closure"]);
            }

            /// T-10: a singleton's closure takes no `last`
            #[test]
            fn a_singleton_closure_takes_only_the_arguments() {
                let set = IdsSet::new().with_pick(|first: String, second: Option<u8>| async move {
                    $($pause)*
                    format!("{first}/{}", second.unwrap())
                });
                assert_eq!(block_on(set.pick("a".to_owned(), Some(3))), "a/3");
            }

            /// T-10, T-24: a unit slot's closure takes no `last`
            #[test]
            fn a_unit_slot_closure_takes_only_the_arguments() {
                let set = IdsSet::new().with_observe(|log: Log| async move {
                    $($pause)*
                    log.add("closure");
                });
                let log = Log::new();
                block_on(set.observe(log.clone()));
                assert_eq!(log.lines(), ["default", "closure"]);
            }

            /// T-10: no argument is an owned argument too; `last` still comes where the slot has it
            #[test]
            fn a_closure_of_a_slot_without_arguments_takes_only_last_or_nothing() {
                #[hooks]
                trait Bare {
                    #[hook(singleton)]
                    async fn name() -> &'static str {
                        $($pause)*
                        "default"
                    }

                    #[hook(always)]
                    async fn count() -> u32 {
                        $($pause)*
                        1
                    }
                }

                let set = BareSet::new()
                    .with_name(|| async move {
                        $($pause)*
                        "closure"
                    })
                    .with_count(|last: Option<u32>| async move {
                        $($pause)*
                        last.unwrap() * 10
                    });
                assert_eq!(block_on(set.name()), "closure");
                assert_eq!(block_on(set.count()), 10);
            }

            /// T-10: an async closure
            #[test]
            fn an_async_closure_can_be_a_hook() {
                let set = IdsSet::new().with_next_id(async |seed: usize, last: Option<usize>| {
                    $($pause)*
                    last.unwrap_or(seed) + 1
                });
                assert_eq!(block_on(set.next_id(7)), 8);
            }

            async fn function(seed: usize, last: Option<usize>) -> usize {
                $($pause)*
                seed + last.unwrap_or(100)
            }

            /// T-10: any `Fn` with these arguments
            #[test]
            fn a_plain_async_function_can_be_a_hook() {
                let set = IdsSet::new().with_next_id(function);
                assert_eq!(block_on(set.next_id(7)), 107);
            }

            /// T-10, T-50: closures may borrow for the life of the set
            #[test]
            fn a_closure_can_borrow_local_variables() {
                let calls = AtomicUsize::new(0);
                let prefix = String::from("id");
                {
                    let (calls, prefix) = (&calls, prefix.as_str());
                    let set = IdsSet::new().with_pick(move |first: String, _second: Option<u8>| {
                        async move {
                            $($pause)*
                            calls.fetch_add(1, Ordering::SeqCst);
                            format!("{prefix}{first}")
                        }
                    });
                    assert_eq!(block_on(set.pick("7".to_owned(), None)), "id7");
                    assert_eq!(block_on(set.pick("8".to_owned(), None)), "id8");
                }
                assert_eq!(calls.load(Ordering::SeqCst), 2);
                drop(prefix);
            }

            /// T-10, T-04: every way of registering takes a closure
            #[test]
            fn a_closure_can_be_registered_in_place_and_as_an_entry() {
                let plus = |number: usize| {
                    move |seed: usize, last: Option<usize>| async move {
                        $($pause)*
                        last.unwrap_or(seed) * 10 + number
                    }
                };
                let mut set = IdsSet::new();
                set.register_next_id(plus(1))
                    .register_next_id(Entry::new(plus(2)).priority(-1))
                    .register_next_id(Entry::new(plus(3)).key("k"));
                let set = set.with_next_id(Entry::new(plus(4)).key("k"));
                assert_eq!(block_on(set.next_id(0)), 214);
            }

            /// T-03: closures are hook objects like others: clones of the set share them
            #[test]
            fn cloned_sets_share_their_closures() {
                let calls = std::sync::Arc::new(AtomicUsize::new(0));
                let counted = std::sync::Arc::clone(&calls);
                let set = IdsSet::new().with_observe(move |_log: Log| {
                    counted.fetch_add(1, Ordering::SeqCst);
                    async move { $($pause)* }
                });
                let clone = set.clone();
                block_on(set.observe(Log::new()));
                block_on(clone.observe(Log::new()));
                assert_eq!(calls.load(Ordering::SeqCst), 2);
            }
        }
    };
}

in_every_form!(rules);

/// A slot with borrowed arguments that are not text takes closures, too.
#[test]
fn an_async_closure_can_be_a_hook_of_a_slot_with_borrowed_arguments() {
    #[hooks]
    trait Hosts {
        #[hook(fallback)]
        async fn tenant(host: Option<&str>, path: &String) -> usize {
            host.map_or(path.len(), str::len)
        }
    }

    let set = HostsSet::new().with_tenant(
        async |host: Option<&str>, path: &String, last: Option<usize>| {
            host.map_or(0, str::len) + path.len() + last.unwrap_or(0)
        },
    );
    assert_eq!(block_on(set.tenant(Some("abc"), &"/".to_owned())), 4);
}

/// A hook behind a pointer is registered as the hook.
#[test]
#[expect(
    clippy::needless_borrows_for_generic_args,
    reason = "the reference is what is tested"
)]
fn a_hook_can_be_registered_behind_a_pointer() {
    #[hooks]
    trait Adders {
        #[hook(fallback)]
        async fn add(text: &str) -> Vec<usize> {
            vec![text.len()]
        }
    }

    struct Adds(usize);

    impl Add for Adds {
        async fn call(&self, text: String, last: Option<Vec<usize>>) -> Vec<usize> {
            [last.unwrap_or_default(), vec![self.0 + text.len()]].concat()
        }
    }

    let borrowed = Adds(3);
    let closure = |text: String, last: Option<Vec<usize>>| async move {
        [last.unwrap_or_default(), vec![text.len()]].concat()
    };
    let mut set = AddersSet::new()
        .with_add(std::sync::Arc::new(Adds(1)))
        .with_add(Box::new(Adds(2)))
        .with_add(&borrowed)
        .with_add(hooks_core::Entry::new(std::sync::Arc::new(Adds(4))).key("four"))
        .with_add(std::sync::Arc::new(closure))
        .with_add(Box::new(closure))
        .with_add(&closure);
    assert_eq!(block_on(set.add("")), [1, 2, 3, 4, 0, 0, 0]);
    let names: Vec<_> = set
        .add_mut()
        .iter()
        .map(|meta| meta.name().into_owned())
        .collect();
    assert_eq!(names[..4], ["Adds"; 4]);
    assert!(set.add_mut().remove("four"));
    assert_eq!(set.add_mut().len(), 6);
    set.add_mut().clear();
    assert!(set.add_mut().is_empty());
    set.add_mut().register(Adds(5)).register(&borrowed);
    assert_eq!(block_on(set.add("a")), [6, 4]);
}
