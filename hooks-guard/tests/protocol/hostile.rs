//! Tests input that no agent sends.

use hooks_guard::protocol::{Agent, HookEvent, MAX_INPUT_BYTES, Problem, failure_reply, read};
use serde_json::{Value, json};

use crate::protocol::holds::assert_holds;

/// Asserts that the input is denied for every agent.
fn assert_refused(input: &[u8]) -> Vec<Problem> {
    assert_holds(input);
    let problem = |agent: Agent| match read(agent, input) {
        Err(error) => error.problem,
        Ok(event) => panic!("{agent}: {event:?}"),
    };
    Agent::ALL.into_iter().map(problem).collect()
}

fn is_json(problem: &Problem) -> bool {
    matches!(problem, Problem::Json { .. })
}

#[test]
fn input_other_than_an_object_is_refused() {
    for text in [
        "",
        "null",
        "[]",
        "7",
        "\"Bash\"",
        "{",
        "{}",
        "{\"tool_name\": \"Bash\"",
        "{} {}",
    ] {
        assert_refused(text.as_bytes());
    }
    assert!(assert_refused(&[]).iter().all(is_json));
    let encoding = |problem: &Problem| *problem == Problem::Encoding;
    assert!(
        assert_refused(b"{\"tool_name\": \"\xff\"}")
            .iter()
            .all(encoding)
    );
    assert!(assert_refused(b"{\"command\": \"\0\"}").iter().all(is_json));
}

#[test]
fn input_that_is_too_long_or_too_deep_is_refused() {
    let long = vec![b' '; MAX_INPUT_BYTES + 1];
    let too_long = |problem: &Problem| *problem == Problem::TooLong;
    assert!(assert_refused(&long).iter().all(too_long));
    let deep = format!("{}{}", "{\"a\":".repeat(100_000), "[".repeat(100_000));
    assert!(assert_refused(deep.as_bytes()).iter().all(is_json));
}

#[test]
fn every_truncated_request_is_refused() {
    let whole = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/p",
        "tool_name": "Bash", "tool_input": {"command": "rm -rf build"}})
    .to_string();
    for length in 0..whole.len() {
        assert_refused(&whole.as_bytes()[..length]);
    }
}

#[test]
fn a_command_of_another_type_is_denied_in_the_format_of_the_agent() {
    let fields = [
        (
            Agent::ClaudeCode,
            "PreToolUse",
            "Bash",
            r#""permissionDecision":"deny""#,
        ),
        (
            Agent::Codex,
            "PreToolUse",
            "Bash",
            r#""permissionDecision":"deny""#,
        ),
        (
            Agent::Gemini,
            "BeforeTool",
            "run_shell_command",
            r#""decision":"deny""#,
        ),
        (
            Agent::Cursor,
            "beforeShellExecution",
            "",
            r#""permission":"deny""#,
        ),
        (
            Agent::Cursor,
            "preToolUse",
            "Shell",
            r#""permission":"deny""#,
        ),
        (
            Agent::Copilot,
            "PreToolUse",
            "Bash",
            r#""permissionDecision":"deny""#,
        ),
        (
            Agent::VsCode,
            "PreToolUse",
            "runTerminalCommand",
            r#""permissionDecision":"deny""#,
        ),
        (
            Agent::ClaudeCode,
            "PermissionRequest",
            "Bash",
            r#""behavior":"deny""#,
        ),
        (
            Agent::Codex,
            "PermissionRequest",
            "Bash",
            r#""behavior":"deny""#,
        ),
    ];
    let commands = [
        json!(7),
        json!(["rm", "a"]),
        json!({"a": 1}),
        json!(true),
        Value::Null,
    ];
    for (agent, event, tool, own) in fields {
        for command in &commands {
            let input = json!({"hook_event_name": event, "tool_name": tool, "command": command,
                "tool_input": {"command": command}});
            assert_holds(input.to_string().as_bytes());
            let error = read(agent, input.to_string().as_bytes()).unwrap_err();
            let reply = failure_reply(agent, error.hook, &error.to_string());
            assert!(reply.stdout.contains(own), "{agent}: {reply:?}");
            assert!(
                reply.stdout.contains("`command`"),
                "{agent} says why: {reply:?}"
            );
        }
    }
}

#[test]
fn names_of_another_type_are_refused() {
    for field in [
        "session_id",
        "tool_use_id",
        "cwd",
        "permission_mode",
        "tool_name",
        "hook_event_name",
    ] {
        let mut input = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/p",
            "tool_name": "Bash", "tool_input": {"command": "ls"}});
        input[field] = json!({"a": 1});
        assert_holds(input.to_string().as_bytes());
        read(Agent::ClaudeCode, input.to_string().as_bytes()).unwrap_err();
    }
    let mut long = json!({"hook_event_name": "PreToolUse", "session_id": "é".repeat(500),
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    assert!(read(Agent::ClaudeCode, long.to_string().as_bytes()).is_ok());
    long["session_id"] = "é".repeat(501).into();
    let error = read(Agent::ClaudeCode, long.to_string().as_bytes()).unwrap_err();
    assert!(matches!(
        error.problem,
        Problem::LongField {
            field: "session_id",
            ..
        }
    ));
    let mut far = json!({"hook_event_name": "PreToolUse", "cwd": format!("/{}", "d/".repeat(2_000)),
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    assert!(read(Agent::ClaudeCode, far.to_string().as_bytes()).is_ok());
    far["tool_input"]["workdir"] = "d/".repeat(100).into();
    let error = read(Agent::ClaudeCode, far.to_string().as_bytes()).unwrap_err();
    assert!(matches!(
        error.problem,
        Problem::LongField { field: "cwd", .. }
    ));
}

#[test]
fn unknown_fields_and_events_are_accepted() {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "new": [1, {"a": null}],
        "tool_input": {"command": "ls", "colour": 7}, "agent_id": 7});
    let event = read(Agent::ClaudeCode, input.to_string().as_bytes());
    assert!(matches!(event, Ok(HookEvent::Ask(_))), "{event:?}");
    let input = json!({"hook_event_name": "MoonRises", "tool_name": 7});
    let event = read(Agent::ClaudeCode, input.to_string().as_bytes());
    assert!(matches!(event, Ok(HookEvent::Nothing { .. })), "{event:?}");
    let marked = format!("\u{feff}{}", json!({"hook_event_name": "SessionStart"}));
    assert!(read(Agent::ClaudeCode, marked.as_bytes()).is_ok());
}
