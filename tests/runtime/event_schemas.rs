//! Declarations of events with a schema of their data, and their check at each emission.

use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::events::{
    EventField, EventNameProblem, EventSchema, FieldProblem, FieldType, SchemaMismatch,
};
use hooks_runtime::{EmitError, EmitOptions, Event, HookRegistry, HookResult};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kit::{Log, capture_logs, logging, map, named, plain, returning};

/// Returns a registry in which `deploy:start` is declared.
fn declared() -> HookRegistry {
    let registry = HookRegistry::new();
    registry.declare(deploy());
    registry
}

fn deploy() -> EventSchema {
    EventSchema::new("deploy:start")
        .description("A deployment begins.")
        .field(EventField::string("target").one_of(["staging", "production"]))
        .field(EventField::integer("attempt").optional())
}

fn mismatch(error: &EmitError) -> &SchemaMismatch {
    match error {
        EmitError::Schema { mismatch, .. } => mismatch,
        other => panic!("another error: {other}"),
    }
}

#[test]
fn data_that_match_reach_the_hooks() {
    let (registry, log) = (declared(), Log::new());
    registry.register(
        "deploy:start",
        logging(&log, "ran", HookResult::proceed()),
        plain(),
    );
    for data in [
        json!({"target": "staging"}),
        json!({"target": "production", "attempt": 2}),
        json!({"target": "production", "attempt": null, "by": "ada"}),
    ] {
        let emission = block_on(registry.emit("deploy:start", data.clone())).unwrap();
        assert_eq!(*emission.data, map(data));
    }
    assert_eq!(log.lines().len(), 3);
}

#[test]
fn data_that_do_not_match_are_an_error_and_no_hook_runs() {
    let (registry, log) = (declared(), Log::new());
    registry.register(
        "deploy:start",
        logging(&log, "ran", HookResult::proceed()),
        plain(),
    );
    for (data, problem) in [
        (json!({}), "field `target` is missing"),
        (
            json!({"target": null}),
            "field `target` is null, declared as string",
        ),
        (
            json!({"target": 1}),
            "field `target` is a number, declared as string",
        ),
        (
            json!({"target": "moon"}),
            r#"field `target` is not one of "staging", "production""#,
        ),
        (
            json!({"target": "staging", "attempt": 1.5}),
            "field `attempt` is a number, declared as integer",
        ),
    ] {
        let expected =
            format!("the data of event `deploy:start` do not match its schema: {problem}");
        let error = block_on(registry.emit("deploy:start", data.clone())).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(error.emission().is_none());
        let options = EmitOptions::new().report();
        let error = block_on(registry.emit_with("deploy:start", data.clone(), options));
        assert_eq!(error.unwrap_err().to_string(), expected);
        let wait = Duration::from_secs(1);
        let error = block_on(registry.collect("deploy:start", data.clone(), wait));
        assert_eq!(error.unwrap_err().to_string(), expected);
        let (collected, lines) = block_on(capture_logs(registry.emit_and_collect(
            "deploy:start",
            data,
            wait,
        )));
        assert!(collected.is_empty());
        let is_logged = |line: &String| line.starts_with("ERROR") && line.contains(problem);
        assert!(lines.iter().any(is_logged), "{lines:?}");
    }
    assert_eq!(log.lines(), [""; 0]);
}

#[test]
fn every_problem_is_in_the_error() {
    let registry = HookRegistry::new();
    registry.declare(deploy().deny_unknown_fields());
    let data = json!({"attempt": "one", "extra": true});
    let error = block_on(registry.emit("deploy:start", data)).unwrap_err();
    let problems = &mismatch(&error).problems;
    assert_eq!(
        *problems,
        [
            FieldProblem::Missing {
                field: "target".to_owned()
            },
            FieldProblem::Type {
                field: "attempt".to_owned(),
                expected: FieldType::Integer,
                found: "a string"
            },
            FieldProblem::Unknown {
                field: "extra".to_owned()
            },
        ]
    );
    assert_eq!(
        error.to_string(),
        "the data of event `deploy:start` do not match its schema: field `target` is missing, \
         field `attempt` is a string, declared as integer, field `extra` is not declared"
    );
}

#[test]
fn an_event_without_hooks_is_checked() {
    // More emissions than it takes until names are no longer watched.
    let registry = declared();
    for _ in 0..100 {
        assert!(block_on(registry.emit("deploy:start", ())).is_err());
        assert!(block_on(registry.emit("deploy:done", ())).is_ok());
        assert!(block_on(registry.emit("tool:pre", ())).is_ok());
    }
}

#[test]
fn default_fields_belong_to_the_data() {
    let registry = declared();
    registry.set_default_fields(map(json!({"target": "staging"})));
    assert!(block_on(registry.emit("deploy:start", ())).is_ok());
    let wrong = block_on(registry.emit("deploy:start", json!({"target": 1})));
    assert!(wrong.is_err(), "a field precedes its default");

    registry.declare(deploy().deny_unknown_fields());
    registry.set_default_fields(map(json!({"target": "staging", "host": "a"})));
    let error = block_on(registry.emit("deploy:start", ())).unwrap_err();
    assert!(
        error.to_string().ends_with("field `host` is not declared"),
        "{error}"
    );
}

#[test]
fn changes_by_hooks_are_checked() {
    let registry = declared();
    let removes = returning(HookResult::modify(map(json!({"attempt": 1}))));
    let changing = registry.register("deploy:start", removes, named("changing"));
    let error = block_on(registry.emit("deploy:start", json!({"target": "staging"}))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "after the changes by hooks, the data of event `deploy:start` do not match its schema: \
         field `target` is missing"
    );
    let emission = error.emission().expect("the hooks ran");
    assert_eq!(emission.decided_by.as_deref(), Some("changing"));

    // A denial stays a denial.
    let denies = returning(HookResult::deny("no"));
    registry.register("deploy:start", denies, plain().priority(1));
    let emission = block_on(registry.emit("deploy:start", json!({"target": "staging"}))).unwrap();
    assert!(emission.is_denied());
    assert!(changing.unregister());
}

#[test]
fn a_schema_that_only_warns_logs_each_problem_once() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.declare(deploy().warn_only());
    registry.register(
        "deploy:start",
        logging(&log, "ran", HookResult::proceed()),
        plain(),
    );
    let emissions = async {
        for data in [
            json!({}),
            json!({}),
            json!({"target": 1}),
            json!({"target": 2}),
        ] {
            assert!(registry.emit("deploy:start", data).await.is_ok());
        }
    };
    let ((), lines) = block_on(capture_logs(emissions));
    assert_eq!(log.lines().len(), 4);
    let warnings: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("WARN"))
        .collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("field `target` is missing"));
    assert!(warnings[1].contains("field `target` is a number, declared as string"));
}

#[test]
fn a_problem_contains_no_value_of_the_data() {
    let registry = HookRegistry::new();
    registry.declare(deploy().deny_unknown_fields());
    let data = json!({"target": "hunter2", "attempt": "hunter2", "key": "hunter2"});
    let error = block_on(registry.emit("deploy:start", data)).unwrap_err();
    assert_eq!(mismatch(&error).problems.len(), 3);
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[test]
fn a_schema_declares_the_name_of_its_event() {
    let registry = declared();
    let proceed = |_: Event<'_>| HookResult::proceed();
    registry.register("deploy:start", proceed, plain());
    assert_eq!(registry.event_name_warnings(), []);
    registry.register("deploy:strat", proceed, plain());
    registry.register("invoice", proceed, plain());
    let warnings = registry.event_name_warnings();
    assert_eq!(warnings.len(), 2);
    let problem = EventNameProblem::Undeclared;
    assert!(warnings.iter().all(|warning| warning.problem == problem));
    assert_eq!(warnings[0].similar.as_deref(), Some("deploy:start"));
}

#[test]
fn schemas_are_listed_and_replaced_by_name() {
    let registry = declared();
    registry.declare(EventSchema::new("alarm"));
    registry.declare(EventSchema::new("deploy:start").field(EventField::boolean("dry_run")));
    let names: Vec<_> = registry
        .schemas()
        .iter()
        .map(|schema| schema.to_string())
        .collect();
    assert_eq!(names, ["alarm\n", "deploy:start\n  dry_run: boolean\n"]);
    assert!(block_on(registry.emit("deploy:start", json!({"dry_run": true}))).is_ok());
}

#[test]
fn a_schema_is_exported_as_json_schema() {
    let schema = deploy().deny_unknown_fields();
    assert_eq!(
        schema.to_json_schema(),
        json!({
            "title": "deploy:start",
            "description": "A deployment begins.",
            "type": "object",
            "properties": {
                "target": {"type": "string", "enum": ["staging", "production"]},
                "attempt": {"type": ["integer", "null"]},
            },
            "required": ["target"],
            "additionalProperties": false,
        })
    );
}

/// Returns values of every JSON type.
fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(json!(0.5)),
        Just(json!(2.0)),
        "[ab]".prop_map(Value::from),
        Just(json!([1])),
        Just(json!({"a": 1})),
    ]
}

const TYPES: [FieldType; 7] = [
    FieldType::Text,
    FieldType::Integer,
    FieldType::Number,
    FieldType::Boolean,
    FieldType::Array,
    FieldType::Object,
    FieldType::AnyValue,
];

/// Returns `true` if a value has the type, by the definition of JSON Schema.
fn has_type(value: &Value, of: FieldType) -> bool {
    match of {
        FieldType::Text => value.is_string(),
        FieldType::Integer => value
            .as_f64()
            .is_some_and(|number| number == number.trunc()),
        FieldType::Number => value.is_number(),
        FieldType::Boolean => value.is_boolean(),
        FieldType::Array => value.is_array(),
        FieldType::Object => value.is_object(),
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_emission_succeeds_exactly_if_every_field_matches(
        fields in prop::collection::vec((0..TYPES.len(), any::<bool>()), 0..4),
        data in prop::collection::btree_map("[abcde]", values(), 0..5),
        is_closed in any::<bool>(),
    ) {
        let names = ["a", "b", "c", "d"];
        let mut schema = EventSchema::new("e");
        for ((of, is_optional), name) in fields.iter().zip(names) {
            let field = EventField::new(name, TYPES[*of]);
            schema = schema.field(if *is_optional { field.optional() } else { field });
        }
        if is_closed {
            schema = schema.deny_unknown_fields();
        }
        let registry = HookRegistry::new();
        registry.declare(schema);

        let all_match = fields.iter().zip(names).all(|((of, is_optional), name)| {
            match data.get(name) {
                None => *is_optional,
                Some(Value::Null) if *is_optional => true,
                Some(value) => has_type(value, TYPES[*of]),
            }
        });
        let known = &names[..fields.len()];
        let all_known = data.keys().all(|name| known.contains(&&**name));
        let data: hooks_runtime::Map = data.into_iter().collect();
        let is_ok = block_on(registry.emit("e", data)).is_ok();
        prop_assert_eq!(is_ok, all_match && (all_known || !is_closed));
    }
}

#[test]
fn a_number_is_an_integer_and_an_allowed_value_by_its_value() {
    // As JSON Schema compares numbers: text of the value, whether it is an integer, and whether it
    // is one of the values 1, 2, 100, 2^53 and 0.5.
    let cases = [
        ("1", true, true),
        ("1.0", true, true),
        ("10e-1", true, true),
        ("2.0", true, true),
        ("1e2", true, true),
        ("100", true, true),
        ("0.5", false, true),
        ("5e-1", false, true),
        ("0", true, false),
        ("-0.0", true, false),
        ("-1.0", true, false),
        ("1.5", false, false),
        ("-1.5", false, false),
        ("1e-9", false, false),
        ("9007199254740992", true, true),
        ("9007199254740992.0", true, true),
        // Not equal to 2^53, although a float cannot tell the two.
        ("9007199254740993", true, false),
        ("1e300", true, false),
        ("-1e300", true, false),
        ("18446744073709551615", true, false),
        ("-9223372036854775808", true, false),
        ("18446744073709551616", true, false),
        ("5e-324", false, false),
        ("true", false, false),
        ("\"1\"", false, false),
        ("[1]", false, false),
    ];
    let allowed = json!([1, 2, 100, 1_u64 << 53, 0.5]);
    let allowed = allowed.as_array().unwrap();
    let registry = HookRegistry::new();
    registry.declare(EventSchema::new("integer").field(EventField::integer("n")));
    let optional = EventField::integer("n").optional().one_of([1, 2]);
    let optional = EventSchema::new("optional").field(optional);
    registry.declare(optional.clone());
    let field = EventField::any("n").one_of(allowed.clone());
    registry.declare(EventSchema::new("allowed").field(field));
    let field = EventField::any("n").one_of([json!([1, {"a": 2}])]);
    registry.declare(EventSchema::new("nested").field(field));
    let is_accepted = |event: &str, value: &Value| {
        block_on(registry.emit(event, json!({"n": value.clone()}))).is_ok()
    };
    for (text, is_integer, is_allowed) in cases {
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(is_accepted("integer", &value), is_integer, "{text}");
        assert_eq!(is_accepted("allowed", &value), is_allowed, "{text}");
        let is_one_or_two = ["1", "1.0", "10e-1", "2.0"].contains(&text);
        assert_eq!(is_accepted("optional", &value), is_one_or_two, "{text}");
    }
    assert!(is_accepted("optional", &Value::Null));
    for (value, is_allowed) in [
        (json!([1, {"a": 2}]), true),
        (json!([1.0, {"a": 2.0}]), true),
        (json!([1.0, {"a": 2.5}]), false),
        (json!([1.0, {"b": 2.0}]), false),
        (json!([1.0]), false),
        (json!([1, {"a": 2, "b": 3}]), false),
    ] {
        assert_eq!(is_accepted("nested", &value), is_allowed, "{value}");
    }
    // The JSON Schema says the same: its `integer` and its `enum` compare numbers by their values.
    assert_eq!(
        optional.to_json_schema()["properties"]["n"],
        json!({"type": ["integer", "null"], "enum": [1, 2, null]})
    );
}
