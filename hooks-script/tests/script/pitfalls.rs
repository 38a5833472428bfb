//! Known failures of other script engines, each with a test that it does not occur here.

use std::thread;
use std::time::Duration;

use hooks_script::{Failure, RegisterError};
use serde_json::json;

use crate::support::{
    body, engine, engine_with, failure, out, pre, register, rejected, run, stop, summary,
};

/// Each script repeats one built-in forever, with an input that makes a single call long.
const BUILT_INS: &[(&str, &str)] = &[
    ("executor", "return new Promise(() => { for (;;) {} });"),
    (
        "async generator",
        "const g = async function* () { for (;;) {} }; for await (const _ of g()) {}",
    ),
    ("then getter", "return { get then() { for (;;) {} } };"),
    (
        "prepareStackTrace",
        "Error.prepareStackTrace = () => { for (;;) {} }; new Error().stack;",
    ),
    (
        "substring search",
        "const t = 'a'.repeat(2e5); for (;;) t.includes('a'.repeat(1e5) + 'b');",
    ),
    (
        "split",
        "const t = 'ab'.repeat(1e4); for (;;) t.split('a');",
    ),
    (
        "replaceAll",
        "const t = 'ab'.repeat(1e4); for (;;) t.replaceAll('a', 'c');",
    ),
    (
        "normalize",
        "const t = 'ä'.repeat(1e4); for (;;) t.normalize('NFKD');",
    ),
    (
        "toUpperCase",
        "const t = 'ß'.repeat(1e4); for (;;) t.toUpperCase();",
    ),
    (
        "localeCompare",
        "const t = 'ä'.repeat(1e4); for (;;) t.localeCompare(t + 'b');",
    ),
    (
        "encodeURI",
        "const t = 'ä'.repeat(1e4); for (;;) encodeURI(t);",
    ),
    ("repeat", "for (;;) 'ab'.repeat(1e5);"),
    (
        "number parsing",
        "const t = '1'.repeat(1e5); for (;;) parseFloat(t);",
    ),
    (
        "BigInt",
        "let n = 7n; for (;;) n = (n * n) % (1n << 20000n);",
    ),
    (
        "JSON",
        "const t = '[' + '1,'.repeat(1e4) + '1]'; for (;;) JSON.parse(t);",
    ),
    (
        "sort",
        "const l = Array.from({ length: 3000 }, (_, i) => -i); for (;;) [...l].sort();",
    ),
    (
        "typed sort",
        "for (;;) new Float64Array(5e4).fill(1).sort();",
    ),
    (
        "huge length",
        "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);",
    ),
    (
        "reverse of huge length",
        "Array.prototype.reverse.call({ length: 2 ** 53 - 1 });",
    ),
    (
        "Object.keys",
        "const o = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => ['k' + i, i])); for (;;) Object.keys(o);",
    ),
    (
        "compiling an expression",
        "for (let i = 0; ; i++) new RegExp('(?:a{1,50}b){1,50}' + i);",
    ),
    (
        "running an expression",
        "/^(a+)+$/.test('a'.repeat(50) + 'b');",
    ),
];

#[test]
fn pitfall_01_fuel_limits_every_built_in() {
    let engine = engine_with(|limits| limits.fuel = 50_000_000);
    let wrong: Vec<_> = BUILT_INS
        .iter()
        .map(|(name, source)| (name, summary(&pre(&register(&engine, &body(source))))))
        .filter(|(_, summary)| summary != "interrupted fuel")
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Without a fuel limit, the timeout ends the scripts too.
#[test]
fn pitfall_01_the_timeout_limits_every_built_in() {
    let engine = engine_with(|limits| {
        limits.fuel = u64::MAX / 2;
        limits.wall = Duration::from_millis(20);
    });
    // Loading has the same timeout, and may exceed it on a busy machine.
    let register = |source| {
        let mut tries = (0..20).map(|_| engine.register(crate::support::manifest(), &body(source)));
        tries
            .find_map(Result::ok)
            .expect("it loads within the timeout")
    };
    let wrong: Vec<_> = BUILT_INS
        .iter()
        .map(|(name, source)| (name, summary(&pre(&register(source)))))
        .filter(|(_, summary)| summary != "interrupted wall")
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn pitfall_02_every_import_fails_even_of_the_prelude_or_the_hook() {
    for module in [
        "prelude.js",
        "hook.js",
        "./hook.js",
        "std",
        "os",
        "context",
        "",
    ] {
        let import = format!("import * as it from '{module}'; export default () => it;");
        assert!(
            matches!(rejected(&import), RegisterError::Import { .. }),
            "{module}"
        );
        let from = format!("export {{ default }} from '{module}';");
        assert!(
            matches!(rejected(&from), RegisterError::Import { .. }),
            "{module}"
        );
        let dynamic = body(&format!("return {{ out: await import('{module}') }};"));
        assert_eq!(
            summary(&run(&dynamic)),
            "error thrown TypeError",
            "{module}"
        );
    }
}

#[test]
fn pitfall_03_out_of_memory_is_detected_by_the_allocator() {
    for source in [
        "const all = []; for (;;) all.push(new Uint8Array(1 << 16));",
        // Independent of the script's return value.
        "try { const all = []; for (;;) all.push(new Uint8Array(1 << 16)); } catch { return { out: {} }; }",
        "let t = 'x'; for (;;) { t += t; t.charCodeAt(t.length - 1); }",
        "return { out: { t: 'x'.padEnd(1 << 28) } };",
        "const m = []; for (;;) m.push(new Map([[{}, new ArrayBuffer(1e5)]]));",
    ] {
        assert!(
            matches!(failure(run(&body(source))), Failure::Heap(_)),
            "{source}"
        );
    }
    // A script that throws `null` is not mistaken for it.
    assert_eq!(summary(&run(&body("throw null;"))), "error thrown throw");
}

#[test]
fn pitfall_04_only_a_branded_exception_is_a_stop() {
    stop(run(&body(
        "class A extends HookStopException {} class B extends A {} throw new B('x');",
    )));
    stop(run(&body(
        "throw Reflect.construct(HookStopException, ['x']);",
    )));
    for forged in [
        "class HookStopException extends Error {} throw new HookStopException('x');",
        "throw Object.setPrototypeOf(new Error('x'), HookStopException.prototype);",
        "throw { name: 'HookStopException', message: 'x', constructor: HookStopException };",
        "Object.defineProperty(Error, Symbol.hasInstance, { value: () => true }); throw new Error('x');",
        "try { HookStopException.isHookStop = () => true; } catch {} throw new Error('x');",
        "throw new Proxy(new HookStopException('x'), {});",
    ] {
        assert_eq!(failure(run(&body(forged))).kind(), "thrown", "{forged}");
    }
}

#[test]
fn pitfall_04_a_returned_value_cannot_imitate_a_stop() {
    for returned in [
        "'{\"out\":{}}'",
        "'stop'",
        "{ stop: { class: 'HookStopException', message: 'x' } }",
        "{ status: 1, class: 'HookStopException' }",
        "String.fromCharCode(0, 1, 2)",
    ] {
        let source = body(&format!("return {returned};"));
        assert_eq!(failure(run(&source)).kind(), "bad_return", "{returned}");
    }
}

#[test]
fn pitfall_05_nesting_bombs_do_not_overflow_the_thread_stack() {
    let depth = 50_000;
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{a:", "}"),
        ("-", ""),
        ("!", ""),
        ("(()=>", ")"),
        ("`${", "}`"),
        ("f(", ")"),
    ] {
        let source = format!(
            "export default () => {}1{};",
            open.repeat(depth),
            close.repeat(depth)
        );
        let error = engine_with(|limits| limits.source = 1 << 20)
            .register(crate::support::manifest(), &source);
        assert!(error.is_err(), "{open}");
    }
    for source in [
        "JSON.parse('['.repeat(1e5));",
        "JSON.parse('{\"a\":'.repeat(1e5));",
        "new RegExp('('.repeat(1e5));",
        "let l = []; for (let i = 0; i < 1e4; i++) l = [l]; l.flat(Infinity); String(l);",
        "const f = (...all) => f(...all, 1); f();",
        "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x;",
        "let s = 'x'; for (let i = 0; i < 1e4; i++) s = { toString: ((t) => () => `${t}`)(s) }; `${s}`;",
    ] {
        let kind = failure(run(&body(source))).kind();
        assert!(
            matches!(kind, "stack" | "thrown" | "fuel"),
            "{source}: {kind}"
        );
    }
}

#[test]
fn pitfall_06_eval_and_every_hidden_function_constructor_fail() {
    for source in [
        "eval('1');",
        "(0, eval)('1');",
        "Function('return 1')();",
        "new Function('return 1')();",
        "(() => {}).constructor('return 1')();",
        "(async () => {}).constructor('return 1')();",
        "(function* () {}).constructor('yield 1')();",
        "(async function* () {}).constructor('yield 1')();",
        "Object.getPrototypeOf(Function.prototype.constructor).constructor('return 1')();",
        "Reflect.construct(Function, ['return 1']);",
        "class F extends Function {} new F('return 1');",
        "[].map.constructor('return 1')();",
    ] {
        assert_eq!(failure(run(&body(source))).kind(), "thrown", "{source}");
    }
}

#[test]
fn pitfall_07_a_trap_does_not_affect_later_runs() {
    let engine = engine();
    let canary = register(
        &engine,
        &body("const f = (n) => n ? f(n - 1) + 1 : 0; return { out: { n: f(300) } };"),
    );
    let first = pre(&canary);
    assert_eq!(out(first.clone()), json!({"n": 300}));
    // Traps deep in the stack, which is then not unwound.
    let deep = register(
        &engine,
        &body("const f = (n) => { if (!n) for (;;) {} return f(n - 1) + 1; }; f(400);"),
    );
    for _ in 0..20 {
        assert_eq!(failure(pre(&deep)).kind(), "fuel");
        let again = pre(&canary);
        assert_eq!(
            (&again.result, again.fuel, &again.memory_hash),
            (&first.result, first.fuel, &first.memory_hash)
        );
    }
}

#[test]
fn pitfall_07_loading_has_a_separate_fuel_limit() {
    let engine = engine_with(|limits| {
        limits.load_fuel = 100_000_000;
        limits.fuel = 1_000_000;
    });
    let at_top = |count| {
        format!("for (let i = 0; i < {count}; i++); export default () => ({{ out: {{}} }});")
    };
    out(pre(&register(&engine, &at_top(20_000))));
    let error = engine
        .register(crate::support::manifest(), &at_top(200_000_000))
        .unwrap_err();
    assert!(
        matches!(error, RegisterError::Load(Failure::Fuel(100_000_000))),
        "{error:?}"
    );
    let in_run = body("for (let i = 0; i < 20000; i++);");
    assert_eq!(failure(pre(&register(&engine, &in_run))).kind(), "fuel");
}

/// On a busy machine, hooks within their fuel end normally: the timeout is far larger than their
/// fuel takes.
#[test]
fn pitfall_08_a_busy_machine_does_not_change_result_or_fuel() {
    let engine = engine();
    let hook = register(
        &engine,
        &body("let n = 0; for (let i = 0; i < 1e5; i++) n += i; return { out: { n } };"),
    );
    let calm = pre(&hook);
    let busy = std::sync::atomic::AtomicBool::new(true);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while busy.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop()
                }
            });
        }
        for _ in 0..5 {
            let run = pre(&hook);
            assert_eq!((&run.result, run.fuel), (&calm.result, calm.fuel));
        }
        busy.store(false, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn pitfall_08_the_timeout_ends_a_run_that_has_fuel_left() {
    let engine = engine_with(|limits| {
        limits.fuel = u64::MAX / 2;
        // The timeout also applies to loading, which a busy machine can delay.
        limits.wall = Duration::from_millis(500);
    });
    let run = pre(&register(&engine, &body("for (;;) {}")));
    // Its peak memory is still reported.
    assert!(run.memory_bytes > 0);
    assert!(matches!(failure(run), Failure::Wall(_)));
}

/// Like the test in `isolation`, with buffers that a script does not clear.
#[test]
fn pitfall_09_memory_of_a_run_is_cleared_before_the_next_run() {
    let engine = engine();
    let marks = register(
        &engine,
        &body(
            "const all = []; for (let i = 0; i < 60; i++) all.push(new Uint8Array(1 << 16).fill(0xa5)); throw all.length;",
        ),
    );
    // The engine clears new buffers, but not strings that grow in place.
    let clean = register(
        &engine,
        &body(
            "let t = ''; for (let i = 0; i < 1e3; i++) t += 'b'; return { out: { t: t.includes('\\xa5') } };",
        ),
    );
    let first = pre(&clean);
    for _ in 0..3 {
        assert_eq!(failure(pre(&marks)).kind(), "thrown");
        let again = pre(&clean);
        assert_eq!(
            (&again.result, &again.memory_hash),
            (&first.result, &first.memory_hash)
        );
    }
}

#[test]
fn pitfall_10_returned_values_are_converted_to_json() {
    let source = body(
        "return { out: { nan: NaN, inf: -Infinity, f() {}, u: undefined, s: Symbol(), list: [undefined, () => 1, , NaN],
           date: new Date(0), get g() { return 'read'; }, own: { toJSON: () => 'made' }, box: new String('s'),
           re: /x/, err: new Error('e'), map: new Map([[1, 2]]), p: new Proxy([1], {}), nested: Object.create({ no: 1 }) } };",
    );
    assert_eq!(
        out(run(&source)),
        json!({"nan": null, "inf": null, "list": [null, null, null, null], "date": "1970-01-01T00:00:00.000Z",
               "g": "read", "own": "made", "box": "s", "re": {}, "err": {}, "map": {}, "p": [1], "nested": {}})
    );
    for source in [
        "const a = []; a.push(a); return { out: { a } };",
        "return { out: { n: 1n } };",
    ] {
        assert_eq!(failure(run(&body(source))).kind(), "bad_return");
    }
    for source in [
        "return { out: { get x() { for (;;) {} } } };",
        "return { out: { toJSON() { for (;;) {} } } };",
        "return { out: new Proxy({}, { ownKeys() { for (;;) {} } }) };",
    ] {
        assert_eq!(failure(run(&body(source))).kind(), "fuel");
    }
}

#[test]
fn pitfall_11_shared_memory_and_clocks_are_absent() {
    let names = "['SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'performance', 'gc', 'eval']";
    let source = body(&format!(
        "const here = {names}.filter((name) => name in globalThis || typeof globalThis[name] !== 'undefined');
         const times = new Set(); for (let i = 0; i < 1e4; i++) times.add(Date.now());
         return {{ out: {{ here, times: times.size }} }};"
    ));
    assert_eq!(out(run(&source)), json!({"here": [], "times": 1}));
}

/// A single-threaded executor continues while a script runs.
#[test]
fn pitfall_12_a_run_does_not_block_the_executor() {
    use futures_executor::block_on;
    use futures_util::future::{Either, select};

    let engine = engine_with(|limits| limits.fuel = 300_000_000);
    let hook = register(&engine, &body("for (;;) {}"));
    let (given, data) = (crate::support::message(), hooks_script::ContextData::new());
    block_on(async {
        let caller = thread::current().id();
        let run = Box::pin(hook.run_pre(&given, &data));
        // Ready at the first poll, which happens only because the run does not block the thread.
        let other = std::future::ready(());
        match select(run, other).await {
            Either::Right(((), _)) => assert_eq!(thread::current().id(), caller),
            Either::Left(_) => panic!("the run did not wait"),
        }
    });
}
