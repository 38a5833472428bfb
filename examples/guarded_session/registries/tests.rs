//! A call runs only if it is allowed, and the messages and changes of hooks are kept.

use std::time::Duration;

use hooks_runtime::phases::PreFn;
use hooks_runtime::{
    ApprovalDefault, Event, FailurePolicy, HookRegistry, HookResponse, HookResult, Phase,
    RegisterOptions, ResponseAction, ToolRequest,
};
use serde_json::json;
use tempfile::TempDir;

use super::{Approve, Grounds, Registries, Settings};
use crate::guarded::Passing;
use crate::hooks::Refusal;
use crate::progress::Progress;
use crate::scripts::Scripts;
use crate::session::Call;

/// Creates the registries of a session in an empty project.
async fn registries(folder: &TempDir, approve: Approve) -> Registries {
    let settings = Settings {
        session: "test",
        grounds: Grounds {
            workspace: folder.path().to_owned(),
            storage: folder.path().join("records"),
            calls: 10,
        },
        time: Duration::from_secs(5),
        approve,
        scripts: &Scripts::default(),
        progress: &Progress::new(1),
    };
    Registries::guarding(settings).await.expect("registries")
}

fn folder() -> TempDir {
    TempDir::new().expect("a folder")
}

fn bash(command: &str) -> Call {
    Call::Bash {
        command: command.to_owned(),
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(future)
}

/// Dispatches PRE with an additional hook. Returns the decision with the hook.
fn pre(options: RegisterOptions, hook: fn(&ToolRequest) -> HookResponse) -> Result<(), Refusal> {
    block_on(async {
        let folder = folder();
        let registries = registries(&folder, Approve::Never).await;
        let phases = registries.governor.engine.registry();
        phases.register_pre(PreFn::new("odd", hook), options);
        registries
            .pre(&mut Passing::new(1, &bash("ls"), false))
            .await
    })
}

/// Emits `tool:pre` with an additional hook. Returns the changed call and the decision.
fn tool_pre(
    options: RegisterOptions,
    hook: impl Fn(Event<'_>) -> HookResult + Send + Sync + 'static,
) -> (Passing, Result<(), Refusal>) {
    approved(Approve::Never, options, hook)
}

fn approved(
    approve: Approve,
    options: RegisterOptions,
    hook: impl Fn(Event<'_>) -> HookResult + Send + Sync + 'static,
) -> (Passing, Result<(), Refusal>) {
    block_on(async {
        let folder = folder();
        let mut registries = registries(&folder, approve).await;
        let options = options.name("odd");
        registries
            .events
            .register(HookRegistry::TOOL_PRE, hook, options);
        let mut passing = Passing::new(1, &bash("tail -f log"), true);
        let answer = registries.tool_pre(&mut passing).await;
        (passing, answer)
    })
}

fn by(answer: Result<(), Refusal>) -> String {
    answer.expect_err("a refusal").hook
}

#[test]
fn a_pre_hook_that_fails_is_no_yes() {
    let fail = |_: &ToolRequest| panic!("out of order");
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
    let later = |_: &ToolRequest| HookResponse::new(ResponseAction::Other("LATER".to_owned()));
    assert_eq!(by(pre(RegisterOptions::new(), later)), "odd");
}

#[test]
fn all_pre_hooks_of_the_engine_are_asked_and_none_is_left_out_when_it_fails() {
    let folder = folder();
    let registries = block_on(registries(&folder, Approve::Never));
    let phases = registries.governor.engine.registry();
    let hooks = phases.registered_hooks(Phase::Pre);
    let ids: Vec<_> = hooks.iter().map(|hook| &*hook.id).collect();
    let seven = [
        "fail-safe",
        "state-check",
        "traceability",
        "concurrency",
        "scope-enforcement",
        "budget",
        "circuit-breaker",
    ];
    assert_eq!(ids, seven);
    for hook in &hooks {
        assert_ne!(hook.on_failure, FailurePolicy::Isolate, "{}", hook.id);
    }
}

#[test]
fn an_engine_that_cannot_write_its_records_lets_nothing_pass() {
    block_on(async {
        let folder = folder();
        let registries = registries(&folder, Approve::Never).await;
        std::fs::remove_dir_all(folder.path().join("records")).expect("no records");
        let answer = registries
            .pre(&mut Passing::new(1, &bash("ls"), false))
            .await;
        assert_eq!(by(answer), "fail-safe");
    });
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
    assert!(explanation.contains("; ignored"), "{explanation}");
}

#[test]
fn the_guard_of_files_denies_data_that_it_cannot_read() {
    let spoil = |_: Event<'_>| HookResult::set("tool_name", 7);
    let (_, answer) = tool_pre(RegisterOptions::new().priority(-20), spoil);
    assert_eq!(by(answer), "protected_files");
}

#[test]
fn a_question_is_answered_as_approve_says_whatever_its_default() {
    let ask =
        |_: Event<'_>| HookResult::ask_user("May it?").approval_default(ApprovalDefault::Allow);
    let (_, answer) = tool_pre(RegisterOptions::new(), ask);
    let said = answer.as_ref().map_err(|no| (&*no.hook, &*no.reason));
    assert_eq!(said, Err(("odd", "user denied: May it?")));
    let (passing, answer) = approved(Approve::Always, RegisterOptions::new(), ask);
    assert_eq!(answer, Ok(()));
    assert_eq!(passing.told, ["user allowed: May it?"]);
}

#[test]
fn a_denial_wins_over_a_question_that_is_answered_with_yes() {
    let deny = |event: Event<'_>| {
        let _ = event;
        HookResult::deny("no")
    };
    block_on(async {
        let folder = folder();
        let mut registries = registries(&folder, Approve::Always).await;
        let (before, last) = (HookRegistry::TOOL_PRE, RegisterOptions::new().priority(30));
        registries.events.register(before, deny, last.name("odd"));
        let mut passing = Passing::new(1, &bash("rm a"), false);
        registries.classify(&mut passing).await.expect("a class");
        assert_eq!(by(registries.tool_pre(&mut passing).await), "odd");
    });
}

/// Dispatches the classifiers, then `tool:pre` with an additional hook before the others.
fn classified(
    approve: Approve,
    command: &str,
    hook: impl Fn(Event<'_>) -> HookResult + Send + Sync + 'static,
) -> Result<(), Refusal> {
    block_on(async {
        let folder = folder();
        let mut registries = registries(&folder, approve).await;
        let options = RegisterOptions::new().name("odd").priority(-20);
        registries
            .events
            .register(HookRegistry::TOOL_PRE, hook, options);
        let mut passing = Passing::new(1, &bash(command), false);
        registries.classify(&mut passing).await?;
        registries.tool_pre(&mut passing).await
    })
}

#[test]
fn what_deletes_is_asked_about() {
    let proceed = |_: Event<'_>| HookResult::proceed();
    let denied = classified(Approve::Never, "rm a", proceed);
    assert_eq!(by(denied), "confirm_deletion");
    assert_eq!(classified(Approve::Always, "rm a", proceed), Ok(()));
    assert_eq!(classified(Approve::Never, "mkdir a", proceed), Ok(()));
    let outside = classified(Approve::Always, "rm ../a", proceed);
    assert_eq!(by(outside), "project");
}

#[test]
fn hooks_cannot_spare_a_deletion_the_question() {
    let harmless = |_: Event<'_>| HookResult::set("classification", "READ");
    let none = |_: Event<'_>| HookResult::set("classification", json!(null));
    for approve in [Approve::Never, Approve::Always] {
        assert_eq!(by(classified(approve, "rm a", harmless)), "tool:pre");
        assert_eq!(by(classified(approve, "rm a", none)), "tool:pre");
    }
}

#[test]
fn what_hooks_make_of_a_call_is_classified_as_well() {
    let into = |command: &'static str| {
        move |_: Event<'_>| HookResult::set("tool_input", json!({"command": command}))
    };
    for (command, refuser) in [
        ("rm a", "tool:pre"),
        ("cat ../a", "project"),
        ("curl a", "offline"),
        ("cat .env", "tables"),
        ("frobnicate", "tables"),
    ] {
        let refused = classified(Approve::Always, "ls", into(command));
        assert_eq!(by(refused), refuser, "{command}");
    }
    assert_eq!(classified(Approve::Never, "ls", into("mkdir a")), Ok(()));
}

#[test]
fn the_classifiers_are_entries_of_one_slot_that_fail_closed() {
    let folder = folder();
    let registries = block_on(registries(&folder, Approve::Never));
    let hooks = registries.classifiers.hooks();
    let ids: Vec<_> = hooks.iter().map(|hook| &*hook.id).collect();
    assert_eq!(ids, ["project", "offline", "tables"]);
    for hook in &hooks {
        assert_eq!(hook.on_failure, FailurePolicy::FailClosed, "{}", hook.id);
    }
}

#[test]
fn the_question_about_deletions_fails_closed() {
    let folder = folder();
    let registries = block_on(registries(&folder, Approve::Always));
    let hooks = registries.events.descriptors();
    let asks = hooks
        .iter()
        .find(|hook| hook.name.as_deref() == Some("confirm_deletion"));
    let asks = asks.expect("the hook");
    assert_eq!(asks.on_failure, FailurePolicy::FailClosed);
}

#[test]
fn an_injection_that_is_too_long_is_no_yes_and_not_told() {
    let inject = |_: Event<'_>| HookResult::inject_context("x".repeat(super::INJECTION_LIMIT + 1));
    let (passing, answer) = tool_pre(RegisterOptions::new(), inject);
    let no = answer.expect_err("a refusal");
    assert_eq!(no.hook, "odd");
    assert!(no.reason.contains("the limit is"), "{no:?}");
    assert!(passing.told.is_empty());
}

#[test]
fn what_the_user_is_told_can_be_put_otherwise_or_kept_back() {
    block_on(async {
        let folder = folder();
        let mut registries = registries(&folder, Approve::Never).await;
        let before = HookRegistry::TOOL_PRE;
        for (name, text) in [("loud", "LOUD"), ("secret", "hush")] {
            let say = move |_: Event<'_>| HookResult::proceed().user_message(text);
            let options = RegisterOptions::new().name(name);
            registries.events.register(before, say, options);
        }
        let soften = |event: Event<'_>| match event.str("text") {
            Some("LOUD") => HookResult::set("text", "quiet").user_message("softened"),
            _ => HookResult::deny("it is a secret"),
        };
        let options = RegisterOptions::new().name("soften");
        let told = HookRegistry::USER_NOTIFICATION;
        registries.events.register(told, soften, options);
        let mut passing = Passing::new(1, &bash("ls"), false);
        assert_eq!(registries.tool_pre(&mut passing).await, Ok(()));
        let lines = ["loud to the user: quiet", "soften to the user: softened"];
        assert_eq!(passing.told, lines);
        let events: Vec<_> = registries.emitted().iter().map(|it| it.event).collect();
        assert_eq!(events, [before, told, told]);
    });
}

#[test]
fn a_session_that_a_hook_denies_does_not_begin() {
    block_on(async {
        let folder = folder();
        let mut registries = registries(&folder, Approve::Never).await;
        let deny = |_: Event<'_>| HookResult::deny("not today");
        let options = RegisterOptions::new().name("odd");
        let start = HookRegistry::SESSION_START;
        registries.events.register(start, deny, options);
        let error = registries.start(1).await.expect_err("a refusal");
        assert_eq!(error.to_string(), "odd refused the session: not today");
    });
}

#[test]
fn what_a_hook_changed_runs_whichever_answer_won() {
    let inject = |_: Event<'_>| HookResult::inject_context("mind the gap");
    let (passing, answer) = tool_pre(RegisterOptions::new(), inject);
    assert_eq!(answer, Ok(()));
    assert_eq!(passing.draft.call, bash("tail log"));
    assert_eq!(passing.draft.changes[0].hook, "end_tail");
    assert_eq!(passing.told, ["odd to the agent: mind the gap"]);
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
    assert_eq!(passing.draft.changes[0].hook, "odd");
}
