//! Borrowed hooks, covariance, `Send` (T-50, T-51).

use std::collections::HashSet;

use futures::executor::block_on;
use hooks_core::{
    Aggregate, Chain, Finalize, MaybeSend, MaybeSync, ShortCircuit, Stateful, hooks, impl_hook,
    impl_hooks,
};

use crate::kit::{Log, in_every_form};

#[derive(Default)]
pub(crate) struct Join;

impl Aggregate<String> for Join {
    async fn call(&self, outputs: Vec<String>) -> String {
        outputs.join(" ")
    }
}

impl Finalize<String> for Join {
    async fn call(&self, value: String) -> String {
        value
    }
}

fn assert_chain<T, C: Chain<T> + MaybeSend + MaybeSync>() {}

/// T-32, T-51: the built-in companions accept every output type
#[test]
fn built_in_chains_do_not_require_clone_values() {
    struct NotClone;
    assert_chain::<Result<NotClone, NotClone>, ShortCircuit<NotClone, NotClone>>();
    assert_chain::<Option<NotClone>, hooks_core::FirstSuccess<NotClone>>();
}

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait AppHooks {
                #[hook(fallback)]
                async fn choose_model(task: &str) -> String {
                    $($pause)*
                    format!("default {task}")
                }

                #[hook(always, aggregate = Join)]
                async fn label(log: &Log, number: u64) -> String {
                    $($pause)*
                    log.add(number);
                    "default".to_owned()
                }

                #[hook(always, chain = ShortCircuit<(), String>, finalize = Passes)]
                async fn check(log: &Log) -> Result<(), String> {
                    $($pause)*
                    log.add("default");
                    Ok(())
                }

                #[hook(singleton)]
                async fn next() -> u64 {
                    $($pause)*
                    0
                }
            }

            #[derive(Default)]
            struct Passes;

            impl Finalize<Result<(), String>> for Passes {
                async fn call(&self, value: Result<(), String>) -> Result<(), String> {
                    $($pause)*
                    value
                }
            }

            struct Borrowed<'a> {
                table: &'a HashSet<String>,
            }

            #[impl_hooks(AppHooksSet)]
            impl<'a> AppHooks for Borrowed<'a> {
                async fn choose_model(&self, task: &str, _last: Option<String>) -> String {
                    $($pause)*
                    let special = self.table.contains(task);
                    if special { "special" } else { "plain" }.to_owned()
                }

                async fn label(&self, _log: &Log, number: u64) -> String {
                    $($pause)*
                    format!("{} of {number}", self.table.len())
                }
            }

            /// T-50
            #[test]
            fn hooks_can_borrow_data_that_outlives_the_set() {
                let table = HashSet::from(["sum".to_owned()]);
                let policy = Borrowed { table: &table };
                let owned = Borrowed { table: &table };
                let set = AppHooksSet::new().with_hooks(&policy).with_hooks(owned);
                assert_eq!(block_on(set.choose_model("sum")), "special");
                assert_eq!(block_on(set.choose_model("other")), "plain");
                assert_eq!(block_on(set.label(&Log::new(), 7)), "default 1 of 7 1 of 7");
            }

            struct LocalHook<'a>(&'a str);

            impl ChooseModel for LocalHook<'_> {
                async fn call(&self, task: String, last: Option<String>) -> String {
                    $($pause)*
                    format!("{}{task}{}", self.0, last.unwrap_or_default())
                }
            }

            struct Counts<'a>(&'a mut u64);

            impl StatefulNext for Counts<'_> {
                async fn call_mut(&mut self) -> u64 {
                    $($pause)*
                    *self.0 += 1;
                    *self.0
                }
            }

            /// T-50: in every way of writing a hook
            #[test]
            fn manual_stateful_and_closure_hooks_can_borrow() {
                let (word, mut count) = (String::from("w"), 0);
                {
                    let word = word.as_str();
                    let set = AppHooksSet::new()
                        .with_choose_model(LocalHook(word))
                        .with_choose_model(move |task: String, last: Option<String>| async move {
                            $($pause)*
                            format!("{word}{task}<{}>", last.unwrap())
                        })
                        .with_next(Stateful::new(Counts(&mut count)));
                    assert_eq!(block_on(set.choose_model("x")), "wx<wx>");
                    assert_eq!(block_on(set.next()), 1);
                    assert_eq!(block_on(set.next()), 2);
                }
                assert_eq!(count, 2);
            }

            /// T-50: covariant in `'h`; that this compiles is the rule
            fn shorten<'short, 'long: 'short>(set: AppHooksSet<'long>) -> AppHooksSet<'short> {
                set
            }

            fn shorten_borrowed<'s, 'short, 'long: 'short>(
                set: &'s AppHooksSet<'long>,
            ) -> &'s AppHooksSet<'short> {
                set
            }

            async fn ask<'h>(set: &AppHooksSet<'h>, other: &AppHooksSet<'h>) -> String {
                format!("{} {}", set.choose_model("x").await, other.choose_model("x").await)
            }

            /// T-50
            #[test]
            fn a_set_is_covariant_in_its_lifetime() {
                let long: AppHooksSet<'static> =
                    AppHooksSet::new().with_choose_model(LocalHook("s"));
                let word = String::from("w");
                let short = AppHooksSet::new().with_choose_model(LocalHook(&word));
                assert_eq!(block_on(ask(&long, &short)), "sx wx");
                assert_eq!(block_on(ask(shorten_borrowed(&long), &short)), "sx wx");
                let set = shorten(long).with_choose_model(LocalHook(&word));
                assert_eq!(block_on(set.choose_model("x")), "wxsx");
            }

            fn is_static<T: 'static>(value: T) -> T {
                value
            }

            #[impl_hook(ChooseModel)]
            async fn function(task: &str, _last: Option<String>) -> String {
                $($pause)*
                task.to_owned()
            }

            /// T-50: nothing borrowed, so the set is `'static`
            #[test]
            fn a_set_of_owned_hooks_is_static() {
                let set = is_static(AppHooksSet::new().with_choose_model(Function));
                assert_eq!(block_on(set.choose_model("x")), "x");
            }

            fn is_maybe_send<T: MaybeSend>(value: T) -> T {
                value
            }

            fn is_maybe_sync<T: MaybeSync>(value: T) -> T {
                value
            }

            /// T-51: the set and its futures meet the platform's bounds on hooks
            #[test]
            fn sets_and_dispatches_are_maybe_send() {
                let set = AppHooksSet::new().with_next(Stateful::new(Owned(0)));
                let set = is_maybe_sync(is_maybe_send(set));
                let log = Log::new();
                assert_eq!(block_on(is_maybe_send(set.next())), 1);
                assert_eq!(block_on(is_maybe_send(set.choose_model("x"))), "default x");
                assert_eq!(block_on(is_maybe_send(set.label(&log, 1))), "default");
                assert_eq!(block_on(is_maybe_send(set.check(&log))), Ok(()));
            }

            struct Owned(u64);

            impl StatefulNext for Owned {
                async fn call_mut(&mut self) -> u64 {
                    $($pause)*
                    self.0 += 1;
                    self.0
                }
            }

            #[cfg(not(hooks_single_threaded))]
            mod native {
                use super::*;

                fn is_send<T: Send>(value: T) -> T {
                    value
                }

                fn is_send_and_sync<T: Send + Sync>(value: T) -> T {
                    value
                }

                /// T-51: native futures are `Send`, also while hooks of every kind are registered,
                /// and also when the caller is generic over the lifetimes
                #[test]
                fn dispatch_futures_are_send() {
                    let table = HashSet::from(["sum".to_owned()]);
                    let word = String::from("w");
                    let set = is_send_and_sync(
                        AppHooksSet::new()
                            .with_hooks(Borrowed { table: &table })
                            .with_choose_model(LocalHook(&word))
                            .with_next(Stateful::new(Owned(0))),
                    );
                    let log = Log::new();
                    assert_eq!(block_on(is_send(set.choose_model("sum"))), "wsumspecial");
                    assert_eq!(block_on(is_send(set.label(&log, 1))), "default 1 of 1");
                    assert_eq!(block_on(is_send(set.check(&log))), Ok(()));
                    assert_eq!(block_on(is_send(set.next())), 1);
                    let generic = is_send(async { ask(&set, &set).await });
                    assert_eq!(block_on(generic), "wxplain wxplain");
                }

                async fn through_a_slot_trait<H: ChooseModel>(hook: &H) -> String {
                    is_send(hook.call("slot".to_owned(), None)).await
                }

                async fn through_the_trait<H: AppHooks + Sync>(hooks: &H) -> String {
                    is_send(hooks.choose_model("trait", None)).await
                }

                /// T-08: generic code can rely on `Send`, for the traits promise it
                #[test]
                fn trait_futures_are_send_in_generic_code() {
                    let table = HashSet::new();
                    let answer = is_send(through_a_slot_trait(&LocalHook("a ")));
                    assert_eq!(block_on(answer), "a slot");
                    assert_eq!(block_on(through_the_trait(&Borrowed { table: &table })), "plain");
                }

                /// T-51: a dispatch can be moved into a task that may run on any thread
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn a_set_can_be_dispatched_from_spawned_tasks() {
                    let set = AppHooksSet::new()
                        .with_choose_model(Function)
                        .with_next(Stateful::new(Owned(0)));
                    let tasks: Vec<_> = (0..8)
                        .map(|_| {
                            let set = set.clone();
                            tokio::spawn(async move {
                                let log = Log::new();
                                set.check(&log).await.unwrap();
                                set.label(&log, set.next().await).await;
                                (set.choose_model("x").await, log.lines())
                            })
                        })
                        .collect();
                    let mut numbers = Vec::new();
                    for task in tasks {
                        let (model, lines) = task.await.unwrap();
                        assert_eq!((model.as_str(), lines[0].as_str()), ("x", "default"));
                        numbers.push(lines[1].parse::<u64>().unwrap());
                    }
                    numbers.sort();
                    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
                }

                /// T-51: a started dispatch can move to another thread
                #[test]
                fn a_suspended_dispatch_can_be_completed_on_another_thread() {
                    let set = AppHooksSet::new()
                        .with_choose_model(LocalHook("a"))
                        .with_choose_model(LocalHook("b"));
                    let mut dispatch = Box::pin(set.choose_model("x"));
                    match crate::kit::poll_once(dispatch.as_mut()) {
                        std::task::Poll::Ready(model) => assert_eq!(model, "bxax"),
                        std::task::Poll::Pending => {
                            let model = std::thread::scope(|scope| {
                                scope.spawn(move || block_on(dispatch)).join().unwrap()
                            });
                            assert_eq!(model, "bxax");
                        }
                    }
                }
            }

            /// T-51: without threads, hooks and their futures need not be `Send`
            #[cfg(hooks_single_threaded)]
            #[test]
            fn single_threaded_hooks_need_not_be_send() {
                use std::cell::Cell;
                use std::rc::Rc;

                struct Local(Rc<Cell<u64>>);

                impl Next for Local {
                    async fn call(&self) -> u64 {
                        let held = Rc::clone(&self.0);
                        $($pause)*
                        held.set(held.get() + 1);
                        held.get()
                    }
                }

                #[impl_hooks(AppHooksSet)]
                impl AppHooks for Local {
                    async fn choose_model(&self, _task: &str, _last: Option<String>) -> String {
                        let held = Rc::clone(&self.0);
                        $($pause)*
                        held.get().to_string()
                    }
                }

                let count = Rc::new(Cell::new(0));
                let set = AppHooksSet::new()
                    .with_next(Local(Rc::clone(&count)))
                    .with_hooks(Local(Rc::clone(&count)));
                assert_eq!(block_on(set.next()), 1);
                assert_eq!(block_on(set.next()), 2);
                assert_eq!(block_on(set.choose_model("x")), "2");
                let shared = Rc::clone(&count);
                let set = set.with_choose_model(move |_task: String, _last: Option<String>| {
                    let shared = Rc::clone(&shared);
                    async move {
                        $($pause)*
                        format!("closure {}", shared.get())
                    }
                });
                assert_eq!(block_on(set.choose_model("x")), "closure 2");
            }
        }
    };
}

in_every_form!(rules);
