//! `#[hook(fallback, custom = path)]`: a call goes from hook to hook, until one ends the
//! dispatch or the default gets it.

use std::ops::ControlFlow;

use futures::executor::block_on;
use hooks_core::{Entry, Pipeline, Stateful, hooks, impl_hook, impl_hooks};

use crate::kit::{Log, in_every_form, panics, run_counting};

/// Not `Clone`: a pipeline moves its call.
#[derive(Debug, PartialEq)]
struct Call(Vec<&'static str>);

impl Call {
    fn seen_by(mut self, name: &'static str) -> Self {
        self.0.push(name);
        self
    }
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Pass(Call),
    End(&'static str),
    Default(Call),
}

/// The pipeline of the slots below.
struct UntilEnd;

impl Pipeline<Call, Verdict> for UntilEnd {
    fn next(output: Verdict) -> ControlFlow<Verdict, Call> {
        match output {
            Verdict::Pass(call) => ControlFlow::Continue(call),
            end => ControlFlow::Break(end),
        }
    }
}

fn names(names: &[&'static str]) -> Call {
    Call(names.to_vec())
}

macro_rules! rules {
    ($form:ident, $($pause:tt)*) => {
        mod $form {
            use super::*;

            #[hooks]
            trait Calls {
                #[hook(fallback, custom = super::UntilEnd)]
                async fn run(call: Call, tenant: String, log: &Log) -> Verdict {
                    $($pause)*
                    log.add(format!("default for {tenant}"));
                    Verdict::Default(call)
                }
            }

            struct Passes(&'static str);

            #[impl_hooks(CallsSet)]
            impl Calls for Passes {
                async fn run(&self, call: Call, tenant: String, log: &Log) -> Verdict {
                    $($pause)*
                    log.add(format!("{} for {tenant}", self.0));
                    Verdict::Pass(call.seen_by(self.0))
                }
            }

            #[impl_hook(Run)]
            async fn ends(_call: Call, tenant: String, log: &Log) -> Verdict {
                $($pause)*
                log.add(format!("ends for {tenant}"));
                Verdict::End("refused")
            }

            struct Panics;

            impl Run for Panics {
                async fn call(&self, _call: Call, _tenant: String, _log: &Log) -> Verdict {
                    $($pause)*
                    panic!("lost the call")
                }
            }

            struct Counts(usize);

            impl StatefulRun for Counts {
                async fn call_mut(&mut self, call: Call, _tenant: String, log: &Log) -> Verdict {
                    $($pause)*
                    self.0 += 1;
                    log.add(format!("count {}", self.0));
                    Verdict::Pass(call.seen_by("counts"))
                }
            }

            fn run(set: &CallsSet<'_>, log: &Log) -> Verdict {
                block_on(set.run(names(&[]), "eu".to_owned(), log))
            }

            /// T-75: on a fallback slot without hooks, the default gets the call
            #[test]
            fn t_75_without_hooks_the_default_gets_the_arguments() {
                let log = Log::new();
                let set = CallsSet::new();
                assert_eq!(run(&set, &log), Verdict::Default(names(&[])));
                assert_eq!(log.lines(), ["default for eu"]);
            }

            /// T-75: each hook gets the call and passes it on, possibly changed
            #[test]
            fn t_75_each_hook_gets_the_arguments_from_the_previous_hook() {
                let log = Log::new();
                let set = CallsSet::new().with_hooks(Passes("a")).with_hooks(Passes("b"));
                assert_eq!(run(&set, &log), Verdict::Default(names(&["a", "b"])));
                assert_eq!(log.lines(), ["a for eu", "b for eu", "default for eu"]);
            }

            /// T-75: a hook can end the dispatch
            #[test]
            fn t_75_the_output_of_an_ending_hook_is_the_result() {
                let log = Log::new();
                let set = CallsSet::new()
                    .with_hooks(Passes("a"))
                    .with_run(Ends)
                    .with_hooks(Passes("never"));
                assert_eq!(run(&set, &log), Verdict::End("refused"));
                assert_eq!(log.lines(), ["a for eu", "ends for eu"]);
            }

            /// T-75: a panic propagates to the caller, and no hook gets the call afterwards
            #[test]
            fn t_75_after_a_panic_no_later_hook_or_default_runs() {
                let log = Log::new();
                let set = CallsSet::new().with_run(Panics).with_hooks(Passes("never"));
                let message = panics(set.run(names(&[]), String::new(), &log));
                assert_eq!(message, "lost the call");
                assert!(log.lines().is_empty());
            }

            /// T-75: hooks with state and entries take part
            #[test]
            fn t_75_stateful_hooks_and_entries_run_in_priority_order() {
                let log = Log::new();
                let set = CallsSet::new()
                    .with_run(Stateful::new(Counts(0)))
                    .with_run(Entry::new(Ends).key("end").priority(5));
                let mut set = set.with_extended(CallsSet::new().with_hooks(Passes("late")));
                assert_eq!(run(&set, &log), Verdict::End("refused"));
                assert_eq!(log.take(), ["count 1", "late for eu", "ends for eu"]);
                assert!(set.run_mut().remove("end"));
                assert_eq!(run(&set, &log), Verdict::Default(names(&["counts", "late"])));
                assert_eq!(log.lines(), ["count 2", "late for eu", "default for eu"]);
            }

            /// T-75: whether a body waits or not, every one runs once
            #[test]
            fn t_75_each_body_runs_once_even_if_it_suspends() {
                let log = Log::new();
                let set = CallsSet::new().with_hooks(Passes("a")).with_hooks(Passes("b"));
                let (verdict, pending) = run_counting(set.run(names(&[]), String::new(), &log));
                assert_eq!(verdict, Verdict::Default(names(&["a", "b"])));
                let bodies = log.lines().len();
                assert!(pending == 0 || pending == bodies, "{pending} of {bodies}");
            }
        }
    };
}

in_every_form!(rules);

#[hooks]
trait Plain {
    #[hook(fallback, custom = UntilEnd)]
    async fn run(call: Call) -> Verdict {
        Verdict::Default(call)
    }
}

#[hooks]
#[nested_hooks(plain = PlainSet)]
trait Outer {
    #[hook(fallback)]
    async fn other() -> u8 {
        0
    }
}

/// T-75, T-10: closures take part where nothing is borrowed
#[test]
fn t_75_closures_can_be_hooks_of_a_pipeline() {
    let set = PlainSet::new()
        .with_run(async |call: Call| Verdict::Pass(call.seen_by("closure")))
        .with_run(|call: Call| std::future::ready(Verdict::Pass(call.seen_by("ready"))));
    let verdict = block_on(set.run(names(&["caller"])));
    assert_eq!(
        verdict,
        Verdict::Default(names(&["caller", "closure", "ready"]))
    );
}

/// T-75, T-40: sets with pipelines nest and merge
#[test]
fn t_75_extending_a_set_extends_nested_pipelines() {
    let plain = |verdict: fn(Call) -> Verdict| {
        PlainSet::new().with_run(move |call: Call| std::future::ready(verdict(call)))
    };
    let mut outer = OuterSet::new().with_plain(plain(|call| Verdict::Pass(call.seen_by("first"))));
    outer.extend(OuterSet::new().with_plain(plain(|_| Verdict::End("second"))));
    assert_eq!(
        block_on(outer.plain.run(names(&[]))),
        Verdict::End("second")
    );
}

/// T-31, T-75: a description contains the kind `fallback` and the pipeline
#[test]
fn t_31_a_description_contains_the_pipeline() {
    let description = PlainSet::new().describe();
    let slot = &description.slots[0];
    assert_eq!((slot.slot, slot.kind), ("run", "fallback"));
    assert_eq!(slot.companions.len(), 1);
    assert_eq!(slot.companions[0].role, "custom");
    assert_eq!(slot.companions[0].name, "UntilEnd");
    assert!(description.to_string().contains("custom = UntilEnd"));
}

/// T-75: a dispatch dropped while a hook has the call runs nothing more
#[test]
fn t_75_a_dropped_dispatch_runs_no_further_hook() {
    let log = Log::new();
    let seen = log.clone();
    let set = PlainSet::new()
        .with_run(async move |call: Call| {
            crate::kit::yield_once().await;
            Verdict::Pass(call)
        })
        .with_run(move |call: Call| {
            seen.add("second");
            std::future::ready(Verdict::Pass(call))
        });
    let mut dispatch = Box::pin(set.run(names(&[])));
    assert!(crate::kit::poll_once(dispatch.as_mut()).is_pending());
    drop(dispatch);
    assert!(log.lines().is_empty());
    assert_eq!(block_on(set.run(names(&[]))), Verdict::Default(names(&[])));
    assert_eq!(log.lines(), ["second"]);
}
