//! Hooks that only check messages: they throw to stop an action, and return nothing otherwise.

use std::num::NonZeroU32;
use std::time::Duration;

use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_script::{
    ContextData, Failure, Limits, PreOutcome, Rejection, RunResult, ScriptEngine, ScriptHook,
    ScriptStack,
};
use serde_json::{Value, json};

use crate::support::{body, engine, engine_with, map, message, pre, register};

/// The samples of the contract, in hooks that let other messages pass.
const SAMPLES: [(&str, &str); 2] = [
    (
        "words",
        r#"export default function(context) {
    if (context.in.text.includes("badword")) {
        throw new HookStopException("Message blocked due to use of prohibited words.");
    }
}"#,
    ),
    (
        "hate",
        r#"class HateSpeechBlock extends HookStopException {}

export default function(context) {
    if (context.in.text.match(/\bhate\b/i)) {
        throw new HateSpeechBlock("Toxic language detected.");
    }
}"#,
    ),
];

/// Returns a stack that disables a hook after one failure.
fn strict_stack(hooks: &[(&str, ScriptHook)]) -> ScriptStack {
    let stack = ScriptStack::builder()
        .disable_after(NonZeroU32::new(1))
        .build();
    for (id, hook) in hooks {
        stack.insert(*id, hook.clone());
    }
    stack
}

fn run(stack: &ScriptStack, message: Value) -> Result<PreOutcome, Rejection> {
    block_on(stack.run_pre(map(message), &ContextData::new()))
}

fn class(stack: &ScriptStack, message: Value) -> String {
    run(stack, message).unwrap_err().class
}

/// Returns a check that runs this code, then stops the message `bad`.
fn check(code: &str, returned: &str) -> String {
    body(&format!(
        "{code}
         if (context.in.text === 'bad') throw new HookStopException('no');
         {returned}"
    ))
}

#[test]
fn s_12_s_15_the_samples_reject_the_bad_message_after_a_thousand_good_ones() {
    let engine = engine();
    let stack = ScriptStack::builder().build();
    for (id, source) in SAMPLES {
        stack.insert(id, register(&engine, source));
    }
    for n in 0..1000 {
        let given = json!({ "text": format!("good message {n}"), "n": n });
        let outcome = run(&stack, given.clone()).unwrap();
        assert_eq!(Value::Object(outcome.message), given);
        for run in &outcome.runs {
            let result = &run.run.as_ref().unwrap().result;
            assert_eq!(*result, RunResult::Unchanged, "{n}");
        }
    }
    assert!(stack.hooks(None).iter().all(|hook| hook.failures == 0));

    let rejection = run(&stack, json!({"text": "a badword"})).unwrap_err();
    let (class, message) = (&*rejection.class, &*rejection.message);
    assert_eq!(class, "HookStopException");
    assert_eq!(message, "Message blocked due to use of prohibited words.");
    let rejection = run(&stack, json!({"text": "so much Hate"})).unwrap_err();
    let (class, message) = (&*rejection.class, &*rejection.message);
    assert_eq!(
        (class, message),
        ("HateSpeechBlock", "Toxic language detected.")
    );
}

#[test]
fn s_16_a_message_without_a_field_is_rejected_alone_and_disables_no_check() {
    let engine = engine();
    for (id, source) in SAMPLES {
        let stack = strict_stack(&[(id, register(&engine, source))]);
        for n in 1..=50 {
            let without = [
                json!({}),
                json!({"text": null}),
                json!({"image": "cat.png"}),
            ];
            assert_eq!(class(&stack, without[n % 3].clone()), "HookFailure");
            assert_eq!(stack.hooks(None)[0].failures, n as u32);
            assert!(!stack.hooks(None)[0].is_disabled);
        }
        run(&stack, json!({"text": "good"})).unwrap();
        assert_eq!(stack.hooks(None)[0].failures, 0);
        assert_ne!(
            class(&stack, json!({"text": "a badword of hate"})),
            "HookFailure"
        );
    }
}

#[test]
fn s_12_returning_nothing_leaves_the_message_unchanged() {
    let engine = engine();
    for returned in [
        "",
        "return;",
        "return undefined;",
        "return void context.in.text;",
        "await null;",
        "return Promise.resolve();",
        "return { then(resolve) { resolve(); } };",
        "context.in.text = 'changed'; context.data = null;",
    ] {
        for source in [body(returned), check("", returned)] {
            let hook = register(&engine, &source);
            assert_eq!(pre(&hook).result, RunResult::Unchanged, "{source}");
            for closed in [false, true] {
                let hook = hook.clone().fail_closed(closed);
                let decided = hook.decide(&pre(&hook), message());
                assert_eq!(decided.unwrap(), message(), "{source}");
            }
            let stack = strict_stack(&[("a", hook)]);
            for _ in 0..10 {
                let outcome = run(&stack, json!({"text": "good"})).unwrap();
                assert_eq!(outcome.message["text"], "good");
            }
            let state = &stack.hooks(None)[0];
            assert_eq!((state.failures, state.is_disabled), (0, false), "{source}");
        }
    }
}

#[test]
fn s_12_an_invalid_return_value_is_a_failure_that_neither_rejects_nor_disables_a_check() {
    let engine = engine();
    for returned in [
        "return null;",
        "return {};",
        "return { out: undefined };",
        "return { out: null };",
        "return { out: [] };",
        "return { in: context.in };",
        "return 'undefined';",
        "return true;",
        "return Symbol('undefined');",
        "return () => undefined;",
    ] {
        let stack = strict_stack(&[("a", register(&engine, &check("", returned)))]);
        for n in 1..=10 {
            let outcome = run(&stack, json!({"text": "good"})).unwrap();
            assert_eq!(outcome.message["text"], "good");
            let result = &outcome.runs[0].run.as_ref().unwrap().result;
            assert!(
                matches!(result, RunResult::Failed(Failure::BadReturn(_))),
                "{returned}: {result:?}"
            );
            let state = &stack.hooks(None)[0];
            assert_eq!((state.failures, state.is_disabled), (n, false));
        }
        assert_eq!(class(&stack, json!({"text": "bad"})), "HookStopException");

        // Another hook keeps failing without a check, and is disabled.
        let stack = strict_stack(&[("a", register(&engine, &body(returned)))]);
        run(&stack, json!({"text": "bad"})).unwrap();
        assert!(stack.hooks(None)[0].is_disabled, "{returned}");
        let closed = register(&engine, &body(returned)).fail_closed(true);
        let stack = strict_stack(&[("a", closed)]);
        assert_eq!(class(&stack, json!({"text": "good"})), "HookFailure");
    }
}

#[test]
fn s_22_a_check_that_exceeds_a_limit_rejects_that_message_alone() {
    let engine = engine_with(|limits| {
        limits.fuel = 30_000_000;
        limits.output = 2000;
        limits.jobs = 1000;
    });
    for (slow, kind) in [
        ("for (;;);", "fuel"),
        ("new ArrayBuffer(1 << 30);", "heap"),
        ("(function f() { f(); f(); })();", "stack"),
        (
            "const again = async () => { await null; again(); }; again(); await new Promise(() => {});",
            "jobs",
        ),
        ("await new Promise(() => {});", "bad_return"),
        ("return { out: { text: 'x'.repeat(3000) } };", "output"),
        ("throw new Error('broken');", "thrown"),
        ("throw null;", "thrown"),
        ("return { get out() { throw 1; } };", "bad_return"),
        ("return { out: { n: 1n } };", "bad_return"),
    ] {
        let source = check(&format!("if (context.in.slow) {{ {slow} }}"), "");
        let hook = register(&engine, &source);
        let slow = map(json!({"text": "bad", "slow": true}));
        match block_on(hook.run_pre(&slow, &ContextData::new())).result {
            RunResult::Failed(failure) => assert_eq!(failure.kind(), kind, "{source}"),
            other => panic!("{source}: {other:?}"),
        }
        let stack = strict_stack(&[("a", hook)]);
        for _ in 0..3 {
            let rejected = class(&stack, Value::Object(slow.clone()));
            assert_eq!(rejected, "HookFailure", "{source}");
            run(&stack, json!({"text": "good"})).unwrap();
            assert_eq!(class(&stack, json!({"text": "bad"})), "HookStopException");
        }
    }
}

#[test]
fn s_22_a_check_that_times_out_rejects_that_message_alone() {
    let engine = engine_with(|limits| {
        limits.fuel = u64::MAX / 2;
        limits.wall = Duration::from_millis(200);
    });
    let source = check("if (context.in.slow) for (;;);", "");
    let stack = ScriptStack::builder()
        .fuel(u64::MAX)
        .disable_after(NonZeroU32::new(1))
        .build();
    stack.insert("a", register(&engine, &source));
    for _ in 0..3 {
        let slow = json!({"text": "bad", "slow": true});
        assert_eq!(class(&stack, slow), "HookFailure");
        run(&stack, json!({"text": "good"})).unwrap();
    }
    assert_eq!(class(&stack, json!({"text": "bad"})), "HookStopException");
}

/// Padding a message must not bypass a check.
#[test]
fn s_16_a_check_that_cannot_run_rejects_the_message() {
    let nested = (0..130).fold(json!("bad"), |inner, _| json!([inner]));
    let small = |change: fn(&mut Limits)| engine_with(change);
    for (engine, given) in [
        (
            small(|limits| limits.input = 200),
            json!({"text": "bad", "padding": "x".repeat(300)}),
        ),
        (
            small(|limits| limits.input_fuel = 1000),
            json!({"text": "bad"}),
        ),
        (engine(), json!({ "text": nested })),
    ] {
        let hook = register(&engine, &check("", ""));
        let stack = strict_stack(&[("a", hook.clone())]);
        assert_eq!(class(&stack, given.clone()), "HookFailure");
        assert_eq!(stack.hooks(None)[0].failures, 0, "the hook did not run");
        let stack = strict_stack(&[("a", hook.fail_closed(false))]);
        run(&stack, given.clone()).unwrap();
        let rewrites = register(&engine, &body("return { out: context.in };"));
        run(&strict_stack(&[("a", rewrites)]), given).unwrap();
    }
}

#[test]
fn s_16_a_hook_fails_closed_if_its_source_contains_the_class_of_a_stop() {
    let engine = engine();
    for (source, expected) in [
        ("throw new HookStopException('no');", true),
        (
            "class A extends HookStopException {} throw new A('no');",
            true,
        ),
        ("throw new globalThis['HookStopException']('no');", true),
        ("throw new HookStop\\u0045xception('no');", true),
        ("throw new (`${HookStopException}`, Error)('no');", true),
        ("const { HookStopException: Stop } = globalThis;", true),
        ("// throws no HookStopException", false),
        ("/* HookStopException */", false),
        ("throw new HookStopExceptions('no');", false),
        ("throw new Error('no HookStopException');", false),
        (
            "throw new globalThis['HookStop' + 'Exception']('no');",
            false,
        ),
    ] {
        let hook = register(&engine, &body(source));
        assert_eq!(hook.fails_closed(), expected, "{source}");
        let stack = strict_stack(&[("a", hook.clone())]);
        assert_eq!(stack.hooks(None)[0].fails_closed, expected);
        for closed in [false, true] {
            assert_eq!(hook.clone().fail_closed(closed).fails_closed(), closed);
        }
    }
    // A name that is built at run time still stops; the host decides about failures.
    let source =
        "if (context.in.text === 'bad') throw new globalThis['HookStop' + 'Exception']('no');
        context.in.text.trim();";
    let hook = register(&engine, &body(source));
    let stack = strict_stack(&[("a", hook.clone().fail_closed(true))]);
    assert_eq!(class(&stack, json!({})), "HookFailure");
    assert_eq!(class(&stack, json!({"text": "bad"})), "HookStopException");
    let stack = strict_stack(&[("a", hook)]);
    assert_eq!(class(&stack, json!({"text": "bad"})), "HookStopException");
    run(&stack, json!({})).unwrap();
}

#[test]
fn s_16_a_check_that_does_not_fail_closed_passes_and_is_disabled() {
    let (_, source) = SAMPLES[0];
    let hook = register(&engine(), source).fail_closed(false);
    let stack = strict_stack(&[("a", hook)]);
    let given = json!({"image": "cat.png"});
    let outcome = run(&stack, given.clone()).unwrap();
    assert_eq!(Value::Object(outcome.message), given);
    let state = &stack.hooks(None)[0];
    assert!(state.is_disabled && !state.fails_closed);
    run(&stack, json!({"text": "a badword"})).unwrap();
    assert!(stack.enable("a"));
    run(&stack, json!({"text": "a badword"})).unwrap_err();
}

/// A stack runs its hooks in both stages.
#[test]
fn s_17_failures_after_the_action_disable_no_check() {
    let (_, source) = SAMPLES[1];
    let stack = strict_stack(&[("a", register(&engine(), source))]);
    for _ in 0..10 {
        let outcome = block_on(stack.run_post(Map::new(), &ContextData::new()));
        let result = &outcome.runs[0].run.as_ref().unwrap().result;
        assert!(matches!(result, RunResult::Failed(_)), "{result:?}");
    }
    assert_eq!(class(&stack, json!({"text": "hate"})), "HateSpeechBlock");
}

#[test]
fn s_16_a_failing_check_does_not_affect_other_messages_of_the_stack() {
    let engine: ScriptEngine = engine();
    let trims = "export default ({ in: m }) => ({ out: { ...m, text: m.text?.trim() ?? '' } });";
    let counts = "export default ({ in: m }) => ({ out: { ...m, length: m.text.length } });";
    let stack = strict_stack(&[
        ("trims", register(&engine, trims)),
        (
            "checks",
            register(&engine, &check("context.in.user.id;", "")),
        ),
        ("counts", register(&engine, counts)),
    ]);
    for _ in 0..5 {
        assert_eq!(class(&stack, json!({"text": " hi "})), "HookFailure");
        let given = json!({"text": " hi ", "user": {"id": 7}});
        let outcome = run(&stack, given).unwrap();
        assert_eq!(outcome.message["length"], 2);
        assert_eq!(outcome.message["text"], "hi");
    }
}
