//! Hooks that an agent calls over HTTP.

use std::path::Path;
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::storage::{open, run};
use crate::support::client::{Answer, Request};
use crate::support::daemon::{Daemon, Setup, TOKEN};

/// Returns the agent's token, as a user gets it.
fn token(daemon: &Daemon, agent: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args(["token", agent, "--database"])
        .arg(daemon.setup().database_file())
        .env_clear()
        .env("HOME", daemon.setup().home())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Returns a request without an input. `target` is the agent, with the query if there is one.
fn hook(target: &str, token: &str) -> Request {
    Request::new("POST", &format!("/api/hooks/agents/{target}")).bearer(token)
}

/// Returns the request of a hook with the agent's token.
fn request(daemon: &Daemon, target: &str, input: &Value) -> Request {
    let agent = target.split('?').next().unwrap();
    hook(target, &token(daemon, agent)).json(input)
}

fn call(daemon: &Daemon, target: &str, input: &Value) -> Answer {
    daemon.send(&request(daemon, target, input))
}

fn bash(command: &str, call: &str) -> Value {
    json!({
        "session_id": "s", "cwd": "/srv", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": call,
    })
}

/// Returns the decision for Claude Code and its reason.
#[track_caller]
fn decision(answer: &Answer) -> (String, String) {
    let reply = answer.ok();
    let decision = &reply["hookSpecificOutput"];
    assert_eq!(decision["hookEventName"], "PreToolUse", "{reply}");
    let text = |field: &str| decision[field].as_str().unwrap().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

/// Returns the reason of a reply that blocks at every event.
#[track_caller]
fn blocked(answer: &Answer) -> String {
    let reply = answer.ok();
    assert_eq!(reply["decision"], "block", "{reply}");
    reply["reason"].as_str().unwrap().to_owned()
}

#[test]
fn claude_code_gets_its_decisions() {
    let daemon = Daemon::plain();
    for (command, expected) in [
        ("git status", "allow"),
        ("rm -r build", "ask"),
        ("frobnicate", "ask"),
    ] {
        let (got, why) = decision(&call(&daemon, "claude-code", &bash(command, command)));
        assert_eq!(got, expected, "{command}: {why}");
    }
    let records = daemon.get("/api/hooks/decisions").ok()["decisions"].clone();
    assert_eq!(records[1]["command"], "rm -r build");
    assert_eq!(records[1]["agent"], "claude-code");
    assert_eq!(records[1]["session_id"], "s");
    // The agent asks its own user.
    assert_eq!(records[1]["deadline"], Value::Null);
    assert!(daemon.pending().is_empty());
    let other = json!({"hook_event_name": "SessionStart", "session_id": "s"});
    assert_eq!(call(&daemon, "claude-code", &other).text(), "");
}

#[test]
fn every_agent_gets_a_denial_in_its_own_format() {
    let rules = "[[rule]]\neffect = 'deny'\nprogram = 'rm'\nreason = 'not here'\n";
    let setup = Setup::new().config("");
    std::fs::write(setup.folder().join("operator/rules.toml"), rules).unwrap();
    let daemon = setup.start();
    let input = |tool: &str| {
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv",
            "tool_name": tool, "tool_input": {"command": "rm a"}})
    };
    for (agent, input, place) in [
        (
            "claude-code",
            input("Bash"),
            "/hookSpecificOutput/permissionDecisionReason",
        ),
        (
            "codex",
            input("Bash"),
            "/hookSpecificOutput/permissionDecisionReason",
        ),
        (
            "vscode",
            input("run_in_terminal"),
            "/hookSpecificOutput/permissionDecisionReason",
        ),
        (
            "gemini",
            json!({"hook_event_name": "BeforeTool", "session_id": "s", "cwd": "/srv",
                "tool_name": "run_shell_command", "tool_input": {"command": "rm a"}}),
            "/reason",
        ),
        (
            "cursor",
            json!({"hook_event_name": "beforeShellExecution", "conversation_id": "s",
                "cwd": "/srv", "command": "rm a"}),
            "/agent_message",
        ),
        (
            "copilot",
            json!({"sessionId": "s", "cwd": "/srv", "toolName": "bash",
                "toolArgs": {"command": "rm a"}}),
            "/permissionDecisionReason",
        ),
        (
            "opencode",
            json!({"hook": "tool.execute.before", "directory": "/srv",
                "input": {"tool": "bash", "sessionID": "s", "callID": "c"},
                "output": {"args": {"command": "rm a"}}}),
            "/throws",
        ),
    ] {
        let reply = call(&daemon, agent, &input).ok();
        let reason = reply.pointer(place).and_then(Value::as_str);
        let reason = reason.unwrap_or_else(|| panic!("{agent}: {reply}"));
        assert!(reason.contains("not here"), "{agent}: {reply}");
    }
}

#[test]
fn an_unknown_agent_is_not_found() {
    let daemon = Daemon::plain();
    let request = Request::new("POST", "/api/hooks/agents/emacs").json(&bash("ls", "c"));
    let error = daemon.send(&request).error(404, "NOT_FOUND");
    let message = error["error"].as_str().unwrap();
    assert!(
        message.contains("`emacs`")
            && message.contains("`claude-code`")
            && message.contains("`opencode`"),
        "{message}"
    );
}

#[test]
fn only_the_token_of_the_agent_opens_the_endpoint() {
    let daemon = Daemon::plain();
    let target = "/api/hooks/agents/claude-code";
    let input = bash("git status", "c");
    let own = token(&daemon, "claude-code");
    let wrong = [
        Request::new("POST", target),
        Request::new("POST", target).header("Authorization", "Bearer "),
        Request::new("POST", target).bearer(TOKEN),
        Request::new("POST", target).bearer(&token(&daemon, "codex")),
        Request::new("POST", target).bearer(&own[1..]),
        Request::new("POST", target).bearer(&own).bearer(&own),
    ];
    for request in wrong {
        let why = blocked(&daemon.send(&request.json(&input)));
        assert!(why.contains("hooks-guard token claude-code"), "{why}");
    }
    let listed = daemon.get("/api/hooks/decisions").ok();
    assert_eq!(listed["pagination"]["total"], 0, "{listed}");
    let right = hook("claude-code", &own).json(&input);
    assert_eq!(decision(&daemon.send(&right)).0, "allow");
    // It is not a token of the operator.
    let permission = daemon.ask("mkdir out");
    let body = json!({"id": permission["id"], "response": "APPROVED"});
    let request = Request::new("POST", "/api/hooks/permission-response");
    let answer = daemon.send(&request.bearer(&own).json(&body));
    answer.error(401, "OPERATOR_TOKEN_REQUIRED");
}

/// Starts a hook, and waits until its question is pending.
fn ask(daemon: &Daemon, target: &str, input: &Value) -> JoinHandle<Answer> {
    let request = request(daemon, target, input);
    let port = daemon.port;
    let waiting = thread::spawn(move || request.send(port));
    let started = Instant::now();
    while daemon.pending().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(30), "no question");
        assert!(!waiting.is_finished(), "it did not wait");
        thread::sleep(Duration::from_millis(50));
    }
    waiting
}

/// Answers the question of a hook that waits.
fn hold(daemon: &Daemon, target: &str, input: &Value, answers: impl Fn(&Daemon, &Value)) -> Answer {
    let waiting = ask(daemon, target, input);
    let pending = daemon.pending();
    answers(daemon, &pending[0]["id"]);
    waiting.join().unwrap()
}

#[test]
fn an_unattended_hook_waits_for_the_operator() {
    let daemon = Daemon::plain();
    let target = "claude-code?timeout=600&unattended=true";
    let input = bash("mkdir out", "c1");
    let approved = hold(&daemon, target, &input, |daemon, id| {
        daemon.respond(id, "APPROVED").ok();
    });
    let (got, why) = decision(&approved);
    assert_eq!(got, "allow", "{why}");
    assert!(why.contains("approved by the operator"), "{why}");
    // The approval held once.
    let denied = hold(&daemon, target, &bash("mkdir out", "c2"), |daemon, id| {
        let body = json!({"id": id, "response": "DENIED", "note": "use `tmp`"});
        daemon.respond_with(&body).ok();
    });
    let (got, why) = decision(&denied);
    assert_eq!(got, "deny");
    assert!(why.contains("denied by the operator: use `tmp`"), "{why}");
}

#[test]
fn the_headers_of_an_agent_tell_that_no_user_is_there() {
    let daemon = Daemon::plain();
    let own = token(&daemon, "claude-code");
    let send = |headers: &[(&str, &str)]| {
        let request = hook("claude-code?timeout=2", &own);
        let named = |request: Request, (name, value): &(&str, &str)| {
            request.header(&format!("X-Hooks-Guard-Env-{name}"), value)
        };
        let request = headers.iter().fold(request, named);
        decision(&daemon.send(&request.json(&bash("mkdir out", "c"))))
    };
    for attended in [
        &[][..],
        &[
            ("Claude-Code-Entrypoint", ""),
            ("Hooks-Guard-Unattended", ""),
        ],
        &[
            ("Claude-Code-Entrypoint", "cli"),
            ("Hooks-Guard-Unattended", "0"),
        ],
    ] {
        assert_eq!(send(attended).0, "ask", "{attended:?}");
    }
    for unattended in [
        &[("Claude-Code-Entrypoint", "sdk-cli")][..],
        &[("Hooks-Guard-Unattended", "1")],
    ] {
        let (got, why) = send(unattended);
        assert_eq!(got, "deny", "{unattended:?}");
        assert!(why.contains("the operator did not answer in time"), "{why}");
    }
}

#[test]
fn the_service_does_not_decide_for_another_home_or_for_files_of_the_project() {
    let daemon = Daemon::plain();
    let own = token(&daemon, "claude-code");
    let send = |home: &Path, query: &str| {
        let request = hook(&format!("claude-code?{query}"), &own);
        let request = request.header("X-Hooks-Guard-Env-HOME", home.to_str().unwrap());
        decision(&daemon.send(&request.json(&bash("cat ~/a", "c"))))
    };
    let home = daemon.setup().home();
    assert_eq!(send(&home, "timeout=9").0, "allow");
    for (query, expected) in [("timeout=9", "ask"), ("timeout=9&unattended=true", "deny")] {
        let (got, why) = send(Path::new("/srv/project"), query);
        assert_eq!(got, expected);
        assert!(why.contains("`HOME` is `/srv/project`"), "{why}");
    }
    // The project could change the configuration.
    let daemon = Setup::new().config("").start();
    let mut input = bash("git status", "c");
    assert_eq!(decision(&call(&daemon, "claude-code", &input)).0, "allow");
    input["cwd"] = json!(daemon.setup().folder());
    let (got, why) = decision(&call(&daemon, "claude-code", &input));
    assert_eq!(got, "ask");
    assert!(why.contains("is inside the project"), "{why}");
}

#[test]
fn a_hook_replies_before_the_timeout_of_the_agent() {
    let daemon = Daemon::plain();
    let began = Instant::now();
    let target = "claude-code?timeout=4&unattended=true";
    let (got, why) = decision(&call(&daemon, target, &bash("mkdir out", "c")));
    assert_eq!(got, "deny");
    assert!(why.contains("did not answer in time"), "{why}");
    assert!(
        began.elapsed() < Duration::from_millis(3_900),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn codex_has_no_prompt_so_its_hook_waits() {
    let daemon = Daemon::plain();
    let approved = hold(
        &daemon,
        "codex?timeout=600",
        &bash("mkdir out", "c"),
        |daemon, id| {
            daemon.respond(id, "APPROVED").ok();
        },
    );
    // No decision: Codex runs the tool.
    assert_eq!((approved.status, approved.text()), (200, String::new()));
}

#[test]
fn a_file_tool_shows_its_changes_with_the_question() {
    let daemon = Daemon::plain();
    let project = tempfile::tempdir().unwrap();
    let file = project.path().join("a.txt");
    std::fs::write(&file, "one\n").unwrap();
    let input = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "c",
        "cwd": project.path(), "tool_name": "Edit", "permission_mode": "bypassPermissions",
        "tool_input": {"file_path": file, "old_string": "one", "new_string": "two"}});
    let denied = hold(&daemon, "claude-code?timeout=600", &input, |daemon, id| {
        let target = format!("/api/hooks/decisions/{id}/changes");
        let shown = || daemon.as_operator("GET", &target);
        let started = Instant::now();
        while shown().status != 200 {
            assert!(started.elapsed() < Duration::from_secs(20), "no changes");
            thread::sleep(Duration::from_millis(50));
        }
        assert!(shown().text().contains("+two"), "{}", shown().text());
        daemon.respond(id, "DENIED").ok();
    });
    assert_eq!(decision(&denied).0, "deny");
}

#[test]
fn an_execution_and_a_denial_of_the_agent_are_recorded() {
    let daemon = Daemon::plain();
    assert_eq!(
        decision(&call(&daemon, "claude-code", &bash("mkdir out", "c1"))).0,
        "ask"
    );
    let mut ran = bash("mkdir out", "c1");
    ran["hook_event_name"] = "PostToolUse".into();
    ran["tool_response"] = json!({"stdout": ""});
    assert_eq!(call(&daemon, "claude-code", &ran).text(), "");
    let mut refused = bash("mkdir other", "c2");
    refused["hook_event_name"] = "PermissionDenied".into();
    refused["reason"] = "too risky".into();
    assert_eq!(call(&daemon, "claude-code", &refused).text(), "");
    let records = daemon.get("/api/hooks/decisions").ok()["decisions"].clone();
    assert_eq!(records[0]["command"], "mkdir other");
    assert_eq!(records[0]["answered_by"], "agent", "{records}");
    assert_eq!(records[1]["execution_happened"], true, "{records}");
}

#[test]
fn an_input_that_cannot_be_read_is_denied() {
    let daemon = Daemon::plain();
    let send = |agent: &str, body: &str| {
        let own = token(&daemon, agent);
        daemon.send(&hook(agent, &own).body(body))
    };
    for body in ["", "[]", "{\"hook_event_name\": ", "{}"] {
        blocked(&send("claude-code", body));
    }
    assert_eq!(send("gemini", "[]").ok()["decision"], "deny");
    assert_eq!(send("cursor", "[]").ok()["permission"], "deny");
    assert_eq!(send("copilot", "[]").ok()["permissionDecision"], "deny");
    assert!(send("opencode", "[]").ok()["throws"].is_string());
    // These agents know a denial only by the exit status.
    for agent in ["goose", "kiro", "windsurf"] {
        let answer = send(agent, "[]");
        blocked(&answer);
        assert_eq!(
            answer.header("x-hooks-guard-exit-status"),
            Some("2"),
            "{agent}"
        );
    }
    // A known event is denied in its own field.
    let mut input = bash("ls", "c");
    input["tool_input"] = json!({"command": 1});
    assert_eq!(decision(&call(&daemon, "claude-code", &input)).0, "deny");
    // A long file is read, one beyond the limit is not.
    let write = |length: usize| {
        let mut input = bash("", "c");
        input["tool_name"] = "Write".into();
        input["tool_input"] = json!({"file_path": "/srv/a", "content": "x".repeat(length)});
        input
    };
    let (got, why) = decision(&call(&daemon, "claude-code", &write(2 << 20)));
    assert_eq!(got, "ask", "{why}");
    let why = blocked(&call(&daemon, "claude-code", &write(10 << 20)));
    assert!(why.contains("exceeds"), "{why}");
    for query in [
        "timeout=0",
        "timeout=x",
        "timeout=99999",
        "unattended=maybe",
        "timeout=",
    ] {
        let target = format!("claude-code?{query}");
        blocked(&call(&daemon, &target, &bash("ls", "c")));
    }
}

#[test]
fn a_web_page_cannot_call_a_hook() {
    let daemon = Daemon::plain();
    let request = request(&daemon, "claude-code", &bash("ls", "c"));
    let request = request.header("Origin", "http://evil.test");
    daemon.send(&request).error(403, "FORBIDDEN_ORIGIN");
}

#[test]
fn a_client_beyond_its_rate_limit_is_denied() {
    let daemon = Setup::new().rate_limit(Some(1)).start();
    assert_eq!(
        decision(&call(&daemon, "claude-code", &bash("ls", "c1"))).0,
        "allow"
    );
    let (got, why) = decision(&call(&daemon, "claude-code", &bash("ls", "c2")));
    assert_eq!(got, "deny");
    assert!(why.contains("Rate limit exceeded"), "{why}");
    // Reports do not count.
    let mut ran = bash("ls", "c1");
    ran["hook_event_name"] = "PostToolUse".into();
    assert_eq!(call(&daemon, "claude-code", &ran).text(), "");
}

#[test]
fn a_service_that_ends_denies_the_hooks_that_wait() {
    let mut daemon = Daemon::plain();
    let target = "claude-code?timeout=600&unattended=true";
    let waiting = ask(&daemon, target, &bash("mkdir out", "c"));
    daemon.terminate();
    let (got, why) = decision(&waiting.join().unwrap());
    assert_eq!(got, "deny");
    assert!(why.contains("shutting down"), "{why}");
}

#[tokio::test]
async fn a_decision_that_cannot_be_recorded_is_no_allow() {
    let daemon = Daemon::plain();
    let first = call(&daemon, "claude-code", &bash("ls", "c1"));
    assert_eq!(decision(&first).0, "allow");
    let own = token(&daemon, "claude-code");
    let mut other = open(&daemon).await;
    run(&mut other, "BEGIN EXCLUSIVE".to_owned()).await;
    for (query, expected) in [("timeout=9", "ask"), ("timeout=9&unattended=true", "deny")] {
        let request = hook(&format!("claude-code?{query}"), &own).json(&bash("ls", "c2"));
        let (got, why) = decision(&daemon.send(&request));
        assert_eq!(got, expected, "{why}");
    }
}
