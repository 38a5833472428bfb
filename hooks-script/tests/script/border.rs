//! Property tests of the boundary: data returns unchanged, and no source crashes the engine.

use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_script::{ContextData, ScriptEngine};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{engine_with, manifest, out, pre, register};

/// Generates values that JavaScript preserves: integers of 53 bits, fractions, strings, and keys
/// that are not numbers, which it would sort.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53)..(1 << 53)).prop_map(Value::from),
        any::<f64>()
            .prop_filter("is JSON, and no whole number", |n| n.is_finite()
                && n.fract() != 0.0)
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            object(inner).prop_map(Value::Object),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map> {
    let key = any::<String>().prop_map(|key| format!("k{key}"));
    prop::collection::vec((key, inner), 0..8).prop_map(|fields| fields.into_iter().collect())
}

/// Generates pieces of JavaScript in any order: more of it compiles than of random bytes.
fn source() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "export default ",
        "function ",
        "async ",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "=>",
        "x",
        "y",
        " = ",
        "=",
        ";",
        "\n",
        "return ",
        "throw ",
        "new ",
        "class A ",
        "extends ",
        "HookStopException",
        "await ",
        "yield ",
        "import ",
        "from ",
        "'a'",
        "`${",
        "}`",
        "/(a+)+/.test(",
        "0",
        "1n",
        "1e9",
        "...",
        "for(;;)",
        "if (x) ",
        "try {",
        "} catch {",
        "context",
        ".in",
        "out:",
        "globalThis",
        "Object",
        "Proxy",
        "Promise",
        "JSON.parse(",
        "Symbol.iterator",
        ".then(",
        "?.",
        "??",
        "#p",
        "static ",
        "get ",
        "label: ",
        "break ",
        "\u{2028}",
        "\\u{41}",
        "/*",
        "*/",
        "//",
        "\0",
        "é",
    ]);
    let mixed = prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat());
    prop_oneof![
        mixed.clone(),
        mixed.prop_map(|text| format!("export default (x, y) => {{ {text} }};")),
        any::<String>(),
    ]
}

#[test]
fn s_11_data_round_trip_unchanged() {
    let engine = ScriptEngine::builder().build().unwrap();
    let hook = register(
        &engine,
        "export default ({ in: message }) => ({ out: message });",
    );
    proptest!(ProptestConfig::with_cases(300), |(given in object(value()))| {
        let run = block_on(hook.run_pre(&given, &ContextData::new()));
        // Compare as text: the order of keys and every digit matter.
        let text = |map: &Map| serde_json::to_string(map).unwrap();
        let Value::Object(found) = out(run) else { unreachable!("`out` gives an object") };
        let found_again: Map = serde_json::from_str(&text(&found)).unwrap();
        let given_again: Map = serde_json::from_str(&text(&given)).unwrap();
        prop_assert_eq!(found_again, given_again);
        prop_assert_eq!(found.keys().collect::<Vec<_>>(), given.keys().collect::<Vec<_>>());
    });
}

#[test]
fn s_22_no_source_crashes_the_engine_or_affects_later_runs() {
    let engine = engine_with(|limits| {
        limits.fuel = 3_000_000;
        limits.load_fuel = 3_000_000;
    });
    let canary = register(
        &engine,
        "export default () => ({ out: { globals: Object.getOwnPropertyNames(globalThis) } });",
    );
    let first = pre(&canary);
    proptest!(ProptestConfig::with_cases(300), |(source in source())| {
        if let Ok(hook) = engine.register(manifest(), &source) {
            let run = pre(&hook);
            prop_assert!(!matches!(run.result, hooks_script::RunResult::Failed(hooks_script::Failure::Engine(_))), "{:?}", run);
        }
        let again = pre(&canary);
        prop_assert_eq!((&again.result, again.fuel, &again.memory_hash), (&first.result, first.fuel, &first.memory_hash));
    });
}
