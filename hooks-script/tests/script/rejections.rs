//! Errors for authors: the reason why a hook is refused or fails, and its position.

use hooks_script::{Failure, RegisterError, ScriptEngine};

use crate::support::{body, engine, failure, out, pre, register, rejected, run, stop};

#[test]
fn s_03_every_rejection_names_its_position() {
    for (source, kind, position) in [
        ("let a;\n /(/;", "syntax", (2, 2)),
        ("let a = 1 / 2;\n  x = /(?<n>/;", "syntax", (2, 7)),
        ("let a;\n /x/gg", "syntax", (2, 2)),
        ("let nope1;\nexport { nope as default };", "syntax", (2, 10)),
        ("class A {\n f() { this.#y; } }", "syntax", (2, 13)),
        ("\nimport x from 'a\\u0062'", "import", (2, 15)),
        ("const a = /'/g;\nimport x from 'y'", "import", (2, 15)),
        ("const r = 'y';\n\nimport x from 'y'", "import", (3, 15)),
        ("const a = 1;\n\nexport {a as 'a-b'}", "exports", (3, 14)),
        ("\u{feff}export default 5", "exports", (1, 11)),
        (
            "const q = /\"/;\nconst a = 1;\nexport {a}",
            "exports",
            (3, 9),
        ),
        ("export default 1;\nexport default 2;", "syntax", (2, 8)),
    ] {
        let error = rejected(source);
        assert_eq!(error.kind(), kind, "{source}");
        let found = error.position().map(|at| (at.line, at.column));
        assert_eq!(found, Some(position), "{source}");
    }
}

#[test]
fn s_22_a_too_deeply_nested_source_exceeds_the_stack_limit() {
    for piece in [
        "x=>",
        "{",
        "if(1)",
        "if(1);else ",
        "new ",
        "(",
        "[",
        "!",
        "x?",
        "`${",
    ] {
        let error = rejected(&format!("{}1", piece.repeat(20_000)));
        assert!(
            matches!(error, RegisterError::Load(Failure::Stack(_))),
            "{piece}: {error:?}"
        );
    }
}

#[test]
fn s_03_functions_are_accepted_and_classes_and_generators_refused() {
    let engine = engine();
    for source in [
        "export default Object.freeze(function (c) { return { out: c.in }; });",
        "const f = function (c) { return { out: c.in }; };
         Object.defineProperty(f, 'prototype', { writable: false });
         export default f.bind(null);",
        "export default ({ f(c) { return { out: c.in }; } }).f;",
        "export default new Proxy(function (c) { return { out: c.in }; }, {});",
    ] {
        out(pre(&register(&engine, source)));
    }
    for source in [
        "export default (function* () {}).bind();",
        "export default (class {}).bind(null).bind(null);",
        "export default class A extends Error {};",
        "class A { static prototype2 = 1; } export default A;",
        "export default new Proxy(class {}, {});",
        "export default new Proxy((class {}).bind(), {});",
        "export default Map;",
        "export default Promise;",
    ] {
        assert_eq!(rejected(source).kind(), "exports", "{source}");
    }
}

#[test]
fn s_03_a_caught_import_does_not_hide_a_later_exception() {
    let error = rejected(
        "try { await import('x'); } catch {}\nthrow new Error('other');\nexport default 1;",
    );
    let RegisterError::Load(Failure::Thrown { message, .. }) = &error else {
        panic!("{error:?}");
    };
    assert_eq!(message, "other");
    assert_eq!(
        error.position().map(|at| (at.line, at.column)),
        Some((2, 11))
    );
    let error = rejected("await import('x');\nexport default 1;");
    assert_eq!(error.kind(), "import");
    assert_eq!(
        error.position().map(|at| (at.line, at.column)),
        Some((1, 14))
    );
}

#[test]
fn s_04_a_source_that_makes_the_context_read_only_is_refused() {
    for source in [
        "Object.freeze(globalThis);",
        "Object.defineProperty(globalThis, 'context', { value: 1 });",
    ] {
        let error = rejected(&format!("{source} export default () => ({{ out: {{}} }});"));
        assert_eq!(error.kind(), "load");
        let message = error.to_string();
        assert!(message.contains("`context` cannot be set"), "{message}");
    }
    // The check leaves no traces.
    let source = "export default () => ({ out: { own: Object.keys(globalThis) } });";
    assert_eq!(out(run(source))["own"][0], "context");
    out(run(
        "globalThis.context = 1; export default () => ({ out: {} });",
    ));
}

#[test]
fn s_03_messages_contain_the_reason() {
    for (source, start) in [
        (
            "export default 1;\nexport default 2;",
            "duplicate `export default`",
        ),
        (
            "export default 1 +",
            "the source ends in the middle of an expression",
        ),
        ("export {}", "missing `default` export"),
        ("export default 5", "`default` is not a plain function"),
    ] {
        let message = rejected(source).to_string();
        assert!(message.starts_with(start), "{source}: {message}");
    }
}

#[test]
fn s_12_a_failed_conversion_to_json_is_reported_with_its_reason() {
    for (text, why) in [
        ("return { get out() { throw 'g'; } };", "threw `g`"),
        ("return { out: { n: 1n } };", "it contains a BigInt"),
        (
            "const a = {}; a.a = a; return { out: a };",
            "it contains itself",
        ),
        (
            "let a = {}; for (let i = 0; i < 200; i++) a = { a }; return { out: a };",
            "deeper than 127 levels",
        ),
        ("return Symbol();", "returned a symbol"),
    ] {
        match failure(run(&body(text))) {
            Failure::BadReturn(message) => assert!(message.contains(why), "{text}: {message}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn s_02_the_console_prints_values_that_are_not_json() {
    let text = "const a = {}; a.a = a;
        console.log(Symbol('d'), a, { n: 1n }, { get g() { throw 1; } }, 'x', [1]);
        return { out: {} };";
    let run = run(&body(text));
    let line = &run.console[0].text;
    assert_eq!(
        line,
        "Symbol(d) [no JSON: circular reference] \
         [no JSON: BigInt are forbidden in JSON.stringify] [no JSON: something was thrown] x [1]"
    );
    out(run);
}

#[test]
fn s_16_the_position_of_a_custom_error_is_its_throw_statement() {
    let source =
        "class Low extends Error { constructor(m) { super(m); } }\nclass High extends Low {}
export default () => {\n  throw new High('x');\n};";
    match failure(run(source)) {
        Failure::Thrown { position, .. } => {
            assert_eq!(position.map(|at| (at.line, at.column)), Some((4, 13)));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn s_15_an_unpaired_surrogate_in_a_stop_is_a_replacement_character() {
    let stopped = stop(run(&body("throw new HookStopException('a\\ud83db');")));
    assert_eq!(stopped.message, "a\u{fffd}b");
}

#[test]
fn s_02_different_seeds_give_different_random_numbers() {
    let random = |seed| {
        let engine = ScriptEngine::builder().random(move || seed).build();
        let source = "export default () => ({ out: { n: Math.random() } });";
        out(pre(&register(&engine.unwrap(), source)))["n"].clone()
    };
    let (zero, one, two) = (random(0), random(1), random(2));
    assert!(zero != one && one != two && two != zero);
}
