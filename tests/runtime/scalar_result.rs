//! `Emission::result` contains the final data, whatever the action is (E-28, E-35).

use std::sync::Arc;

use futures::executor::block_on;
use hooks_runtime::around::{Around, Next};
use hooks_runtime::events::{EventCall, EventPhase};
use hooks_runtime::{
    Action, Emission, EmitError, Entry, HookRegistry, HookResult, Map, RegisterOptions,
};
use proptest::prelude::*;
use serde_json::json;

use crate::kit::{at, emit, map, plain, returning};

const STRONGER: [fn() -> HookResult; 3] = [
    || HookResult::inject_context("The input was sanitised."),
    || HookResult::ask_user("Run it?"),
    || HookResult::deny("no"),
];

#[test]
fn e_35_the_result_has_the_modified_data_before_and_after_a_stronger_action() {
    for stronger in STRONGER {
        for modifies_first in [true, false] {
            let registry = HookRegistry::new();
            let sanitises = HookResult::set("command", "ls");
            let place = if modifies_first { 1 } else { 3 };
            registry.register("tool:pre", returning(sanitises), at(place));
            registry.register("tool:pre", returning(stronger()), at(2));
            let given = json!({"command": "ls; rm -rf /", "shell": "sh"});
            let result = block_on(emit(&registry, "tool:pre", given)).result();
            assert_eq!(result.action, stronger().action);
            // After a denial, no hook runs.
            let is_run = modifies_first || result.action != Action::Deny;
            let expected = is_run.then(|| map(json!({"command": "ls", "shell": "sh"})));
            assert_eq!(result.data, expected, "{modifies_first} {}", result.action);
        }
    }
}

#[test]
fn e_35_a_deciding_hook_does_not_hide_the_data_of_the_phase_transform() {
    for stronger in STRONGER {
        let registry = HookRegistry::new();
        let decides = plain().phase(EventPhase::Decide);
        registry.register("tool:pre", returning(stronger()), decides);
        let transforms = HookResult::modify(map(json!({"command": "ls"})));
        registry.register("tool:pre", returning(transforms), plain());
        let result = block_on(emit(&registry, "tool:pre", json!({"command": "rm"}))).result();
        assert_eq!(result.data, Some(map(json!({"command": "ls"}))));
    }
}

/// Data that were never applied must not be run after a question or an injection.
#[test]
fn e_28_the_result_has_no_data_that_the_emission_ignored() {
    for stronger in STRONGER {
        for by_changes in [true, false] {
            let ignored = match by_changes {
                true => stronger().and_set("command", "rm"),
                false => HookResult {
                    data: Some(map(json!({"command": "rm"}))),
                    ..stronger()
                },
            };
            let registry = HookRegistry::new();
            registry.register("tool:pre", returning(ignored.clone()), plain());
            let given = map(json!({"command": "ls"}));
            let result = block_on(emit(&registry, "tool:pre", given.clone())).result();
            if result.action == Action::Deny {
                assert_eq!(result, ignored, "a denial is returned whole");
                continue;
            }
            assert_eq!(result.data, Some(given));
            assert!(result.changes.is_empty());
        }
    }
}

/// Changes the data on the way in, on the way out, or not at all.
struct Encloses {
    before: Option<u8>,
    after: Option<u8>,
}

impl Around<EventCall> for Encloses {
    async fn call<'a>(
        &'a self,
        (call,): (EventCall,),
        next: Next<'a, EventCall>,
    ) -> Result<Emission, EmitError> {
        let with = |data: &Arc<Map>, value: Option<u8>| {
            let mut data = Map::clone(data);
            data.extend(value.map(|value| ("around".to_owned(), value.into())));
            data
        };
        let data = with(&call.data, self.before);
        let mut emission = next.call((call.with_data(data),)).await?;
        if self.after.is_some() {
            emission.data = Arc::new(with(&emission.data, self.after));
        }
        Ok(emission)
    }
}

#[derive(Debug, Clone)]
struct Case {
    hooks: Vec<(i32, HookResult)>,
    around: Option<(Option<u8>, Option<u8>)>,
    defaults: Map,
    data: Map,
    shares_data: bool,
}

fn fields() -> impl Strategy<Value = Map> {
    let field = prop::sample::select(&["a", "b", "c"][..]);
    prop::collection::vec((field, any::<u8>()), 0..3).prop_map(|fields| {
        let field = |(name, value): (&str, u8)| (name.to_owned(), value.into());
        fields.into_iter().map(field).collect()
    })
}

fn hook_result() -> impl Strategy<Value = HookResult> {
    let base = prop_oneof![
        1 => Just(HookResult::proceed()),
        3 => Just(HookResult { action: Action::Modify, ..HookResult::default() }),
        1 => Just(HookResult::inject_context("text")),
        1 => Just(HookResult::inject_context("")),
        1 => Just(HookResult::ask_user("Run it?")),
        1 => Just(HookResult::deny("no")),
    ];
    let changes = prop::option::of((prop::sample::select(&["a", "b"][..]), any::<u8>()));
    let message = prop::option::of(Just("a message"));
    (base, prop::option::of(fields()), changes, message).prop_map(
        |(base, data, changes, message)| {
            let mut result = HookResult { data, ..base };
            if let Some((field, value)) = changes {
                result = result.and_set(field, value);
            }
            match message {
                Some(message) => result.user_message(message),
                None => result,
            }
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let hooks = prop::collection::vec((-2..3, hook_result()), 0..7);
    let value = || prop::option::of(any::<u8>());
    let around = prop::option::of((value(), value()));
    (hooks, around, fields(), fields(), any::<bool>()).prop_map(
        |(hooks, around, defaults, data, shares_data)| Case {
            hooks,
            around,
            defaults,
            data,
            shares_data,
        },
    )
}

/// Returns the final data by the rules, and whether a hook has set them.
fn expected(case: &Case) -> (Map, bool) {
    let mut data = case.data.clone();
    let mut is_modified = false;
    let (before, after) = case.around.unwrap_or_default();
    let mut enclose = |data: &mut Map, value: Option<u8>| {
        if let Some(value) = value {
            data.insert("around".to_owned(), value.into());
            is_modified = true;
        }
    };
    enclose(&mut data, before);
    for (field, value) in &case.defaults {
        data.entry(field).or_insert_with(|| value.clone());
    }
    let mut order: Vec<_> = case.hooks.iter().collect();
    order.sort_by_key(|(priority, _)| *priority);
    let mut is_changed = false;
    for (_, result) in order {
        match result.action {
            Action::Deny => break,
            Action::Modify => {
                if let Some(map) = &result.data {
                    data = map.clone();
                    is_changed = true;
                }
                for (field, value) in result.changes.iter() {
                    data.insert(field.to_owned(), value.clone());
                    is_changed = true;
                }
            }
            _ => {}
        }
    }
    enclose(&mut data, after);
    (data, is_modified || is_changed)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn e_35_the_result_has_the_final_data_whenever_a_hook_modified_them(case in case()) {
        let registry = HookRegistry::new();
        registry.set_default_fields(case.defaults.clone());
        for (priority, result) in &case.hooks {
            registry.register("e", returning(result.clone()), at(*priority));
        }
        if let Some((before, after)) = case.around {
            registry.around("e", Entry::new(Encloses { before, after }));
        }
        let given = Arc::new(case.data.clone());
        let kept = case.shares_data.then(|| Arc::clone(&given));
        let emission = block_on(emit(&registry, "e", given));
        drop(kept);
        let result = emission.result();
        let (data, is_modified) = expected(&case);
        prop_assert_eq!(&*emission.data, &data);
        prop_assert_eq!(result.action, emission.action);
        if is_modified {
            prop_assert_eq!(result.data.as_ref(), Some(&data));
            prop_assert!(result.changes.is_empty());
        } else if let (Some(found), false) = (&result.data, emission.is_denied()) {
            prop_assert_eq!(found, &data, "no data that were ignored");
        }
        // Returned to another registry, only a modification has an effect.
        let other = HookRegistry::new();
        other.register("e", returning(result), RegisterOptions::new());
        let again = block_on(emit(&other, "e", json!({"z": 1})));
        if emission.action != Action::Modify {
            prop_assert_eq!(&*again.data, &map(json!({"z": 1})));
        }
    }
}
