//! Tests file tools: their files and effects.

use std::path::PathBuf;

use hooks_guard::AgentToolEffect;
use hooks_guard::classify::{Crud, MAX_COMMAND_CHARS};
use hooks_guard::protocol::{Agent, HookEvent, Problem, read};
use serde_json::{Value, json};

use crate::protocol::question;

fn input(tool: &str, arguments: &Value) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/p",
        "tool_name": tool, "tool_input": arguments})
}

#[test]
fn file_tools_name_their_files() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n*** Delete File: b.rs\n";
    for (agent, tool, arguments, effect, paths) in [
        (
            Agent::ClaudeCode,
            "Write",
            json!({"file_path": "/a", "content": "x"}),
            Crud::Create,
            vec!["/a"],
        ),
        (
            Agent::ClaudeCode,
            "Edit",
            json!({"file_path": "a", "old_string": ""}),
            Crud::Update,
            vec!["a"],
        ),
        (
            Agent::ClaudeCode,
            "MultiEdit",
            json!({"file_path": "a", "edits": [{"old_string": "x"}]}),
            Crud::Update,
            vec!["a"],
        ),
        (
            Agent::Grok,
            "list_dir",
            json!({"target_directory": "/etc"}),
            Crud::Read,
            vec!["/etc"],
        ),
        (
            Agent::Grok,
            "grep_files",
            json!({"pattern": "x", "path": "/srv"}),
            Crud::Read,
            vec!["/srv"],
        ),
        (
            Agent::Grok,
            "hashline_edit",
            json!({"file_path": "a", "edits": []}),
            Crud::Update,
            vec!["a"],
        ),
        (
            Agent::ClaudeCode,
            "NotebookEdit",
            json!({"notebook_path": "/n.ipynb"}),
            Crud::Update,
            vec!["/n.ipynb"],
        ),
        (
            Agent::ClaudeCode,
            "Read",
            json!({"file_path": "/etc/passwd"}),
            Crud::Read,
            vec!["/etc/passwd"],
        ),
        (
            Agent::ClaudeCode,
            "Grep",
            json!({"pattern": "x", "path": "/srv"}),
            Crud::Read,
            vec!["/srv"],
        ),
        (
            Agent::ClaudeCode,
            "Grep",
            json!({"pattern": "x"}),
            Crud::Read,
            vec!["/srv/p"],
        ),
        // The expression of a search is not a path.
        (
            Agent::ClaudeCode,
            "Grep",
            json!({"pattern": "/x..y"}),
            Crud::Read,
            vec!["/srv/p"],
        ),
        (
            Agent::ClaudeCode,
            "Glob",
            json!({"pattern": "**/*.rs"}),
            Crud::Read,
            vec!["/srv/p"],
        ),
        (
            Agent::ClaudeCode,
            "Grep",
            json!({"pattern": "x", "path": "src", "glob": "*.rs"}),
            Crud::Read,
            vec!["src"],
        ),
        // A search without a directory reads the current one, whatever its filter is.
        (
            Agent::Gemini,
            "search_file_content",
            json!({"pattern": "x", "include": "*.json"}),
            Crud::Read,
            vec!["*.json", "/srv/p"],
        ),
        // A search filtered by names of secrets reads these files.
        (
            Agent::ClaudeCode,
            "Grep",
            json!({"pattern": "x", "path": "src", "glob": "**/.env*"}),
            Crud::Read,
            vec!["src", "**/.env*"],
        ),
        (
            Agent::ClaudeCode,
            "Glob",
            json!({"pattern": "/etc/**"}),
            Crud::Read,
            vec!["/etc/**"],
        ),
        (
            Agent::Codex,
            "apply_patch",
            json!({"command": patch}),
            Crud::Delete,
            vec!["a.rs", "b.rs"],
        ),
        (
            Agent::Gemini,
            "write_file",
            json!({"file_path": "a"}),
            Crud::Create,
            vec!["a"],
        ),
        (
            Agent::Gemini,
            "replace",
            json!({"file_path": "a"}),
            Crud::Update,
            vec!["a"],
        ),
        (
            Agent::Cursor,
            "Delete",
            json!({"path": "a"}),
            Crud::Delete,
            vec!["a"],
        ),
        (
            Agent::Copilot,
            "create",
            json!({"path": "/a"}),
            Crud::Create,
            vec!["/a"],
        ),
        (
            Agent::VsCode,
            "editFiles",
            json!({"files": ["a", "b"]}),
            Crud::Update,
            vec!["a", "b"],
        ),
        (
            Agent::VsCode,
            "create_file",
            json!({"filePath": "file:///srv/p/a"}),
            Crud::Create,
            vec!["/srv/p/a"],
        ),
        (
            Agent::VsCode,
            "multi_replace_string_in_file",
            json!({"replacements": [{"filePath": "a"}, {"filePath": "b"}, {"filePath": "a"}]}),
            Crud::Update,
            vec!["a", "b"],
        ),
    ] {
        let question = question(agent, &input(tool, &arguments));
        let file = question.request.file.unwrap();
        assert_eq!(file.effect, effect, "{tool}");
        assert_eq!(
            file.paths,
            paths.iter().map(PathBuf::from).collect::<Vec<_>>(),
            "{tool}"
        );
        let words: Vec<_> = std::iter::once(tool).chain(paths).collect();
        assert_eq!(question.request.command, words.join(" "));
    }
}

#[test]
fn p_01_a_shortened_list_of_files_has_the_number_of_omitted_files() {
    let of = |files: &[String]| {
        let arguments = json!({ "files": files });
        let request = question(Agent::VsCode, &input("editFiles", &arguments)).request;
        let paths: Vec<_> = files.iter().map(PathBuf::from).collect();
        assert_eq!(request.file.unwrap().paths, paths, "none is missing");
        request.command
    };
    let length = |line: &str| line.chars().count();
    // Characters count, not bytes.
    let files: Vec<_> = (0..999).map(|n| format!("/srv/größe/{n:03}")).collect();
    let line = of(&files);
    assert!(length(&line) > MAX_COMMAND_CHARS - 32 && length(&line) <= MAX_COMMAND_CHARS);
    let (named, more) = line.split_once(" … and ").unwrap();
    let named: Vec<_> = named.split(' ').skip(1).collect();
    assert_eq!(named, files[..named.len()]);
    assert_eq!(more, format!("{} more", files.len() - named.len()));
    // A list that just fits is not shortened.
    let files = ["a".repeat(5_000), "b".repeat(10_000 - 5_000 - 11)];
    assert_eq!(length(&of(&files)), MAX_COMMAND_CHARS);
    // A path that fits into no line is shown by its beginning.
    let long = "c".repeat(20_000);
    for (files, end) in [
        (vec![long.clone()], "c…"),
        (vec![long, "d".to_owned()], "c… … and 1 more"),
    ] {
        let line = of(&files);
        assert!(line.starts_with("editFiles ccc"), "{line}");
        assert!(line.ends_with(end), "{line}");
        assert!(length(&line) <= MAX_COMMAND_CHARS, "{}", length(&line));
    }
}

#[test]
fn a_tool_that_changes_files_must_name_them() {
    for (tool, arguments) in [
        ("Write", json!({"content": "x"})),
        ("Write", json!({"file_path": 7})),
        ("Write", json!({"file_path": ""})),
        ("Write", json!({"path": ["a"]})),
        ("editFiles", json!({"files": ["a", 7]})),
        ("editFiles", json!({"files": {"a": "b"}})),
        ("apply_patch", json!({"command": "--- a/x"})),
        (
            "apply_patch",
            json!({"command": ["apply_patch", "*** Add File: a"]}),
        ),
        ("apply_patch", json!({})),
        ("create_file", json!({"filePath": "vscode-remote://host/a"})),
        ("create_file", json!({"filePath": "file:///srv/%2e%2e/a"})),
        ("Write", Value::Null),
        ("Write", json!("file_path")),
    ] {
        let error = read(
            Agent::ClaudeCode,
            input(tool, &arguments).to_string().as_bytes(),
        );
        assert!(
            error.as_ref().is_err_and(|error| error.hook.is_some()),
            "{tool} {arguments}: {error:?}"
        );
    }
}

#[test]
fn an_own_tool_that_only_informs_gets_no_decision() {
    for tool in ["Skill", "WebSearch", "Task", "TodoWrite", "SendMessage"] {
        let arguments = json!({"query": "rm -rf /", "file_path": "/a", "command": ["rm"]});
        let event = read(
            Agent::ClaudeCode,
            input(tool, &arguments).to_string().as_bytes(),
        );
        assert!(
            matches!(event, Ok(HookEvent::Nothing { .. })),
            "{tool}: {event:?}"
        );
    }
}

#[test]
fn tools_of_mcp_servers_name_their_server() {
    let readings = |agent: Agent, tool: &str, more: &Value| {
        let mut input = input(tool, &json!({"query": "rm -rf /", "path": "/etc/passwd"}));
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        let question = question(agent, &input);
        assert_eq!(question.request.file, None);
        let call = question.request.mcp.unwrap();
        assert!(!call.runs_command && call.input_hash.is_some());
        let tools = call.tools.iter();
        tools
            .map(|one| format!("{}/{}", one.server, one.tool))
            .collect::<Vec<_>>()
    };
    let none = json!({});
    let claude = |tool: &str| readings(Agent::ClaudeCode, tool, &none);
    assert_eq!(claude("mcp__files__write_file"), ["files/write_file"]);
    assert_eq!(claude("mcp__a__b__c"), ["a/b__c", "a__b/c"]);
    assert_eq!(claude("mcp__a___b"), ["a/_b", "a_/b"]);
    let server = json!({"mcp_server": {"name": "a.b:c", "source": "user"}});
    let named = readings(Agent::ClaudeCode, "mcp__a_b_c__x__y", &server);
    assert_eq!(named, ["a_b_c/x__y"]);
    // A server that is not in the name does not count.
    let other = json!({"mcp_server": {"name": "github"}});
    let named = readings(Agent::ClaudeCode, "mcp__evil__x", &other);
    assert_eq!(named, ["evil/x"]);
    let gemini = json!({"mcp_context": {"server_name": "my-server", "tool_name": "read_x"}});
    let named = readings(Agent::Gemini, "mcp_my-server_read_x", &gemini);
    assert_eq!(named, ["my-server/read_x"]);
    let named = readings(Agent::VsCode, "mcp_a_b_c", &none);
    assert_eq!(named, ["a/b_c", "a_b/c"]);
    let is_one = json!({"is_mcp_tool": true});
    let named = readings(Agent::Auggie, "read_x_my-server", &is_one);
    assert_eq!(named, ["x_my-server/read", "my-server/read_x"]);
    for broken in [
        json!({"mcp_server": "github"}),
        json!({"mcp_server": {"name": 1}}),
    ] {
        let mut input = input("mcp__a__b", &none);
        input["mcp_server"] = broken["mcp_server"].clone();
        assert!(read(Agent::ClaudeCode, input.to_string().as_bytes()).is_err());
    }
}

/// The own tools of Auggie have `_` in their names, too; `is_mcp_tool` is `false` for them.
#[test]
fn a_tool_of_auggie_that_is_none_of_a_server_is_not_checked() {
    let mut input = input("view_tasklist", &json!({"query": "rm -rf /"}));
    input["is_mcp_tool"] = false.into();
    let event = read(Agent::Auggie, input.to_string().as_bytes());
    assert!(matches!(event, Ok(HookEvent::Nothing { .. })), "{event:?}");
}

/// Auggie calls no hook for the tool that `execute-tool` calls.
#[test]
fn a_tool_of_a_server_that_a_tool_of_the_agent_calls_is_judged() {
    let execute = |arguments: Value| {
        let call =
            json!({"mcp_server": "git_hub", "tool_name": "delete_all", "arguments": arguments});
        let mut input = input("execute-tool", &call);
        input["is_mcp_tool"] = false.into();
        input
    };
    let asked = question(Agent::Auggie, &execute(json!({"a": 1})));
    let call = asked.request.mcp.expect("a tool of a server");
    assert_eq!(call.tools.len(), 1);
    assert_eq!(
        (call.tools[0].server.as_str(), call.tools[0].tool.as_str()),
        ("git_hub", "delete_all")
    );
    assert!(!call.runs_command);
    assert_eq!(
        asked.request.command,
        r#"MCP tool git_hub/delete_all {"a":1}"#
    );
    let asked = question(Agent::Auggie, &execute(json!({"command": "rm -r build"})));
    assert_eq!(asked.request.command, "rm -r build");
    assert!(asked.request.mcp.expect("a tool of a server").runs_command);
    // Auggie refuses a call without a server.
    let mut none = input("execute-tool", &json!({"tool_name": "delete_all"}));
    none["is_mcp_tool"] = false.into();
    let event = read(Agent::Auggie, none.to_string().as_bytes());
    assert!(matches!(event, Ok(HookEvent::Nothing { .. })), "{event:?}");
}

#[test]
fn the_files_that_a_report_of_a_sub_agent_contains_are_read() {
    let snippet = |path: &str| json!({"path": path, "startLine": 1, "endLine": 2});
    let report = json!({"summary": "x", "references": [{"path": "/srv/p/c", "line": 1}],
        "snippets": [snippet("/srv/p/a"), snippet("/srv/p/.env")]});
    let asked = question(
        Agent::Auggie,
        &input("finish-subagent-context-gathering", &report),
    );
    let file = asked.request.file.expect("files");
    assert_eq!(file.effect, Crud::Read);
    let paths: Vec<_> = file
        .paths
        .iter()
        .map(|path| path.to_str().unwrap())
        .collect();
    assert_eq!(paths, ["/srv/p/a", "/srv/p/.env"]);
}

#[test]
fn tools_of_agents_with_a_table_are_decided_by_it() {
    let effect = |agent: Agent, tool: &str| {
        let mut input = match agent {
            Agent::Pi => json!({
                "event": {"type": "tool_call", "toolName": tool, "toolCallId": "c", "input": {}},
                "ctx": {"cwd": "/srv/p", "hasUI": false, "mode": "print", "sessionId": "s"},
            }),
            _ => input(tool, &json!({})),
        };
        input["is_mcp_tool"] = false.into();
        match read(agent, input.to_string().as_bytes()).expect("an event") {
            HookEvent::Ask(asked) => Some(asked.request.tool.expect("a tool").effect),
            HookEvent::Nothing { .. } => None,
            other => panic!("{other:?}"),
        }
    };
    let does = |does: &str| Some(Some(AgentToolEffect::Does(does.to_owned())));
    for (agent, nothing) in [
        (Agent::Pi, "codemode"),
        (Agent::KimiCode, "Agent"),
        (Agent::KimiCode, "TowerInbox"),
        (Agent::Auggie, "sub-agent-of-the-project"),
        (Agent::Auggie, "view_tasklist"),
    ] {
        assert_eq!(effect(agent, nothing), None, "{agent} {nothing}");
    }
    for agent in [Agent::Pi, Agent::KimiCode, Agent::Auggie] {
        assert_eq!(effect(agent, "teleport"), Some(None), "{agent}");
    }
    assert_eq!(
        effect(Agent::KimiCode, "CronCreate"),
        does("makes a prompt that runs later")
    );
    assert_eq!(
        effect(Agent::KimiCode, "TowerMerge"),
        does("changes the repository and its worktrees with git")
    );
    assert_eq!(
        effect(Agent::Auggie, "github-api"),
        does("acts at a service with the account of the user")
    );
    assert_eq!(
        effect(Agent::Auggie, "web-fetch"),
        Some(Some(AgentToolEffect::Fetches(Vec::new())))
    );
}

/// Returns the input of Letta Code.
fn letta(tool: &str, arguments: &Value) -> Value {
    json!({"event_type": "PreToolUse", "agent_id": "a", "working_directory": "/srv/p",
        "tool_name": tool, "tool_input": arguments, "tool_call_id": "c"})
}

#[test]
fn a_command_for_a_shell_of_its_own_is_one_of_this_shell() {
    for (arguments, command) in [
        (json!({"cmd": "ls"}), "ls"),
        (json!({"cmd": "ls", "shell": null}), "ls"),
        (json!({"cmd": "ls", "shell": " "}), "ls"),
        (
            json!({"cmd": "ls", "shell": "/bin/dash"}),
            "'/bin/dash' -c 'ls'",
        ),
        (
            json!({"cmd": "print('x')", "shell": "python3"}),
            r"'python3' -c 'print('\''x'\'')'",
        ),
    ] {
        let asked = question(Agent::LettaCode, &letta("exec_command", &arguments));
        assert_eq!(asked.request.command, command);
    }
    let wrong = letta("exec_command", &json!({"cmd": "ls", "shell": ["sh"]}));
    assert!(read(Agent::LettaCode, wrong.to_string().as_bytes()).is_err());
}

#[test]
fn a_word_that_an_own_tool_calls_command_is_no_shell_command() {
    let arguments = json!({"command": "create", "path": "system/x.md", "reason": "x"});
    let asked = question(Agent::LettaCode, &letta("memory", &arguments));
    let effect = asked.request.tool.unwrap().effect;
    let Some(AgentToolEffect::Does(does)) = effect else {
        panic!("{effect:?}");
    };
    assert!(does.contains("memory"), "{does}");
}

#[test]
fn an_agent_on_another_machine_needs_approval() {
    for tool in ["Task", "SendAgentMessage"] {
        let here = json!({"prompt": "x", "computer": ""});
        for arguments in [json!({"prompt": "x"}), here] {
            let event = read(
                Agent::LettaCode,
                letta(tool, &arguments).to_string().as_bytes(),
            );
            assert!(matches!(event, Ok(HookEvent::Nothing { .. })), "{event:?}");
        }
        let elsewhere = json!({"prompt": "x", "computer": "cloud"});
        let asked = question(Agent::LettaCode, &letta(tool, &elsewhere));
        assert!(asked.request.tool.unwrap().effect.is_some(), "{tool}");
    }
}

#[test]
fn the_working_directory_of_a_tool_call_is_resolved() {
    for (field, given, cwd) in [
        ("workdir", "below", "/srv/p/below"),
        ("working_directory", "/elsewhere", "/elsewhere"),
        ("dir_path", "", "/srv/p"),
    ] {
        let arguments = json!({"command": "make", field: given});
        let question = question(Agent::Codex, &input("Bash", &arguments));
        assert_eq!(question.request.cwd, Some(PathBuf::from(cwd)), "{field}");
    }
    let mut relative = input("Bash", &json!({"command": "make"}));
    relative["cwd"] = json!("not/absolute");
    assert_eq!(question(Agent::Codex, &relative).request.cwd, None);
}

#[test]
fn arguments_in_a_json_string_are_parsed_once() {
    let with = |arguments: Value| {
        json!({"sessionId": "s", "toolName": "bash", "toolArgs": arguments}).to_string()
    };
    let inner = json!({"command": "make"}).to_string();
    let Ok(HookEvent::Ask(question)) = read(Agent::Copilot, with(json!(inner)).as_bytes()) else {
        panic!("a question");
    };
    assert_eq!(question.request.command, "make");
    let twice = json!(json!(inner).to_string());
    for arguments in [
        twice,
        json!("{\"command\":"),
        json!("[]"),
        json!("7"),
        json!(7),
    ] {
        let error = read(Agent::Copilot, with(arguments.clone()).as_bytes()).unwrap_err();
        assert!(error.hook.is_some(), "{arguments}");
    }
}

#[test]
fn contradicting_spellings_of_a_field_are_refused() {
    let mut both = input("Bash", &json!({"command": "ls"}));
    both["toolName"] = json!("Read");
    let error = read(Agent::ClaudeCode, both.to_string().as_bytes()).unwrap_err();
    let expected = Problem::Contradiction {
        first: "tool_name",
        second: "toolName",
    };
    assert_eq!(error.problem, expected);
    let mut inputs = input("Bash", &json!({"command": "ls"}));
    inputs["toolArgs"] = json!({"command": "make"});
    assert!(read(Agent::ClaudeCode, inputs.to_string().as_bytes()).is_err());
}
