//! Compares the dispatch table, row by row, with a model of it.
//!
//! Every valid combination of kind and options has a separate slot, declared with a default that is
//! ready and with one that suspends. A case registers scripted hooks in every form, dispatches
//! once, and compares the result, the order of all calls and every `last` with the output of
//! [`model`].

// Millions of steps: too slow for miri, which runs the engine by `failures.rs`.
#![cfg(not(miri))]

#[allow(unreachable_pub, reason = "`hooks-tests` re-exports its items")]
mod kit;
mod model;
mod slots;
mod stage;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use self::slots::DRIVERS;
use self::stage::{CaseRecord, Driver, FORMS, Form, Setting};
use crate::kit::listen;
use crate::model::{Change, Kind, Registration, Run, Script};

/// Returns the break positions: none, the default, one hook, or the default and one hook.
fn break_positions(hooks: usize) -> impl Iterator<Item = (bool, Option<usize>)> {
    [false, true].into_iter().flat_map(move |default| {
        std::iter::once(None)
            .chain((1..=hooks).map(Some))
            .map(move |hook| (default, hook))
    })
}

fn registrations(form: Form, hooks: usize, breaking: Option<usize>) -> Vec<Change<Form>> {
    let register = |id| {
        let script = if form.is_function() {
            Script {
                id: stage::FUNCTION,
                breaks: breaking.is_some(),
            }
        } else {
            Script {
                id,
                breaks: breaking == Some(id),
            }
        };
        Change::Register(Registration {
            form,
            script,
            key: None,
            priority: 0,
        })
    };
    (1..=hooks).map(register).collect()
}

/// Dispatches and compares; the message names the whole case.
fn compare(driver: &Driver, setting: &Setting) -> Result<(), String> {
    let hooks = model::execution_order(driver.row.kind, &setting.changes);
    let tidy = |run: Run| run.without_idle_chain_calls(driver.row, hooks.len());
    let expected = tidy(model::dispatch(driver.row, setting.default, &hooks));
    let CaseRecord { run, dropped } = (driver.run)(setting);
    let actual = tidy(run);
    let dropped = tidy(Run {
        events: dropped,
        ..Run::default()
    })
    .events;
    if actual == expected && expected.events.starts_with(&dropped) {
        return Ok(());
    }
    let name = driver.name;
    Err(format!(
        "{name}: {setting:?}\n{expected:?} expected\n{actual:?}\n{dropped:?} dropped"
    ))
}

/// Plays every row with every form, number of hooks and break position, and with each of
/// `dropped_after`; returns the number of cases.
fn compare_all(dropped_after: &[Option<usize>]) -> usize {
    let mut settings = Vec::new();
    for form in FORMS {
        for hooks in [0, 1, 3] {
            for (default, hook) in break_positions(hooks) {
                for companions_suspend in [false, true] {
                    settings.extend(dropped_after.iter().map(|dropped_after| Setting {
                        default: Script {
                            id: model::DEFAULT,
                            breaks: default,
                        },
                        changes: registrations(*form, hooks, hook),
                        companions_suspend,
                        dropped_after: *dropped_after,
                    }));
                }
            }
        }
    }
    let cases = DRIVERS
        .iter()
        .flat_map(|driver| settings.iter().map(move |s| (driver, s)));
    let wrong: Vec<String> = cases
        .filter_map(|(driver, s)| compare(driver, s).err())
        .collect();
    let cases = DRIVERS.len() * settings.len();
    assert!(
        wrong.is_empty(),
        "{} of {cases} cases, first: {}",
        wrong.len(),
        wrong[0]
    );
    cases
}

/// Dispatch table, all rows: kind × chain × aggregate × finalize × output × unit return,
/// with 0, 1 and 3 hooks, every break position, and bodies in every form.
#[test]
fn every_row_of_the_dispatch_table_matches_the_model() {
    let cases = compare_all(&[None]);
    assert_eq!(
        cases,
        84 * FORMS.len() * (2 + 4 + 8) * 2,
        "a part of the table was left out"
    );
}

/// A dispatch that is dropped, at any point, ran the first hooks and runs nothing more; the next
/// one on the set starts anew.
#[test]
fn a_dropped_dispatch_ran_a_prefix_and_does_not_affect_the_next_dispatch() {
    compare_all(&[Some(0), Some(1), Some(2), Some(3), Some(4), Some(6)]);
}

/// A subscriber that records every span and keeps none.
struct SpanSubscriber(Arc<AtomicU64>);

impl tracing::Subscriber for SpanSubscriber {
    fn enabled(&self, _metadata: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _span: &tracing::span::Id, _values: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _span: &tracing::span::Id, _follows: &tracing::span::Id) {}

    fn event(&self, _event: &tracing::Event<'_>) {}

    fn enter(&self, _span: &tracing::span::Id) {}

    fn exit(&self, _span: &tracing::span::Id) {}
}

/// Dispatch table: a subscriber of spans changes nothing.
#[test]
fn every_row_matches_the_model_with_a_span_subscriber() {
    let spans = Arc::new(AtomicU64::new(0));
    let subscriber = SpanSubscriber(Arc::clone(&spans));
    listen(subscriber, || compare_all(&[None, Some(2)]));
    assert_ne!(spans.load(Ordering::Relaxed), 0, "no span was recorded");
}

/// Dispatch table: the rows are the whole table, each with both kinds of default.
#[test]
fn the_table_has_every_valid_combination_once() {
    let mut rows: Vec<String> = DRIVERS
        .iter()
        .map(|driver| format!("{:?}", driver.row))
        .collect();
    rows.sort();
    let all = rows.len();
    rows.dedup();
    // Always and fallback: chain or not × five ends × unit or not; singleton: unit or not.
    assert_eq!(rows.len(), 2 * 2 * 5 * 2 + 2);
    assert_eq!(all, 2 * rows.len());
}

const KEYS: [&str; 3] = ["a", "b", "c"];

prop_compose! {
    /// Hooks written through `#[impl_hooks]` are registered without key and priority; in a case, a
    /// key has one priority, because another test covers changed priorities.
    fn registration(priorities: [i32; 3])(
        form in proptest::sample::select(FORMS),
        breaks in proptest::bool::weighted(0.2),
        key in proptest::option::of(0_usize..3),
        priority in -2_i32..=2,
    ) -> Registration<Form> {
        let (key, priority) = match key {
            _ if !form.takes_entry() => (None, 0),
            Some(key) => (Some(KEYS[key]), priorities[key]),
            None => (None, priority),
        };
        Registration { form, script: Script { id: 0, breaks }, key, priority }
    }
}

fn change(priorities: [i32; 3]) -> impl Strategy<Value = Change<Form>> {
    prop_oneof![
        6 => registration(priorities).prop_map(Change::Register),
        1 => (0_usize..3).prop_map(|key| Change::Remove { key: KEYS[key] }),
        1 => proptest::collection::vec(registration(priorities), 0..4).prop_map(Change::Extend),
    ]
}

/// Assigns a unique id to every hook; those written with `#[impl_hook]` are one value, so they
/// share one script.
fn number(changes: &mut [Change<Form>], shared: Script) {
    let mut next = 1;
    let mut give = |registration: &mut Registration<Form>| {
        registration.script.id = next;
        next += 1;
        if registration.form.is_function() {
            registration.script = shared;
        }
    };
    for change in changes {
        match change {
            Change::Register(registration) => give(registration),
            Change::Extend(registrations) => registrations.iter_mut().for_each(&mut give),
            Change::Remove { .. } => {}
        }
    }
}

fn setting() -> impl Strategy<Value = Setting> {
    proptest::array::uniform3(-2_i32..=2)
        .prop_flat_map(|priorities| proptest::collection::vec(change(priorities), 0..9))
        .prop_flat_map(|changes| {
            (
                Just(changes),
                any::<[bool; 3]>(),
                proptest::option::of(0_usize..12),
            )
        })
        .prop_map(|(mut changes, flags, dropped_after)| {
            let [default_breaks, function_breaks, companions_suspend] = flags;
            number(
                &mut changes,
                Script {
                    id: stage::FUNCTION,
                    breaks: function_breaks,
                },
            );
            let default = Script {
                id: model::DEFAULT,
                breaks: default_breaks,
            };
            Setting {
                default,
                changes,
                companions_suspend,
                dropped_after,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4096,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Dispatch table over random sets: number of hooks, forms, keys, priorities, removals,
    /// `extend`, and breaks.
    #[test]
    fn random_sets_match_the_model(
        driver in proptest::sample::select(DRIVERS),
        setting in setting(),
    ) {
        prop_assert_eq!(compare(&driver, &setting), Ok(()));
    }
}

/// The model itself: one case per row of the table, written by hand.
#[test]
fn the_model_matches_the_rows_written_by_hand() {
    let case = |kind, chain, end, breaks: [bool; 3]| {
        let row = model::Row {
            kind,
            chain,
            end,
            unit: false,
        };
        let script = |id: usize| Script {
            id,
            breaks: breaks[id],
        };
        model::dispatch(row, script(0), &[script(1), script(2)]).result
    };
    use model::End::{Aggregate, FinalizeInto, Plain};
    let go = [false; 3];
    let stop = [false, true, false];
    assert_eq!(case(Kind::Always, false, Plain, go), "#2");
    assert_eq!(case(Kind::Always, true, Plain, stop), "#1");
    assert_eq!(case(Kind::Always, true, Plain, [true, false, false]), "#0");
    assert_eq!(
        case(Kind::Always, false, Aggregate, go),
        "aggregate[#0,#1,#2]"
    );
    assert_eq!(
        case(Kind::Always, true, Aggregate, stop),
        "aggregate[#0,#1]"
    );
    assert_eq!(case(Kind::Fallback, false, Plain, go), "#2");
    assert_eq!(case(Kind::Fallback, true, Plain, go), "#0");
    assert_eq!(case(Kind::Fallback, true, Plain, stop), "#1");
    assert_eq!(
        case(Kind::Fallback, false, Aggregate, go),
        "aggregate[#1,#2]"
    );
    assert_eq!(
        case(Kind::Fallback, true, Aggregate, go),
        "aggregate[#1,#2]"
    );
    assert_eq!(case(Kind::Fallback, true, FinalizeInto, go), "finished[#0]");
    assert_eq!(case(Kind::Singleton, false, Plain, stop), "#2");
}
