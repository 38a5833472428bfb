//! Runs in which several things fail: a stop is never lost.

use hooks_script::{Failure, RegisterError, RunResult};

use crate::support::{
    body, engine, engine_with, failure, out, post, pre, register, rejected, run, stop, summary,
};

#[track_caller]
fn assert_summary(text: &str, expected: &str) {
    assert_eq!(summary(&run(&body(text))), expected, "{text}");
}

#[test]
fn s_15_a_stop_is_not_lost_among_other_rejections() {
    for others in [0, 15, 16, 17, 100, 2000] {
        let source = body(&format!(
            "const ps = Array.from({{ length: {others} }}, async (_, i) => {{ throw new Error('' + i); }});
             (async () => {{ throw new HookStopException('banned'); }})();
             await Promise.allSettled(ps);
             return {{ out: {{}} }};"
        ));
        assert_eq!(stop(run(&source)).message, "banned", "{others}");
    }
}

/// The language itself combines exceptions, as `AggregateError` and `SuppressedError`.
#[test]
fn s_15_a_stop_within_a_combined_exception_is_found() {
    for text in [
        "using x = { [Symbol.dispose]() { throw new Error('d'); } }; throw new HookStopException('banned');",
        "using x = { [Symbol.dispose]() { throw new HookStopException('banned'); } }; throw new Error('d');",
        "await Promise.any([Promise.reject(1), Promise.reject(new HookStopException('banned'))]);",
        "Promise.any([Promise.reject(new HookStopException('banned'))]); return { out: {} };",
        "throw new AggregateError([1, new AggregateError([new HookStopException('banned')])]);",
    ] {
        assert_eq!(stop(run(&body(text))).message, "banned", "{text}");
    }
    // Inspecting the exceptions runs no code of the script.
    for (text, expected) in [
        ("throw new AggregateError([1, new Error('x')]);", "error thrown AggregateError"),
        (
            "const e = new AggregateError([]);
             Object.defineProperty(e, 'errors', { get() { for (;;); } });
             throw e;",
            "error thrown AggregateError",
        ),
        (
            "const e = new AggregateError([]);
             e.errors = new Proxy([], { get() { for (;;); }, getOwnPropertyDescriptor() { for (;;); } });
             throw e;",
            "error thrown AggregateError",
        ),
        (
            "const e = new AggregateError([]); e.errors = [e, e]; e.error = e; throw e;",
            "error thrown AggregateError",
        ),
        (
            "throw { errors: [new HookStopException('no exception')] };",
            "error thrown Object",
        ),
    ] {
        assert_summary(text, expected);
    }
}

/// Rejections that are handled later need no room at the end.
#[test]
fn s_23_any_number_of_rejections_can_be_handled() {
    let engine = engine_with(|limits| {
        limits.fuel = u64::MAX / 2;
        limits.jobs = 200_000;
        limits.heap = 1 << 20;
    });
    let text = "for (let i = 0; i < 20000; i++) try { await Promise.reject(i); } catch {}
        return { out: {} };";
    out(pre(&register(&engine, &body(text))));
}

/// The list of rejections is charged to the script.
#[test]
fn s_22_rejections_that_exceed_the_heap_fail_the_run() {
    let engine = engine_with(|limits| {
        limits.fuel = u64::MAX / 2;
        limits.heap = 1 << 20;
    });
    let text = "try { for (;;) Promise.reject(1); } catch {} return { out: {} };";
    let run = pre(&register(&engine, &body(text)));
    assert_eq!(summary(&run), "interrupted heap");
}

/// The author of a message influences how much memory a hook requests.
#[test]
fn s_15_a_stop_takes_precedence_over_refused_memory() {
    let refused = "try { new Uint8Array(64 << 20); } catch {}";
    let stops = [
        "throw new HookStopException('too large to check');",
        "Promise.reject(new HookStopException('s')); return { out: {} };",
        "return (async () => { await null; throw new HookStopException('s'); })();",
    ];
    for stop in stops {
        assert_summary(&format!("{refused} {stop}"), "stop HookStopException");
    }
    assert_summary(
        "try { new Uint8Array(64 << 20); } catch { throw new HookStopException('no'); }",
        "stop HookStopException",
    );
    assert_summary(
        &format!("{refused} throw new Error('e');"),
        "interrupted heap",
    );
    assert_summary(
        &format!("{refused} return {{ out: {{}} }};"),
        "interrupted heap",
    );
}

#[test]
fn s_15_s_16_an_exception_of_a_microtask_ends_the_run() {
    assert_summary(
        "queueMicrotask(() => { throw new HookStopException('m'); }); return { out: {} };",
        "stop HookStopException",
    );
    assert_summary(
        "queueMicrotask(() => { throw new RangeError('m'); }); return { out: {} };",
        "error thrown RangeError",
    );
    assert_summary(
        "queueMicrotask(() => { throw null; }); return { out: {} };",
        "error thrown throw",
    );
    assert_summary("queueMicrotask(() => {}); return { out: {} };", "out");
    let error = rejected(
        "queueMicrotask(() => { throw new RangeError('m'); }); export default () => ({ out: {} });",
    );
    let RegisterError::Load(Failure::Thrown { class, .. }) = &error else {
        panic!("{error:?}");
    };
    assert_eq!(class, "RangeError");
}

/// A promise with custom resolve functions may throw outside of any promise.
#[test]
fn s_15_a_stop_thrown_by_a_promise_job_ends_the_run() {
    assert_summary(
        "class Odd extends Promise {
           constructor(run) { super(() => {}); run(() => { throw new HookStopException('odd'); }, () => {}); }
         }
         const p = Promise.resolve(1);
         p.constructor = { [Symbol.species]: Odd };
         p.then(() => {});
         return { out: {} };",
        "stop HookStopException",
    );
}

#[test]
fn s_15_a_stop_takes_precedence_over_every_other_result() {
    let sync = "Promise.reject(new HookStopException('s'));";
    let later = "(async () => { await null; await null; throw new HookStopException('s'); })();";
    let microtask = "queueMicrotask(() => { throw new HookStopException('s'); });";
    for stopped in [sync, later, microtask] {
        for other in [
            "throw new Error('e');",
            "throw undefined;",
            "return new Promise(() => {});",
            "return { out: { n: 1n } };",
            "return 5;",
            "return { get out() { throw new Error('g'); } };",
            "Promise.reject(new Error('e')); return { out: {} };",
        ] {
            for text in [format!("{stopped}{other}"), {
                let (first, last) = other.split_once(' ').unwrap();
                format!("Promise.reject(new Error('before')); {stopped} {first} {last}")
            }] {
                assert_summary(&text, "stop HookStopException");
            }
        }
    }
    // A function that is not async, too.
    let source = "export default () => { Promise.reject(new HookStopException('s')); throw new Error('e'); };";
    assert_eq!(stop(run(source)).message, "s");
    let engine = engine();
    assert_eq!(stop(post(&register(&engine, source))).message, "s");
    // Of two stops, the one thrown by the function itself takes precedence.
    let text =
        "Promise.reject(new HookStopException('left')); throw new HookStopException('thrown');";
    assert_eq!(stop(run(&body(text))).message, "thrown");
}

#[test]
fn s_15_a_stop_takes_precedence_over_too_many_continuations() {
    assert_summary(
        "Promise.reject(new HookStopException('s')); for (;;) await null;",
        "stop HookStopException",
    );
    assert_summary(
        "Promise.reject(new HookStopException('s')); const f = () => { Promise.resolve().then(f); }; f(); return { out: {} };",
        "stop HookStopException",
    );
}

#[test]
fn s_15_a_forged_or_handled_stop_takes_no_precedence() {
    for forged in [
        "Object.create(HookStopException.prototype)",
        "new Proxy(new HookStopException('s'), {})",
        "Object.assign(new Error('s'), { name: 'HookStopException', constructor: HookStopException })",
    ] {
        assert_summary(
            &format!("Promise.reject({forged}); throw new TypeError('e');"),
            "error thrown TypeError",
        );
    }
    // A handled stop has no effect.
    assert_summary(
        "Promise.reject(new HookStopException('s')).catch(() => {}); throw new TypeError('e');",
        "error thrown TypeError",
    );
}

#[test]
fn s_16_a_thrown_exception_takes_precedence_over_unhandled_rejections() {
    assert_summary(
        "Promise.reject(new RangeError('left')); throw new TypeError('thrown');",
        "error thrown TypeError",
    );
    match failure(run(&body(
        "Promise.reject(new RangeError('one')); Promise.reject(new TypeError('two')); return { out: {} };",
    ))) {
        Failure::Thrown { message, .. } => assert_eq!(message, "one"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn s_16_the_position_of_an_error_in_a_class_field_is_in_the_source() {
    let source = "class B { x = null.y; }\nexport default () => {\n  new B();\n};";
    match failure(run(source)) {
        Failure::Thrown { position, .. } => {
            assert!(position.is_some_and(|at| at.line > 0 && at.column > 0))
        }
        other => panic!("{other:?}"),
    }
    assert!(
        rejected("class B { x = null.y; }\nnew B();\nexport default () => {};")
            .position()
            .is_some_and(|at| at.line > 0)
    );
}

#[test]
fn s_22_a_stack_overflow_is_not_inferred_from_the_exception() {
    let forged = "new RangeError('Maximum call stack size exceeded')";
    assert_summary(&format!("throw {forged};"), "error thrown RangeError");
    assert_summary(
        "throw new SyntaxError('stack overflow');",
        "error thrown SyntaxError",
    );
    for code in [
        "const f = () => f() + 1; return f();",
        "const f = () => f() + 1; try { f(); } catch (e) { throw e; }",
        "class A { toJSON() { return JSON.stringify(this); } } JSON.stringify(new A());",
        "const f = (n) => (n ? f(n - 1) : new RegExp('(?:'.repeat(120) + ')'.repeat(120)));
         const room = (n) => { try { return room(n + 1); } catch { return n; } };
         f(room(0) - 25);",
    ] {
        assert!(
            matches!(failure(run(&body(code))), Failure::Stack(_)),
            "{code}"
        );
    }
    for source in [
        "export default ".to_owned()
            + &"function () { return ".repeat(500)
            + "1"
            + &"}".repeat(500),
        format!(
            "export default () => /{}a{}/;",
            "(?:".repeat(1000),
            ")+".repeat(1000)
        ),
    ] {
        let error = rejected(&source);
        assert!(
            matches!(error, RegisterError::Load(Failure::Stack(_))),
            "{error}"
        );
    }
}

#[test]
fn s_02_to_exponential_formats_numbers_as_ecmascript_requires() {
    let source = body(
        "return { out: { texts: [7.120236347223045e-307, 6.189700196426902e+26, -1.5, 0, -0, 123456,
            0.00015, 1e21, 5e-324, 1.7976931348623157e308, NaN, -Infinity].map((n) => n.toExponential()) } };",
    );
    match run(&source).result {
        RunResult::Returned(out) => assert_eq!(
            out["texts"],
            serde_json::json!([
                "7.120236347223045e-307",
                "6.189700196426902e+26",
                "-1.5e+0",
                "0e+0",
                "0e+0",
                "1.23456e+5",
                "1.5e-4",
                "1e+21",
                "5e-324",
                "1.7976931348623157e+308",
                "NaN",
                "-Infinity"
            ])
        ),
        other => panic!("{other:?}"),
    }
}
