//! Inputs of hooks for calls of the past: they are read as the input that the client sent for the same call.

use hooks_guard::protocol::{Agent, HookEvent, HookKind, PastCall, past_input, read};
use hooks_guard::{McpTool, PermissionRequest};
use serde_json::Value;

use super::samples;

/// Returns the tool and its arguments in the input of a client, which may send the arguments as a text.
fn called(input: &Value) -> Option<(&str, Value)> {
    let fields = [
        ("/tool_name", "/tool_input"),
        ("/toolName", "/toolInput"),
        ("/toolName", "/toolArgs"),
        ("/input/tool", "/output/args"),
        ("/event/toolName", "/event/input"),
        ("/tool_call/name", "/tool_call/input"),
    ];
    fields.into_iter().find_map(|(tool, arguments)| {
        let arguments = input.pointer(arguments)?;
        Some((input.pointer(tool)?.as_str()?, arguments.clone()))
    })
}

/// Returns the server and the tool that Gemini CLI names apart.
fn mcp(input: &Value) -> Option<McpTool> {
    let context = &input["mcp_context"];
    Some(McpTool {
        server: context["server_name"].as_str()?.to_owned(),
        tool: context["tool_name"].as_str()?.to_owned(),
    })
}

/// Returns what the gate decides about.
fn decided(request: &PermissionRequest) -> PermissionRequest {
    PermissionRequest {
        call_id: None,
        ..request.clone()
    }
}

#[test]
fn a_call_of_the_past_is_read_as_the_recorded_input_of_the_same_call() {
    let mut compared = 0;
    for sample in samples() {
        let mut parts = sample.name.split('/');
        let (Some("recorded"), Some(folder)) = (parts.next(), parts.next()) else {
            continue;
        };
        let agent: Agent = folder
            .trim_end_matches("-2.1.197")
            .parse()
            .expect("an agent");
        let input = sample.input.to_string();
        let Ok(HookEvent::Ask(question)) = read(agent, input.as_bytes()) else {
            continue;
        };
        if question.hook.kind != HookKind::BeforeTool {
            continue;
        }
        let (tool, arguments) = called(&sample.input).expect(&sample.name);
        let request = &question.request;
        let directory = ["cwd", "directory", "working_dir", "working_directory"]
            .into_iter()
            .find_map(|field| sample.input[field].as_str())
            .or_else(|| sample.input.pointer("/ctx/cwd")?.as_str())
            .or_else(|| sample.input.pointer("/workspace_roots/0")?.as_str())
            .or_else(|| sample.input.pointer("/workspaceRoots/0")?.as_str());
        let mcp = mcp(&sample.input);
        let call = PastCall {
            tool,
            arguments: &arguments,
            mcp: mcp.as_ref(),
            session: request.session_id.as_deref().unwrap_or("s"),
            id: request.call_id.as_deref(),
            cwd: directory.map(AsRef::as_ref),
            mode: request.permission_mode.as_deref(),
        };
        let past = past_input(agent, &call).expect(&sample.name).to_string();
        let Ok(HookEvent::Ask(past)) = read(agent, past.as_bytes()) else {
            panic!("{} asks nothing: {past}", sample.name);
        };
        assert_eq!(decided(&past.request), decided(request), "{}", sample.name);
        assert_eq!(
            past.unlisted_tool, question.unlisted_tool,
            "{}",
            sample.name
        );
        compared += 1;
    }
    assert!(compared > 60, "only {compared} inputs were compared");
}

#[test]
fn an_agent_with_an_input_of_its_own_for_each_tool_has_none() {
    let arguments = Value::Null;
    let call = PastCall {
        tool: "x",
        arguments: &arguments,
        mcp: None,
        session: "s",
        id: None,
        cwd: None,
        mode: None,
    };
    let without: Vec<&str> = Agent::ALL
        .into_iter()
        .filter(|agent| past_input(*agent, &call).is_none())
        .map(Agent::name)
        .collect();
    assert_eq!(without, ["cursor", "windsurf"]);
}
