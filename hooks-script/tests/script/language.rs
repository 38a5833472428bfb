//! The language of hooks: the editions of ECMAScript whose features run, and the functions that
//! depend on a locale.

use serde_json::{Value, json};

use crate::support::{body, engine, out, pre, register, rejected, run};

/// Returns the value of an expression.
fn value_of(expression: &str) -> Value {
    let source = body(&format!("return {{ out: {{ v: {expression} }} }};"));
    out(run(&source))["v"].clone()
}

#[test]
fn features_of_the_editions_after_es2020_run() {
    let features = [
        // ES2021
        ("'aXa'.replaceAll('a', 'b')", json!("bXb")),
        ("await Promise.any([Promise.reject(1), 2])", json!(2)),
        (
            "(() => { let a = null; a ??= 1_000; return a; })()",
            json!(1000),
        ),
        // ES2022
        ("[1, 2].at(-1)", json!(2)),
        (
            "(() => { class A { #p = 1; static s; static { A.s = 3; } has(o) { return #p in o; } }
              return [new A().has(new A()), A.s]; })()",
            json!([true, 3]),
        ),
        ("new Error('a', { cause: 'b' }).cause", json!("b")),
        ("Object.hasOwn({ a: 1 }, 'a')", json!(true)),
        ("/a(?<x>b)/d.exec('ab').indices.groups.x", json!([1, 2])),
        // ES2023
        ("[2, 1].toSorted()", json!([1, 2])),
        ("[1, 2, 3].findLast((n) => n < 3)", json!(2)),
        // ES2024
        (
            "Object.groupBy([1, 2, 3], (n) => (n % 2 ? 'odd' : 'even'))",
            json!({"odd": [1, 3], "even": [2]}),
        ),
        ("/[\\p{L}--[a-z]]/v.test('a')", json!(false)),
        ("'a'.isWellFormed()", json!(true)),
        (
            "new ArrayBuffer(1, { maxByteLength: 4 }).resizable",
            json!(true),
        ),
        // ES2025
        ("[...new Set([1]).union(new Set([2]))]", json!([1, 2])),
        ("[1, 2].values().map((n) => n * 2).toArray()", json!([2, 4])),
        ("RegExp.escape('.')", json!("\\.")),
        ("/(?i:a)b/.test('Ab')", json!(true)),
        ("/(?<y>a)|(?<y>b)/.exec('b').groups.y", json!("b")),
        ("await Promise.try(() => 1)", json!(1)),
        ("new Float16Array([1.5])[0]", json!(1.5)),
        // Later
        ("await Array.fromAsync([1, 2])", json!([1, 2])),
        ("Error.isError(new Error())", json!(true)),
        ("Math.sumPrecise([0.1, 0.2])", json!(0.1 + 0.2)),
        ("new Map().getOrInsert('a', 1)", json!(1)),
        ("[...Uint8Array.fromBase64('AQI=')]", json!([1, 2])),
        (
            "(() => { const l = []; { using x = { [Symbol.dispose]() { l.push('d'); } }; } return l; })()",
            json!(["d"]),
        ),
    ];
    let sources: Vec<_> = features.iter().map(|(expression, _)| *expression).collect();
    let shown = value_of(&format!("[{}]", sources.join(",\n")));
    let values = shown.as_array().unwrap();
    for ((expression, expected), value) in features.iter().zip(values) {
        assert_eq!(value, expected, "{expression}");
    }
    assert_eq!(values.len(), features.len());
}

#[test]
fn a_module_may_await_at_its_top_level() {
    let source = "const v = await Promise.resolve(5); export default () => ({ out: { v } });";
    let hook = register(&engine(), source);
    assert_eq!(out(pre(&hook)), json!({"v": 5}));
}

#[test]
fn proposals_that_the_engine_does_not_know_are_absent_or_syntax_errors() {
    let names = "['Temporal', 'Intl', 'Atomics', 'AsyncIterator', 'structuredClone', 'TextEncoder',
        'URL', 'atob', 'crypto', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'performance',
        'eval', 'setTimeout'].filter((name) => name in globalThis)";
    assert_eq!(value_of(names), json!([]));
    assert_eq!(value_of("typeof JSON.rawJSON"), json!("undefined"));
    for source in [
        "const d = (c) => c; @d class A {} export default () => ({ out: {} });",
        "export default () => ({ out: { v: 5 |> f } });",
    ] {
        let error = rejected(source);
        assert!(
            matches!(error, hooks_script::RegisterError::Syntax { .. }),
            "{error:?}"
        );
    }
}

#[test]
fn locales_and_their_options_are_ignored_without_an_error() {
    for (with, without) in [
        (
            "(1234567.891).toLocaleString('de-DE')",
            "String(1234567.891)",
        ),
        (
            "(12.5).toLocaleString('de-DE', { style: 'currency', currency: 'EUR' })",
            "String(12.5)",
        ),
        (
            "(0.5).toLocaleString('en', { style: 'percent' })",
            "String(0.5)",
        ),
        ("(1).toLocaleString('no such locale!')", "String(1)"),
        ("1234567n.toLocaleString('de-DE')", "String(1234567n)"),
        (
            "new Date(0).toLocaleString('de-DE', { timeZone: 'Asia/Tokyo' })",
            "new Date(0).toLocaleString()",
        ),
        (
            "new Date(0).toLocaleDateString('ja-JP', { month: 'long' })",
            "new Date(0).toLocaleDateString()",
        ),
        (
            "new Date(0).toLocaleTimeString('de-DE', { hour12: false })",
            "new Date(0).toLocaleTimeString()",
        ),
        ("'i'.toLocaleUpperCase('tr')", "'I'"),
        ("'I'.toLocaleLowerCase('lt')", "'i'"),
        ("'ä'.localeCompare('z', 'de')", "1"),
        ("'a'.localeCompare('A', 'en', { sensitivity: 'base' })", "1"),
        ("'f10'.localeCompare('f9', 'en', { numeric: true })", "-1"),
    ] {
        assert_eq!(value_of(with), value_of(without), "{with}");
    }
    // Dates have the form of the United States, in UTC.
    let date = "new Date(3600000).toLocaleString('de-DE', { timeZone: 'Asia/Tokyo' })";
    assert_eq!(value_of(date), json!("01/01/1970, 01:00:00 AM"));
    assert_eq!(value_of("'e\\u0301'.normalize('NFC').length"), json!(1));
}
