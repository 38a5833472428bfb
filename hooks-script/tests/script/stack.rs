//! Stacks of hooks.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use futures_executor::block_on;
use hooks_script::{
    ContextData, Failure, OutcomeKind, PostOutcome, PreOutcome, Rejection, RunContext, RunHistory,
    RunQuery, RunResult, ScriptEngine, ScriptStack, ScriptStackBuilder, StackRun, Stage,
};
use serde_json::{Value, json};

use crate::support::{body, engine, engine_with, map, message, register};

/// Returns a hook that appends this text to the message.
fn append(text: &str) -> String {
    body(&format!(
        "return {{ out: {{ text: context.in.text + '{text}' }} }};"
    ))
}

fn stack_of(
    engine: &ScriptEngine,
    build: ScriptStackBuilder,
    hooks: &[(&str, &str)],
) -> ScriptStack {
    let stack = build.build();
    for (id, source) in hooks {
        stack.insert(*id, register(engine, source));
    }
    stack
}

fn stack(hooks: &[(&str, &str)]) -> ScriptStack {
    stack_of(&engine(), ScriptStack::builder(), hooks)
}

fn pre(stack: &ScriptStack) -> Result<PreOutcome, Rejection> {
    pre_on(stack, &RunContext::new())
}

fn pre_on(stack: &ScriptStack, occasion: &RunContext) -> Result<PreOutcome, Rejection> {
    let message = map(json!({"text": ""}));
    block_on(stack.run_pre_on(occasion, message, &ContextData::new()))
}

fn post(stack: &ScriptStack) -> PostOutcome {
    block_on(stack.run_post(map(json!({"text": ""})), &ContextData::new()))
}

#[track_caller]
fn text(outcome: Result<PreOutcome, Rejection>) -> Value {
    outcome.unwrap().message["text"].clone()
}

fn failure(run: &StackRun) -> &Failure {
    match &run.run.as_ref().expect("it has run").result {
        RunResult::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

const FAILS: &str = "export default () => { throw new Error('no'); };";
const LOOPS: &str = "export default () => { for (;;); };";

#[test]
fn s_09_s_11_each_hook_receives_the_output_of_the_previous_hook() {
    let stack = stack(&[
        ("a", &append("a")),
        ("b", &append("b")),
        ("c", &append("c")),
    ]);
    assert_eq!(text(pre(&stack)), "abc");
}

#[test]
fn s_11_an_empty_stack_returns_the_message_unchanged() {
    assert_eq!(text(pre(&stack(&[]))), "");
}

#[test]
fn s_15_s_19_a_stop_rejects_with_class_message_and_hook_and_ends_the_stack() {
    let history = RunHistory::in_memory(NonZeroUsize::new(10).unwrap());
    let stops = "class Toxic extends HookStopException {}
        export default () => { throw new Toxic('language'); };";
    let stack = stack_of(
        &engine(),
        ScriptStack::builder().history(history.clone()),
        &[("a", &append("a")), ("b", stops), ("c", &append("c"))],
    );
    let rejection = pre_on(&stack, &RunContext::new().action("message.send")).unwrap_err();
    assert_eq!(rejection.class, "Toxic");
    assert_eq!(rejection.message, "language");
    assert_eq!(rejection.hook, "A hook");

    let records = block_on(history.query(&RunQuery::new())).unwrap().records;
    let kinds: Vec<_> = records.iter().map(|record| record.outcome.kind()).collect();
    assert_eq!(
        kinds,
        [OutcomeKind::Stopped, OutcomeKind::Success],
        "newest first, without the third hook"
    );
    assert_eq!(records[0].outcome.class(), Some("Toxic"));
    assert_eq!(records[0].action, "message.send");
    assert_eq!(records[0].stage, Stage::Pre);
}

#[test]
fn s_16_a_failure_keeps_the_last_output_and_the_stack_continues() {
    let stack = stack(&[("a", &append("a")), ("b", FAILS), ("c", &append("c"))]);
    let outcome = pre(&stack).unwrap();
    assert_eq!(outcome.message["text"], "ac");
    assert_eq!(failure(&outcome.runs[1]).kind(), "thrown");
}

#[test]
fn s_16_a_failure_of_a_fail_closed_hook_rejects_without_its_message() {
    let engine = engine();
    let stack = ScriptStack::builder().build();
    stack.insert("guard", register(&engine, FAILS).fail_closed(true));
    let rejection = pre(&stack).unwrap_err();
    assert_eq!(rejection.class, "HookFailure");
    assert!(!rejection.message.contains("no'"), "{rejection}");
}

/// The host runs the stages with separate calls before and after its action (`S-14`).
#[test]
fn s_17_s_18_all_post_hooks_run_despite_stops_and_failures() {
    let stops = "export default () => { throw new HookStopException('noted'); };";
    let stack = stack(&[("a", stops), ("b", FAILS), ("c", &append("c"))]);
    let outcome = post(&stack);
    let results: Vec<_> = outcome
        .runs
        .iter()
        .map(|run| &run.run.as_ref().unwrap().result)
        .collect();
    assert!(
        matches!(
            results[..],
            [
                RunResult::Stop(_),
                RunResult::Failed(_),
                RunResult::Returned(_)
            ]
        ),
        "{results:?}"
    );
}

#[test]
fn s_17_every_post_hook_receives_the_same_message() {
    let sees = body(
        "if (context.in.text !== '') throw new Error(context.in.text); return { out: { text: 'x' } };",
    );
    let outcome = post(&stack(&[("a", &sees), ("b", &sees)]));
    for run in &outcome.runs {
        assert!(
            matches!(run.run.as_ref().unwrap().result, RunResult::Returned(_)),
            "{run:?}"
        );
    }
}

#[test]
fn s_09_a_scope_can_have_a_separate_order() {
    let stack = stack(&[
        ("a", &append("a")),
        ("b", &append("b")),
        ("c", &append("c")),
    ]);
    stack.set_order(&["c", "a"]).unwrap();
    stack.set_order_in("guild 7", &["b", "c"]).unwrap();
    let in_scope = |scope| pre_on(&stack, &RunContext::new().order(scope));
    assert_eq!(text(pre(&stack)), "cab", "unnamed hooks run last");
    assert_eq!(text(in_scope("guild 7")), "bca");
    assert_eq!(
        text(in_scope("guild 8")),
        "cab",
        "the default order applies"
    );

    let unknown = stack.set_order_in("guild 7", &["d"]).unwrap_err();
    assert_eq!(unknown.id, "d");
    assert_eq!(
        text(in_scope("guild 7")),
        "bca",
        "an invalid order changes nothing"
    );

    assert!(stack.remove("b"));
    stack.insert("d", register(&engine(), &append("d")));
    assert_eq!(text(in_scope("guild 7")), "cad");
    stack.set_order_in("guild 7", &[]).unwrap();
    stack.set_order(&[]).unwrap();
    assert_eq!(text(in_scope("guild 7")), "acd");
}

#[test]
fn s_09_an_order_of_removed_hooks_is_ignored() {
    let stack = stack(&[
        ("a", &append("a")),
        ("b", &append("b")),
        ("x", &append("x")),
    ]);
    stack.set_order(&["b", "a"]).unwrap();
    stack.set_order_in("guild 7", &["x"]).unwrap();
    assert!(stack.remove("x"));
    let in_scope = pre_on(&stack, &RunContext::new().order("guild 7"));
    assert_eq!(text(in_scope), "ba");
}

#[test]
fn s_09_a_hook_with_the_same_id_replaces_the_hook_in_place() {
    let stack = stack(&[("a", &append("a")), ("b", &append("b"))]);
    stack.insert("a", register(&engine(), &append("A")));
    assert_eq!(text(pre(&stack)), "Ab");
}

#[test]
fn s_22_a_hook_that_exhausts_its_share_leaves_the_others_theirs() {
    let stack = stack_of(
        &engine(),
        ScriptStack::builder().fuel(30_000_000),
        &[("a", LOOPS), ("b", &append("b")), ("c", &append("c"))],
    );
    let outcome = pre(&stack).unwrap();
    assert_eq!(outcome.message["text"], "bc");
    assert_eq!(failure(&outcome.runs[0]), &Failure::Fuel(10_000_000));
}

#[test]
fn s_22_each_hook_gets_a_share_of_the_time() {
    let engine = engine_with(|limits| {
        limits.fuel = u64::MAX / 2;
        limits.wall = Duration::from_secs(60);
    });
    let build = ScriptStack::builder()
        .fuel(u64::MAX)
        .wall(Duration::from_secs(4));
    let stack = stack_of(&engine, build, &[("a", LOOPS), ("b", &append("b"))]);
    let outcome = pre(&stack).unwrap();
    assert_eq!(outcome.message["text"], "b");
    match failure(&outcome.runs[0]) {
        Failure::Wall(share) => assert!(*share <= Duration::from_secs(2), "{share:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn s_22_the_largest_timeout_does_not_overflow() {
    for wall in [Duration::MAX, Duration::from_secs(u64::MAX / 2)] {
        let build = ScriptStack::builder().wall(wall);
        let stack = stack_of(
            &engine(),
            build,
            &[("a", &append("a")), ("b", &append("b"))],
        );
        assert_eq!(text(pre(&stack)), "ab");
    }
}

#[test]
fn s_24_hooks_of_a_stack_share_nothing() {
    let counts = "globalThis.n = 0; export default ({ in: m }) => ({ out: { text: m.text + ++globalThis.n } });";
    assert_eq!(text(pre(&stack(&[("a", counts), ("b", counts)]))), "11");
}

#[test]
fn s_22_a_hook_that_keeps_failing_is_disabled_and_can_be_enabled() {
    let build = ScriptStack::builder().disable_after(NonZeroU32::new(2));
    let history = RunHistory::in_memory(NonZeroUsize::new(10).unwrap());
    let build = build.history(history.clone());
    let stack = stack_of(&engine(), build, &[("a", FAILS), ("b", &append("b"))]);
    for failures in 1..=2 {
        assert!(!stack.hooks(None)[0].is_disabled);
        assert_eq!(text(pre(&stack)), "b");
        assert_eq!(stack.hooks(None)[0].failures, failures);
    }
    assert!(stack.hooks(None)[0].is_disabled);
    assert!(!stack.hooks(None)[1].is_disabled);

    let outcome = pre(&stack).unwrap();
    assert!(outcome.runs[0].run.is_none(), "{outcome:?}");
    assert_eq!(outcome.message["text"], "b");
    let skipped = RunQuery::new().outcome(OutcomeKind::Skipped);
    assert_eq!(block_on(history.query(&skipped)).unwrap().records.len(), 1);

    assert!(stack.enable("a"));
    assert!(!stack.enable("z"));
    assert!(pre(&stack).unwrap().runs[0].run.is_some());
    assert_eq!(stack.hooks(None)[0].failures, 1);
}

#[test]
fn s_22_a_success_resets_the_count_of_failures() {
    let build = ScriptStack::builder().disable_after(NonZeroU32::new(2));
    let sometimes = body("if (context.in.fail) throw new Error('no'); return { out: context.in };");
    let stack = stack_of(&engine(), build, &[("a", &sometimes)]);
    for fail in [true, false, true, false, true] {
        let message = map(json!({ "fail": fail }));
        block_on(stack.run_pre(message, &ContextData::new())).unwrap();
    }
    assert!(!stack.hooks(None)[0].is_disabled);
}

#[test]
fn s_16_a_hook_that_fails_closed_is_never_disabled() {
    let engine = engine();
    let build = ScriptStack::builder().disable_after(NonZeroU32::new(1));
    let stack = build.build();
    stack.insert("guard", register(&engine, FAILS).fail_closed(true));
    for failures in 1..=10 {
        assert_eq!(pre(&stack).unwrap_err().class, "HookFailure");
        let state = &stack.hooks(None)[0];
        assert_eq!((state.failures, state.is_disabled), (failures, false));
    }
}

#[test]
fn s_22_failures_caused_by_the_message_do_not_count_for_the_hook() {
    let too_large = engine_with(|limits| limits.input = 10);
    let unreadable = engine_with(|limits| limits.input_fuel = 1000);
    // Six bytes of JSON, and some hundred of the engine's memory.
    let lists = map(json!({ "n": vec![vec![(); 0]; 150_000] }));
    for (engine, message, kind) in [
        (too_large, message(), "input"),
        (unreadable, message(), "input"),
        (engine(), lists, "heap"),
    ] {
        let build = ScriptStack::builder().disable_after(NonZeroU32::new(1));
        let stack = stack_of(&engine, build, &[("a", &append("a"))]);
        let outcome = block_on(stack.run_pre(message, &ContextData::new())).unwrap();
        assert_eq!(failure(&outcome.runs[0]).kind(), kind);
        assert_eq!(stack.hooks(None)[0].failures, 0, "{kind}");
    }
}

#[test]
fn s_22_a_hook_that_uses_all_the_time_counts_as_failed() {
    let engine = engine_with(|limits| {
        limits.fuel = u64::MAX / 2;
        limits.wall = Duration::from_secs(60);
    });
    let build = ScriptStack::builder()
        .fuel(u64::MAX)
        .wall(Duration::from_millis(200))
        .disable_after(NonZeroU32::new(1));
    let stack = stack_of(&engine, build, &[("a", LOOPS)]);
    // On a busy machine, the sandbox may report this too late.
    let mut kinds = (0..20).map_while(|_| {
        let outcome = pre(&stack).unwrap();
        let run = outcome.runs[0].run.as_ref()?;
        assert!(matches!(run.result, RunResult::Failed(_)), "{run:?}");
        Some(failure(&outcome.runs[0]).kind())
    });
    assert!(kinds.any(|kind| kind == "wall"));
    assert!(stack.hooks(None)[0].is_disabled);
}

/// Waiting for the worker uses the time of the later hooks.
#[test]
fn s_22_a_hook_with_no_time_left_does_not_count_as_failed() {
    let engine = engine_with(|limits| {
        limits.fuel = u64::MAX / 2;
        limits.wall = Duration::from_millis(800);
    });
    let build = ScriptStack::builder()
        .fuel(u64::MAX)
        .wall(Duration::from_secs(1))
        .disable_after(NonZeroU32::new(1));
    let stack = stack_of(&engine, build, &[("a", &append("a")), ("b", LOOPS)]);
    let other = register(&engine, LOOPS);
    let (message, data) = (message(), ContextData::new());
    let busy = other.run_pre(&message, &data);
    let (_, outcome) = block_on(futures_util::future::join(busy, async {
        stack.run_pre(message.clone(), &data).await.unwrap()
    }));
    let kind = failure(&outcome.runs[1]).kind();
    assert!(["wall", "engine"].contains(&kind), "{kind}");
    assert_eq!(stack.hooks(None)[1].failures, 0);
}
