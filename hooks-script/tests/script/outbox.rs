//! Outbound requests of hooks after an action.

use futures_executor::block_on;
use hooks_script::{
    ConsentRequest, ConsentStore, ContextData, HTTP, Permit, Run, RunContext, RunResult, Scope,
    ScriptHook, ScriptStack,
};

use crate::support::{body, engine, engine_with, failure, message, post, pre, register};

const POSTS: &str = "context.http.post('https://example.org/log', { text: context.in.text });";

fn permit(store: &ConsentStore, hook: &ScriptHook) -> Permit {
    let request = ConsentRequest::of(hook, HTTP, Scope::user("u-1"));
    block_on(store.approve(&request, "u-1")).unwrap();
    block_on(store.permit(&request)).unwrap()
}

fn permitted(hook: &ScriptHook, permit: &Permit) -> Run {
    block_on(hook.run_post_permitted(&message(), &ContextData::new(), permit))
}

/// Runs a hook with permission to make requests.
fn run(hook: &ScriptHook) -> Run {
    permitted(hook, &permit(&ConsentStore::in_memory(), hook))
}

#[test]
fn s_21_a_permitted_run_puts_its_request_into_the_outbox() {
    let run = run(&register(&engine(), &body(POSTS)));
    assert!(
        matches!(run.result, RunResult::Returned(_)),
        "{:?}",
        run.result
    );
    assert_eq!(run.outbox.len(), 1);
    assert_eq!(run.outbox[0].url, "https://example.org/log");
    assert_eq!(run.outbox[0].body, r#"{"text":"hello world"}"#);
}

/// Unpaired surrogates count as three bytes each.
#[test]
fn s_22_unpaired_surrogates_count_as_three_bytes_in_the_outbox() {
    let engine = engine_with(|limits| limits.outbox_bytes = 1000);
    let post = |halves: usize| {
        let text = format!("context.http.post('https://a', '\\ud800'.repeat({halves}));");
        run(&register(&engine, &body(&text)))
    };
    let kept = post(110);
    assert_eq!(kept.outbox[0].body.len(), 990);
    assert_eq!(failure(post(112)).kind(), "thrown");
}

/// Searches every reachable object for the capability.
const SEARCHES: &str = r#"
    const seen = new Set();
    const look = (value, path) => {
        if ((typeof value !== "object" && typeof value !== "function") || !value || seen.has(value)) return;
        seen.add(value);
        for (const key of Reflect.ownKeys(value)) {
            if (key === "http" || key === "post") throw new Error(path + String(key));
            const { value: inner, get } = Reflect.getOwnPropertyDescriptor(value, key);
            look(inner, path + String(key) + ".");
            look(get, path + String(key) + ".");
        }
        look(Reflect.getPrototypeOf(value), path + "prototype.");
    };
    look(globalThis, "");
    look(context, "context.");
    return { out: {} };
"#;

#[test]
fn s_21_the_capability_is_unreachable_without_consent() {
    let hook = register(&engine(), &body(SEARCHES));
    for run in [pre(&hook), post(&hook)] {
        assert!(
            matches!(run.result, RunResult::Returned(_)),
            "{:?}",
            run.result
        );
    }
    let failure = failure(run(&hook));
    assert!(failure.to_string().contains("context.http"), "{failure}");
    assert!(
        matches!(post(&hook).result, RunResult::Returned(_)),
        "the capability does not remain"
    );
}

#[test]
fn s_21_a_permit_of_another_hook_or_capability_grants_nothing() {
    let engine = engine();
    let hook = register(&engine, &body(POSTS));
    let other = register(&engine, &body(SEARCHES));
    let store = ConsentStore::in_memory();
    let run = permitted(&hook, &permit(&store, &other));
    assert!(
        matches!(run.result, RunResult::Failed(_)),
        "{:?}",
        run.result
    );

    let request = ConsentRequest::of(&hook, "clock", Scope::user("u-1"));
    block_on(store.approve(&request, "u-1")).unwrap();
    let run = permitted(&hook, &block_on(store.permit(&request)).unwrap());
    assert!(
        matches!(run.result, RunResult::Failed(_)),
        "{:?}",
        run.result
    );
    assert!(run.outbox.is_empty());
}

#[test]
fn s_21_a_revoked_permit_grants_nothing() {
    let hook = register(&engine(), &body(POSTS));
    let store = ConsentStore::in_memory();
    let permit = permit(&store, &hook);
    block_on(store.revoke(permit.request(), "u-1")).unwrap();
    assert!(matches!(
        permitted(&hook, &permit).result,
        RunResult::Failed(_)
    ));
}

#[test]
fn s_22_the_outbox_limits_requests_and_bytes() {
    let fills = body(
        "let n = 0;
         try { for (;;) { context.http.post('https://a.example', 'x'); n++; } }
         catch (error) { context.http = null; if (!(error instanceof RangeError)) throw error; }",
    );
    let many = engine_with(|limits| limits.outbox = 3);
    assert_eq!(run(&register(&many, &fills)).outbox.len(), 3);
    // A URL of 17 bytes, and one byte for the body.
    let bytes = engine_with(|limits| limits.outbox_bytes = 2 * 18 + 17);
    assert_eq!(run(&register(&bytes, &fills)).outbox.len(), 2);
}

#[test]
fn s_17_the_outbox_is_empty_after_a_failure_and_kept_after_a_stop() {
    let engine = engine();
    let fails = run(&register(
        &engine,
        &body(&format!("{POSTS} throw new Error('no');")),
    ));
    assert!(fails.outbox.is_empty());
    let stops = body(&format!("{POSTS} throw new HookStopException('noted');"));
    let stops = run(&register(&engine, &stops));
    assert!(matches!(stops.result, RunResult::Stop(_)));
    assert_eq!(stops.outbox.len(), 1);
}

#[test]
fn s_21_an_invalid_url_or_body_throws_in_the_hook() {
    let engine = engine();
    for arguments in [
        "",
        "1, 'x'",
        "{ toString: () => 'https://a.example' }, 'x'",
        "'https://a.example'",
        "'https://a.example', () => 1",
        "'https://a.example', 1n",
    ] {
        let source = body(&format!("context.http.post({arguments});"));
        let run = run(&register(&engine, &source));
        assert_eq!(failure(run).kind(), "thrown", "{arguments}");
    }
}

#[test]
fn s_22_an_endless_to_json_of_a_body_runs_out_of_fuel() {
    let source = body("context.http.post('https://a.example', { toJSON() { for (;;); } });");
    assert_eq!(failure(run(&register(&engine(), &source))).kind(), "fuel");
}

#[test]
fn s_21_a_stack_grants_the_capability_only_in_post_and_with_consent() {
    let hook = register(&engine(), &body(POSTS));
    let store = ConsentStore::in_memory();
    let _permit = permit(&store, &hook);
    let stack = ScriptStack::builder().consent(store.clone()).build();
    stack.insert("log", hook);
    let run_for = |user: &str| {
        let occasion = RunContext::new().scope(Scope::user(user));
        let outcome = block_on(stack.run_post_on(&occasion, message(), &ContextData::new()));
        let run = outcome.runs.into_iter().next().unwrap();
        (run.run.unwrap().outbox.len(), run.permit.is_some())
    };
    assert_eq!(run_for("u-1"), (1, true));
    assert_eq!(run_for("u-2"), (0, false));

    let occasion = RunContext::new().scope(Scope::user("u-1"));
    let outcome = block_on(stack.run_pre_on(&occasion, message(), &ContextData::new())).unwrap();
    let run = outcome.runs[0].run.as_ref().unwrap();
    assert!(
        matches!(run.result, RunResult::Failed(_)),
        "the capability exists only after the action"
    );
}
