//! Tests `hooks-guard hook` from an agent's input to the reply, without and with a service.

mod changes;
mod environment;
mod loss;
mod mcp;
mod modes;
mod other_command;
mod parallel;
mod presets;
mod stopped;
mod stranger;

use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::{Home, Service};

impl Home {
    /// Returns the installed hook command, with the paths of its files.
    fn hook_command(&self, agent: &str) -> Command {
        let mut command = self.command();
        command.args(["hook", agent, "--config"]);
        command.arg(self.config_file());
        let config = std::fs::read_to_string(self.config_file()).unwrap_or_default();
        if !config.contains("database") {
            command.arg("--database").arg(self.database());
        }
        command
    }

    /// Returns the hook's reply to an input.
    fn hook(&self, agent: &str, more: &[&str], input: &Value) -> Output {
        self.hook_in(&[], agent, more, input)
    }

    /// Returns the hook's reply to an input, with variables in its environment.
    fn hook_in(
        &self,
        variables: &[(&str, &str)],
        agent: &str,
        more: &[&str],
        input: &Value,
    ) -> Output {
        let mut command = self.hook_command(agent);
        run_hook(command.envs(variables.iter().copied()).args(more), input)
    }
}

/// Returns a hook's reply to an input.
fn run_hook(hook: &mut Command, input: &Value) -> Output {
    let mut child = hook
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(input.to_string().as_bytes())
        .expect("it reads");
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn pre_tool_use(command: &str, call: &str) -> Value {
    json!({
        "session_id": "s", "cwd": "/srv", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": call,
    })
}

fn post_tool_use(command: &str, call: &str) -> Value {
    let mut input = pre_tool_use(command, call);
    input["hook_event_name"] = "PostToolUse".into();
    input["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false});
    input
}

/// Returns the decision for Claude Code (`allow`, `ask` or `deny`) and its reason.
fn decision_of(output: &Output) -> (String, String) {
    let value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("an object in {output:?}"));
    let specific = &value["hookSpecificOutput"];
    let text = |field: &str| specific[field].as_str().unwrap_or("").to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

/// Starts another program at the service's address that gives this response.
fn serve_response(home: &Home, status: &'static str, body: &'static str) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    home.config(&format!("listen = '127.0.0.1:{port}'"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Unread input could reset the connection before the response arrives.
            let _ = stream.read(&mut [0; 1 << 16]);
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}"
            );
        }
    });
}

/// Kimi Code reports a call that its hook denied as one that failed; only a call that ran is a run.
#[test]
fn a_denied_call_that_is_reported_as_failed_is_no_run() {
    let home = Home::new();
    let call = |command: &str, id: &str| {
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv",
            "client_type": "kimi_code_cli", "tool_name": "Bash", "tool_call_id": id,
            "tool_input": {"command": command}})
    };
    let failed = |mut input: Value, message: &str| {
        input["hook_event_name"] = "PostToolUseFailure".into();
        input["error"] = json!({"code": "internal", "message": message, "retryable": false});
        let output = home.hook("kimi-code", &[], &input);
        assert!(output.status.success(), "{output:?}");
    };
    let (delete, list) = (call("rm -r build", "c1"), call("ls /nonexistent", "c2"));
    let (decision, reason) = decision_of(&home.hook("kimi-code", &[], &delete));
    assert_eq!(decision, "deny");
    failed(delete.clone(), &reason);
    assert_eq!(
        home.trail()[0]["execution_happened"],
        false,
        "{:?}",
        home.trail()
    );
    home.hook("kimi-code", &[], &list);
    failed(list, "ls: no such file\nCommand failed with exit code: 2.");
    assert_eq!(
        home.trail()[0]["execution_happened"],
        true,
        "{:?}",
        home.trail()
    );
    // A denial that came too late: the error is another one.
    home.hook("kimi-code", &[], &delete);
    failed(
        delete,
        "rm: no such file\nCommand failed with exit code: 1.",
    );
    assert_eq!(
        home.trail()[0]["execution_happened"],
        true,
        "{:?}",
        home.trail()
    );
}

#[test]
fn a_standalone_hook_allows_reads_and_asks_before_changes() {
    let home = Home::new();
    let read = home.hook("claude-code", &[], &pre_tool_use("git status", "1"));
    assert_eq!(decision_of(&read).0, "allow");
    let change = home.hook("claude-code", &[], &pre_tool_use("rm -r build", "2"));
    let (decision, reason) = decision_of(&change);
    assert_eq!(decision, "ask");
    assert!(reason.starts_with("DELETE"), "{reason}");
    let trail = home.trail();
    assert_eq!(trail.len(), 2, "P-15");
    assert_eq!(trail[0]["classification"], "DELETE");
    assert_eq!(trail[0]["agent"], "claude-code");
    assert_eq!(trail[0]["user_response"], Value::Null);
}

#[test]
fn a_standalone_hook_records_an_executed_command_as_approved() {
    let home = Home::new();
    home.hook("claude-code", &[], &pre_tool_use("mkdir a", "1"));
    let ran = home.hook("claude-code", &[], &post_tool_use("mkdir a", "1"));
    assert!(ran.status.success() && ran.stdout.is_empty(), "{ran:?}");
    let record = home.trail().remove(0);
    assert_eq!(record["execution_happened"], true);
    assert_eq!(record["user_response"], "APPROVED");
    // The end of another call does not change this one.
    home.hook("claude-code", &[], &pre_tool_use("mkdir b", "2"));
    home.hook("claude-code", &[], &post_tool_use("mkdir c", "3"));
    assert_eq!(home.trail()[0]["execution_happened"], false);
}

#[test]
fn invalid_configuration_trail_or_rules_allow_nothing() {
    let home = Home::new();
    home.config("auto_alow_read = true");
    let (decision, reason) = decision_of(&home.hook("claude-code", &[], &pre_tool_use("ls", "1")));
    assert_eq!(decision, "deny");
    assert!(reason.contains("auto_alow_read"), "{reason}");

    let home = Home::new();
    std::fs::create_dir_all(home.database()).expect("a folder in the trail's place");
    let (decision, reason) = decision_of(&home.hook("claude-code", &[], &pre_tool_use("ls", "1")));
    assert_eq!(decision, "ask", "{reason}");
    assert!(reason.contains("audit.db"), "{reason}");

    let home = Home::new();
    home.rules("[[rule]]\neffect = 'perhaps'");
    let (decision, reason) = decision_of(&home.hook("claude-code", &[], &pre_tool_use("ls", "1")));
    assert_eq!(decision, "ask", "{reason}");

    let home = Home::new();
    let output = home.hook("claude-code", &[], &json!("no object"));
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// `P-02`: a denial holds even if it cannot be recorded, and Codex, which has no prompt for hooks,
/// is denied requests without a decision.
#[test]
fn denials_hold_without_a_trail_and_codex_requests_are_denied() {
    let home = Home::new();
    home.rules("[[rule]]\neffect = 'deny'\nprogram = 'make'\nreason = 'not here'\n");
    std::fs::create_dir_all(home.database()).expect("a folder in the trail's place");
    let (decision, reason) =
        decision_of(&home.hook("claude-code", &[], &pre_tool_use("make all", "1")));
    assert_eq!(decision, "deny", "{reason}");
    assert!(reason.contains("not here"), "{reason}");
    for command in ["mkdir a", "ls"] {
        let (decision, reason) = decision_of(&home.hook("codex", &[], &pre_tool_use(command, "2")));
        assert_eq!(decision, "deny", "{reason}");
        assert!(reason.contains("audit.db"), "{reason}");
    }
}

/// `P-02`: if a service refuses to decide, the request is not allowed.
#[test]
fn codex_is_denied_if_the_service_refuses_to_decide() {
    let home = Home::new();
    let _service = Service::with(&home, "127.0.0.1:0", &["--rate-limit", "1"]);
    home.hook("codex", &[], &pre_tool_use("ls", "0"));
    let (decision, reason) = decision_of(&home.hook("codex", &[], &pre_tool_use("mkdir a", "1")));
    assert_eq!(decision, "deny", "{reason}");
    assert!(reason.contains("Rate limit exceeded"), "{reason}");
    let (decision, _) = decision_of(&home.hook("claude-code", &[], &pre_tool_use("mkdir a", "2")));
    assert_eq!(decision, "ask");
    let read = home.hook("codex", &[], &pre_tool_use("ls", "3"));
    assert!(read.status.success() && read.stdout.is_empty(), "{read:?}");
}

#[test]
fn a_disabled_hook_makes_no_decision() {
    let home = Home::new();
    home.config("enabled = false");
    let output = home.hook("claude-code", &[], &pre_tool_use("rm -r /", "1"));
    assert!(output.status.success() && output.stdout.is_empty());
}

#[test]
fn a_deny_rule_of_the_project_applies_and_is_recorded() {
    let home = Home::new();
    let project = home.path().join("project");
    std::fs::create_dir_all(&project).expect("a folder");
    let deny = "[[rule]]\neffect = 'deny'\nprogram = 'make'\nreason = 'not here'\n";
    std::fs::write(project.join(".hooks-guard.toml"), deny).expect("a file");
    let mut input = pre_tool_use("make all", "1");
    input["cwd"] = project.to_str().expect("text").into();
    let (decision, reason) = decision_of(&home.hook("claude-code", &[], &input));
    assert_eq!(decision, "deny");
    assert!(reason.contains("not here"), "{reason}");
    let record = home.trail().remove(0);
    assert_eq!(
        (&record["denied"], &record["user_response"]),
        (&true.into(), &"DENIED".into())
    );
}

#[test]
fn a_rules_path_that_is_not_a_regular_file_asks_in_time() {
    let home = Home::new();
    let project = home.path().join("project");
    std::fs::create_dir_all(&project).expect("a folder");
    let rules = project.join(".hooks-guard.toml");
    let mut input = pre_tool_use("ls", "1");
    input["cwd"] = project.to_str().expect("text").into();
    let ask = || {
        let began = Instant::now();
        let (decision, reason) =
            decision_of(&home.hook("claude-code", &["--timeout", "4"], &input));
        assert_eq!(decision, "ask");
        assert!(reason.contains("not a regular file"), "{reason}");
        assert!(began.elapsed() < Duration::from_secs(3));
    };
    // Opening a FIFO blocks until its other end opens, and reading the hook's own output blocks
    // forever.
    let made = Command::new("mkfifo")
        .arg(&rules)
        .status()
        .expect("it runs");
    assert!(made.success());
    ask();
    std::fs::remove_file(&rules).expect("it is there");
    std::os::unix::fs::symlink("/proc/self/fd/1", &rules).expect("a link");
    if cfg!(target_os = "linux") {
        ask();
    }
}

#[test]
fn input_that_never_ends_is_refused_in_time() {
    let home = Home::new();
    let began = Instant::now();
    let mut child = home
        .hook_command("codex")
        .args(["--timeout", "2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let stdin = child.stdin.take().expect("a pipe");
    let output = child.wait_with_output().expect("it ends");
    drop(stdin);
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(output.status.code(), Some(2));
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(why.contains("no decision before"), "{why}");
}

#[test]
fn the_trail_is_protected_for_every_form_of_its_address() {
    let home = Home::new();
    let file = home.path().join("trail/audit.db");
    let file = file.to_str().expect("text");
    for scheme in ["", "sqlite:", "sqlite://"] {
        home.config(&format!("database = '{scheme}{file}'"));
        let read = home.hook(
            "claude-code",
            &[],
            &pre_tool_use(&format!("cat {file}"), "1"),
        );
        let (decision, reason) = decision_of(&read);
        assert_eq!(decision, "ask", "{scheme}");
        assert!(reason.contains("the guard's own files"), "{reason}");
    }
    std::fs::remove_dir_all(home.path().join("trail")).expect("it is there");
    let verify = home.command().args(["audit", "verify"]).output();
    let verify = verify.expect("it runs");
    assert!(!verify.status.success(), "{verify:?}");
}

#[test]
fn a_backup_name_is_not_parsed_as_a_database_address() {
    let home = Home::new();
    home.hook("claude-code", &[], &pre_tool_use("ls", "1"));
    // SQLite itself would treat this name as an address.
    let name = "file:copy.db?mode=memory";
    let mut backup = home.command();
    backup
        .args(["audit", "backup", name])
        .current_dir(home.path());
    let output = backup.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let copy = std::fs::metadata(home.path().join(name)).expect("a file");
    assert!(copy.len() > 0);
}

#[test]
fn the_service_decides_and_records_the_execution() {
    let home = Home::new();
    let service = Service::start(&home);
    let change = home.hook("claude-code", &[], &pre_tool_use("mkdir a", "1"));
    assert_eq!(decision_of(&change).0, "ask");
    let pending = service.send("GET", "/api/hooks/pending", &Value::Null);
    assert_eq!(
        pending["pending"],
        json!([]),
        "the agent asks its user itself"
    );
    home.hook("claude-code", &[], &post_tool_use("mkdir a", "1"));
    let record = service.send("GET", "/api/hooks/decisions/1", &Value::Null);
    assert_eq!(record["execution_happened"], true);
    assert_eq!(record["user_response"], "APPROVED");
}

#[test]
fn a_hook_without_a_service_records_executions_in_a_writable_trail() {
    let home = Home::new();
    let service = Service::start(&home);
    home.hook("claude-code", &[], &pre_tool_use("mkdir a", "1"));
    drop(service);
    let away = home.path().join("away.db");
    std::fs::rename(home.database(), &away).expect("the trail");
    std::fs::create_dir(home.database()).expect("a folder in its place");
    let lost = home.hook("claude-code", &[], &post_tool_use("mkdir a", "1"));
    let stderr = String::from_utf8_lossy(&lost.stderr);
    assert!(stderr.contains("no service listens there"), "{stderr}");
    assert!(stderr.contains("audit.db"), "{stderr}");
    std::fs::remove_dir(home.database()).expect("it is empty");
    std::fs::rename(&away, home.database()).expect("the trail");
    assert_eq!(home.trail()[0]["execution_happened"], false);

    // An approval by the agent's user is recorded as a service would record it.
    let ran = home.hook("claude-code", &[], &post_tool_use("mkdir a", "1"));
    assert!(ran.status.success() && ran.stdout.is_empty(), "{ran:?}");
    assert!(ran.stderr.is_empty(), "{ran:?}");
    let record = home.trail().remove(0);
    assert_eq!(record["execution_happened"], true);
    assert_eq!(record["user_response"], "APPROVED");
    assert_eq!(record["answered_by"], "the agent's own prompt");
    let calls = home.path().join(".local/share/hooks-guard/audit.db.calls");
    let calls = std::fs::read_dir(calls).expect("it is there");
    assert_eq!(calls.count(), 0, "no call is pending");
}

#[test]
fn without_a_service_the_last_equal_call_counts_as_executed() {
    let home = Home::new();
    let service = Service::start(&home);
    // Cursor has no ids for calls, so equal commands are one call.
    let mut ask = json!({
        "hook_event_name": "beforeShellExecution", "conversation_id": "s", "cwd": "/srv",
        "command": "mkdir a",
    });
    home.hook("cursor", &[], &ask);
    drop(service);
    home.hook("cursor", &[], &ask);
    ask["hook_event_name"] = "afterShellExecution".into();
    home.hook("cursor", &[], &ask);
    let trail = home.trail();
    let ran: Vec<_> = trail
        .iter()
        .map(|record| (&record["execution_happened"], &record["user_response"]))
        .collect();
    assert_eq!(
        ran,
        [
            (&true.into(), &"APPROVED".into()),
            (&false.into(), &Value::Null)
        ]
    );
}

/// `P-01`: the service also decides about a tool that names many files.
#[test]
fn a_tool_call_with_many_files_is_decided_by_the_service() {
    let home = Home::new();
    let service = Service::start(&home);
    let files: Vec<_> = (0..300)
        .map(|n| format!("/srv/source/of/a/package/with/long/names/{n}.rs"))
        .collect();
    let mut input = pre_tool_use("", "1");
    input["permission_mode"] = "dontAsk".into();
    input["tool_name"] = "editFiles".into();
    input["tool_input"] = json!({ "files": files });
    let result = std::thread::scope(|scope| {
        let asked =
            scope.spawn(|| decision_of(&home.hook("claude-code", &["--timeout", "60"], &input)));
        service.answer("APPROVED");
        asked.join().expect("no panic")
    });
    assert_eq!(result.0, "allow", "{}", result.1);
}

#[test]
fn a_mode_without_prompts_waits_for_the_operator() {
    for (response, decision) in [("APPROVED", "allow"), ("DENIED", "deny")] {
        let home = Home::new();
        let service = Service::start(&home);
        let mut input = pre_tool_use("mkdir a", "1");
        input["permission_mode"] = "dontAsk".into();
        let result = std::thread::scope(|scope| {
            let asked = scope
                .spawn(|| decision_of(&home.hook("claude-code", &["--timeout", "60"], &input)));
            service.answer(response);
            asked.join().expect("no panic")
        });
        assert_eq!(result.0, decision, "{}", result.1);
    }
}

#[test]
fn a_denial_has_the_note_of_the_operator() {
    let home = Home::new();
    let service = Service::start(&home);
    let mut input = pre_tool_use("rm -r a", "1");
    input["permission_mode"] = "bypassPermissions".into();
    let result = std::thread::scope(|scope| {
        let asked =
            scope.spawn(|| decision_of(&home.hook("claude-code", &["--timeout", "60"], &input)));
        service.answer_with("DENIED", &json!({"note": "use target/ instead"}));
        asked.join().expect("no panic")
    });
    assert_eq!(result.0, "deny", "{}", result.1);
    assert!(
        result
            .1
            .contains("denied by the operator: use target/ instead"),
        "{}",
        result.1
    );
}

/// The classifier hardly knows PowerShell: a read also needs the operator's answer, once.
#[test]
fn powershell_waits_for_the_operator_and_remembers_the_answer() {
    let home = Home::new();
    let service = Service::start(&home);
    let mut input = pre_tool_use("Get-ChildItem", "1");
    input["permission_mode"] = "bypassPermissions".into();
    input["tool_name"] = "PowerShell".into();
    let ask = || decision_of(&home.hook("claude-code", &["--timeout", "60"], &input));
    let first = std::thread::scope(|scope| {
        let asked = scope.spawn(ask);
        service.answer_with("APPROVED", &json!({"remember": "always"}));
        asked.join().expect("no panic")
    });
    assert_eq!(first.0, "allow", "{}", first.1);
    let again = ask();
    assert_eq!(again.0, "allow", "{}", again.1);
}

/// P-01, P-02: the hook cannot know whether Codex will ask its user, so the operator is asked.
#[test]
fn codex_waits_for_the_operator_if_a_service_runs() {
    let mut input = pre_tool_use("mkdir a", "1");
    input["turn_id"] = "t".into();
    let run = |response: &str| {
        let home = Home::new();
        let service = Service::start(&home);
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| home.hook("codex", &["--timeout", "60"], &input));
            service.answer(response);
            asked.join().expect("no panic")
        })
    };
    let approved = run("APPROVED");
    assert!(approved.status.success(), "{approved:?}");
    assert!(
        approved.stdout.is_empty(),
        "the tool call continues: {approved:?}"
    );
    assert_eq!(decision_of(&run("DENIED")).0, "deny");
}

/// P-02: Codex has no prompt for hooks, and without a decision it runs whatever its sandbox
/// permits.
#[test]
fn codex_is_denied_unapproved_commands_without_a_service() {
    let home = Home::new();
    let (decision, reason) =
        decision_of(&home.hook("codex", &[], &pre_tool_use("rm -r build", "1")));
    assert_eq!(decision, "deny");
    assert!(reason.starts_with("DELETE"), "{reason}");
    assert!(reason.contains("Codex has no prompt for it"), "{reason}");
    assert!(reason.contains("`hooks-guard serve`"), "{reason}");
    let record = home.trail().remove(0);
    assert_eq!(record["user_response"], "DENIED");
    assert_eq!(record["answered_by"], "guard");
    let read = home.hook("codex", &[], &pre_tool_use("git status", "2"));
    assert!(read.status.success() && read.stdout.is_empty(), "{read:?}");
}

/// A program that takes commands from its terminal is a shell for an agent that can type into it.
#[test]
fn interactive_programs_need_approval_for_agents_that_type() {
    let home = Home::new();
    for (agent, command, decision) in [
        ("codex", "less a.txt", "deny"),
        ("codex", "man ls", "deny"),
        ("codex", "cat a.txt", ""),
        ("codex", "git log", ""),
        ("claude-code", "less a.txt", "allow"),
    ] {
        let output = home.hook(agent, &[], &pre_tool_use(command, "1"));
        match decision {
            "" => assert!(output.stdout.is_empty(), "{agent} {command}: {output:?}"),
            decision => assert_eq!(decision_of(&output).0, decision, "{agent} {command}"),
        }
    }
    let pager = json!({"sessionId": "s", "cwd": "/srv", "toolName": "bash",
        "toolArgs": {"command": "git log"}});
    let output = home.hook("copilot", &[], &pager);
    let value: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(value["permissionDecision"], "ask", "Copilot sets no pager");
    // Only a rule that names the program allows it, and each program of the command.
    let folder = home.path().join(".config/hooks-guard");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (rule, command, decision) in [
        ("program = 'mkdir'", "mkdir b; less a.txt", "deny"),
        ("program = 'mkdir'", "mkdir b", ""),
        ("class = ['READ', 'CREATE']", "less a.txt", "deny"),
        ("program = 'less'", "less a.txt", ""),
        ("program = ['less', 'mkdir']", "mkdir b; less a.txt", ""),
    ] {
        let rules = format!("[[rule]]\neffect = 'allow'\n{rule}\n");
        std::fs::write(folder.join("rules.toml"), rules).expect("a file");
        let output = home.hook("codex", &[], &pre_tool_use(command, "2"));
        match decision {
            "" => assert!(output.stdout.is_empty(), "{rule} {command}: {output:?}"),
            decision => assert_eq!(decision_of(&output).0, decision, "{rule} {command}"),
        }
    }
}

/// Without a user at the keyboard, `ask` would be denied unseen.
#[test]
fn a_denial_of_an_unattended_session_names_the_remedy() {
    let home = Home::new();
    let change = pre_tool_use("mkdir a", "1");
    let denied = |output: Output| {
        let (decision, reason) = decision_of(&output);
        assert_eq!(decision, "deny", "{reason}");
        assert!(reason.contains("no user is at the keyboard"), "{reason}");
        assert!(reason.contains("`hooks-guard serve`"), "{reason}");
    };
    denied(home.hook("claude-code", &["--unattended"], &change));
    for (variable, value) in [
        ("HOOKS_GUARD_UNATTENDED", "1"),
        ("CLAUDE_CODE_SESSION_ATTENDED", "0"),
        ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),
    ] {
        denied(home.hook_in(&[(variable, value)], "claude-code", &[], &change));
    }
    for value in ["0", ""] {
        let variables = [("HOOKS_GUARD_UNATTENDED", value)];
        let output = home.hook_in(&variables, "claude-code", &[], &change);
        assert_eq!(decision_of(&output).0, "ask", "{value:?}");
    }
    let record = &home.trail()[1];
    assert_eq!(record["user_response"], Value::Null, "the agent asks");
}

#[test]
fn an_unattended_session_waits_for_the_operator() {
    for (response, decision) in [("APPROVED", "allow"), ("DENIED", "deny")] {
        let home = Home::new();
        let service = Service::start(&home);
        let change = pre_tool_use("mkdir a", "1");
        let arguments = ["--unattended", "--timeout", "60"];
        let output = std::thread::scope(|scope| {
            let asked = scope.spawn(|| home.hook("claude-code", &arguments, &change));
            service.answer(response);
            asked.join().expect("no panic")
        });
        assert_eq!(decision_of(&output).0, decision);
    }
}

/// A script that changes while its question is pending needs a new approval.
#[test]
fn a_script_that_changes_during_its_question_is_asked_about_again() {
    for (response, decision) in [("APPROVED", "allow"), ("DENIED", "deny")] {
        let home = Home::new();
        let service = Service::start(&home);
        let project = home.path().join("project");
        std::fs::create_dir(&project).expect("a folder");
        let script = project.join("deploy.sh");
        std::fs::write(&script, "echo one").expect("a file");
        let mut call = pre_tool_use("bash deploy.sh", "1");
        call["cwd"] = project.to_str().expect("text").into();
        let arguments = ["--unattended", "--timeout", "60"];
        let output = std::thread::scope(|scope| {
            let asked = scope.spawn(|| home.hook("claude-code", &arguments, &call));
            while service.questions().is_empty() {
                assert!(!asked.is_finished(), "nothing was asked");
                std::thread::sleep(Duration::from_millis(50));
            }
            std::fs::write(&script, "echo two").expect("a file");
            service.answer("APPROVED");
            service.answer(response);
            asked.join().expect("no panic")
        });
        let (decided, reason) = decision_of(&output);
        assert_eq!(decided, decision, "{reason}");
        let trail = home.trail();
        assert_eq!(trail.len(), 2, "{trail:?}");
        let reasoning = trail[0]["reasoning"].as_str().expect("text");
        let expected_reason = "approved before as decision 1; `deploy.sh` has changed";
        assert!(reasoning.contains(expected_reason), "{reasoning}");
    }
}

/// Each hook reads the log that earlier hooks have left.
#[test]
fn standalone_hooks_keep_the_write_ahead_log_short() {
    const MAX_LOG: u64 = (250 + 40) * (4096 + 24);
    let home = Home::new();
    let mut longest = 0;
    for call in 0..40 {
        let output = home.hook(
            "claude-code",
            &[],
            &pre_tool_use("git status", &call.to_string()),
        );
        assert_eq!(decision_of(&output).0, "allow");
        let log = home.database().with_extension("db-wal");
        longest = longest.max(std::fs::metadata(log).map_or(0, |log| log.len()));
    }
    assert!(longest <= MAX_LOG, "{longest}");
    assert_eq!(home.trail().len(), 40);
}

/// In auto mode a model decides for the user: only deletions and protected files need confirmation.
#[test]
fn auto_mode_decides_by_default_and_is_configurable() {
    let home = Home::new();
    let answer = |mode: &str, command: &str| {
        let mut input = pre_tool_use(command, "1");
        input["permission_mode"] = mode.into();
        let output = home.hook("claude-code", &[], &input);
        match output.stdout.is_empty() {
            true => "left".to_owned(),
            false => decision_of(&output).0,
        }
    };
    assert_eq!(answer("auto", "mkdir a"), "left");
    assert_eq!(answer("auto", "git status"), "allow");
    assert_eq!(answer("auto", "rm -r build"), "ask");
    assert_eq!(answer("auto", "cat ~/.ssh/id_rsa"), "ask");
    assert_eq!(answer("auto", "echo x >> ~/.bashrc"), "ask");
    assert_eq!(answer("auto", "frobnicate"), "ask", "an unknown program");
    assert_eq!(answer("default", "mkdir a"), "ask");
    let record = &home.trail().pop().expect("the first");
    let reasoning = record["reasoning"].as_str().expect("text");
    assert!(
        reasoning.starts_with("left to the agent's mode `auto`"),
        "{reasoning}"
    );
    home.config("[modes]\nauto = 'changes'\ndefault = 'nothing'");
    assert_eq!(answer("auto", "mkdir a"), "ask");
    assert_eq!(answer("default", "rm -r build"), "left");
    home.config("[modes]\nautomatic = 'nothing'");
    assert_eq!(answer("default", "ls"), "deny", "an invalid mode");
}

/// `PermissionDenied`: a denial by the agent itself is in the trail.
#[test]
fn a_denial_by_the_agent_is_recorded() {
    let home = Home::new();
    let denied = |command: &str, call: &str| {
        let mut input = pre_tool_use(command, call);
        input["hook_event_name"] = "PermissionDenied".into();
        input["reason"] = format!("Blocked by classifier: {command}").into();
        let output = home.hook("claude-code", &[], &input);
        assert!(
            output.status.success() && output.stdout.is_empty(),
            "{output:?}"
        );
    };
    home.hook("claude-code", &[], &pre_tool_use("rm -r build", "1"));
    denied("rm -r build", "1");
    let trail = home.trail();
    assert_eq!(trail.len(), 1, "the answer to the question");
    assert_eq!(trail[0]["user_response"], "DENIED");
    assert_eq!(trail[0]["answered_by"], "agent");
    assert_eq!(
        trail[0]["answer_note"],
        "Blocked by classifier: rm -r build"
    );
    denied("curl https://example.com", "2");
    let record = home.trail().remove(0);
    assert_eq!(record["command"], "curl https://example.com");
    assert_eq!(record["user_response"], "DENIED");
    assert_eq!(record["answered_by"], "agent");
    denied("mysql --password=hunter2-of-mine shop", "3");
    let note = home.trail()[0]["answer_note"].to_string();
    assert!(
        note.contains("mysql") && !note.contains("hunter2"),
        "{note}"
    );
}

/// A reply that cannot be written must not count as no decision.
#[test]
#[cfg(target_os = "linux")]
fn a_decision_that_cannot_be_written_is_a_denial() {
    let home = Home::new();
    let full = "exec \"$@\" >/dev/full";
    // The Rust runtime opens the null device in place of a closed standard output.
    let closed = "exec \"$@\" >&-";
    let null = "exec \"$@\" >/dev/null";
    for script in [full, closed, null] {
        let hook = home.hook_command("claude-code");
        let mut child = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(hook.get_program())
            .args(hook.get_args())
            .envs(
                hook.get_envs()
                    .filter_map(|(key, value)| Some((key, value?))),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = pre_tool_use("rm -r build", "1").to_string();
        stdin.write_all(input.as_bytes()).expect("it reads");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(2), "{script}: {output:?}");
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(why.contains("cannot write the reply"), "{script}: {why}");
    }
}

/// A file tool has no command, so the record has no positions.
#[test]
fn a_question_about_a_file_tool_has_no_command_positions() {
    let mut input = pre_tool_use("", "1");
    input["tool_name"] = "Write".into();
    input["tool_input"] = json!({"file_path": "/srv/a.txt", "content": "x"});
    let (decision, reason) = decision_of(&Home::new().hook("claude-code", &[], &input));
    assert_eq!(decision, "ask");
    assert_eq!(reason, "CREATE: `Write` creates `/srv/a.txt`");
}

#[test]
fn a_question_is_answered_after_a_restart_of_the_service() {
    let home = Home::new();
    let service = Service::start(&home);
    let mut input = pre_tool_use("mkdir a", "1");
    input["permission_mode"] = "dontAsk".into();
    let result = std::thread::scope(|scope| {
        let asked =
            scope.spawn(|| decision_of(&home.hook("claude-code", &["--timeout", "120"], &input)));
        let until = Instant::now() + Duration::from_secs(60);
        while service.send("GET", "/api/hooks/pending", &Value::Null)["pending"] == json!([]) {
            assert!(Instant::now() < until, "nothing was asked");
            std::thread::sleep(Duration::from_millis(50));
        }
        // Wait until the question is pending.
        std::thread::sleep(Duration::from_millis(300));
        let service = service.restart(&home);
        service.answer("APPROVED");
        asked.join().expect("no panic")
    });
    assert_eq!(result.0, "allow", "{}", result.1);
}

#[test]
fn the_hook_denies_if_the_operator_does_not_answer_in_time() {
    let home = Home::new();
    let _service = Service::start(&home);
    let mut input = pre_tool_use("mkdir a", "1");
    input["permission_mode"] = "dontAsk".into();
    let output = home.hook("claude-code", &["--timeout", "5"], &input);
    let (decision, reason) = decision_of(&output);
    assert_eq!(decision, "deny");
    assert!(reason.contains("did not answer in time"), "{reason}");
}

#[test]
fn another_program_on_the_port_decides_nothing() {
    let home = Home::new();
    serve_response(&home, "200 OK", r#"{"decision":"AUTO_ALLOWED"}"#);
    let (decision, _) =
        decision_of(&home.hook("claude-code", &[], &pre_tool_use("rm -r build", "1")));
    assert_eq!(decision, "ask", "decided in the process");
    assert_eq!(home.trail().len(), 1);
}
