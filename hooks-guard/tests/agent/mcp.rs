//! Tests calls of tools of MCP servers, in the formats of the agents.

use std::process::Output;

use serde_json::{Value, json};

use super::{Home, Service, decision_of, pre_tool_use};

/// Input of Claude Code 2.1.332, which names the server.
fn claude(server: &str, tool: &str, arguments: &Value) -> Value {
    json!({
        "session_id": "s", "cwd": "/srv", "permission_mode": "default", "prompt_id": "p",
        "effort": {"level": "medium"}, "hook_event_name": "PreToolUse",
        "tool_name": format!("mcp__{server}__{tool}"), "tool_input": arguments,
        "tool_use_id": tool, "mcp_server": {"name": server, "source": "dynamic"},
    })
}

const RULES: &str = "
[[rule]]
effect = 'allow'
mcp = ['github/get_*', 'github/list_issues', 'my-tracker/*']
reason = 'they read'

[[rule]]
effect = 'ask'
mcp = 'github/create_*'

[[rule]]
effect = 'deny'
mcp = ['*/delete_*', 'payments/*']
reason = 'never by an agent'
";

fn home_with(rules: &str, config: &str) -> Home {
    let home = Home::new();
    home.config(config);
    home.rules(rules);
    home
}

fn is_silent(output: &Output) -> bool {
    assert!(output.status.success(), "{output:?}");
    output.stdout.is_empty()
}

#[test]
fn rules_decide_about_tools_of_servers() {
    let home = home_with(RULES, "");
    let decide = |input: &Value| decision_of(&home.hook("claude-code", &[], input));
    let none = json!({});
    for (server, tool, expected, why) in [
        ("github", "get_issue", "allow", "they read"),
        ("my-tracker", "anything", "allow", "they read"),
        (
            "github",
            "create_issue",
            "ask",
            "a rule requires confirmation",
        ),
        ("github", "delete_repository", "deny", "never by an agent"),
        ("payments", "get_balance", "deny", "never by an agent"),
    ] {
        let (got, reason) = decide(&claude(server, tool, &none));
        assert_eq!(got, expected, "{server}/{tool}: {reason}");
        assert!(reason.contains(why), "{reason}");
    }
    // No rule names it: the agent decides, as without the guard.
    let output = home.hook("claude-code", &[], &claude("github", "merge", &none));
    assert!(is_silent(&output), "{output:?}");
    let trail = home.trail();
    assert_eq!(trail[0]["command"], "MCP tool payments/get_balance {}");
    assert_eq!(trail.len(), 5, "{trail:?}");
}

#[test]
fn the_trail_shows_the_arguments_without_secrets() {
    let home = home_with(RULES, "");
    let arguments = json!({"title": "Crash", "token": "ghp_16C7e42F292c6912E7710c838347Ae178B4a"});
    home.hook(
        "claude-code",
        &[],
        &claude("github", "create_issue", &arguments),
    );
    let command = home.trail()[0]["command"]
        .as_str()
        .expect("a text")
        .to_owned();
    assert!(
        command.starts_with("MCP tool github/create_issue "),
        "{command}"
    );
    assert!(
        command.contains("Crash") && !command.contains("16C7e42F"),
        "{command}"
    );
    let long = json!({"text": "x".repeat(50_000)});
    let output = home.hook("claude-code", &[], &claude("github", "create_issue", &long));
    assert_eq!(decision_of(&output).0, "ask");
}

/// Returns the reply of an agent to a call of `create_issue` or `get_issue` of `github`.
fn reply(home: &Home, agent: &str, input: &Value) -> String {
    let output = home.hook(agent, &[], input);
    // Grok reads the exit status, too.
    let denies_by_status = agent == "grok" && output.status.code() == Some(2);
    assert!(output.status.success() || denies_by_status, "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn each_agent_names_tools_in_its_own_way() {
    let home = home_with(
        "[[rule]]\neffect = 'deny'\nmcp = 'github/create_*'\nreason = 'not here'\n",
        "",
    );
    let fields = |event: &str, tool: &str| {
        json!({"hook_event_name": event, "session_id": "s", "cwd": "/srv", "tool_name": tool,
            "tool_input": {"title": "t"}})
    };
    let mut gemini = fields("BeforeTool", "mcp_github_create_issue");
    gemini["mcp_context"] = json!({"server_name": "github", "tool_name": "create_issue",
        "command": "github-mcp"});
    for (agent, input) in [
        (
            "claude-code",
            fields("PreToolUse", "mcp__github__create_issue"),
        ),
        ("codex", fields("PreToolUse", "mcp__github__create_issue")),
        ("gemini", gemini),
        ("gemini", fields("BeforeTool", "mcp_github_create_issue")),
        ("vscode", fields("PreToolUse", "mcp_github_create_issue")),
        (
            "copilot",
            json!({"sessionId": "s", "cwd": "/srv", "toolName": "github-create_issue",
                "toolArgs": {"title": "t"}}),
        ),
        (
            "qwen-code",
            fields("PreToolUse", "mcp__github__create_issue"),
        ),
        ("droid", fields("PreToolUse", "github___create_issue")),
        ("grok", fields("PreToolUse", "github__create_issue")),
        (
            "crush",
            json!({"event": "PreToolUse", "session_id": "s", "cwd": "/srv",
                "tool_name": "mcp_github_create_issue", "tool_input": {"title": "t"}}),
        ),
        (
            "cline",
            json!({"hookName": "tool_call", "workspaceRoots": ["/srv"],
                "tool_call": {"id": "c", "name": "github__create_issue", "input": {}}}),
        ),
        (
            "opencode",
            json!({"hook": "tool.execute.before", "directory": "/srv",
                "input": {"tool": "github_create_issue", "sessionID": "s", "callID": "c"},
                "output": {"args": {"title": "t"}}}),
        ),
    ] {
        let reply = reply(&home, agent, &input);
        assert!(reply.contains("not here"), "{agent}: {reply}");
    }
    for (agent, tool) in [
        ("claude-code", "mcp__gitlab__create_issue"),
        ("claude-code", "TodoWrite"),
        ("codex", "mcp__github__get_issue"),
        ("vscode", "github_create_issue"),
    ] {
        let reply = reply(&home, agent, &fields("PreToolUse", tool));
        assert_eq!(reply, "", "{agent} {tool}");
    }
    // Neither the tool of a server nor a known tool of the agent.
    for tool in ["mcp__github", "github_create_issue"] {
        let reply = reply(&home, "claude-code", &fields("PreToolUse", tool));
        assert!(reply.contains("is unknown"), "{tool}: {reply}");
    }
}

/// The name `a_b_c` may be the tool `b_c` of `a`, or `c` of `a_b`.
#[test]
fn an_allow_needs_every_way_to_read_a_name() {
    let rules = "[[rule]]\neffect = 'allow'\nmcp = ['git/*', 'docs/*', 'docs_old/*']\n";
    let home = home_with(rules, "[mcp]\nunknown = 'deny'\n");
    let call = |tool: &str| {
        let input = json!({"hook": "tool.execute.before", "directory": "/srv",
            "input": {"tool": tool, "sessionID": "s", "callID": tool},
            "output": {"args": {}}});
        reply(&home, "opencode", &input)
    };
    let allowed = "{\"returns\":null}\n";
    assert_eq!(call("git_status"), allowed);
    assert_eq!(call("docs_old_search"), allowed);
    assert!(
        call("git_status_all").contains("throws"),
        "`git_status` may be a server"
    );
    // Claude Code names the server, so there is one way.
    let input = claude("git", "status__all", &json!({}));
    assert_eq!(
        decision_of(&home.hook("claude-code", &[], &input)).0,
        "allow"
    );
    let mut unnamed = input;
    unnamed["mcp_server"] = Value::Null;
    assert_eq!(
        decision_of(&home.hook("claude-code", &[], &unnamed)).0,
        "deny"
    );
}

#[test]
fn a_setting_decides_about_tools_that_no_rule_names() {
    let input = claude("github", "merge", &json!({"id": 1}));
    for (value, expected) in [("approval", "ask"), ("deny", "deny")] {
        let home = home_with(RULES, &format!("[mcp]\nunknown = '{value}'\n"));
        let (got, why) = decision_of(&home.hook("claude-code", &[], &input));
        assert_eq!(got, expected, "{why}");
        assert!(
            why.contains(&format!("`mcp.unknown` is `{value}`")),
            "{why}"
        );
        let ruled = claude("github", "get_issue", &json!({}));
        assert_eq!(
            decision_of(&home.hook("claude-code", &[], &ruled)).0,
            "allow"
        );
        // Codex has no prompt.
        let (got, why) = decision_of(&home.hook("codex", &[], &input));
        assert_eq!(got, "deny", "{why}");
        // The agent's own tools are not concerned.
        let mut other = input.clone();
        other["tool_name"] = "TodoWrite".into();
        assert!(is_silent(&home.hook("claude-code", &[], &other)));
    }
    let home = home_with(RULES, "[mcp]\nunknown = 'agent'\n");
    assert!(is_silent(&home.hook("claude-code", &[], &input)));
    let home = home_with(RULES, "[mcp]\nunknown = 'maybe'\n");
    let (got, why) = decision_of(&home.hook("claude-code", &[], &input));
    assert_eq!(got, "deny", "{why}");
    assert!(why.contains("`maybe`"), "{why}");
}

/// A tool with a `command` text is classified as a shell, too.
#[test]
fn a_tool_that_runs_a_command_needs_both() {
    let rules = "
[[rule]]
effect = 'allow'
mcp = 'ssh/exec'

[[rule]]
effect = 'deny'
program = 'shutdown'

[[rule]]
effect = 'allow'
program = 'make'
";
    let home = home_with(rules, "");
    let run = |server: &str, command: &str| {
        let input = claude(server, "exec", &json!({"command": command}));
        let output = home.hook("claude-code", &[], &input);
        match output.stdout.is_empty() {
            true => "nothing".to_owned(),
            false => decision_of(&output).0,
        }
    };
    assert_eq!(run("ssh", "mkdir a"), "allow");
    assert_eq!(run("ssh", "ls"), "allow");
    assert_eq!(run("ssh", "shutdown now"), "deny");
    assert_eq!(run("ssh", "cat ~/.ssh/id_rsa"), "ask", "a protection");
    // As for every tool with a command that no rule names.
    assert_eq!(run("other", "mkdir a"), "ask");
    assert_eq!(run("other", "ls"), "nothing");
    assert_eq!(run("other", "make"), "nothing");
    let home = home_with(rules, "[mcp]\nunknown = 'approval'\n");
    let input = claude("other", "exec", &json!({"command": "ls"}));
    assert_eq!(decision_of(&home.hook("claude-code", &[], &input)).0, "ask");
}

#[test]
fn the_operator_approves_a_call_with_its_arguments() {
    let setting = "[mcp]\nunknown = 'approval'\n";
    let home = home_with("", setting);
    let service = Service::start(&home);
    home.config(&format!("listen = '127.0.0.1:{}'\n{setting}", service.port));
    let input = |title: &str, call: &str| {
        let mut input = claude("github", "create_issue", &json!({"title": title}));
        input["permission_mode"] = "bypassPermissions".into();
        input["tool_use_id"] = call.into();
        input
    };
    let answered = std::thread::scope(|scope| {
        scope.spawn(|| service.answer("APPROVED"));
        home.hook("claude-code", &["--timeout", "60"], &input("a", "c1"))
    });
    let (got, why) = decision_of(&answered);
    assert_eq!(got, "allow", "{why}");
    assert!(why.contains("approved by the operator"), "{why}");
    let record = &home.trail()[0];
    assert_eq!(
        record["command"],
        "MCP tool github/create_issue {\"title\":\"a\"}"
    );
}

#[test]
fn a_rule_without_a_tool_applies_to_every_call_of_an_agent() {
    let home = home_with("[[rule]]\neffect = 'deny'\nagent = 'codex'\n", "");
    let input = claude("github", "get_issue", &json!({}));
    assert_eq!(decision_of(&home.hook("codex", &[], &input)).0, "deny");
    assert!(is_silent(&home.hook("claude-code", &[], &input)));
    // A rule for commands or classes is not about tools of servers.
    let rules = "[[rule]]\neffect = 'deny'\nclass = ['CREATE', 'UPDATE']\n\n\
                 [[rule]]\neffect = 'deny'\nprogram = '*'\n\n\
                 [[rule]]\neffect = 'deny'\ntool = 'mcp__github__get_issue'\n\n\
                 [[rule]]\neffect = 'deny'\nhost = 'github.com'\n";
    let home = home_with(rules, "");
    assert!(is_silent(&home.hook("claude-code", &[], &input)));
    assert_eq!(
        decision_of(&home.hook("claude-code", &[], &pre_tool_use("ls", "c"))).0,
        "deny"
    );
}

/// The user allows a tool in the agent's prompt, until a suggested rule allows it.
#[test]
fn a_rule_is_suggested_for_a_tool_that_was_approved_repeatedly() {
    let home = home_with("", "[mcp]\nunknown = 'approval'\n");
    let call = |number: u32| {
        let mut input = claude("notes", "create_note", &json!({"number": number}));
        input["tool_use_id"] = format!("c{number}").into();
        input
    };
    for number in 0..3 {
        let (got, why) = decision_of(&home.hook("claude-code", &[], &call(number)));
        assert_eq!(got, "ask", "{why}");
        let mut ran = call(number);
        ran["hook_event_name"] = "PostToolUse".into();
        ran["tool_response"] = json!([{"type": "text", "text": "done"}]);
        assert!(is_silent(&home.hook("claude-code", &[], &ran)));
    }
    // A shell command with the text of such a call is no call of the tool.
    let text = "MCP tool payments/send {}";
    for call in ["1", "2", "3"] {
        home.hook("claude-code", &[], &pre_tool_use(text, call));
        home.hook("claude-code", &[], &super::post_tool_use(text, call));
    }
    let trail = home.trail();
    assert!(
        trail
            .iter()
            .all(|record| record["user_response"] == "APPROVED"),
        "{trail:?}"
    );
    let suggest = |options: &[&str]| {
        let mut command = home.command();
        let output = command.args(["rules", "suggest"]).args(options).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let json: Value = serde_json::from_str(&suggest(&["--json"])).expect("JSON");
    assert_eq!(json["rules"].as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(json["rules"][0]["mcp"], "notes/create_note");
    assert_eq!(json["rules"][0]["tests"][0]["mcp"], "notes/create_note");
    let text = suggest(&["--write", "--yes"]);
    assert!(text.contains("mcp = \"notes/create_note\"\n"), "{text}");
    assert!(!text.contains("payments"), "{text}");
    let tested = home.command().arg("test-rules").output().expect("it runs");
    assert!(tested.status.success(), "{tested:?}");
    assert_eq!(
        decision_of(&home.hook("claude-code", &[], &call(9))).0,
        "allow"
    );
    let other = claude("notes", "delete_note", &json!({}));
    assert_eq!(decision_of(&home.hook("claude-code", &[], &other)).0, "ask");
}
