//! Tests of the hook contract, by rule.

use std::num::NonZeroUsize;

use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_script::{
    ConsoleLevel, ContextData, ContextKey, DataError, Failure, Field, HOOK_STOP, Manifest,
    Position, PublicFields, RegisterError, RunOutcome, RunRecord, RunResult, ScriptEngine, Stage,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::support::{
    body, engine, engine_with, failure, manifest, map, message, out, post, pre, register, rejected,
    run, stop,
};

#[test]
fn s_01_globals_for_io_timers_and_modules_are_absent() {
    let names = "['require','process','Deno','Bun','std','os','fetch','XMLHttpRequest','WebSocket','EventSource',
        'Worker','SharedWorker','navigator','setTimeout','setInterval','WebAssembly','print','scriptArgs','load','read']";
    let source = body(&format!(
        "return {{ out: {{ found: {names}.filter((name) => name in globalThis) }} }};"
    ));
    assert_eq!(out(run(&source)), json!({"found": []}));
}

#[test]
fn s_02_the_clock_is_set_by_the_host_and_fixed_during_a_run() {
    let engine = ScriptEngine::builder()
        .clock(|| 1_700_000_000_123)
        .random(|| 42)
        .build()
        .unwrap();
    let source = body(
        "const begin = Date.now(); for (let i = 0; i < 1e4; i++);
         return { out: { begin, same: Date.now() === begin, iso: new Date().toISOString(), random: Math.random() } };",
    );
    let shown = out(pre(&register(&engine, &source)));
    assert_eq!(shown["begin"], json!(1_700_000_000_123_u64));
    assert_eq!(shown["same"], json!(true));
    assert_eq!(shown["iso"], json!("2023-11-14T22:13:20.123Z"));

    let other = ScriptEngine::builder().random(|| 43).build().unwrap();
    assert_ne!(
        out(pre(&register(&other, &source)))["random"],
        shown["random"]
    );
}

#[test]
fn s_02_console_lines_have_levels_and_are_bounded() {
    let engine = engine_with(|limits| {
        limits.console_lines = 6;
        limits.console_line = 10;
    });
    let source = body(
        "console.log('l'); console.info('i'); console.warn('w'); console.error('e'); console.debug('d');
         console.log('ä'.repeat(20)); console.log('one too many'); return { out: {} };",
    );
    let run = pre(&register(&engine, &source));
    use ConsoleLevel::{Debug, Error, Info, Log, Warn};
    let levels: Vec<_> = run.console.iter().map(|line| line.level).collect();
    assert_eq!(levels, [Log, Info, Warn, Error, Debug, Log]);
    assert_eq!(run.console[5].text, "äääää…");
    assert_eq!(run.console_dropped, 1);
}

#[test]
fn s_03_a_hook_must_export_exactly_one_function() {
    for source in [
        "const a = 1;",
        "export default 1;",
        "export default { out() {} };",
        "export default class {}",
        "export default function* () {}",
        "export default async function* () {}",
        "export default () => {}; export const more = 1;",
        "export const hook = () => {};",
        "",
    ] {
        assert!(
            matches!(rejected(source), RegisterError::Exports { .. }),
            "{source}"
        );
    }
    let engine = engine();
    for source in [
        "export default function () {}",
        "export default async () => {}",
        "const hook = () => {}; export { hook as default };",
        "export default (function () {}).bind(null);",
        "export default Math.max;",
    ] {
        register(&engine, source);
    }
}

#[test]
fn s_03_rejections_name_line_and_column() {
    let at = |source| {
        rejected(source)
            .position()
            .map(|Position { line, column, .. }| (line, column))
    };
    assert_eq!(at("const a = 1;\n  let b = ;\n"), Some((2, 11)));
    assert_eq!(
        at("\n\nimport x from 'x';\nexport default () => x;"),
        Some((3, 15))
    );
    assert_eq!(
        at("export default () => {};\nexport const more = 1;"),
        Some((2, 14))
    );
    assert_eq!(
        at("const f = () => { throw new Error('x'); };\nf();\nexport default f;"),
        Some((1, 29))
    );
}

#[test]
fn s_04_the_context_parameter_and_the_global_are_one_object() {
    let source = "const before = typeof context;
        export default (given) => ({ out: { before, same: given === context && context === globalThis.context } });";
    assert_eq!(
        out(run(source)),
        json!({"before": "undefined", "same": true})
    );
}

#[derive(Serialize)]
struct User {
    id: String,
    name: String,
    bot: bool,
    age: u8,
    roles: Vec<String>,
    email: String,
    password: Secret,
}

#[derive(Serialize)]
struct Secret {
    id: String,
}

fn user() -> User {
    User {
        id: "7".to_owned(),
        name: "Ada".to_owned(),
        bot: false,
        age: 36,
        roles: vec!["admin".to_owned()],
        email: "PRIVATE mail".to_owned(),
        password: Secret {
            id: "PRIVATE password".to_owned(),
        },
    }
}

fn shows_all() -> &'static str {
    "export default (context) => ({ out: { text: JSON.stringify(context), data: context.data } });"
}

fn seen(fields: PublicFields, keys: &[ContextKey]) -> Value {
    let engine = ScriptEngine::builder()
        .public_fields(fields)
        .build()
        .unwrap();
    let manifest = Manifest::new("s", "n", keys.iter().copied()).unwrap();
    let hook = engine.register(manifest, shows_all()).unwrap();
    let data = ContextData::new()
        .user(&user())
        .unwrap()
        .guild(&json!({"id": "g"}))
        .unwrap();
    let run = block_on(hook.run_pre(&message(), &data));
    let shown = out(run);
    assert!(!shown["text"].as_str().unwrap().contains("PRIVATE"));
    shown["data"].clone()
}

#[test]
fn s_07_only_requested_keys_are_present() {
    let fields = || {
        PublicFields::new()
            .user([Field::text("id")])
            .guild([Field::text("id")])
    };
    assert_eq!(seen(fields(), &[]), json!({}));
    assert_eq!(
        seen(fields(), &[ContextKey::Guild]),
        json!({"guild": {"id": "g"}})
    );
    // Requested but not given: absent, not null.
    assert_eq!(seen(fields(), &[ContextKey::Channel]), json!({}));
}

#[test]
fn s_10_private_fields_do_not_reach_a_hook() {
    let of_user = |fields: Vec<Field>| seen(PublicFields::new().user(fields), &[ContextKey::User]);
    assert_eq!(of_user(vec![]), json!({"user": {}}));
    assert_eq!(
        of_user(vec![
            Field::text("id"),
            Field::flag("bot"),
            Field::number("age"),
            Field::texts("roles")
        ]),
        json!({"user": {"id": "7", "bot": false, "age": 36, "roles": ["admin"]}})
    );
    // The type differs from the declaration: an object instead of a string.
    assert_eq!(
        of_user(vec![Field::text("password"), Field::text("name")]),
        json!({"user": {"name": "Ada"}})
    );
}

#[test]
fn s_10_context_data_must_be_objects() {
    let error = ContextData::new().user(&"Ada").unwrap_err();
    assert!(matches!(
        error,
        DataError::NotAnObject {
            key: ContextKey::User
        }
    ));
}

#[test]
fn s_08_the_context_has_stage_in_and_data() {
    let source = "export default (context) => { console.log(JSON.stringify(context)); return { out: {} }; };";
    let hook = register(&engine(), source);
    let shown = |line: &str| {
        format!("{{\"stage\":\"{line}\",\"in\":{{\"text\":\"hello world\"}},\"data\":{{}}}}")
    };
    assert_eq!(pre(&hook).console[0].text, shown("pre"));
    assert_eq!(post(&hook).console[0].text, shown("post"));
    assert_eq!(Stage::Post.to_string(), "post");
}

#[test]
fn s_12_a_return_value_without_an_object_out_is_a_failure() {
    for (returned, why) in [
        ("return null;", "returned null"),
        ("return () => {};", "returned a function"),
        ("return 'out';", "returned a string"),
        ("return [{ out: {} }];", "returned a list"),
        ("return {};", "returned an object without `out`"),
        ("return { out: null };", "returned `out` as null"),
        ("return { out: [] };", "returned `out` as a list"),
        (
            "return { out: () => {} };",
            "returned an object without `out`",
        ),
        ("return { out: { n: 1n } };", "returned "),
        ("const a = {}; a.a = a; return { out: a };", "returned "),
    ] {
        match failure(run(&body(returned))) {
            Failure::BadReturn(text) => assert!(text.starts_with(why), "{returned}: {text}"),
            other => panic!("{returned}: {other:?}"),
        }
    }
}

#[test]
fn s_13_changes_to_the_context_do_not_affect_the_message() {
    let engine = engine();
    let hook = register(
        &engine,
        &body("context.in.text = 'changed'; context.data.x = 1;"),
    );
    let given = message();
    let run = block_on(hook.run_pre(&given, &ContextData::new()));
    assert_eq!(run.result, RunResult::Unchanged);
    assert_eq!(hook.decide(&run, given).unwrap(), message());
}

#[test]
fn s_15_s_19_a_stop_contains_class_message_and_trace() {
    let source = "class HateSpeechBlock extends HookStopException {}
class Worse extends HateSpeechBlock {}
export default function check() {
  throw new Worse('Toxic language detected.');
}";
    let stopped = stop(run(source));
    assert_eq!(
        (stopped.class.as_str(), stopped.message.as_str()),
        ("Worse", "Toxic language detected.")
    );
    assert!(
        stopped.stack.contains("check (hook.js:4:"),
        "{}",
        stopped.stack
    );
    assert_eq!(
        stop(run(&body("throw new HookStopException('no');"))).class,
        "HookStopException"
    );
    // A class without a name has the name of its superclass.
    assert_eq!(
        stop(run(&body(
            "throw new (class extends HookStopException {})('no');"
        )))
        .class,
        "HookStopException"
    );
}

#[test]
fn s_15_the_published_definition_of_the_stop_class_is_used() {
    let source = body("return { out: { text: String(HookStopException) } };");
    let text = out(run(&source))["text"].as_str().unwrap().to_owned();
    assert!(HOOK_STOP.contains(&text), "{text}");
}

#[test]
fn s_16_other_exceptions_are_failures_with_class_message_and_position() {
    match failure(run("export default () => {\n  null.x;\n};")) {
        Failure::Thrown {
            class,
            message,
            position,
            ..
        } => {
            assert_eq!(class, "TypeError");
            assert!(message.contains("null"), "{message}");
            assert_eq!(position.unwrap().line, 2);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn s_17_the_output_of_a_post_hook_is_ignored_but_its_exception_is_not() {
    let engine = engine();
    for returned in [
        "",
        "return 5;",
        "return { out: [] };",
        "return { out: { n: 1n } };",
    ] {
        assert_eq!(out(post(&register(&engine, &body(returned)))), json!({}));
    }
    let thrown = failure(post(&register(&engine, &body("throw new Error('x');"))));
    assert_eq!(thrown.kind(), "thrown");
}

#[test]
fn s_18_a_stop_of_a_post_hook_is_reported_as_a_stop() {
    let hook = register(&engine(), &body("throw new HookStopException('late');"));
    assert_eq!(stop(post(&hook)).message, "late");
}

#[test]
fn s_22_each_limit_ends_a_run_with_a_failure_of_its_name() {
    let engine = engine_with(|limits| {
        limits.fuel = 20_000_000;
        limits.output = 100;
        limits.jobs = 10;
        limits.heap = 1 << 20;
        limits.stack = 64 << 10;
        limits.input = 1000;
    });
    for (source, kind) in [
        ("for (;;) {}", "fuel"),
        ("return { out: { text: 'x'.repeat(100) } };", "output"),
        ("for (let i = 0; i < 20; i++) await null;", "jobs"),
        ("new ArrayBuffer(2 << 20);", "heap"),
        ("const f = () => f() + 1; f();", "stack"),
    ] {
        assert_eq!(
            failure(pre(&register(&engine, &body(source)))).kind(),
            kind,
            "{source}"
        );
    }
    let hook = register(
        &engine,
        "export default ({ in: message }) => ({ out: message });",
    );
    let long = json!({"text": "x".repeat(1000)});
    let run = block_on(hook.run_pre(long.as_object().unwrap(), &ContextData::new()));
    assert!(matches!(
        failure(run),
        Failure::Input {
            bytes: 1042,
            limit: 1000
        }
    ));
}

#[test]
fn s_22_limits_out_of_range_are_refused() {
    let built = |change: fn(&mut hooks_script::Limits)| {
        let mut limits = hooks_script::Limits::default();
        change(&mut limits);
        ScriptEngine::builder().limits(limits).build()
    };
    assert!(built(|limits| limits.stack = 1 << 20).is_err());
    assert!(built(|limits| limits.heap = 1).is_err());
    assert!(built(|limits| limits.fuel = 0).is_err());
    let error = built(|limits| limits.jobs = 0).unwrap_err();
    assert_eq!(error.to_string(), "`jobs` is 0; use 1 to 2147483647");
}

#[test]
fn s_22_a_long_source_is_refused() {
    let engine = engine_with(|limits| limits.source = 30);
    let error = engine
        .register(manifest(), "export default () => ({ out: {} });")
        .unwrap_err();
    assert_eq!(
        error,
        RegisterError::TooLarge {
            bytes: 35,
            limit: 30
        }
    );
}

#[test]
fn s_23_promises_are_awaited() {
    for source in [
        "export default async () => { await null; return { out: { n: 1 } }; };",
        "export default () => Promise.resolve({ out: { n: 1 } });",
        "export default () => ({ then: (resolve) => resolve({ out: { n: 1 } }) });",
        "export default () => new Promise((resolve) => Promise.resolve().then(() => resolve({ out: { n: 1 } })));",
    ] {
        assert_eq!(out(run(source)), json!({"n": 1}), "{source}");
    }
    assert_eq!(
        stop(run(&body(
            "await null; throw new HookStopException('later');"
        )))
        .message,
        "later"
    );
    assert!(matches!(
        failure(run(&body("await new Promise(() => {});"))),
        Failure::BadReturn(_)
    ));
}

#[test]
fn s_23_an_unhandled_rejection_is_thrown() {
    let source = body(
        "(async () => { await null; throw new HookStopException('forgotten'); })(); return { out: {} };",
    );
    assert_eq!(stop(run(&source)).message, "forgotten");
    let handled =
        body("const p = Promise.reject(1); await null; p.catch(() => {}); return { out: {} };");
    out(run(&handled));
}

#[test]
fn s_23_later_continuations_do_not_change_the_returned_output() {
    let source = body(
        "const out = { n: 1 }; Promise.resolve().then(() => Promise.resolve()).then(() => { out.n = 2; }); return { out };",
    );
    assert_eq!(out(run(&source)), json!({"n": 1}));
}

#[test]
fn s_24_runs_share_no_state() {
    let source = "let n = 0; const seen = new Set();
        export default () => { n++; seen.add(n); globalThis.mark = (globalThis.mark ?? 0) + 1;
          Array.prototype.mark = (Array.prototype.mark ?? 0) + 1;
          return { out: { n, seen: seen.size, mark: globalThis.mark, list: [].mark } }; };";
    let engine = engine();
    let (one, two) = (register(&engine, source), register(&engine, source));
    for hook in [&one, &two, &one, &one, &two] {
        assert_eq!(
            out(pre(hook)),
            json!({"n": 1, "seen": 1, "mark": 1, "list": 1})
        );
    }
}

#[test]
fn dropping_a_run_cancels_it_and_frees_its_worker() {
    let engine = ScriptEngine::builder()
        .workers(NonZeroUsize::MIN)
        .limits(hooks_script::Limits {
            fuel: u64::MAX / 2,
            wall: std::time::Duration::from_secs(3600),
            ..Default::default()
        })
        .build()
        .unwrap();
    let endless = register(&engine, &body("for (;;) {}"));
    let quick = register(&engine, &body("return { out: {} };"));
    block_on(async {
        let (given, data) = (message(), ContextData::new());
        let mut run = Box::pin(endless.run_pre(&given, &data));
        // The worker has the run; its future is dropped.
        assert!(futures_util::poll!(&mut run).is_pending());
        drop(run);
        // Completes only if the worker is free again.
        out(quick.run_pre(&given, &data).await);
    });
}

#[test]
fn runs_beyond_the_queue_capacity_wait_and_complete() {
    let engine = ScriptEngine::builder()
        .workers(NonZeroUsize::new(2).unwrap())
        .queue(NonZeroUsize::MIN)
        .build()
        .unwrap();
    let hook = register(
        &engine,
        "export default ({ in: { n } }) => ({ out: { n } });",
    );
    let data = ContextData::new();
    let given: Vec<_> = (0..50)
        .map(|n| crate::support::map(json!({"n": n})))
        .collect();
    let runs = given.iter().map(|given| hook.run_pre(given, &data));
    let runs = block_on(futures_util::future::join_all(runs));
    for (n, run) in runs.into_iter().enumerate() {
        assert_eq!(out(run), json!({"n": n}));
    }
}

#[test]
fn a_hook_works_after_its_engine_handle_is_dropped() {
    let hook = register(&engine(), &body("return { out: {} };"));
    out(pre(&hook));
}

#[test]
fn s_15_s_16_a_stop_rejects_and_a_failure_only_if_it_fails_closed() {
    let engine = engine();
    let decided = |source: &str, closed: bool| {
        let hook = register(&engine, &body(source)).fail_closed(closed);
        hook.decide(&pre(&hook), message())
    };
    assert_eq!(decided("return { out: { n: 1 } };", true).unwrap()["n"], 1);
    let rejection = decided("throw new HookStopException('no');", false).unwrap_err();
    assert_eq!(
        (
            rejection.class.as_str(),
            rejection.message.as_str(),
            rejection.hook.as_str()
        ),
        ("HookStopException", "no", "A hook")
    );
    for failing in [
        "throw new Error('secret');",
        "return 1;",
        "for (;;) {}",
        "new ArrayBuffer(1 << 30);",
    ] {
        assert_eq!(decided(failing, false).unwrap(), message());
        let rejection = decided(failing, true).unwrap_err();
        assert_eq!(rejection.class, "HookFailure");
        assert!(!rejection.to_string().contains("secret"));
    }
}

/// A message that is accepted can be returned, however deep it is. A deeper message is not counted
/// as the hook's failure.
#[test]
fn s_12_a_message_of_the_maximum_depth_can_be_returned() {
    let nested = |levels: usize| -> Map {
        let mut value = json!(1);
        for _ in 1..levels {
            value = json!([value]);
        }
        map(json!({ "in": value }))
    };
    let hook = register(&engine(), "export default ({ in: m }) => ({ out: m });");
    let run = |message: &Map| block_on(hook.run_pre(message, &ContextData::new()));
    let deepest = nested(127);
    assert_eq!(out(run(&deepest)), Value::Object(deepest));
    assert_eq!(failure(run(&nested(128))), Failure::Depth(127));
    let deeper = register(&engine(), "export default ({ in: m }) => ({ out: { m } });");
    let run = block_on(deeper.run_pre(&nested(127), &ContextData::new()));
    assert!(matches!(failure(run), Failure::BadReturn(why) if why.contains("deeper than 127")));
}

/// Names of built-in exceptions are not treated as words of a message.
#[test]
fn s_19_names_of_built_in_exceptions_are_not_masked() {
    let source = body(
        "const is = (n) => typeof globalThis[n] === 'function'
             && (globalThis[n] === Error || globalThis[n].prototype instanceof Error);
         return { out: { names: Object.getOwnPropertyNames(globalThis).filter(is).sort() } };",
    );
    let names = out(run(&source))["names"].clone();
    let names = names
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned());
    for name in names {
        let hook = register(&engine(), &body(&format!("throw new {name}('x', 'x')")));
        let run = block_on(hook.run_pre(&map(json!({ "text": name })), &ContextData::new()));
        let record = RunRecord::of(
            &hook,
            Stage::Pre,
            &run,
            &map(json!({ "text": name })),
            &ContextData::new(),
        );
        let class = match &record.outcome {
            RunOutcome::Stopped { class, .. } | RunOutcome::Failure { class, .. } => class,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(*class, name);
    }
}
