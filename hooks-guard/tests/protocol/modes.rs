//! Who asks, and what a ruling becomes.

use std::time::Duration;

use hooks_guard::classify::{Crud, Decision};
use hooks_guard::protocol::{Agent, Answer, Asks, Event, answer, failed, limit, read};
use serde_json::{Value, json};

use crate::{question, ruling};

fn shell(mode: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/p", "tool_name": "Bash",
        "permission_mode": mode, "tool_input": {"command": "make"}, "tool_use_id": "t"})
}

#[test]
fn a_mode_in_which_nobody_is_asked_is_unattended() {
    for (agent, mode, asks) in [
        (Agent::ClaudeCode, "default", Asks::Always),
        (Agent::ClaudeCode, "plan", Asks::Always),
        (Agent::ClaudeCode, "acceptEdits", Asks::Always),
        (Agent::ClaudeCode, "auto", Asks::Always),
        (Agent::ClaudeCode, "dontAsk", Asks::Never),
        (Agent::ClaudeCode, "bypassPermissions", Asks::Never),
        (Agent::ClaudeCode, "tomorrow's", Asks::Never),
        (Agent::Codex, "default", Asks::Perhaps),
        (Agent::Codex, "bypassPermissions", Asks::Never),
        (Agent::Codex, "never", Asks::Never),
    ] {
        let question = question(agent, &shell(mode));
        assert_eq!(question.asks, asks, "{agent} {mode}");
        let reply = answer(&question, &Answer::Ask("CREATE: runs a build".into()));
        let refused = reply.stdout.contains(r#""permissionDecision":"deny""#);
        assert_eq!(refused, question.unattended(), "{agent} {mode}: {reply:?}");
        if refused {
            assert!(
                reply
                    .stdout
                    .contains("CREATE: runs a build; nobody was there")
            );
        }
    }
}

#[test]
fn cursor_asks_before_commands_only() {
    let shell = json!({"hook_event_name": "beforeShellExecution", "conversation_id": "c",
        "workspace_roots": ["/srv/p"], "command": "make", "cwd": ""});
    assert_eq!(question(Agent::Cursor, &shell).asks, Asks::Always);
    let file = json!({"hook_event_name": "preToolUse", "tool_name": "Write",
        "tool_input": {"file_path": "a"}});
    let file = question(Agent::Cursor, &file);
    assert!(file.unattended());
    let reply = answer(&file, &Answer::Ask("CREATE: writes".into()));
    assert!(reply.stdout.contains(r#""permission":"deny""#), "{reply:?}");
}

#[test]
fn opencode_1_cannot_ask_and_opencode_2_can() {
    let one = json!({"input": {"tool": "bash", "sessionID": "s", "callID": "c"},
        "output": {"args": {"command": "make"}}, "directory": "/srv/p"});
    let one = question(Agent::OpenCode, &one);
    assert!(one.unattended());
    assert_eq!(one.request.cwd.as_deref(), Some("/srv/p".as_ref()));
    let reply = answer(&one, &Answer::Ask("CREATE".into()));
    assert!(
        reply.stdout.starts_with(r#"{"throws":"CREATE"#),
        "{reply:?}"
    );
    let two = json!({"sessionID": "s", "action": "edit", "resource": "a.rs", "effect": "allow"});
    let two = question(Agent::OpenCode, &two);
    assert_eq!(two.asks, Asks::Always);
    assert_eq!(
        two.request.file.unwrap().paths,
        ["a.rs".as_ref() as &std::path::Path]
    );
    let denied = json!({"sessionID": "s", "action": "shell", "resource": "ls", "effect": "deny"});
    let event = read(Agent::OpenCode, denied.to_string().as_bytes()).unwrap();
    assert!(
        matches!(event, Event::Nothing { .. }),
        "what is denied stays so: {event:?}"
    );
}

#[test]
fn p_06_a_ruling_becomes_an_answer() {
    let bash = question(Agent::ClaudeCode, &shell("default"));
    let read = ruling(Decision::AutoAllowed, Crud::Read, false, None);
    assert_eq!(
        Answer::of(&bash, &read),
        Answer::Allow("READ: says so".into())
    );
    let delete = ruling(Decision::RequiresConfirmation, Crud::Delete, false, None);
    assert_eq!(
        Answer::of(&bash, &delete),
        Answer::Ask("DELETE: says so".into())
    );
    let denied = ruling(
        Decision::RequiresConfirmation,
        Crud::Delete,
        true,
        Some("g.toml:1"),
    );
    assert_eq!(
        Answer::of(&bash, &denied),
        Answer::Deny("DELETE: says so".into())
    );
    let contradictory = ruling(Decision::AutoAllowed, Crud::Read, true, None);
    assert_eq!(
        Answer::of(&bash, &contradictory),
        Answer::Deny("READ: says so".into())
    );
}

#[test]
fn files_are_allowed_by_rules_only() {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": {"file_path": "/srv/p/a"}});
    let file = question(Agent::ClaudeCode, &input);
    let by_class = ruling(Decision::AutoAllowed, Crud::Read, false, None);
    assert_eq!(Answer::of(&file, &by_class), Answer::Nothing);
    let by_rule = ruling(
        Decision::AutoAllowed,
        Crud::Read,
        false,
        Some("guard.toml:3"),
    );
    assert_eq!(
        Answer::of(&file, &by_rule),
        Answer::Allow("READ: says so".into())
    );
}

#[test]
fn powershell_is_asked_about_unless_a_rule_allows_it() {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": "PowerShell",
        "tool_input": {"command": "Get-Content 'a b'"}});
    let shell = question(Agent::ClaudeCode, &input);
    assert_eq!(
        shell.request.command,
        r"pwsh -Command 'Get-Content '\''a b'\'''"
    );
    let by_class = ruling(Decision::AutoAllowed, Crud::Read, false, None);
    assert_eq!(
        Answer::of(&shell, &by_class),
        Answer::Ask("READ: says so".into())
    );
    let by_rule = ruling(
        Decision::AutoAllowed,
        Crud::Read,
        false,
        Some("guard.toml:3"),
    );
    assert_eq!(
        Answer::of(&shell, &by_rule),
        Answer::Allow("READ: says so".into())
    );
}

#[test]
fn vscode_and_copilot_are_told_apart_in_each_others_settings() {
    let vscode = json!({"hookEventName": "PreToolUse", "sessionId": "s", "cwd": "/srv/p",
        "tool_name": "runTerminalCommand", "tool_input": {"command": "make"}});
    for called in [Agent::Copilot, Agent::ClaudeCode, Agent::VsCode] {
        let asked = question(called, &vscode);
        assert_eq!(asked.request.agent.as_deref(), Some("vscode"));
        let reply = answer(&asked, &Answer::Deny("no".into()));
        let nested = reply.stdout.starts_with(r#"{"hookSpecificOutput""#);
        assert!(nested, "{called}: {reply:?}");
    }
    let copilot = json!({"sessionId": "s", "cwd": "/srv/p", "toolName": "bash",
        "toolArgs": {"command": "make"}});
    let asked = question(Agent::VsCode, &copilot);
    assert_eq!(asked.request.agent.as_deref(), Some("copilot"));
    let reply = answer(&asked, &Answer::Deny("no".into()));
    assert!(
        reply.stdout.starts_with(r#"{"permissionDecision":"deny""#),
        "{reply:?}"
    );
}

#[test]
fn a_copilot_tool_that_was_denied_did_not_run() {
    let after = |kind: &str| {
        json!({"sessionId": "s", "cwd": "/srv/p", "toolName": "bash",
            "toolArgs": "{\"command\":\"make\"}", "toolResult": {"resultType": kind}})
        .to_string()
    };
    for (kind, succeeded) in [
        ("success", Some(true)),
        ("failure", Some(false)),
        ("denied", None),
    ] {
        match read(Agent::Copilot, after(kind).as_bytes()).unwrap() {
            Event::Ran(ran) => assert_eq!(ran.outcome.succeeded, succeeded, "{kind}"),
            Event::Nothing { .. } => assert_eq!(kind, "denied"),
            Event::Ask(_) => panic!("it is over"),
        }
    }
}

#[test]
fn the_time_to_answer_is_shorter_than_the_agents() {
    for agent in Agent::ALL {
        let by_hand = limit(agent, None, None);
        assert!(
            by_hand < Duration::from_secs(10) && !by_hand.is_zero(),
            "{agent}"
        );
        let installed = limit(agent, None, Some(Duration::from_secs(600)));
        assert_eq!(installed, Duration::from_secs(570), "{agent}");
        assert_eq!(limit(agent, None, Some(Duration::ZERO)), Duration::ZERO);
    }
    assert!(limit(Agent::Gemini, None, None) < Duration::from_secs(5));
    let asked = question(Agent::ClaudeCode, &shell("default")).hook;
    let installed = Some(Duration::from_secs(600));
    assert_eq!(
        limit(Agent::ClaudeCode, Some(asked), installed),
        Duration::from_secs(570)
    );
}

#[test]
fn a_failure_after_a_tool_ran_refuses_nothing() {
    let input = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "make"}});
    let Event::Ran(ran) = read(Agent::ClaudeCode, input.to_string().as_bytes()).unwrap() else {
        panic!("it ran");
    };
    let reply = failed(Agent::ClaudeCode, Some(ran.hook), "the disk is full");
    assert_eq!((reply.exit, reply.stdout.as_str()), (0, ""));
    assert_eq!(reply.stderr, "the disk is full");
}
