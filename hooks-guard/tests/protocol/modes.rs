//! Tests which prompts are shown, and how a decision becomes an answer.

use std::path::Path;
use std::time::Duration;

use hooks_guard::PermissionDecision;
use hooks_guard::classify::{Crud, Decision};
use hooks_guard::protocol::{
    Agent, AgentDecision, AgentPrompt, HookEvent, decision_reply, failure_reply, is_unattended,
    limit, read, read_in,
};
use serde_json::{Value, json};

use crate::protocol::{permission, question};

fn shell(mode: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/p", "tool_name": "Bash",
        "permission_mode": mode, "tool_input": {"command": "make"}, "tool_use_id": "t"})
}

#[test]
fn p_02_a_mode_without_a_prompt_is_unattended() {
    for (agent, mode, prompt) in [
        (Agent::ClaudeCode, "default", AgentPrompt::Shown),
        (Agent::ClaudeCode, "plan", AgentPrompt::Shown),
        (Agent::ClaudeCode, "acceptEdits", AgentPrompt::Shown),
        (Agent::ClaudeCode, "auto", AgentPrompt::Shown),
        (Agent::ClaudeCode, "dontAsk", AgentPrompt::Unavailable),
        (
            Agent::ClaudeCode,
            "bypassPermissions",
            AgentPrompt::Unavailable,
        ),
        (Agent::ClaudeCode, "tomorrow's", AgentPrompt::Unavailable),
        (Agent::Codex, "default", AgentPrompt::Unavailable),
        (Agent::Codex, "bypassPermissions", AgentPrompt::Unavailable),
        (Agent::Codex, "never", AgentPrompt::Unavailable),
    ] {
        let question = question(agent, &shell(mode));
        assert_eq!(question.prompt, prompt, "{agent} {mode}");
        let reply = decision_reply(
            &question,
            &AgentDecision::Ask("CREATE: runs a build".into()),
        );
        let refused = reply.stdout.contains(r#""permissionDecision":"deny""#);
        assert_eq!(refused, question.unattended(), "{agent} {mode}: {reply:?}");
        if refused {
            let reason = "CREATE: runs a build; this request needs approval";
            assert!(reply.stdout.contains(reason), "{reply:?}");
            assert!(reply.stdout.contains("`hooks-guard serve`"), "{reply:?}");
        }
    }
}

#[test]
fn cursor_has_a_prompt_for_commands_only() {
    let shell = json!({"hook_event_name": "beforeShellExecution", "conversation_id": "c",
        "workspace_roots": ["/srv/p"], "command": "make", "cwd": ""});
    assert_eq!(question(Agent::Cursor, &shell).prompt, AgentPrompt::Shown);
    let file = json!({"hook_event_name": "preToolUse", "tool_name": "Write",
        "tool_input": {"file_path": "a"}});
    let file = question(Agent::Cursor, &file);
    assert!(file.unattended());
    let reply = decision_reply(&file, &AgentDecision::Ask("CREATE: writes".into()));
    assert!(reply.stdout.contains(r#""permission":"deny""#), "{reply:?}");
}

#[test]
fn opencode_1_has_no_prompt_and_opencode_2_has_one() {
    let one = json!({"input": {"tool": "bash", "sessionID": "s", "callID": "c"},
        "output": {"args": {"command": "make"}}, "directory": "/srv/p"});
    let one = question(Agent::OpenCode, &one);
    assert!(one.unattended());
    assert_eq!(one.request.cwd.as_deref(), Some("/srv/p".as_ref()));
    let reply = decision_reply(&one, &AgentDecision::Ask("CREATE".into()));
    assert!(
        reply.stdout.starts_with(r#"{"throws":"CREATE"#),
        "{reply:?}"
    );
    let two = json!({"sessionID": "s", "action": "edit", "resource": "a.rs", "effect": "allow"});
    let two = question(Agent::OpenCode, &two);
    assert_eq!(two.prompt, AgentPrompt::Shown);
    assert_eq!(
        two.request.file.unwrap().paths,
        ["a.rs".as_ref() as &std::path::Path]
    );
    let denied = json!({"sessionID": "s", "action": "shell", "resource": "ls", "effect": "deny"});
    let event = read(Agent::OpenCode, denied.to_string().as_bytes()).unwrap();
    assert!(
        matches!(event, HookEvent::Nothing { .. }),
        "what is denied stays so: {event:?}"
    );
}

#[test]
fn p_06_a_decision_is_mapped_to_an_agent_decision() {
    let bash = question(Agent::ClaudeCode, &shell("default"));
    let read = permission(Decision::AutoAllowed, Crud::Read, false, None);
    assert_eq!(
        AgentDecision::of(&bash, &read),
        AgentDecision::Allow("READ: a test reason".into())
    );
    let delete = permission(Decision::RequiresConfirmation, Crud::Delete, false, None);
    assert_eq!(
        AgentDecision::of(&bash, &delete),
        AgentDecision::Ask("DELETE: a test reason".into())
    );
    let denied = permission(
        Decision::RequiresConfirmation,
        Crud::Delete,
        true,
        Some("g.toml:1"),
    );
    let end = "denied by hooks-guard; do not retry it in another form, ask the user instead";
    assert_eq!(
        AgentDecision::of(&bash, &denied),
        AgentDecision::Deny(format!("DELETE: a test reason; {end}"))
    );
    let contradictory = permission(Decision::AutoAllowed, Crud::Read, true, None);
    assert_eq!(
        AgentDecision::of(&bash, &contradictory),
        AgentDecision::Deny(format!("READ: a test reason; {end}"))
    );
}

#[test]
fn files_are_allowed_by_rules_only() {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": {"file_path": "/srv/p/a"}});
    let file = question(Agent::ClaudeCode, &input);
    let by_class = permission(Decision::AutoAllowed, Crud::Read, false, None);
    assert_eq!(AgentDecision::of(&file, &by_class), AgentDecision::Nothing);
    let by_rule = permission(
        Decision::AutoAllowed,
        Crud::Read,
        false,
        Some("guard.toml:3"),
    );
    assert_eq!(
        AgentDecision::of(&file, &by_rule),
        AgentDecision::Allow("READ: a test reason".into())
    );
}

#[test]
fn powershell_requires_confirmation_unless_a_rule_allows_it() {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": "PowerShell",
        "tool_input": {"command": "Get-Content 'a b'"}});
    let shell = question(Agent::ClaudeCode, &input);
    assert_eq!(
        shell.request.command,
        r"pwsh -Command 'Get-Content '\''a b'\'''"
    );
    let by_class = permission(Decision::AutoAllowed, Crud::Read, false, None);
    assert_eq!(
        AgentDecision::of(&shell, &by_class),
        AgentDecision::Ask("READ: a test reason".into())
    );
    let by_rule = permission(
        Decision::AutoAllowed,
        Crud::Read,
        false,
        Some("guard.toml:3"),
    );
    assert_eq!(
        AgentDecision::of(&shell, &by_rule),
        AgentDecision::Allow("READ: a test reason".into())
    );
}

#[test]
fn vscode_and_copilot_are_distinguished_by_their_input() {
    let vscode = json!({"hookEventName": "PreToolUse", "sessionId": "s", "cwd": "/srv/p",
        "tool_name": "runTerminalCommand", "tool_input": {"command": "make"}});
    for called in [Agent::Copilot, Agent::ClaudeCode, Agent::VsCode] {
        let asked = question(called, &vscode);
        assert_eq!(asked.request.agent.as_deref(), Some("vscode"));
        let reply = decision_reply(&asked, &AgentDecision::Deny("no".into()));
        let nested = reply.stdout.starts_with(r#"{"hookSpecificOutput""#);
        assert!(nested, "{called}: {reply:?}");
    }
    let copilot = json!({"sessionId": "s", "cwd": "/srv/p", "toolName": "bash",
        "toolArgs": {"command": "make"}});
    let asked = question(Agent::VsCode, &copilot);
    assert_eq!(asked.request.agent.as_deref(), Some("copilot"));
    let reply = decision_reply(&asked, &AgentDecision::Deny("no".into()));
    assert!(
        reply.stdout.starts_with(r#"{"permissionDecision":"deny""#),
        "{reply:?}"
    );
}

/// Grok runs the hooks of Claude Code and Cursor, and reads another reply.
#[test]
fn grok_is_recognized_by_its_input() {
    let old = json!({"hookEventName": "pre_tool_use", "sessionId": "s", "cwd": "/srv/p",
        "workspaceRoot": "/srv/p", "permissionMode": "bypassPermissions",
        "toolName": "run_terminal_command", "toolInput": {"command": "make"}});
    let mut new = old.clone();
    for (field, copied) in [
        ("session_id", "sessionId"),
        ("permission_mode", "permissionMode"),
        ("tool_name", "toolName"),
        ("tool_input", "toolInput"),
    ] {
        new[field] = old[copied].clone();
    }
    new["hook_event_name"] = "PreToolUse".into();
    for input in [old, new] {
        for called in [Agent::ClaudeCode, Agent::Cursor, Agent::Grok] {
            let asked = question(called, &input);
            assert_eq!(asked.request.agent.as_deref(), Some("grok"), "{called}");
            assert!(asked.unattended(), "{called}");
            let reply = decision_reply(&asked, &AgentDecision::Ask("CREATE".into()));
            assert_eq!(reply.exit, 2, "{called}: {reply:?}");
            assert!(reply.stdout.contains(r#""decision":"deny""#), "{reply:?}");
        }
    }
}

/// Grok CLI 1.0.41 prompts; 1.0.5 knows no `ask`, reads `decision` alone, and denies.
#[test]
fn grok_prompts_in_its_modes_with_prompts() {
    for (mode, shown) in [
        ("default", true),
        ("auto", true),
        ("plan", true),
        ("bypassPermissions", false),
        ("dontAsk", false),
        ("another", false),
    ] {
        let input = json!({"hook_event_name": "PreToolUse", "hookEventName": "pre_tool_use",
            "workspaceRoot": "/srv/p", "cwd": "/srv/p", "permissionMode": mode,
            "toolName": "run_terminal_command", "toolInput": {"command": "make"}});
        let asked = question(Agent::Grok, &input);
        assert_eq!(asked.unattended(), !shown, "{mode}");
        let reply = decision_reply(&asked, &AgentDecision::Ask("CREATE".into()));
        let output: Value = serde_json::from_str(&reply.stdout).unwrap();
        let decision = &output["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(output["decision"], "deny", "{mode}");
        let expected = if shown { ("ask", 0) } else { ("deny", 2) };
        assert_eq!(
            (decision.as_str(), reply.exit),
            (Some(expected.0), expected.1)
        );
    }
}

#[test]
fn two_names_of_an_event_must_not_differ() {
    let input = json!({"hook_event_name": "PostToolUse", "hookEventName": "pre_tool_use",
        "workspaceRoot": "/srv/p", "cwd": "/srv/p", "toolName": "run_terminal_command",
        "toolInput": {"command": "make"}});
    for agent in [Agent::Grok, Agent::ClaudeCode, Agent::QwenCode] {
        let error = read(agent, input.to_string().as_bytes()).unwrap_err();
        assert!(error.to_string().contains("differ"), "{agent}: {error}");
    }
}

/// Grok sends the arguments of its tool `use_tool`, which calls the tool of a server.
#[test]
fn a_command_of_an_mcp_tool_is_found_in_the_arguments_of_use_tool() {
    let input = |arguments: Value| {
        json!({"hookEventName": "pre_tool_use", "workspaceRoot": "/srv/p", "cwd": "/srv/p",
            "toolName": "shell__run", "toolInput": arguments})
    };
    let wrapped = json!({"tool_name": "shell__run", "tool_input": {"command": "rm -r build"}});
    for arguments in [wrapped.clone(), wrapped["tool_input"].clone()] {
        let asked = question(Agent::Grok, &input(arguments));
        assert_eq!(asked.request.command, "rm -r build");
        assert!(asked.request.mcp.is_some_and(|call| call.runs_command));
    }
    let other = json!({"tool_name": "another", "tool_input": {"command": "rm -r build"}});
    let asked = question(Agent::Grok, &input(other));
    assert!(asked.request.command.contains("another"), "{asked:?}");
}

/// Inputs of an agent that runs what its hook does not deny, with the name of the event replaced.
fn deny_only(event: &str, tool: &str) -> Vec<(Agent, Value)> {
    let arguments = json!({"command": "make"});
    let fields = json!({"session_id": "s", "cwd": "/srv/p", "tool_name": tool,
        "tool_input": arguments, "tool_info": arguments,
        "preToolUse": {"toolName": tool, "parameters": arguments}});
    [
        (Agent::QwenCode, "hook_event_name"),
        (Agent::Droid, "hook_event_name"),
        (Agent::Grok, "hookEventName"),
        (Agent::Antigravity, "hook_event_name"),
        (Agent::Crush, "event"),
        (Agent::OpenHands, "event_type"),
        (Agent::Goose, "event"),
        (Agent::Windsurf, "agent_action_name"),
        (Agent::Kiro, "hook_event_name"),
        (Agent::Cline, "hookName"),
        (Agent::KimiCode, "hook_event_name"),
        (Agent::MistralVibe, "hook_event_name"),
        (Agent::LettaCode, "event_type"),
        (Agent::Auggie, "hook_event_name"),
    ]
    .into_iter()
    .map(|(agent, field)| {
        let mut input = fields.clone();
        input[field] = event.into();
        (agent, input)
    })
    .collect()
}

/// These agents run an action if the hook returns no decision.
#[test]
fn an_unknown_event_before_an_action_is_denied() {
    for event in ["pre_launch_rocket", "BeforeTomorrow", "PreToolUse2"] {
        for (agent, input) in deny_only(event, "bash") {
            let error = read(agent, input.to_string().as_bytes()).unwrap_err();
            assert!(
                error.to_string().contains("unknown event"),
                "{agent}: {error}"
            );
            let reply = failure_reply(agent, error.hook, &error.to_string());
            if agent == Agent::Cline {
                let reply: Value = serde_json::from_str(&reply.stdout).unwrap();
                assert_eq!(reply["cancel"], true);
                continue;
            }
            assert_eq!(reply.exit, 2, "{agent}");
            assert!(!reply.stderr.is_empty(), "{agent}");
        }
    }
    for event in ["SessionStart", "PostTomorrow"] {
        for (agent, input) in deny_only(event, "bash") {
            let read = read(agent, input.to_string().as_bytes());
            assert!(
                matches!(read, Ok(HookEvent::Nothing { .. })),
                "{agent}: {read:?}"
            );
        }
    }
}

/// A tool that is not in the table is classified by its `command`; a decision never allows it.
#[test]
fn an_unknown_tool_is_never_allowed() {
    for (agent, input) in deny_only("PreToolUse", "tomorrows_tool") {
        if matches!(agent, Agent::Windsurf | Agent::Antigravity) {
            // Their events name the tool.
            continue;
        }
        let one = question(agent, &input);
        assert!(one.unlisted_tool, "{agent}");
        assert_eq!(one.request.command, "make", "{agent}");
        let allowed = permission(Decision::AutoAllowed, Crud::Read, false, Some("g.toml:1"));
        assert_eq!(AgentDecision::of(&one, &allowed), AgentDecision::Nothing);
        let asks = permission(Decision::RequiresConfirmation, Crud::Create, false, None);
        let reply = decision_reply(&one, &AgentDecision::of(&one, &asks));
        let words = format!("{}{}", reply.stdout, reply.exit);
        let denied =
            reply.exit == 2 || words.contains("deny") || words.contains(r#""cancel":true"#);
        assert!(
            denied || one.prompt == AgentPrompt::Shown,
            "{agent}: {reply:?}"
        );
    }
}

/// The operator answers for agents that show no prompt if the hook asks.
#[test]
fn agents_that_only_deny_have_no_prompt() {
    for (agent, input) in deny_only("PreToolUse", "bash") {
        let prompts = matches!(agent, Agent::QwenCode | Agent::Grok);
        if matches!(agent, Agent::Windsurf | Agent::Antigravity) {
            continue;
        }
        assert_eq!(question(agent, &input).unattended(), !prompts, "{agent}");
    }
    let run = json!({"agent_action_name": "pre_run_command", "trajectory_id": "t",
        "tool_info": {"command_line": "make", "cwd": "/srv/p"}});
    let run = question(Agent::Windsurf, &run);
    assert!(run.unattended());
    assert_eq!(run.request.cwd.as_deref(), Some("/srv/p".as_ref()));
    for mode in ["auto-edit", "yolo", "tomorrow's"] {
        let mut input = shell(mode);
        input["tool_name"] = "run_shell_command".into();
        let prompts = mode != "tomorrow's";
        assert_eq!(
            question(Agent::QwenCode, &input).unattended(),
            !prompts,
            "{mode}"
        );
    }
}

/// Returns the input of Pi before a tool.
fn pi(tool: &str, arguments: &Value) -> Value {
    json!({"event": {"type": "tool_call", "toolName": tool, "toolCallId": "c", "input": arguments},
        "ctx": {"cwd": "/srv/p", "hasUI": true, "mode": "tui", "sessionId": "s"}})
}

/// The extension of Pi tells whether there is a dialog.
#[test]
fn pi_is_asked_where_it_has_a_dialog() {
    let decided = |has_ui: Value| {
        let mut input = pi("bash", &json!({"command": "rm -r build"}));
        input["ctx"]["hasUI"] = has_ui;
        let question = question(Agent::Pi, &input);
        let reply = decision_reply(&question, &AgentDecision::Ask("DELETE: why".into()));
        let reply: Value = serde_json::from_str(&reply.stdout).unwrap();
        (question.prompt, reply)
    };
    let dialog = (AgentPrompt::Shown, json!({"confirm": "DELETE: why"}));
    assert_eq!(decided(json!(true)), dialog);
    for without in [json!(false), Value::Null, json!("true")] {
        let (prompt, reply) = decided(without);
        assert_eq!(prompt, AgentPrompt::Unattended);
        assert_eq!(reply["block"], true);
        assert!(
            reply["reason"]
                .as_str()
                .unwrap()
                .contains("no user is at the keyboard"),
            "{reply}"
        );
    }
}

/// Pi 1.6.0 opens a path without its first `@` and with plain spaces.
#[test]
fn the_paths_of_pi_are_those_that_it_opens() {
    for (path, opened) in [
        ("a.txt", "a.txt"),
        ("@a.txt", "a.txt"),
        ("@@a.txt", "@a.txt"),
        ("@/srv/dev/.ssh/id_rsa", "/srv/dev/.ssh/id_rsa"),
        ("@~/.bashrc", "~/.bashrc"),
        ("\u{a0}@a\u{202f}b", " @a b"),
    ] {
        for tool in ["read", "write", "edit", "grep", "ls", "find"] {
            let input = pi(tool, &json!({"path": path, "pattern": "x"}));
            let request = question(Agent::Pi, &input).request;
            assert_eq!(
                request.file.unwrap().paths,
                [Path::new(opened)],
                "{tool} {path}"
            );
        }
    }
}

#[test]
fn a_refusal_in_the_dialog_of_pi_is_one_of_the_agent() {
    let mut input = pi("bash", &json!({"command": "rm -r build"}));
    input["event"]["type"] = "tool_refused".into();
    input["reason"] = "the user refused".into();
    let read = read(Agent::Pi, input.to_string().as_bytes()).unwrap();
    let HookEvent::Refused(refused) = read else {
        panic!("{read:?}");
    };
    assert_eq!(refused.reason, "the user refused");
    let request = refused.request;
    assert_eq!(request.session_id.as_deref(), Some("s"));
    assert_eq!(request.call_id.as_deref(), Some("c"));
}

/// Cline sends several commands in a list.
#[test]
fn commands_in_a_list_are_one_request() {
    let input = |commands: Value| {
        json!({"hookName": "PreToolUse", "taskId": "t", "workspaceRoots": ["/srv/p"],
            "preToolUse": {"toolName": "run_commands", "parameters": {"commands": commands}}})
    };
    let one = question(Agent::Cline, &input(json!(["ls", "rm -r build"])));
    assert_eq!(one.request.command, "ls\nrm -r build");
    for wrong in [
        json!([]),
        json!(["ls", 7]),
        json!(null),
        json!({}),
        json!([{"args": ["x"]}]),
        json!([{"command": "ls", "args": [7]}]),
    ] {
        let read = read(Agent::Cline, input(wrong.clone()).to_string().as_bytes());
        assert!(read.is_err(), "{wrong}: {read:?}");
    }
}

/// Returns the input of Cline before a tool.
fn cline(tool: &str, arguments: &Value) -> Value {
    json!({"hookName": "tool_call", "taskId": "t", "workspaceRoots": ["/srv/p"],
        "tool_call": {"id": "c", "name": tool, "input": arguments}})
}

/// Crush names the directory of one command.
#[test]
fn a_command_of_crush_runs_in_its_own_directory() {
    let input = json!({"event": "PreToolUse", "session_id": "s", "cwd": "/srv/p",
        "tool_name": "bash", "tool_input": {"command": "ls", "working_dir": "/srv/other"}});
    let one = question(Agent::Crush, &input);
    assert_eq!(one.request.cwd.as_deref(), Some(Path::new("/srv/other")));
}

/// Cline accepts commands in many forms. It runs words without a shell.
#[test]
fn cline_sends_commands_in_many_forms() {
    let words = json!({"command": "git", "args": ["commit", "-m", "it's $HOME"]});
    let line = r"git 'commit' '-m' 'it'\''s $HOME'";
    for (arguments, command) in [
        (
            json!({"commands": ["ls", "rm -r build"]}),
            "ls\nrm -r build",
        ),
        (json!({"commands": "rm -r build"}), "rm -r build"),
        (json!({"commands": r#"["ls", "make"]"#}), "ls\nmake"),
        (json!({"commands": "[ -f a ] && make"}), "[ -f a ] && make"),
        (json!({"commands": [words.clone()]}), line),
        (json!({"commands": words.clone()}), line),
        (
            json!({"commands": json!([words.clone()]).to_string()}),
            line,
        ),
        (words, line),
        (
            json!({"command": "git", "args": r#"["push"]"#}),
            "git 'push'",
        ),
        (json!({"cmd": "make"}), "make"),
    ] {
        let one = question(Agent::Cline, &cline("run_commands", &arguments));
        assert_eq!(one.request.command, command, "{arguments}");
        assert_eq!(one.request.call_id.as_deref(), Some("c"), "{arguments}");
    }
}

/// Cline names the files to read in objects, with their lines.
#[test]
fn cline_sends_files_in_many_forms() {
    let lines = json!({"path": "/srv/a", "start_line": 1});
    for arguments in [
        json!({"files": [lines.clone()]}),
        json!({"files": lines.clone()}),
        json!({"files": json!([lines.clone()]).to_string()}),
        json!({"files": [{"filePath": "/srv/a"}]}),
        json!({"files": ["/srv/a"]}),
        json!({"file_paths": "/srv/a"}),
        json!({"paths": [lines.clone()]}),
        lines,
    ] {
        let one = question(Agent::Cline, &cline("read_files", &arguments));
        assert_eq!(one.request.command, "read_files /srv/a", "{arguments}");
    }
    let wrong = cline("read_files", &json!({"files": [{"start_line": 1}]}));
    assert!(read(Agent::Cline, wrong.to_string().as_bytes()).is_err());
}

/// Cline runs commands in the directory of the hook, and names the root of the repository.
#[test]
fn the_directory_of_the_hook_is_that_of_clines_commands() {
    let input = cline("run_commands", &json!({"commands": ["ls"]}));
    let cwd = |agent, input: &Value, directory: Option<&str>| {
        let read = read_in(
            agent,
            input.to_string().as_bytes(),
            directory.map(Path::new),
        );
        let Ok(HookEvent::Ask(one)) = read else {
            panic!("{read:?}");
        };
        one.request.cwd.unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(cwd(Agent::Cline, &input, Some("/srv/p/sub")), "/srv/p/sub");
    assert_eq!(cwd(Agent::Cline, &input, None), "/srv/p");
    let mut named = input;
    named["cwd"] = "/srv/p/named".into();
    assert_eq!(
        cwd(Agent::Cline, &named, Some("/srv/p/sub")),
        "/srv/p/named"
    );
    let other = shell("default");
    let there = other["cwd"].as_str().unwrap();
    assert_eq!(cwd(Agent::ClaudeCode, &other, Some("/elsewhere")), there);
}

#[test]
fn a_denied_tool_call_of_copilot_is_not_an_execution() {
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
            HookEvent::Ran(ran) => assert_eq!(ran.outcome.succeeded, succeeded, "{kind}"),
            HookEvent::Nothing { .. } => assert_eq!(kind, "denied"),
            HookEvent::Ask(_) | HookEvent::Refused(_) => panic!("it is over"),
        }
    }
}

#[test]
fn the_timeout_of_the_hook_is_shorter_than_that_of_the_agent() {
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
fn a_failure_after_a_tool_call_denies_nothing() {
    let input = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "make"}});
    let HookEvent::Ran(ran) = read(Agent::ClaudeCode, input.to_string().as_bytes()).unwrap() else {
        panic!("it ran");
    };
    let reply = failure_reply(Agent::ClaudeCode, Some(ran.hook), "the disk is full");
    assert_eq!((reply.exit, reply.stdout.as_str()), (0, ""));
    assert_eq!(reply.stderr, "the disk is full");
}

#[test]
fn claude_code_variables_mark_an_unattended_session() {
    let told = |variables: &[(&str, &str)], agent| {
        is_unattended(agent, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    };
    let attended = "CLAUDE_CODE_SESSION_ATTENDED";
    let entrypoint = "CLAUDE_CODE_ENTRYPOINT";
    for (variables, unattended) in [
        (&[][..], false),
        (&[(attended, "1")], false),
        (&[(attended, "0")], true),
        (&[(attended, "perhaps")], true),
        (&[(entrypoint, "cli")], false),
        (&[(entrypoint, "sdk-cli")], true),
        (&[(attended, "1"), (entrypoint, "sdk-cli")], true),
    ] {
        assert_eq!(
            told(variables, Agent::ClaudeCode),
            unattended,
            "{variables:?}"
        );
        assert!(!told(variables, Agent::Gemini), "{variables:?}");
    }
}

/// A skill cannot wait for a prompt, so requests that need approval are denied.
#[test]
fn claude_code_has_no_prompt_for_a_command_in_a_skill() {
    let mut input = shell("default");
    input["hook_event_name"] = "PreSkillShellCommand".into();
    let question = question(Agent::ClaudeCode, &input);
    assert_eq!(question.prompt, AgentPrompt::Unavailable);
    let reply = decision_reply(
        &question,
        &AgentDecision::Ask("CREATE: runs a build".into()),
    );
    let value: Value = serde_json::from_str(&reply.stdout).unwrap();
    let decision = &value["hookSpecificOutput"];
    assert_eq!(decision["hookEventName"], "PreSkillShellCommand");
    assert_eq!(decision["permissionDecision"], "deny");
}

/// Claude Code's auto mode does not check commands in slash commands, so they are not left to it.
#[test]
fn a_command_in_a_skill_is_not_left_to_auto_mode() {
    for (event, mode, left_to) in [
        ("PreSkillShellCommand", "auto", None),
        ("PreSkillShellCommand", "plan", Some("plan")),
        ("PreToolUse", "auto", Some("auto")),
    ] {
        let mut input = shell(mode);
        input["hook_event_name"] = event.into();
        let one = question(Agent::ClaudeCode, &input);
        assert_eq!(one.request.permission_mode.as_deref(), left_to, "{event}");
    }
}

/// A tool that is not in the table is classified by its `command`, and never allowed.
#[test]
fn an_unlisted_tool_with_a_command_is_classified_as_a_shell() {
    let mut input = shell("default");
    input["tool_name"] = "mcp__host__run".into();
    let one = question(Agent::ClaudeCode, &input);
    assert_eq!(one.request.command, "make");
    let allowed = permission(Decision::AutoAllowed, Crud::Read, false, None);
    assert_eq!(AgentDecision::of(&one, &allowed), AgentDecision::Nothing);
    let by_rule = permission(Decision::AutoAllowed, Crud::Read, false, Some("g.toml:1"));
    assert_eq!(AgentDecision::of(&one, &by_rule), AgentDecision::Nothing);
    let asks = permission(Decision::RequiresConfirmation, Crud::Create, false, None);
    assert!(matches!(
        AgentDecision::of(&one, &asks),
        AgentDecision::Ask(_)
    ));
    // A rule that names the tool allows it.
    let named = PermissionDecision {
        names_tool: true,
        ..by_rule
    };
    assert!(matches!(
        AgentDecision::of(&one, &named),
        AgentDecision::Allow(_)
    ));
    input["tool_input"] = json!({"query": "make"});
    input["tool_name"] = "WebSearch".into();
    let event = read(Agent::ClaudeCode, input.to_string().as_bytes()).unwrap();
    assert!(matches!(event, HookEvent::Nothing { .. }), "{event:?}");
    input["tool_name"] = "Monitor".into();
    input["tool_input"] = json!({"command": "make"});
    let monitor = question(Agent::ClaudeCode, &input);
    assert!(matches!(
        AgentDecision::of(&monitor, &allowed),
        AgentDecision::Allow(_)
    ));
}

/// Codex asks for network access with the command that needs it; the command itself is not
/// classified.
#[test]
fn network_access_is_not_decided_by_the_class_of_its_command() {
    let mut input = shell("default");
    input["hook_event_name"] = "PermissionRequest".into();
    input["tool_input"] = json!({"command": "ls",
        "description": "network-access https://Example.com:443"});
    let one = question(Agent::Codex, &input);
    let network = one.request.network.clone().unwrap();
    assert_eq!(network.command.as_deref(), Some("ls"));
    assert_eq!(
        (network.host.as_str(), network.port),
        ("example.com", Some(443))
    );
    assert_eq!(
        one.request.command,
        "network access to example.com port 443"
    );
    let allowed = permission(Decision::AutoAllowed, Crud::Create, false, None);
    assert_eq!(AgentDecision::of(&one, &allowed), AgentDecision::Nothing);
    let by_rule = permission(Decision::AutoAllowed, Crud::Create, false, Some("g.toml:1"));
    assert!(matches!(
        AgentDecision::of(&one, &by_rule),
        AgentDecision::Allow(_)
    ));
    let asks = permission(Decision::RequiresConfirmation, Crud::Create, false, None);
    let reply = decision_reply(&one, &AgentDecision::of(&one, &asks));
    assert_eq!(reply.stdout, "", "the agent's prompt stays: {reply:?}");
    for description in ["network-access", " Network-Access h:1", "network access: h"] {
        input["tool_input"]["description"] = description.into();
        let other = question(Agent::Codex, &input);
        assert!(other.request.network.is_some(), "{description}");
        assert_eq!(AgentDecision::of(&other, &allowed), AgentDecision::Nothing);
    }
    input["tool_input"]["description"] = "netz".into();
    assert_eq!(question(Agent::Codex, &input).request.network, None);
}

/// If a mode leaves a request to the agent, the hook makes no decision.
#[test]
fn a_request_left_to_the_agent_gets_no_decision() {
    let one = question(Agent::ClaudeCode, &shell("auto"));
    assert_eq!(one.request.permission_mode.as_deref(), Some("auto"));
    let mut left = permission(Decision::RequiresConfirmation, Crud::Create, false, None);
    left.left_to_agent = true;
    assert_eq!(AgentDecision::of(&one, &left), AgentDecision::Nothing);
}
