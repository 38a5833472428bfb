//! `chain = Type`: a companion checks each output and may stop the dispatch.

use std::future::ready;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::executor::block_on;
use hooks_core::{Chain, FirstSuccess, ShortCircuit, hooks, impl_hook, impl_hooks};
use proptest::prelude::*;

use crate::kit::{Log, in_every_form, panic_message, poll_once, run_counting, yield_once};

/// Cannot be cloned.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict(&'static str);

/// Stops at the verdict "stop".
#[derive(Default)]
pub(crate) struct UntilStop;

impl Chain<Verdict> for UntilStop {
    async fn call(&self, output: &Verdict) -> ControlFlow<()> {
        yield_once().await;
        if output.0.starts_with("stop") {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Stops at any given word, and records the outputs.
pub(crate) struct UntilWord<'a> {
    word: &'a str,
    log: Log,
}

impl Chain<Verdict> for UntilWord<'_> {
    async fn call(&self, output: &Verdict) -> ControlFlow<()> {
        self.log.add(format!("seen {}", output.0));
        if output.0 == self.word {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Gates {
                #[hook(always, chain = UntilStop)]
                async fn check(input: &str, log: &Log) -> Verdict {
                    $($pause)*
                    log.add("default");
                    Verdict(if input == "bad" { "stop by default" } else { "go by default" })
                }

                #[hook(fallback, chain = UntilStop)]
                async fn decide(log: &Log) -> Verdict {
                    $($pause)*
                    log.add("default");
                    Verdict("default")
                }

                #[hook(always, chain = ShortCircuit<u32, String>)]
                async fn validate(input: &str) -> Result<u32, String> {
                    $($pause)*
                    input.parse().map_err(|_| format!("`{input}` is not a number"))
                }

                #[hook(fallback, chain = FirstSuccess<String>)]
                async fn resolve(name: &str) -> Option<String> {
                    $($pause)*
                    Some(format!("default {name}"))
                }
            }

            struct Says(&'static str);

            #[impl_hooks(GatesSet)]
            impl Gates for Says {
                async fn check(&self, _input: &str, log: &Log) -> Verdict {
                    $($pause)*
                    log.add(self.0);
                    Verdict(self.0)
                }

                async fn decide(&self, log: &Log) -> Verdict {
                    $($pause)*
                    log.add(self.0);
                    Verdict(self.0)
                }
            }

            fn saying(words: &[&'static str]) -> GatesSet<'static> {
                let mut set = GatesSet::new();
                for word in words {
                    set.register_hooks(Says(word));
                }
                set
            }

            /// Dispatch table, always + chain, no hooks
            #[test]
            fn always_without_hooks_returns_the_default() {
                let log = Log::new();
                assert_eq!(block_on(saying(&[]).check("good", &log)).0, "go by default");
                assert_eq!(block_on(saying(&[]).check("bad", &log)).0, "stop by default");
                assert_eq!(log.lines(), ["default", "default"]);
            }

            /// Dispatch table, always + chain: the chain sees the default first
            #[test]
            fn always_stops_at_a_breaking_default() {
                let log = Log::new();
                let verdict = block_on(saying(&["a", "b"]).check("bad", &log));
                assert_eq!(verdict.0, "stop by default");
                assert_eq!(log.lines(), ["default"]);
            }

            /// Dispatch table, always + chain: the first Break returns that output
            #[test]
            fn always_stops_at_the_first_breaking_hook() {
                let log = Log::new();
                let verdict = block_on(saying(&["a", "stop b", "stop c"]).check("good", &log));
                assert_eq!(verdict.0, "stop b");
                assert_eq!(log.lines(), ["default", "a", "stop b"]);
            }

            /// Dispatch table, always + chain: else the last output
            #[test]
            fn always_returns_the_last_output_if_no_output_breaks() {
                let log = Log::new();
                assert_eq!(block_on(saying(&["a", "b"]).check("good", &log)).0, "b");
                assert_eq!(log.lines(), ["default", "a", "b"]);
            }

            /// Dispatch table, fallback + chain, no hooks
            #[test]
            fn fallback_without_hooks_returns_the_default() {
                assert_eq!(block_on(saying(&[]).decide(&Log::new())).0, "default");
            }

            /// Dispatch table, fallback + chain: first Break
            #[test]
            fn fallback_stops_at_the_first_breaking_hook_without_the_default() {
                let log = Log::new();
                assert_eq!(block_on(saying(&["a", "stop b", "c"]).decide(&log)).0, "stop b");
                assert_eq!(log.lines(), ["a", "stop b"]);
            }

            /// Dispatch table, fallback + chain: all continue → default
            #[test]
            fn fallback_runs_the_default_last_if_every_hook_continues() {
                let log = Log::new();
                assert_eq!(block_on(saying(&["a", "b"]).decide(&log)).0, "default");
                assert_eq!(log.lines(), ["a", "b", "default"]);
            }

            #[impl_hook(Validate)]
            async fn no_zero(input: &str) -> Result<u32, String> {
                $($pause)*
                if input == "0" { Err("zero".to_owned()) } else { Ok(1) }
            }

            #[impl_hook(Validate)]
            async fn even(input: &str) -> Result<u32, String> {
                $($pause)*
                let even = input.ends_with(['0', '2', '4', '6', '8']);
                if even { Ok(2) } else { Err("odd".to_owned()) }
            }

            /// T-33
            #[test]
            fn short_circuit_stops_at_the_first_err() {
                let set = GatesSet::new().with_validate(NoZero).with_validate(Even);
                assert_eq!(block_on(set.validate("x")), Err("`x` is not a number".to_owned()));
                assert_eq!(block_on(set.validate("0")), Err("zero".to_owned()));
                assert_eq!(block_on(set.validate("3")), Err("odd".to_owned()));
                assert_eq!(block_on(set.validate("4")), Ok(2));
            }

            #[impl_hook(Resolve)]
            async fn known(name: &str) -> Option<String> {
                $($pause)*
                (name == "known").then(|| "found".to_owned())
            }

            #[impl_hook(Resolve)]
            async fn anything(name: &str) -> Option<String> {
                $($pause)*
                (name != "lost").then(|| "anything".to_owned())
            }

            /// T-33
            #[test]
            fn first_success_stops_at_the_first_some() {
                let set = GatesSet::new().with_resolve(Known).with_resolve(Anything);
                assert_eq!(block_on(set.resolve("known")).as_deref(), Some("found"));
                assert_eq!(block_on(set.resolve("other")).as_deref(), Some("anything"));
                assert_eq!(block_on(set.resolve("lost")).as_deref(), Some("default lost"));
            }

            /// T-32: a companion of another type may replace the declared one, and sees each output
            /// before the next hook runs
            #[test]
            fn with_chain_replaces_the_declared_chain() {
                let log = Log::new();
                let word = String::from("enough");
                let set = saying(&["stop a", "enough", "b"])
                    .with_check_chain(UntilWord { word: &word, log: log.clone() });
                assert_eq!(block_on(set.check("good", &log)).0, "enough");
                assert_eq!(
                    log.lines(),
                    [
                        "default",
                        "seen go by default",
                        "stop a",
                        "seen stop a",
                        "enough",
                        "seen enough",
                    ]
                );
            }

            /// T-32, T-04: `set_…` changes the set in place
            #[test]
            fn set_chain_replaces_the_chain_in_place() {
                let log = Log::new();
                let mut set = saying(&["a", "stop b", "c"]);
                set.set_decide_chain(UntilWord { word: "a", log: Log::new() })
                    .register_decide(Finally);
                assert_eq!(block_on(set.decide(&log)).0, "a");
                set.set_decide_chain(UntilWord { word: "finally", log: Log::new() });
                assert_eq!(block_on(set.decide(&log)).0, "finally");
                assert_eq!(log.lines(), ["a", "a", "stop b", "c", "finally"]);
            }

            #[impl_hook(Decide)]
            async fn finally(log: &Log) -> Verdict {
                $($pause)*
                log.add("finally");
                Verdict("finally")
            }

            /// T-32, T-03: the companion is the set's own; a clone made before keeps its own
            #[test]
            fn replacing_a_chain_does_not_affect_earlier_clones() {
                let set = saying(&["a", "stop b", "c"]);
                let until_c = UntilWord { word: "c", log: Log::new() };
                let changed = set.clone().with_decide_chain(until_c);
                assert_eq!(block_on(set.decide(&Log::new())).0, "stop b");
                assert_eq!(block_on(changed.decide(&Log::new())).0, "c");
                assert_eq!(block_on(changed.clone().decide(&Log::new())).0, "c");
            }
        }
    };
}

in_every_form!(rules);

/// Waits before odd numbers, stops at 9, panics at 13.
#[derive(Default)]
struct Weighs;

impl Chain<u32> for Weighs {
    async fn call(&self, output: &u32) -> ControlFlow<()> {
        if output % 2 == 1 {
            yield_once().await;
        }
        assert_ne!(*output, 13, "thirteen");
        if *output == 9 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[hooks]
trait NumberHooks {
    #[hook(always, chain = Weighs)]
    async fn number() -> u32 {
        2
    }
}

fn numbers(all: &[u32]) -> NumberHooksSet<'static> {
    all.iter().fold(NumberHooksSet::new(), |set, &number| {
        set.with_number(move || ready(number))
    })
}

proptest! {
    /// T-32: a chain may await for some verdicts and not for others
    #[test]
    fn a_chain_can_suspend_for_some_outputs_only(
        all in prop::collection::vec(0_u32..13, 0..9),
    ) {
        let (answer, pending) = run_counting(numbers(&all).number());
        let stop = all.iter().position(|number| *number == 9);
        let ran = stop.map_or(&all[..], |at| &all[..=at]);
        prop_assert_eq!(answer, *ran.last().unwrap_or(&2));
        prop_assert_eq!(pending, ran.iter().filter(|number| **number % 2 == 1).count());
    }
}

/// T-32: a panic of a chain propagates to the caller, whether it awaited before or not
#[test]
fn a_panicking_chain_ends_the_dispatch() {
    for before in [4, 5] {
        let set = numbers(&[before, 13, 6]);
        let mut dispatch = Box::pin(set.number());
        let mut poll = || catch_unwind(AssertUnwindSafe(|| poll_once(dispatch.as_mut())));
        let message = loop {
            match poll() {
                Ok(polled) => assert!(polled.is_pending(), "13 panics"),
                Err(payload) => break panic_message(payload),
            }
        };
        assert!(message.contains("thirteen"), "{message}");
        let again = panic_message(poll().unwrap_err());
        assert!(again.contains("polled after its completion"), "{again}");
    }
}
