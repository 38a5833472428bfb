//! Items that `#[hooks]` generates: the trait, the set, the slot traits.

use std::sync::Arc;

use futures::executor::block_on;
use hooks_core::{hooks, impl_hook, impl_hooks};

use crate::kit::{Log, in_every_form};

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait AppHooks {
                #[hook(always)]
                async fn validate_prompt(prompt: &str) -> Result<(), String> {
                    $($pause)*
                    if prompt.trim().is_empty() {
                        Err("prompt must not be empty".into())
                    } else {
                        Ok(())
                    }
                }

                #[hook(fallback)]
                async fn choose_model(task: &str) -> String {
                    $($pause)*
                    let _ = task;
                    "default".to_string()
                }

                #[hook(singleton)]
                async fn cost_center() -> &'static str {
                    $($pause)*
                    "default"
                }
            }

            /// T-01: implemented by hand, with no macro
            struct Plain;

            impl AppHooks for Plain {
                async fn choose_model(&self, task: &str, last: Option<String>) -> String {
                    $($pause)*
                    format!("{task} {last:?}")
                }
            }

            /// T-01
            #[test]
            fn the_trait_can_be_implemented_with_plain_async_fns() {
                let answer = block_on(Plain.choose_model("sum", Some("x".to_owned())));
                assert_eq!(answer, r#"sum Some("x")"#);
            }

            /// T-01: an omitted method has the definition's body as its default
            #[test]
            fn an_omitted_trait_method_behaves_like_the_default() {
                assert_eq!(block_on(Plain.validate_prompt("x", None)), Ok(()));
                let refused = block_on(Plain.validate_prompt(" ", Some(Ok(()))));
                assert_eq!(refused, Err("prompt must not be empty".to_owned()));
                assert_eq!(block_on(Plain.cost_center()), "default");
            }

            async fn through_a_bound(hooks: &impl AppHooks) -> String {
                hooks.choose_model("bound", None).await
            }

            /// T-01: the trait can be a bound
            #[test]
            fn the_trait_can_be_used_as_a_bound() {
                assert_eq!(block_on(through_a_bound(&Plain)), "bound None");
            }

            struct ByHand(&'static str);

            impl ChooseModel for ByHand {
                async fn call(&self, task: String, last: Option<String>) -> String {
                    $($pause)*
                    format!("{}:{task}:{}", self.0, last.unwrap_or_default())
                }
            }

            impl CostCenter for ByHand {
                async fn call(&self) -> &'static str {
                    $($pause)*
                    self.0
                }
            }

            impl ValidatePrompt for ByHand {
                async fn call(
                    &self,
                    prompt: String,
                    last: Option<Result<(), String>>,
                ) -> Result<(), String> {
                    $($pause)*
                    last.unwrap()?;
                    if prompt == self.0 { Err(format!("`{prompt}` is taken")) } else { Ok(()) }
                }
            }

            /// T-09, T-60
            #[test]
            fn a_slot_trait_can_be_implemented_manually() {
                let set = AppHooksSet::new()
                    .with_choose_model(ByHand("a"))
                    .with_choose_model(ByHand("b"))
                    .with_cost_center(ByHand("c"))
                    .with_validate_prompt(ByHand("d"));
                assert_eq!(block_on(set.choose_model("sum")), "b:sum:a:sum:");
                assert_eq!(block_on(set.cost_center()), "c");
                assert_eq!(block_on(set.validate_prompt("x")), Ok(()));
                assert_eq!(block_on(set.validate_prompt("d")), Err("`d` is taken".to_owned()));
            }

            #[impl_hook(ChooseModel)]
            async fn nothing_chosen(_task: &str, _last: Option<String>) -> String {
                $($pause)*
                "none".to_owned()
            }

            /// T-09: a generic wrapper around a hook is a hook, and its `call` can be awaited
            struct Shouting<H>(H);

            impl<H: ChooseModel> ChooseModel for Shouting<H> {
                async fn call(&self, task: String, last: Option<String>) -> String {
                    $($pause)*
                    self.0.call(task, last).await.to_uppercase()
                }
            }

            /// T-09
            #[test]
            fn a_hook_can_wrap_another_hook() {
                let set = AppHooksSet::new().with_choose_model(Shouting(Shouting(NothingChosen)));
                assert_eq!(block_on(set.choose_model("sum")), "NONE");
                let set = AppHooksSet::new().with_choose_model(Shouting(ByHand("a")));
                assert_eq!(block_on(set.choose_model("sum")), "A:SUM:");
            }

            /// T-03
            #[test]
            fn new_and_default_sets_return_the_defaults() {
                for set in [AppHooksSet::new(), AppHooksSet::default()] {
                    assert_eq!(block_on(set.choose_model("sum")), "default");
                    assert_eq!(block_on(set.cost_center()), "default");
                    assert_eq!(block_on(set.validate_prompt("x")), Ok(()));
                }
            }

            /// T-03: `Debug` without a hook being `Debug`
            #[test]
            fn a_set_implements_debug_without_debug_hooks() {
                let text = format!("{:?}", AppHooksSet::new().with_choose_model(ByHand("a")));
                assert!(text.contains("AppHooksSet"), "{text}");
            }

            /// T-03: a clone shares the hook objects
            #[test]
            fn a_clone_shares_the_hook_objects() {
                struct Witness(Arc<()>);

                impl CostCenter for Witness {
                    async fn call(&self) -> &'static str {
                        $($pause)*
                        if Arc::strong_count(&self.0) == 2 { "shared" } else { "copied" }
                    }
                }

                let witness = Arc::new(());
                let set = AppHooksSet::new().with_cost_center(Witness(Arc::clone(&witness)));
                let clone = set.clone();
                assert_eq!(block_on(clone.cost_center()), "shared");
                drop(set);
                assert_eq!(block_on(clone.cost_center()), "shared");
                drop(clone);
                assert_eq!(Arc::strong_count(&witness), 1);
            }

            /// T-03: later registrations do not cross, in either direction
            #[test]
            fn registrations_after_a_clone_do_not_affect_the_other_set() {
                let mut first = AppHooksSet::new().with_choose_model(ByHand("a"));
                let mut second = first.clone();
                first.register_choose_model(ByHand("b")).register_cost_center(ByHand("first"));
                second.register_choose_model(ByHand("c")).register_cost_center(ByHand("second"));
                assert_eq!(block_on(first.choose_model("x")), "b:x:a:x:");
                assert_eq!(block_on(second.choose_model("x")), "c:x:a:x:");
                assert_eq!(block_on(first.cost_center()), "first");
                assert_eq!(block_on(second.cost_center()), "second");
            }

            /// T-04, X-8
            #[test]
            fn with_methods_consume_the_set_and_register_methods_borrow_it() {
                let mut set: AppHooksSet<'_> = AppHooksSet::new().with_choose_model(ByHand("a"));
                let same: &mut AppHooksSet<'_> = set.register_choose_model(ByHand("b"));
                same.register_cost_center(ByHand("c")).register_choose_model(ByHand("d"));
                assert_eq!(block_on(set.choose_model("x")), "d:x:b:x:a:x:");
                assert_eq!(block_on(set.cost_center()), "c");
            }

            mod renamed {
                use super::*;

                #[hooks]
                pub(crate) trait First {
                    #[hook(always)]
                    async fn on_start(log: &Log) {
                        $($pause)*
                        log.add("first");
                    }
                }

                #[hooks]
                pub(crate) trait Second {
                    #[hook(always, name = SecondOnStart)]
                    async fn on_start(log: &Log) {
                        $($pause)*
                        log.add("second");
                    }
                }

                pub(crate) struct Both;

                impl OnStart for Both {
                    async fn call(&self, log: &Log) {
                        $($pause)*
                        log.add("hook of the first");
                    }
                }

                impl SecondOnStart for Both {
                    async fn call(&self, log: &Log) {
                        $($pause)*
                        log.add("hook of the second");
                    }
                }

                #[impl_hooks(SecondSet)]
                impl Second for Both {
                    async fn on_start(&self, log: &Log) {
                        $($pause)*
                        log.add("method of the second");
                    }
                }
            }

            /// T-06: `name = …` renames the slot trait, and nothing else
            #[test]
            fn two_sets_of_a_module_can_share_a_method_name_if_one_slot_is_renamed() {
                use renamed::{Both, FirstSet, SecondSet};
                let log = Log::new();
                block_on(FirstSet::new().with_on_start(Both).on_start(&log));
                let second = SecondSet::new().with_on_start(Both).with_hooks(Both);
                block_on(second.on_start(&log));
                assert_eq!(
                    log.lines(),
                    [
                        "first",
                        "hook of the first",
                        "second",
                        "hook of the second",
                        "method of the second",
                    ]
                );
            }

            /// T-06: the `Stateful…` twin is renamed with its slot trait
            #[test]
            fn the_stateful_trait_of_a_renamed_slot_is_renamed() {
                #[hooks]
                trait Local {
                    #[hook(singleton, name = Ticket)]
                    async fn next() -> u32 {
                        $($pause)*
                        0
                    }
                }

                struct Counter(u32);

                impl StatefulTicket for Counter {
                    async fn call_mut(&mut self) -> u32 {
                        $($pause)*
                        self.0 += 1;
                        self.0
                    }
                }

                let set = LocalSet::new().with_next(hooks_core::Stateful::new(Counter(0)));
                assert_eq!(block_on(async { (set.next().await, set.next().await) }), (1, 2));
            }

            /// T-07: a slot that is compiled out is out of the set too
            #[test]
            fn a_cfg_on_a_method_applies_to_all_items_generated_from_it() {
                #[hooks]
                trait Configured {
                    #[cfg(test)]
                    #[hook(singleton)]
                    async fn present() -> u32 {
                        $($pause)*
                        1
                    }

                    #[cfg(not(test))]
                    #[hook(singleton)]
                    async fn absent() -> DoesNotExist {
                        $($pause)*
                        DoesNotExist
                    }
                }

                struct Two;

                #[impl_hooks(ConfiguredSet)]
                impl Configured for Two {
                    #[cfg(test)]
                    async fn present(&self) -> u32 {
                        $($pause)*
                        2
                    }

                    #[cfg(not(test))]
                    async fn absent(&self) -> DoesNotExist {
                        $($pause)*
                        DoesNotExist
                    }
                }

                assert_eq!(block_on(ConfiguredSet::new().present()), 1);
                assert_eq!(block_on(ConfiguredSet::new().with_hooks(Two).present()), 2);
            }

            /// T-02: every spelling of a unit return type
            #[test]
            fn an_explicit_unit_return_type_makes_a_unit_slot() {
                #[hooks]
                trait Units {
                    #[hook(always)]
                    #[allow(clippy::unused_unit, reason = "the explicit unit is what is tested")]
                    async fn explicit(log: &Log) -> () {
                        $($pause)*
                        log.add("explicit");
                    }
                }

                struct Noted;

                #[impl_hooks(UnitsSet)]
                impl Units for Noted {
                    async fn explicit(&self, log: &Log) {
                        $($pause)*
                        log.add("noted");
                    }
                }

                let log = Log::new();
                block_on(UnitsSet::new().with_hooks(Noted).explicit(&log));
                assert_eq!(log.lines(), ["explicit", "noted"]);
            }

            /// T-01: a raw identifier as a slot's name
            #[test]
            fn a_slot_can_have_a_raw_identifier_as_its_name() {
                #[hooks]
                trait Raw {
                    #[hook(always)]
                    async fn r#match(r#fn: u32) -> u32 {
                        $($pause)*
                        r#fn
                    }
                }

                struct Adds;

                #[impl_hooks(RawSet)]
                impl Raw for Adds {
                    async fn r#match(&self, r#fn: u32, last: Option<u32>) -> u32 {
                        $($pause)*
                        last.unwrap() + r#fn
                    }
                }

                impl Match for Adds {
                    async fn call(&self, r#fn: u32, last: Option<u32>) -> u32 {
                        $($pause)*
                        last.unwrap() + r#fn * 10
                    }
                }

                let mut set = RawSet::new().with_hooks(Adds);
                let entry = hooks_core::Entry::new(Adds).key("k");
                set.register_match(Adds).register_match(entry);
                assert_eq!(block_on(set.r#match(1)), 22);
                assert!(set.match_mut().remove("k"));
                assert_eq!(block_on(set.r#match(1)), 12);
                assert_eq!(set.describe().slots[0].slot, "match");
            }

            /// T-08: a body may hold values that are not `Send` if it does not suspend
            #[test]
            fn a_body_can_use_values_that_are_not_send_between_awaits() {
                #[hooks]
                trait Local {
                    #[hook(always)]
                    async fn count(start: u32) -> u32 {
                        $($pause)*
                        let shared = std::rc::Rc::new(start);
                        *shared
                    }
                }

                struct Adds;

                #[impl_hooks(LocalSet)]
                impl Local for Adds {
                    async fn count(&self, start: u32, last: Option<u32>) -> u32 {
                        let sum = {
                            let shared = std::rc::Rc::new(start);
                            *shared + last.unwrap()
                        };
                        $($pause)*
                        sum
                    }
                }

                assert_eq!(block_on(LocalSet::new().with_hooks(Adds).count(4)), 8);
            }

            /// T-02: a definition's parameters may be called anything
            #[test]
            fn parameters_do_not_collide_with_generated_names() {
                #[hooks]
                trait Unlucky {
                    #[hook(always)]
                    async fn first(set: u32, hook: u32, hooks: u32, args: u32, span: u32) -> u32 {
                        $($pause)*
                        set + hook + hooks + args + span
                    }

                    #[hook(fallback)]
                    async fn second(slot: u32, entry: u32, room: u32, output: u32, f: u32) -> u32 {
                        $($pause)*
                        slot + entry + room + output + f
                    }

                    #[hook(singleton)]
                    async fn third(this: u32, r#type: u32, result: u32, cx: u32, a: u32) -> u32 {
                        $($pause)*
                        this + r#type + result + cx + a
                    }
                }

                struct Tenfold;

                #[impl_hooks(UnluckySet)]
                impl Unlucky for Tenfold {
                    async fn first(
                        &self,
                        set: u32,
                        hook: u32,
                        hooks: u32,
                        args: u32,
                        span: u32,
                        last: Option<u32>,
                    ) -> u32 {
                        $($pause)*
                        (set + hook + hooks + args + span) * 10 + last.unwrap()
                    }

                    async fn second(
                        &self,
                        slot: u32,
                        entry: u32,
                        room: u32,
                        output: u32,
                        f: u32,
                        last: Option<u32>,
                    ) -> u32 {
                        $($pause)*
                        (slot + entry + room + output + f) * 10 + last.unwrap_or(1)
                    }

                    async fn third(
                        &self,
                        this: u32,
                        r#type: u32,
                        result: u32,
                        cx: u32,
                        a: u32,
                    ) -> u32 {
                        $($pause)*
                        (this + r#type + result + cx + a) * 10
                    }
                }

                let mut set = UnluckySet::new();
                assert_eq!(block_on(set.first(1, 2, 3, 4, 5)), 15);
                assert_eq!(block_on(set.second(1, 2, 3, 4, 5)), 15);
                assert_eq!(block_on(set.third(1, 2, 3, 4, 5)), 15);
                set.register_hooks(Tenfold);
                assert_eq!(block_on(set.first(1, 2, 3, 4, 5)), 165);
                assert_eq!(block_on(set.second(1, 2, 3, 4, 5)), 151);
                assert_eq!(block_on(set.third(1, 2, 3, 4, 5)), 150);
            }
        }
    };
}

in_every_form!(rules);

/// T-31: companions and output types that came in through a macro
#[test]
fn companions_from_a_macro_fragment_are_recognized() {
    #[derive(Default)]
    struct Length;

    impl hooks_core::AggregateInto<u32, usize> for Length {
        async fn call(&self, outputs: Vec<u32>) -> usize {
            outputs.len()
        }
    }

    #[derive(Default)]
    struct AtZero;

    impl hooks_core::Chain<u32> for AtZero {
        async fn call(&self, output: &u32) -> std::ops::ControlFlow<()> {
            if *output == 0 {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        }
    }

    macro_rules! define {
        ($chain:ident, $aggregate:ty, $output:tt) => {
            #[hooks]
            trait Fragments {
                #[hook(always, chain = $chain, aggregate = $aggregate, output = $output)]
                async fn count(start: u32) -> u32 {
                    start
                }
            }

            struct Less;

            #[impl_hooks(FragmentsSet)]
            impl Fragments for Less {
                async fn count(&self, start: u32) -> u32 {
                    start - 1
                }
            }
        };
    }
    define!(AtZero, Length, usize);
    let set = FragmentsSet::new().with_hooks(Less).with_hooks(Less);
    assert_eq!(block_on(set.count(0)), 1);
    assert_eq!(block_on(set.count(1)), 2);
    assert_eq!(block_on(set.count(2)), 3);
}

/// T-60: a `&str` that came in through a macro's `$argument:ty` is a `&str`
#[test]
fn a_str_from_a_macro_fragment_is_recognized() {
    macro_rules! define {
        ($argument:ty) => {
            #[hooks]
            trait Fragments {
                #[hook(fallback)]
                async fn length(text: $argument) -> usize {
                    text.len()
                }
            }
        };
    }
    define!(&str);

    struct Doubles;

    impl Length for Doubles {
        async fn call(&self, text: String, _last: Option<usize>) -> usize {
            text.len() * 2
        }
    }

    assert_eq!(block_on(FragmentsSet::new().length("abc")), 3);
    assert_eq!(
        block_on(FragmentsSet::new().with_length(Doubles).length("abc")),
        6
    );
}

/// T-08: a body whose `.await` came in through a macro's `$body:expr` suspends like any other
#[test]
fn an_await_from_a_macro_fragment_is_recognized() {
    macro_rules! define {
        ($body:expr) => {
            #[hooks]
            trait Fragments {
                #[hook(always)]
                async fn count(start: u32) -> u32 {
                    start + $body
                }
            }

            struct Adds;

            #[impl_hooks(FragmentsSet)]
            impl Fragments for Adds {
                async fn count(&self, _start: u32, last: Option<u32>) -> u32 {
                    last.unwrap() + $body
                }
            }
        };
    }
    define!({
        crate::kit::yield_once().await;
        10
    });
    let set = FragmentsSet::new().with_hooks(Adds);
    let (sum, pending) = crate::kit::run_counting(set.count(1));
    assert_eq!((sum, pending), (21, 2));
}

/// T-24: a unit return is one also where it comes from a macro's fragment
#[test]
fn a_unit_return_type_from_a_macro_fragment_is_recognized() {
    macro_rules! define {
        ($out:ty) => {
            #[hooks_core::hooks]
            trait Observers {
                #[hook(always)]
                async fn observe(count: u32) -> $out {}
            }

            struct Silent;

            #[hooks_core::impl_hooks(ObserversSet)]
            impl Observers for Silent {
                async fn observe(&self, _count: u32) -> $out {}
            }
        };
    }
    define!(());
    futures::executor::block_on(ObserversSet::new().with_hooks(Silent).observe(1));
}
