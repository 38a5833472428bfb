//! A call runs after a yes only, and what hooks say and change is not lost.

use std::time::Duration;

use hooks_runtime::phases::PreFn;
use hooks_runtime::{
    ApprovalDefault, Event, FailurePolicy, HookRegistry, HookResponse, HookResult, Phase,
    RegisterOptions, ResponseAction,
};
use serde_json::json;

use super::{Limits, Registries};
use crate::guarded::Passing;
use crate::hooks::Refusal;
use crate::session::Call;

fn registries() -> Registries {
    Registries::guarding(Limits {
        calls: 10,
        time: Duration::from_secs(5),
    })
}

fn bash(command: &str) -> Call {
    Call::Bash {
        command: command.to_owned(),
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(future)
}

/// The answer of PRE with one hook more, and who gave it.
fn pre(options: RegisterOptions, hook: fn(&Call) -> HookResponse) -> Result<(), Refusal> {
    let registries = registries();
    registries
        .phases
        .register_pre(PreFn::new("odd", hook), options);
    block_on(registries.pre(&mut Passing::new(&bash("ls"), false)))
}

/// The call as `tool:pre` with these hooks more leaves it, and the answer.
fn tool_pre(
    options: RegisterOptions,
    hook: impl Fn(Event<'_>) -> HookResult + Send + Sync + 'static,
) -> (Passing, Result<(), Refusal>) {
    let registries = registries();
    let options = options.name("odd");
    registries
        .events
        .register(HookRegistry::TOOL_PRE, hook, options);
    let mut passing = Passing::new(&bash("tail -f log"), true);
    let answer = block_on(registries.tool_pre(&mut passing));
    (passing, answer)
}

fn by(answer: Result<(), Refusal>) -> String {
    answer.expect_err("a refusal").hook
}

#[test]
fn a_pre_hook_that_fails_is_no_yes() {
    let fail = |_: &Call| panic!("out of order");
    for policy in [FailurePolicy::FailClosed, FailurePolicy::Propagate] {
        let answer = pre(RegisterOptions::new().on_failure(policy), fail);
        assert!(
            answer
                .as_ref()
                .is_err_and(|no| no.reason.contains("out of order"))
        );
        assert_eq!(by(answer), "odd");
    }
    let left_out = pre(
        RegisterOptions::new().on_failure(FailurePolicy::Isolate),
        fail,
    );
    assert_eq!(left_out, Ok(()));
}

#[test]
fn a_pre_response_that_the_host_does_not_know_is_no_yes() {
    let later = |_: &Call| HookResponse::new(ResponseAction::Other("LATER".to_owned()));
    assert_eq!(by(pre(RegisterOptions::new(), later)), "odd");
}

#[test]
fn all_pre_hooks_of_the_example_fail_closed() {
    let hooks = registries().phases.registered_hooks(Phase::Pre);
    let ids: Vec<_> = hooks.iter().map(|hook| &*hook.id).collect();
    assert_eq!(ids, ["budget", "breaker", "scope"]);
    for hook in &hooks {
        assert_eq!(hook.on_failure, FailurePolicy::FailClosed, "{}", hook.id);
    }
}

#[test]
fn an_event_hook_that_guards_and_fails_is_no_yes() {
    for policy in [FailurePolicy::FailClosed, FailurePolicy::Propagate] {
        let options = RegisterOptions::new().on_failure(policy);
        let (_, answer) = tool_pre(options, |_: Event<'_>| panic!("out of order"));
        assert_eq!(by(answer), "odd");
    }
}

#[test]
fn an_event_hook_that_only_helps_and_fails_is_left_out() {
    let (passing, answer) = tool_pre(RegisterOptions::new(), |_: Event<'_>| panic!("\u{1b}[2J"));
    assert_eq!(answer, Ok(()));
    let explanation = format!("{:?}", passing.explanation);
    assert!(explanation.contains("panicked: "), "{explanation}");
    assert!(explanation.contains("; left out"), "{explanation}");
}

#[test]
fn the_guard_of_files_denies_data_that_it_cannot_read() {
    let spoil = |_: Event<'_>| HookResult::set("tool_name", 7);
    let (_, answer) = tool_pre(RegisterOptions::new().priority(-20), spoil);
    assert_eq!(by(answer), "protected_files");
}

#[test]
fn a_question_that_nobody_answers_has_its_default() {
    let ask = |_: Event<'_>| HookResult::ask_user("May it?");
    let (_, answer) = tool_pre(RegisterOptions::new(), ask);
    assert_eq!(
        answer.as_ref().map_err(|no| &*no.reason),
        Err("nobody answers: May it?")
    );
    let allow =
        |_: Event<'_>| HookResult::ask_user("May it?").approval_default(ApprovalDefault::Allow);
    assert_eq!(tool_pre(RegisterOptions::new(), allow).1, Ok(()));
}

#[test]
fn what_a_hook_changed_runs_whichever_answer_won() {
    let inject = |_: Event<'_>| HookResult::inject_context("mind the gap");
    let (passing, answer) = tool_pre(RegisterOptions::new(), inject);
    assert_eq!(answer, Ok(()));
    assert_eq!(passing.draft.call, bash("tail log"));
    assert_eq!(passing.draft.changes[0].hook, "end_tail");
    assert_eq!(passing.told, ["odd tells the agent: mind the gap"]);
}

#[test]
fn data_that_hold_no_call_are_refused() {
    for input in [
        json!(null),
        json!({"command": " "}),
        json!({"command": "a\0b"}),
        json!({"command": 5}),
    ] {
        let data = input.clone();
        let spoil = move |_: Event<'_>| HookResult::set("tool_input", data.clone());
        let (_, answer) = tool_pre(RegisterOptions::new(), spoil);
        assert_eq!(by(answer), "tool:pre", "{input}");
    }
}

#[test]
fn a_change_that_nobody_signed_is_a_change() {
    let change = |_: Event<'_>| HookResult::set("tool_input", json!({"command": "ls"}));
    let (passing, answer) = tool_pre(RegisterOptions::new().priority(-20), change);
    assert_eq!(answer, Ok(()));
    assert_eq!(passing.draft.call, bash("ls"));
    assert_eq!(passing.draft.changes[0].hook, "tool:pre");
}
