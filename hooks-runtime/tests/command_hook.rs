//! [`CommandHook`] with real programs.

#![cfg(all(unix, feature = "command"))]

use std::time::{Duration, Instant};

use hooks_runtime::{
    Action, CommandHook, Emission, Failure, FailurePolicy, HookRegistry, RegisterOptions,
};
use serde_json::json;

fn shell(script: &str) -> CommandHook {
    CommandHook::new("/bin/sh").args(["-c", script])
}

async fn emit_to(hook: CommandHook, options: RegisterOptions) -> Emission {
    let hooks = HookRegistry::new();
    hooks.register("tool:pre", hook, options.name("program"));
    let data = json!({"tool_name": "Write"});
    hooks.emit("tool:pre", data).await.unwrap()
}

async fn emit(script: &str) -> Emission {
    emit_to(shell(script), RegisterOptions::new()).await
}

fn failure(emission: &Emission) -> String {
    let [failure] = &emission.failures[..] else {
        panic!("one failure, not {:?}", emission.failures);
    };
    failure.failure.to_string()
}

#[tokio::test]
async fn a_program_receives_the_event_as_json() {
    let script = r#"printf '{"action": "modify", "data": {"name": "%s", "got": %s}}' "$HOOK_EVENT" "$(cat)""#;
    let emission = emit(script).await;
    assert_eq!(emission.action, Action::Modify);
    assert_eq!(
        *emission.data,
        *json!({
            "name": "tool:pre",
            "got": {"event": "tool:pre", "data": {"tool_name": "Write"}},
        })
        .as_object()
        .unwrap()
    );
}

#[tokio::test]
async fn a_program_without_output_that_ignores_its_input_continues() {
    let emission = emit("exit 0").await;
    assert_eq!(emission.action, Action::Continue);
    assert!(emission.failures.is_empty(), "{:?}", emission.failures);
}

#[tokio::test]
async fn exit_code_2_denies_with_standard_error_as_the_reason() {
    let emission = emit("echo 'not on my watch' >&2; exit 2").await;
    assert_eq!(emission.action, Action::Deny);
    assert_eq!(emission.reason(), Some("not on my watch"));
    assert_eq!(emission.decided_by.as_deref(), Some("program"));
}

#[tokio::test]
async fn any_other_exit_status_is_an_isolated_failure() {
    let emission = emit("echo first >&2; echo 'disk on fire' >&2; exit 3").await;
    assert_eq!(emission.action, Action::Continue);
    assert_eq!(
        failure(&emission),
        "failed: the program ended with exit status: 3: disk on fire"
    );
    assert!(failure(&emit("kill -9 $$").await).contains("signal: 9"));
}

#[tokio::test]
async fn a_failure_of_a_fail_closed_program_denies() {
    for script in ["exit 1", "echo yes", r#"echo '{"action": "allow"}'"#] {
        let options = RegisterOptions::new().on_failure(FailurePolicy::FailClosed);
        let emission = emit_to(shell(script), options).await;
        assert_eq!(emission.action, Action::Deny, "{script}");
        assert!(emission.reason().unwrap().contains("`program`"), "{script}");
    }
}

#[tokio::test]
async fn a_missing_program_is_a_failure_that_names_the_program() {
    let emission = emit_to(CommandHook::new("/no/such"), RegisterOptions::new()).await;
    assert!(failure(&emission).contains("`/no/such` cannot be started"));
}

#[tokio::test]
async fn e_38_output_that_is_not_a_json_object_is_a_failure() {
    assert!(failure(&emit("echo done").await).contains("does not end with a JSON object"));
    assert!(failure(&emit("echo '[1]'").await).contains("not an object"));
}

/// Outputs that name no `action` of a `HookResult`, most of them in the format of another hook
/// system.
const OTHER_FORMATS: &[&str] = &[
    r#"{"decision": "block"}"#,
    r#"{"decision": "block", "reason": "not today"}"#,
    r#"{"decision": "approve", "suppress_output": true}"#,
    r#"{"continue": false, "stopReason": "no"}"#,
    r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}"#,
    r#"{"permission": "deny", "user_message": "no"}"#,
    r#"{"permissionDecision": "deny", "permissionDecisionReason": "no"}"#,
    r#"{"acton": "deny"}"#,
    r#"{"Action": "deny"}"#,
    r#"{"action ": "deny", "reason": "no"}"#,
    r#"{"result": {"action": "deny"}}"#,
    r#"{"error": "cannot read the policy", "data": null}"#,
    r#"{"": 1}"#,
];

async fn emit_with(policy: FailurePolicy, script: &str) -> Emission {
    emit_to(shell(script), RegisterOptions::new().on_failure(policy)).await
}

#[tokio::test]
async fn e_38_an_output_in_another_format_is_a_failure() {
    let mut scripts: Vec<String> = OTHER_FORMATS
        .iter()
        .map(|printed| format!("cat >/dev/null; echo looking; printf '%s' '{printed}'"))
        .collect();
    // The input itself, on one and on several lines.
    scripts.push("cat".to_owned());
    scripts.push("sed 's/,/,\\n/'".to_owned());
    scripts.push("printf '{\"decision\":\\n  \"block\"\\n}\\n'".to_owned());
    for script in &scripts {
        let closed = emit_with(FailurePolicy::FailClosed, script).await;
        assert_eq!(closed.action, Action::Deny, "{script}");
        let message = failure(&closed);
        assert!(
            message.contains("there is no `action`"),
            "{script}: {message}"
        );
        let open = emit_with(FailurePolicy::Isolate, script).await;
        assert_eq!(open.action, Action::Continue, "{script}");
        assert!(failure(&open).contains("there is no `action`"), "{script}");
        let hooks = HookRegistry::new();
        let options = RegisterOptions::new().on_failure(FailurePolicy::Propagate);
        hooks.register("tool:pre", shell(script), options);
        let error = hooks.emit("tool:pre", ()).await.unwrap_err().to_string();
        assert!(error.contains("there is no `action`"), "{script}: {error}");
    }
}

#[tokio::test]
async fn e_90_an_output_with_only_known_fields_needs_no_action() {
    for script in [
        "exit 0",
        "printf '\\n \\n'",
        "echo '{}'",
        r#"echo '{"reason": "fine"}'"#,
        r#"echo '{"data": {"a": 1}, "user_message": "hello"}'"#,
        r#"echo '{"suppress_output": true, "approval_prompt": null}'"#,
        r#"echo '{"changes": {}}'"#,
    ] {
        let emission = emit_with(FailurePolicy::FailClosed, script).await;
        assert_eq!(emission.action, Action::Continue, "{script}");
        assert!(
            emission.failures.is_empty(),
            "{script}: {:?}",
            emission.failures
        );
    }
}

#[tokio::test]
async fn e_96_unknown_fields_beside_an_action_are_accepted() {
    for (printed, action) in [
        (
            r#"{"action": "continue", "decision": "approve"}"#,
            Action::Continue,
        ),
        (
            r#"{"trace": [1], "action": "deny", "reason": "no"}"#,
            Action::Deny,
        ),
        (
            r#"{"action": "modify", "data": {"a": 1}, "version": 2}"#,
            Action::Modify,
        ),
    ] {
        let emission = emit_with(FailurePolicy::FailClosed, &format!("echo '{printed}'")).await;
        assert_eq!(emission.action, action, "{printed}");
        assert!(
            emission.failures.is_empty(),
            "{printed}: {:?}",
            emission.failures
        );
    }
}

#[tokio::test]
async fn e_93_an_unknown_action_is_a_failure_that_names_the_field() {
    let emission = emit(r#"echo '{"action": "allow"}'"#).await;
    assert!(failure(&emission).contains("field `action` is `allow`"));
}

#[tokio::test]
async fn e_150_lines_printed_by_a_program_are_in_the_transcript() {
    let emission = emit(r#"echo looking; echo careful >&2; echo '{"reason": "fine"}'"#).await;
    let output: Vec<_> = emission.output().iter().map(|line| &*line.text).collect();
    assert_eq!(output, ["careful", "looking"]);
    assert_eq!(&*emission.output()[0].hook, "program");
}

#[tokio::test]
async fn e_150_suppressed_output_is_not_in_the_transcript() {
    let emission =
        emit(r#"echo looking; echo careful >&2; echo '{"suppress_output": true}'"#).await;
    assert!(emission.output().is_empty(), "{:?}", emission.output());
}

#[tokio::test]
async fn a_timeout_kills_the_program_and_its_child_processes() {
    let mark = std::env::temp_dir().join(format!("hooks-command-{}", std::process::id()));
    let script = format!("(sleep 1; touch {}) & sleep 60", mark.display());
    let started = Instant::now();
    let hook = shell(&script).time_limit(Duration::from_millis(200));
    let emission = emit_to(hook, RegisterOptions::new()).await;
    assert!(matches!(emission.failures[0].failure, Failure::Timeout(_)));
    assert!(started.elapsed() < Duration::from_secs(30));
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(!mark.exists(), "a child process still runs");
}

#[tokio::test]
async fn a_background_process_does_not_delay_the_emission() {
    let started = Instant::now();
    let emission = emit("sleep 60 & exit 0").await;
    assert!(emission.failures.is_empty(), "{:?}", emission.failures);
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn e_36_an_output_written_shortly_after_the_exit_is_awaited() {
    let script = r#"cat >/dev/null; (sleep 0.05; echo '{"action": "deny"}') & exit 0"#;
    for policy in [FailurePolicy::Isolate, FailurePolicy::FailClosed] {
        let mut tries = Vec::new();
        // On a busy machine, even that may take longer than the timeout.
        while tries.len() < 10 && !tries.contains(&(Action::Deny, Ok(()))) {
            let options = RegisterOptions::new().on_failure(policy);
            let emission = emit_to(shell(script), options).await;
            let failure = emission
                .failures
                .first()
                .map(|failure| failure.failure.to_string());
            tries.push((emission.action, failure.map_or(Ok(()), Err)));
        }
        assert!(tries.contains(&(Action::Deny, Ok(()))), "{tries:?}");
    }
}

#[tokio::test]
async fn e_36_the_timeout_ends_when_the_program_exits() {
    for printed in [
        "sleep 60 & echo no >&2; exit 2",
        r#"sleep 60 & echo '{"action": "deny"}'"#,
    ] {
        // Shorter than the time for its pipes; a busy machine may need it for the start.
        let limit = Duration::from_millis(150);
        let mut failures = Vec::new();
        while failures.len() < 10 {
            let emission = emit_to(shell(printed).time_limit(limit), RegisterOptions::new()).await;
            if emission.action == Action::Deny {
                break;
            }
            failures.extend(emission.failures);
        }
        assert!(failures.len() < 10, "{printed}: {failures:?}");
    }
}

#[tokio::test]
async fn x_2_standard_output_held_open_without_a_result_is_a_failure() {
    for printed in ["", r#"echo '{"log": "starting"}';"#] {
        let hook = || shell(&format!("sleep 60 & {printed} exit 0"));
        let options = RegisterOptions::new().on_failure(FailurePolicy::FailClosed);
        let emission = emit_to(hook(), options).await;
        assert_eq!(emission.action, Action::Deny);
        assert!(failure(&emission).contains("redirect its output"));
        let options = RegisterOptions::new().on_failure(FailurePolicy::Propagate);
        let hooks = HookRegistry::new();
        hooks.register("tool:pre", hook(), options);
        assert!(hooks.emit("tool:pre", ()).await.is_err());
    }
    // A process that holds only standard error cannot return a result.
    for printed in [
        "sleep 60 >/dev/null & exit 0",
        r#"sleep 60 & echo '{"action": "continue"}'"#,
    ] {
        let options = RegisterOptions::new().on_failure(FailurePolicy::FailClosed);
        let emission = emit_to(shell(printed), options).await;
        assert_eq!(emission.action, Action::Continue, "{:?}", emission.failures);
    }
}

#[tokio::test]
async fn a_program_that_exceeds_its_output_limit_is_killed() {
    let hook = shell("exec yes").output_limit(10_000);
    let emission = emit_to(hook, RegisterOptions::new()).await;
    assert!(failure(&emission).contains("more than 10000 bytes to its standard output"));
}

#[tokio::test]
async fn standard_error_over_the_limit_is_truncated_and_still_denies() {
    let hook = shell("head -c 50000 /dev/zero | tr '\\0' x >&2; exit 2").output_limit(10_000);
    let emission = emit_to(hook, RegisterOptions::new()).await;
    assert_eq!(emission.action, Action::Deny);
    assert_eq!(emission.reason().map(str::len), Some(10_000));
}

#[tokio::test]
async fn the_largest_output_limit_does_not_overflow() {
    let hook = shell(r#"echo '{"action": "deny"}'"#).output_limit(usize::MAX);
    let emission = emit_to(hook, RegisterOptions::new()).await;
    assert_eq!(emission.action, Action::Deny);
}

#[tokio::test]
async fn a_process_outside_the_group_does_not_delay_a_denial() {
    let started = Instant::now();
    let emission = emit("setsid sleep 20 & sleep 0.1; echo no >&2; exit 2").await;
    assert_eq!(emission.action, Action::Deny);
    assert_eq!(emission.reason(), Some("no"));
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn lines_printed_before_a_timeout_are_in_the_transcript() {
    let hook = shell("echo working >&2; sleep 20").time_limit(Duration::from_millis(300));
    let emission = emit_to(hook, RegisterOptions::new()).await;
    assert_eq!(emission.output()[0].text, "working");
}

#[tokio::test]
async fn a_denial_or_question_is_kept_if_another_field_is_invalid() {
    let script = r#"echo '{"action": "deny", "reason": "no", "approval_timeout": -1}'"#;
    let emission = emit(script).await;
    assert_eq!(emission.action, Action::Deny);
    assert_eq!(emission.reason(), Some("no"));
    let script = r#"echo '{"action": "ask_user", "approval_prompt": "sure?", "data": 1}'"#;
    let emission = emit(script).await;
    assert_eq!(emission.action, Action::AskUser);
    assert!(emission.output()[0].text.contains("field `data`"));
    let script = r#"echo '{"action": "deny", "reason": "no", "changes": ["a.rs"]}'"#;
    let emission = emit(script).await;
    assert_eq!(emission.reason(), Some("no"));
    assert!(emission.output()[0].text.contains("field `changes`"));
}

#[tokio::test]
async fn a_denial_or_question_is_kept_if_a_value_does_not_parse() {
    let lists = "[".repeat(500) + &"]".repeat(500);
    for (field, value) in [
        ("approval_timeout", "1e999"),
        ("user_message", r#""\\ud800""#),
        ("data", &lists),
        ("user_message", r#""\377""#),
    ] {
        let script = format!(
            r#"echo checked; printf '{{"action": "deny", "reason": "no", "{field}": {value}}}'"#
        );
        let emission = emit(&script).await;
        assert_eq!(
            emission.action,
            Action::Deny,
            "{script}: {:?}",
            emission.failures
        );
        assert_eq!(emission.reason(), Some("no"));
        let printed: Vec<_> = emission.output().iter().map(|line| &*line.text).collect();
        assert_eq!(printed[0], "checked");
        assert!(printed[1].contains("without its other fields"));
    }
    for denial in [
        r#""action": "deny", "reason": 1e999"#,
        r#""action": "deny", "reason": ["no", "\377"]"#,
        r#""action": "ask_user", "approval_prompt": 1e999"#,
        r#""action": "deny", "\\ud800": 1"#,
        r#""action": "deny", "approval_prompt": true, "user_message": "\\ud800""#,
    ] {
        let emission = emit(&format!("printf '{{{denial}}}'")).await;
        assert_ne!(emission.action, Action::Continue, "{denial}");
        assert!(
            emission.failures.is_empty(),
            "{denial}: {:?}",
            emission.failures
        );
    }
    let reason = r#"printf '{"action": "deny", "reason": "/etc/\377 \\udc80"}'"#;
    let emission = emit(reason).await;
    let reason = emission.reason().expect("a reason");
    assert!(reason.starts_with("/etc/\u{fffd} \u{fffd}"), "{reason}");
}

#[tokio::test]
async fn e_93_duplicate_fields_fail_unless_an_action_denies_or_asks() {
    for (printed, action) in [
        (r#""action": "deny", "action": "continue""#, Action::Deny),
        (r#""action": "continue", "action": "deny""#, Action::Deny),
        (
            r#""action": "ask_user", "action": "modify""#,
            Action::AskUser,
        ),
        (
            r#""action": "ask_user", "action": "deny", "action": "ask_user""#,
            Action::Deny,
        ),
        (r#""action": null, "action": "deny""#, Action::Deny),
        (
            r#""action": "deny", "action": 1, "reason": null, "reason": 2"#,
            Action::Deny,
        ),
    ] {
        let emission = emit(&format!("echo '{{{printed}}}'")).await;
        assert_eq!(emission.action, action, "{printed}");
        assert!(
            emission.output()[0].text.contains("is there twice"),
            "{printed}"
        );
    }
    for printed in [
        r#"{"action": "continue", "action": "modify"}"#,
        r#"{"action": "modify", "data": {}, "data": {"a": 1}}"#,
    ] {
        let emission = emit(&format!("echo '{printed}'")).await;
        assert_eq!(emission.action, Action::Continue);
        assert!(failure(&emission).contains("is there twice"), "{printed}");
    }
}

#[tokio::test]
async fn e_93_an_action_that_is_not_a_string_is_a_failure() {
    for printed in [
        r#"{"action": {"deny": null}}"#,
        r#"{"action": {"deny": null}, "data": 1e999}"#,
    ] {
        let emission = emit(&format!("echo '{printed}'")).await;
        assert_eq!(emission.action, Action::Continue);
        assert_eq!(emission.failures.len(), 1);
    }
}

#[tokio::test]
async fn e_93_an_output_that_is_not_utf_8_changes_nothing() {
    let script = r#"printf '{"action": "modify", "data": {"path": "/tmp/\377"}}'"#;
    let emission = emit(script).await;
    assert_eq!(emission.action, Action::Continue);
    assert!(failure(&emission).contains("does not end with a JSON object"));
}

#[tokio::test]
async fn e_25_numbers_round_trip_through_a_program_unchanged() {
    let data = json!({"a": 123456789.12345679, "b": 0.1, "c": 5e-324, "d": u64::MAX});
    let hooks = HookRegistry::new();
    let echo = shell(r#"sed 's/.*"data"/{"action": "modify", "data"/'"#);
    hooks.register("e", echo, RegisterOptions::new());
    let emission = hooks.emit("e", data.clone()).await.unwrap();
    assert_eq!(emission.action, Action::Modify, "{:?}", emission.failures);
    assert_eq!(serde_json::Value::from((*emission.data).clone()), data);
}

#[tokio::test]
async fn e_93_changes_that_are_not_an_object_are_a_failure_that_names_the_field() {
    let emission = emit(r#"echo '{"action": "modify", "changes": ["a.rs"]}'"#).await;
    assert_eq!(emission.action, Action::Continue);
    assert!(failure(&emission).contains("field `changes`"));
}

#[test]
fn a_program_without_a_tokio_runtime_is_a_failure() {
    let hooks = HookRegistry::new();
    hooks.register("tool:pre", shell("exit 2"), RegisterOptions::new());
    let mut emission = std::pin::pin!(hooks.emit("tool:pre", ()));
    let waker = std::task::Waker::noop();
    let poll = emission
        .as_mut()
        .poll(&mut std::task::Context::from_waker(waker));
    let std::task::Poll::Ready(Ok(emission)) = poll else {
        panic!("the emission is pending: {poll:?}");
    };
    assert!(failure(&emission).contains("needs a tokio runtime"));
}

#[tokio::test]
async fn e_42_a_dropped_emission_kills_the_program() {
    let mark = std::env::temp_dir().join(format!("hooks-dropped-{}", std::process::id()));
    let script = format!("sleep 1; touch {}", mark.display());
    let emission = tokio::time::timeout(Duration::from_millis(200), emit(&script)).await;
    assert!(emission.is_err());
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(!mark.exists(), "the program still runs");
}

#[tokio::test]
async fn large_events_and_outputs_do_not_deadlock() {
    let hooks = HookRegistry::new();
    let script = r#"printf '{"action": "modify", "data": '; cat; printf '}'"#;
    hooks.register("tool:pre", shell(script), RegisterOptions::new());
    let text = "x".repeat(500_000);
    let emission = hooks.emit("tool:pre", json!({"text": text})).await.unwrap();
    assert_eq!(emission.data["data"]["text"], text);
}

#[tokio::test]
async fn e_09_the_default_name_of_a_program_is_its_file_name() {
    let hooks = HookRegistry::new();
    hooks.register("tool:pre", shell("exit 2"), RegisterOptions::new());
    assert_eq!(hooks.list_handlers(None)["tool:pre"], ["sh"]);
    let emission = hooks.emit("tool:pre", ()).await.unwrap();
    assert_eq!(emission.decided_by.as_deref(), Some("sh"));
}

#[tokio::test]
async fn e_90_texts_that_a_program_only_lists_are_injected() {
    let emission = emit(
        r#"echo '{"action": "inject_context", "context_injections": [{"content": "a"}, {"content": "b", "ephemeral": true}]}'"#,
    )
    .await;
    assert_eq!(emission.action, Action::InjectContext);
    let texts: Vec<_> = emission
        .injections
        .iter()
        .map(|text| (&*text.content, text.ephemeral))
        .collect();
    assert_eq!(texts, [("a", false), ("b", true)]);

    let script = r#"echo '{"action": "inject_context", "context_injections": [{"text": "a"}]}'"#;
    let message = failure(&emit(script).await);
    assert!(message.contains("`context_injections`"), "{message}");
    let closed = RegisterOptions::new().on_failure(FailurePolicy::FailClosed);
    assert!(emit_to(shell(script), closed).await.is_denied());
}

#[tokio::test]
async fn e_90_listed_texts_without_an_action_are_a_failure() {
    let script = r#"echo '{"context_injections": [{"content": "a"}]}'"#;
    let message = failure(&emit(script).await);
    assert!(message.contains("there is no `action`"), "{message}");
}

#[tokio::test]
async fn e_90_the_source_of_a_message_needs_no_action() {
    let script = r#"echo '{"user_message": "told", "user_message_source": "linter"}'"#;
    let emission = emit(script).await;
    assert!(emission.failures.is_empty(), "{:?}", emission.failures);
    assert_eq!(emission.messages[0].source.as_deref(), Some("linter"));
}

#[tokio::test]
async fn e_93_a_denial_beside_an_invalid_list_denies() {
    let script = r#"echo '{"action": "deny", "reason": "no", "context_injections": 1}'"#;
    let emission = emit(script).await;
    assert!(emission.is_denied());
    assert_eq!(emission.reason(), Some("no"));
}
