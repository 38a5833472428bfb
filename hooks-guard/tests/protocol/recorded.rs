//! Tests the recordings: each is parsed as its event, and each reply has the form that the client
//! accepted.

use std::collections::BTreeMap;
use std::path::Path;

use hooks_guard::protocol::{
    Agent, AgentDecision, HookEvent, HookReply, decision_reply, empty_reply, failure_reply, read,
};
use hooks_guard::{FileAccess, McpCall};
use serde_json::{Value, json};

use crate::protocol::{Sample, samples};

/// Expected event of a recorded input.
#[derive(Debug)]
enum ExpectedEvent {
    /// A question about a command, about files in the form `Tool path`, or about a tool of an MCP
    /// server.
    Asks(&'static str),
    /// A command that ran, and whether it succeeded.
    Ran(&'static str, Option<bool>),
    /// A command that the agent itself denied.
    Refused(&'static str),
    /// Nothing to decide.
    Nothing,
}

use ExpectedEvent::{Asks, Nothing, Ran, Refused};

const STATUS: &str = "git status --short";
const YES: Option<bool> = Some(true);
/// A call of the tool `create_note` of the MCP server `notes`.
const NOTE: &str = r#"MCP tool notes/create_note {"text":"x"}"#;
/// The call of `create_note` if its name can be read in several ways.
const AMBIGUOUS_NOTE: &str = r#"MCP tool notes_create_note {"text":"x"}"#;

/// The same call in Auggie, which has the server at the end of the name.
const TOOL_FIRST_NOTE: &str = r#"MCP tool create_note_notes {"text":"x"}"#;

/// The call with which OpenHands starts a sub-agent.
const SUB_AGENT: &str = r#"task {"description":"x","prompt":"Tidy up the folder.","subagent_type":"general-purpose","resume":null,"max_turns":null,"kind":"TaskAction"}"#;

/// Every recording, one line each.
#[rustfmt::skip]
const RECORDED: &[(&str, ExpectedEvent)] = &[
    ("auggie/PostToolUse.create_note_notes", Ran(TOOL_FIRST_NOTE, None)),
    ("auggie/PostToolUse.launch-process", Ran(STATUS, YES)),
    ("auggie/PostToolUse.launch-process.failed", Ran("ls /nonexistent", Some(false))),
    ("auggie/PostToolUse.remove-files", Ran("remove-files ok.txt", None)),
    ("auggie/PostToolUse.save-file", Ran("save-file ok.txt", None)),
    ("auggie/PostToolUse.view", Ran("view a.txt", None)),
    ("auggie/PostToolUse.write-process.failed", Nothing),
    ("auggie/PreToolUse.apply_patch.deny", Asks("apply_patch new.txt")),
    ("auggie/PreToolUse.create_note_notes", Asks(TOOL_FIRST_NOTE)),
    ("auggie/PreToolUse.create_note_notes.deny", Asks(TOOL_FIRST_NOTE)),
    ("auggie/PreToolUse.launch-process", Asks(STATUS)),
    ("auggie/PreToolUse.remove-files", Asks("remove-files ok.txt")),
    ("auggie/PreToolUse.save-file", Asks("save-file ok.txt")),
    ("auggie/PreToolUse.str-replace-editor", Asks("str-replace-editor a.txt")),
    ("auggie/PreToolUse.view", Asks("view a.txt")),
    ("auggie/PreToolUse.view_tasklist", Nothing),
    ("auggie/PreToolUse.write-process", Nothing),
    ("claude-code-2.1.197/PostToolUse.Bash.default", Ran(STATUS, YES)),
    ("claude-code-2.1.197/PreToolUse.Bash.allow.default", Asks(STATUS)),
    ("claude-code-2.1.197/PreToolUse.Bash.ask.default", Asks("rm -rf build")),
    ("claude-code/PostToolUse.Bash.acceptEdits", Ran(STATUS, YES)),
    ("claude-code/PostToolUse.Bash.auto", Ran(STATUS, YES)),
    ("claude-code/PostToolUse.Bash.bypassPermissions", Ran(STATUS, YES)),
    ("claude-code/PostToolUse.Bash.default", Ran(STATUS, YES)),
    ("claude-code/PostToolUse.Bash.dontAsk", Ran(STATUS, YES)),
    ("claude-code/PostToolUse.Read.bypassPermissions", Ran("Read /srv/dev/proj/a.txt", YES)),
    ("claude-code/PostToolUse.Read.default", Ran("Read /srv/dev/proj/a.txt", YES)),
    ("claude-code/PostToolUse.Write.auto", Ran("Write /srv/dev/proj/new.txt", YES)),
    ("claude-code/PostToolUse.mcp__notes__create_note.bypassPermissions", Ran(NOTE, YES)),
    ("claude-code/PostToolUseFailure.Bash.default", Ran("ls /nonexistent", Some(false))),
    ("claude-code/PreSkillShellCommand.Bash.bypassPermissions", Asks("rm -rf build")),
    ("claude-code/PreToolUse.Bash.allow.acceptEdits", Asks(STATUS)),
    ("claude-code/PreToolUse.Bash.allow.auto", Asks(STATUS)),
    ("claude-code/PreToolUse.Bash.allow.bypassPermissions", Asks(STATUS)),
    ("claude-code/PreToolUse.Bash.allow.default", Asks("ls /nonexistent")),
    ("claude-code/PreToolUse.Bash.allow.dontAsk", Asks(STATUS)),
    ("claude-code/PreToolUse.Bash.ask.acceptEdits", Asks("rm -rf build")),
    ("claude-code/PreToolUse.Bash.ask.auto", Asks("rm -rf build")),
    ("claude-code/PreToolUse.Bash.ask.default", Asks("rm -rf build")),
    ("claude-code/PreToolUse.Bash.deny.bypassPermissions", Asks("rm -rf build")),
    ("claude-code/PreToolUse.Bash.deny.dontAsk", Asks("rm -rf build")),
    ("claude-code/PreToolUse.Read.bypassPermissions", Asks("Read /srv/dev/proj/a.txt")),
    ("claude-code/PreToolUse.Read.default", Asks("Read /srv/dev/proj/a.txt")),
    ("claude-code/PreToolUse.Skill.bypassPermissions", Nothing),
    ("claude-code/PreToolUse.Write.ask.auto", Asks("Write /srv/dev/proj/new.txt")),
    ("claude-code/PreToolUse.Write.ask.default", Asks("Write /srv/dev/proj/new.txt")),
    ("claude-code/PreToolUse.Write.deny.bypassPermissions", Asks("Write /srv/dev/proj/new.txt")),
    ("claude-code/PreToolUse.mcp__notes__create_note.deny.bypassPermissions", Asks(NOTE)),
    ("cline/tool_call.editor", Asks("editor /srv/dev/proj/new.txt")),
    ("cline/tool_call.editor.cancel", Asks("editor /srv/dev/proj/new.txt")),
    ("cline/tool_call.notes__create_note", Asks(NOTE)),
    ("cline/tool_call.notes__create_note.cancel", Asks(NOTE)),
    ("cline/tool_call.read_files", Asks("read_files /srv/dev/proj/a.txt")),
    ("cline/tool_call.run_commands", Asks(STATUS)),
    ("cline/tool_call.run_commands.cancel", Asks("rm -r build")),
    ("cline/tool_call.run_commands.words", Asks("git 'status' '--short'")),
    ("cline/tool_result.editor", Ran("editor /srv/dev/proj/new.txt", YES)),
    ("cline/tool_result.notes__create_note", Ran(NOTE, YES)),
    ("cline/tool_result.notes__create_note.failed", Ran(NOTE, Some(false))),
    ("cline/tool_result.read_files", Ran("read_files /srv/dev/proj/a.txt", YES)),
    ("cline/tool_result.run_commands", Ran(STATUS, YES)),
    ("cline/tool_result.run_commands.failed", Ran("ls /nonexistent", Some(false))),
    ("codex/PermissionRequest.Bash.default", Asks("rm -r build")),
    ("codex/PostToolUse.Bash.bypassPermissions", Ran(STATUS, None)),
    ("codex/PostToolUse.Bash.default", Ran(STATUS, None)),
    ("codex/PostToolUse.mcp__notes__create_note.bypassPermissions", Ran(NOTE, None)),
    ("codex/PreToolUse.Bash.bypassPermissions", Asks(STATUS)),
    ("codex/PreToolUse.Bash.default", Asks("rm -r build")),
    ("codex/PreToolUse.Bash.deny.bypassPermissions", Asks("rm -r build")),
    ("codex/PreToolUse.apply_patch.deny.bypassPermissions", Asks("apply_patch /srv/dev/proj/new.txt")),
    ("codex/PreToolUse.mcp__notes__create_note.deny.bypassPermissions", Asks(NOTE)),
    ("codex/PreToolUse.view_image.bypassPermissions", Asks("view_image /srv/dev/proj/a.txt")),
    ("copilot/postToolUse.bash", Ran(STATUS, YES)),
    ("copilot/postToolUse.create", Ran("create /srv/dev/proj/new.txt", YES)),
    ("copilot/postToolUse.notes-create_note", Ran(NOTE, YES)),
    ("copilot/postToolUse.view", Ran("view /srv/dev/proj/a.txt", YES)),
    ("copilot/preToolUse.bash.allow", Asks(STATUS)),
    ("copilot/preToolUse.bash.ask", Asks("rm -rf build")),
    ("copilot/preToolUse.create.ask", Asks("create /srv/dev/proj/new.txt")),
    ("copilot/preToolUse.notes-create_note.deny", Asks(NOTE)),
    ("copilot/preToolUse.view", Asks("view /srv/dev/proj/a.txt")),
    ("droid/PostToolUse.Execute.auto-low", Ran(STATUS, YES)),
    ("droid/PostToolUse.notes___create_note.auto-low", Ran(NOTE, None)),
    ("droid/PreToolUse.Create.deny.auto-low", Asks("Create /srv/dev/proj/new.txt")),
    ("droid/PreToolUse.Execute.allow.auto-low", Asks(STATUS)),
    ("droid/PreToolUse.Execute.deny.auto-low", Asks("rm -r build")),
    ("droid/PreToolUse.notes___create_note.deny.auto-low", Asks(NOTE)),
    ("gemini/AfterTool.mcp_notes_create_note", Ran(NOTE, None)),
    ("gemini/AfterTool.run_shell_command", Ran(STATUS, None)),
    ("gemini/AfterTool.write_file", Ran("write_file /srv/dev/proj/new.txt", None)),
    ("gemini/BeforeTool.mcp_notes_create_note.deny", Asks(NOTE)),
    ("gemini/BeforeTool.run_shell_command.allow", Asks(STATUS)),
    ("gemini/BeforeTool.run_shell_command.ask", Asks("rm -rf build")),
    ("gemini/BeforeTool.run_shell_command.deny", Asks(STATUS)),
    ("gemini/BeforeTool.write_file.ask", Asks("write_file /srv/dev/proj/new.txt")),
    ("goose/PostToolUse.analyze", Ran("analyze /srv/dev/proj", YES)),
    ("goose/PostToolUse.load", Nothing),
    ("goose/PostToolUse.notes__create_note", Ran(NOTE, YES)),
    ("goose/PostToolUse.shell", Ran(STATUS, YES)),
    ("goose/PostToolUse.tree", Ran("tree .", YES)),
    ("goose/PostToolUse.write", Ran("write /srv/dev/proj/new.txt", YES)),
    ("goose/PostToolUseFailure.shell", Ran("ls /nonexistent", Some(false))),
    ("goose/PreToolUse.analyze", Asks("analyze /srv/dev/proj")),
    ("goose/PreToolUse.edit.deny", Asks("edit /srv/dev/proj/a.txt")),
    ("goose/PreToolUse.extensionmanager__manage_extensions.deny", Asks(r#"extensionmanager__manage_extensions {"action":"disable","extension_name":"apps"}"#)),
    ("goose/PreToolUse.load", Nothing),
    ("goose/PreToolUse.notes__create_note", Asks(NOTE)),
    ("goose/PreToolUse.notes__create_note.deny", Asks(NOTE)),
    ("goose/PreToolUse.shell", Asks(STATUS)),
    ("goose/PreToolUse.shell.deny", Asks("rm -r build")),
    ("goose/PreToolUse.tree", Asks("tree .")),
    ("goose/PreToolUse.write", Asks("write /srv/dev/proj/new.txt")),
    ("grok/PermissionDenied.run_terminal_command.bypassPermissions", Refused(STATUS)),
    ("grok/PostToolUse.notes__create_note.bypassPermissions", Ran(NOTE, YES)),
    ("grok/PostToolUse.run_terminal_command.background.bypassPermissions", Ran("sleep 3", None)),
    ("grok/PostToolUse.run_terminal_command.bypassPermissions", Ran(STATUS, YES)),
    ("grok/PostToolUse.run_terminal_command.failed.bypassPermissions", Ran("ls /nonexistent", Some(false))),
    ("grok/PreToolUse.list_dir.bypassPermissions", Asks("list_dir /srv/dev/proj")),
    ("grok/PreToolUse.notes__create_note.deny.bypassPermissions", Asks(NOTE)),
    ("grok/PreToolUse.run_terminal_command.allow.bypassPermissions", Asks(STATUS)),
    ("grok/PreToolUse.run_terminal_command.ask.default", Asks("rm -r build")),
    ("grok/PreToolUse.run_terminal_command.deny.bypassPermissions", Asks("rm -r build")),
    ("grok/PreToolUse.write.deny.bypassPermissions", Asks("write /srv/dev/proj/new.txt")),
    ("kilo-code/tool.execute.after.background_process", Nothing),
    ("kilo-code/tool.execute.after.bash", Ran(STATUS, YES)),
    ("kilo-code/tool.execute.after.bash.failed", Ran("ls /nonexistent", Some(false))),
    ("kilo-code/tool.execute.after.cron_list", Nothing),
    ("kilo-code/tool.execute.after.notes_create_note", Ran(AMBIGUOUS_NOTE, None)),
    ("kilo-code/tool.execute.after.read", Ran("read /srv/dev/proj/a.txt", None)),
    ("kilo-code/tool.execute.after.write", Ran("write /srv/dev/proj/new.txt", None)),
    ("kilo-code/tool.execute.before.background_process", Nothing),
    ("kilo-code/tool.execute.before.background_process.throws", Asks("rm -r build")),
    ("kilo-code/tool.execute.before.bash", Asks(STATUS)),
    ("kilo-code/tool.execute.before.cron_list", Nothing),
    ("kilo-code/tool.execute.before.edit.throws", Asks("edit /srv/dev/proj/a.txt")),
    ("kilo-code/tool.execute.before.glob", Asks("glob /srv/dev/proj")),
    ("kilo-code/tool.execute.before.grep", Asks("grep /srv/dev/proj")),
    ("kilo-code/tool.execute.before.notes_create_note", Asks(AMBIGUOUS_NOTE)),
    ("kilo-code/tool.execute.before.notes_create_note.throws", Asks(AMBIGUOUS_NOTE)),
    ("kilo-code/tool.execute.before.read", Asks("read /srv/dev/proj/a.txt")),
    ("kilo-code/tool.execute.before.webfetch", Asks(r#"webfetch {"url":"https://example.com/","format":"text"}"#)),
    ("kilo-code/tool.execute.before.write", Asks("write /srv/dev/proj/new.txt")),
    ("kilo-code/tool.execute.before.write.throws", Asks("write /srv/dev/proj/other.txt")),
    ("kimi-code/PostToolUse.Bash", Ran(STATUS, YES)),
    ("kimi-code/PostToolUse.Read", Ran("Read /srv/dev/proj/a.txt", YES)),
    ("kimi-code/PostToolUse.Write", Ran("Write /srv/dev/proj/new.txt", YES)),
    ("kimi-code/PostToolUse.mcp__notes__create_note", Ran(NOTE, YES)),
    ("kimi-code/PostToolUseFailure.Bash", Ran("ls /nonexistent", Some(false))),
    ("kimi-code/PostToolUseFailure.Bash.denied", Ran("rm -r build", Some(false))),
    ("kimi-code/PostToolUseFailure.Glob", Ran("Glob /srv/dev/proj", Some(false))),
    ("kimi-code/PostToolUseFailure.Grep", Ran("Grep /srv/dev/proj", Some(false))),
    ("kimi-code/PostToolUseFailure.Write.denied", Ran("Write /srv/dev/proj/new.txt", Some(false))),
    ("kimi-code/PostToolUseFailure.mcp__notes__create_note.denied", Ran(NOTE, Some(false))),
    ("kimi-code/PreToolUse.Bash.allow", Asks(STATUS)),
    ("kimi-code/PreToolUse.Bash.deny", Asks("rm -r build")),
    ("kimi-code/PreToolUse.Glob", Asks("Glob /srv/dev/proj")),
    ("kimi-code/PreToolUse.Grep", Asks("Grep /srv/dev/proj")),
    ("kimi-code/PreToolUse.Read", Asks("Read /srv/dev/proj/a.txt")),
    ("kimi-code/PreToolUse.Write.deny", Asks("Write /srv/dev/proj/new.txt")),
    ("kimi-code/PreToolUse.mcp__notes__create_note.allow", Asks(NOTE)),
    ("kimi-code/PreToolUse.mcp__notes__create_note.deny", Asks(NOTE)),
    ("letta-code/PostToolUse.Bash", Ran(STATUS, YES)),
    ("letta-code/PostToolUse.Bash.failed", Ran("ls /nonexistent", Some(false))),
    ("letta-code/PostToolUse.Edit", Ran("Edit /srv/dev/proj/a.txt", YES)),
    ("letta-code/PostToolUse.Edit.failed", Ran("Edit /srv/dev/proj/a.txt", Some(false))),
    ("letta-code/PostToolUse.Read", Ran("Read /srv/dev/proj/a.txt", YES)),
    ("letta-code/PostToolUse.Task", Nothing),
    ("letta-code/PostToolUse.Write", Ran("Write /srv/dev/proj/ok.txt", YES)),
    ("letta-code/PreToolUse.Bash", Asks(STATUS)),
    ("letta-code/PreToolUse.Bash.deny", Asks("rm -r build")),
    ("letta-code/PreToolUse.Edit", Asks("Edit /srv/dev/proj/a.txt")),
    ("letta-code/PreToolUse.Read", Asks("Read /srv/dev/proj/a.txt")),
    ("letta-code/PreToolUse.SetWorkingDirectory.deny", Asks(r#"SetWorkingDirectory {"path":"/tmp"}"#)),
    ("letta-code/PreToolUse.Task", Nothing),
    ("letta-code/PreToolUse.Write", Asks("Write /srv/dev/proj/ok.txt")),
    ("letta-code/PreToolUse.memory.deny", Asks(r#"memory {"command":"create","reason":"x","file_path":"x.md","description":"x","file_text":"x"}"#)),
    ("mistral-vibe/post_tool.file_system.bash", Ran(STATUS, YES)),
    ("mistral-vibe/post_tool.mcp_notes.create_note", Ran(NOTE, YES)),
    ("mistral-vibe/post_tool.process.start", Ran("cat", YES)),
    ("mistral-vibe/pre_tool.agents.spawn", Nothing),
    ("mistral-vibe/pre_tool.file_system.bash", Asks(STATUS)),
    ("mistral-vibe/pre_tool.file_system.bash.sub-agent", Asks(STATUS)),
    ("mistral-vibe/pre_tool.mcp_notes.create_note", Asks(NOTE)),
    ("mistral-vibe/pre_tool.mcp_notes.create_note.deny", Asks(NOTE)),
    ("mistral-vibe/pre_tool.process.start", Asks("cat")),
    ("mistral-vibe/pre_tool.process.write.deny", Asks(r#"process.write {"processId":"process-0","text":"x"}"#)),
    ("mistral-vibe/pre_tool.self.wait", Nothing),
    ("opencode/tool.execute.after.bash", Ran(STATUS, YES)),
    ("opencode/tool.execute.after.notes_create_note", Ran(AMBIGUOUS_NOTE, None)),
    ("opencode/tool.execute.after.read", Ran("read /srv/dev/proj/a.txt", None)),
    ("opencode/tool.execute.after.task", Nothing),
    ("opencode/tool.execute.before.bash", Asks(STATUS)),
    ("opencode/tool.execute.before.bash.throws", Asks("rm -rf build")),
    ("opencode/tool.execute.before.notes_create_note.throws", Asks(AMBIGUOUS_NOTE)),
    ("opencode/tool.execute.before.read", Asks("read /srv/dev/proj/a.txt")),
    ("opencode/tool.execute.before.task", Nothing),
    ("opencode/tool.execute.before.write.throws", Asks("write /srv/dev/proj/new.txt")),
    ("openhands/PostToolUse.file_editor.view", Ran("file_editor /srv/dev/proj/a.txt", None)),
    ("openhands/PostToolUse.terminal", Ran(STATUS, YES)),
    ("openhands/PreToolUse.create_note.deny", Asks(r#"create_note {"data":{"text":"x"},"kind":"MCPToolAction"}"#)),
    ("openhands/PreToolUse.file_editor.view", Asks("file_editor /srv/dev/proj/a.txt")),
    ("openhands/PreToolUse.task.deny", Asks(SUB_AGENT)),
    ("openhands/PreToolUse.terminal", Asks(STATUS)),
    ("openhands/PreToolUse.terminal.deny", Asks("rm -r build")),
    ("pi/tool_call.bash", Asks(STATUS)),
    ("pi/tool_call.bash.block", Asks("rm -r build")),
    ("pi/tool_call.bash.confirm", Asks("rm -r build")),
    ("pi/tool_call.edit.block", Asks("edit a.txt")),
    ("pi/tool_call.find", Asks("find /srv/dev/proj")),
    ("pi/tool_call.grep", Asks("grep /srv/dev/proj")),
    ("pi/tool_call.ls", Asks("ls .")),
    ("pi/tool_call.mcp__notes__create_note", Asks(NOTE)),
    ("pi/tool_call.mcp__notes__create_note.block", Asks(NOTE)),
    ("pi/tool_call.read", Asks("read a.txt")),
    ("pi/tool_call.write.block", Asks("write /srv/dev/proj/new.txt")),
    ("pi/tool_refused.bash", Refused("rm -r build")),
    ("pi/tool_result.bash", Ran(STATUS, YES)),
    ("pi/tool_result.bash.failed", Ran("ls /nonexistent", Some(false))),
    ("pi/tool_result.edit", Ran("edit a.txt", YES)),
    ("pi/tool_result.find.failed", Ran("find /srv/dev/proj", Some(false))),
    ("pi/tool_result.grep.failed", Ran("grep /srv/dev/proj", Some(false))),
    ("pi/tool_result.ls", Ran("ls .", YES)),
    ("pi/tool_result.mcp__notes__create_note", Ran(NOTE, YES)),
    ("pi/tool_result.read", Ran("read a.txt", YES)),
    ("pi/tool_result.write", Ran("write /srv/dev/proj/new.txt", YES)),
    ("qwen-code/PostToolUse.mcp__notes__create_note.yolo", Ran(NOTE, YES)),
    ("qwen-code/PostToolUse.run_shell_command.yolo", Ran(STATUS, YES)),
    ("qwen-code/PreToolUse.mcp__notes__create_note.deny.yolo", Asks(NOTE)),
    ("qwen-code/PreToolUse.run_shell_command.allow.yolo", Asks(STATUS)),
    ("qwen-code/PreToolUse.run_shell_command.ask.yolo", Asks("rm -r build")),
    ("qwen-code/PreToolUse.run_shell_command.deny.yolo", Asks("rm -r build")),
    ("qwen-code/PreToolUse.write_file.deny.yolo", Asks("write_file /srv/dev/proj/new.txt")),
];

/// The decision in the field that a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    Allow,
    Ask,
    Deny,
    /// No decision: the client continues as without a hook.
    Silent,
}

use Field::{Allow, Ask, Deny, Silent};

/// Decisions that an agent receives at an event in a permission mode for the answers allow, ask and
/// deny. An empty mode means every mode that the rows below it do not name.
#[rustfmt::skip]
const DECISIONS: &[(Agent, &str, &str, [Field; 3])] = &[
    (Agent::ClaudeCode, "PreToolUse", "bypassPermissions", [Allow, Deny, Deny]),
    (Agent::ClaudeCode, "PreToolUse", "dontAsk", [Allow, Deny, Deny]),
    (Agent::ClaudeCode, "PreToolUse", "", [Allow, Ask, Deny]),
    (Agent::ClaudeCode, "PreSkillShellCommand", "", [Allow, Deny, Deny]),
    (Agent::Codex, "PreToolUse", "", [Silent, Deny, Deny]),
    (Agent::Codex, "PermissionRequest", "", [Allow, Silent, Deny]),
    (Agent::Gemini, "BeforeTool", "", [Allow, Ask, Deny]),
    (Agent::Copilot, "preToolUse", "", [Allow, Ask, Deny]),
    (Agent::OpenCode, "tool.execute.before", "", [Silent, Deny, Deny]),
    (Agent::QwenCode, "PreToolUse", "", [Allow, Ask, Deny]),
    (Agent::Droid, "PreToolUse", "", [Allow, Deny, Deny]),
    (Agent::Grok, "PreToolUse", "bypassPermissions", [Silent, Deny, Deny]),
    (Agent::Grok, "PreToolUse", "", [Silent, Ask, Deny]),
    (Agent::Cline, "tool_call", "", [Silent, Deny, Deny]),
    (Agent::Pi, "tool_call", "tui", [Silent, Ask, Deny]),
    (Agent::Pi, "tool_call", "", [Silent, Deny, Deny]),
    (Agent::KimiCode, "PreToolUse", "", [Allow, Deny, Deny]),
    (Agent::MistralVibe, "pre_tool", "", [Silent, Deny, Deny]),
    (Agent::OpenHands, "PreToolUse", "", [Silent, Deny, Deny]),
    (Agent::LettaCode, "PreToolUse", "", [Silent, Deny, Deny]),
    (Agent::Auggie, "PreToolUse", "", [Silent, Deny, Deny]),
    (Agent::Goose, "PreToolUse", "", [Silent, Deny, Deny]),
    (Agent::KiloCode, "tool.execute.before", "", [Silent, Deny, Deny]),
];

/// One recording.
struct Recording {
    agent: Agent,
    /// Event name, such as `PreToolUse`.
    event: String,
    mode: String,
    input: Vec<u8>,
    output: Value,
}

fn recording(name: &str) -> Recording {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/protocol/recorded")
        .join(format!("{name}.json"));
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (folder, file) = name.split_once('/').unwrap();
    let agent = match folder {
        "claude-code-2.1.197" => Agent::ClaudeCode,
        agent => agent.parse().unwrap(),
    };
    let event = match file.strip_prefix("tool.execute.") {
        Some(rest) => format!("tool.execute.{}", rest.split('.').next().unwrap()),
        None => file.split('.').next().unwrap().to_owned(),
    };
    let input = &recorded["input"];
    let recording = Recording {
        agent,
        event,
        mode: (input["permission_mode"].as_str())
            .or(input["ctx"]["mode"].as_str())
            .unwrap_or_default()
            .into(),
        input: input.to_string().into_bytes(),
        output: reply_of(agent, &recorded["exit"], recorded["output"].clone()),
    };
    let denies =
        recording.event == "PreToolUse" && decision(agent, "PreToolUse", &recording.output) == Deny;
    let exit = exit_status(agent, denies).to_string();
    assert_eq!(recorded["exit"], exit, "{name}");
    recording
}

/// The agents whose hook denies by its exit status alone.
const BY_STATUS: [Agent; 3] = [Agent::LettaCode, Agent::Auggie, Agent::OpenHands];

/// Returns the exit status of a reply. The other agents do not read it.
fn exit_status(agent: Agent, denies: bool) -> u8 {
    match agent {
        Agent::Grok | Agent::Goose if denies => 2,
        agent if BY_STATUS.contains(&agent) && denies => 2,
        _ => 0,
    }
}

/// Returns a reply as the client reads it: the output, the exit status, or both.
fn reply_of(agent: Agent, exit: &Value, output: Value) -> Value {
    match agent {
        agent if BY_STATUS.contains(&agent) && exit == "2" => json!({"denied": true}),
        Agent::Goose => json!({"exit": exit, "output": output}),
        _ => output,
    }
}

/// Returns a reply of the guard as the client reads it.
fn read_reply(agent: Agent, reply: &HookReply) -> Value {
    let exit = reply.exit.to_string().into();
    reply_of(agent, &exit, printed(&reply.stdout))
}

/// Returns the decision in a reply, read as the client reads it.
fn decision(agent: Agent, event: &str, output: &Value) -> Field {
    let field = match (agent, event) {
        (Agent::ClaudeCode | Agent::Codex, "PermissionRequest") => {
            "/hookSpecificOutput/decision/behavior"
        }
        (Agent::ClaudeCode | Agent::Codex | Agent::QwenCode | Agent::Droid | Agent::Grok, _)
        | (Agent::KimiCode, _) => "/hookSpecificOutput/permissionDecision",
        (Agent::Pi, _) => match (output["block"].as_bool(), output["confirm"].as_str()) {
            (Some(true), None) => return Deny,
            (Some(false), None) => return Silent,
            (None, Some(_)) => return Ask,
            _ => panic!("{agent} {event}: {output}"),
        },
        (agent, _) if BY_STATUS.contains(&agent) => match output["denied"] == true {
            true => return Deny,
            false => {
                assert_eq!(*output, "", "{agent} {event}");
                return Silent;
            }
        },
        (Agent::Gemini | Agent::MistralVibe, _) => "/decision",
        (Agent::Copilot, _) => "/permissionDecision",
        (Agent::Cline, _) => match output["cancel"].as_bool() {
            Some(true) => return Deny,
            Some(false) => return Silent,
            None => panic!("{agent} {event}: {output}"),
        },
        (Agent::Goose, _) => {
            assert_eq!(output["output"], "", "{agent} {event}");
            return match output["exit"].as_str() {
                Some("2") => Deny,
                Some("0") => Silent,
                _ => panic!("{agent} {event}: {output}"),
            };
        }
        (Agent::OpenCode | Agent::KiloCode, _) if output["throws"].is_string() => return Deny,
        (Agent::OpenCode | Agent::KiloCode, _) => {
            assert_eq!(*output, json!({"returns": null}));
            return Silent;
        }
        _ => panic!("{agent} is not recorded"),
    };
    match output.pointer(field).and_then(Value::as_str) {
        Some("allow") => Allow,
        Some("ask") => Ask,
        Some("deny") => Deny,
        Some(other) => panic!("{agent} {event}: `{other}`"),
        None => {
            assert!(
                output == "" || *output == json!({}),
                "{agent} {event}: {output}"
            );
            Silent
        }
    }
}

/// Returns a reply without its wording.
fn form(output: &Value) -> Value {
    const WORDING: [&str; 8] = [
        "confirm",
        "errorMessage",
        "permissionDecisionReason",
        "systemMessage",
        "reason",
        "message",
        "stopReason",
        "throws",
    ];
    match output {
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| match value.as_str() {
                Some(text) if WORDING.contains(&key.as_str()) => {
                    assert!(!text.is_empty(), "{key} is empty");
                    (key.clone(), json!("…"))
                }
                _ => (key.clone(), form(value)),
            })
            .collect(),
        other => other.clone(),
    }
}

fn printed(stdout: &str) -> Value {
    match stdout {
        "" => json!(""),
        text => serde_json::from_str(text).unwrap(),
    }
}

fn expected(recording: &Recording) -> [Field; 3] {
    let found = DECISIONS.iter().find(|(agent, event, mode, _)| {
        *agent == recording.agent
            && *event == recording.event
            && (mode.is_empty() || *mode == recording.mode)
    });
    let Some((.., fields)) = found else {
        panic!("no decision for {} {}", recording.agent, recording.event);
    };
    *fields
}

#[test]
fn every_recording_is_listed() {
    let listed: Vec<_> = RECORDED.iter().map(|(name, _)| *name).collect();
    let mut there: Vec<_> = samples()
        .into_iter()
        .filter_map(|Sample { name, .. }| name.strip_prefix("recorded/").map(str::to_owned))
        .collect();
    there.sort();
    assert_eq!(there, listed);
}

#[test]
fn each_recording_is_parsed_as_its_event() {
    for (name, is) in RECORDED {
        let recording = recording(name);
        let event = read(recording.agent, &recording.input).unwrap();
        let request = match (is, &event) {
            (Asks(command), HookEvent::Ask(question)) => {
                assert_eq!(question.request.command, *command, "{name}");
                &question.request
            }
            (Ran(command, succeeded), HookEvent::Ran(ran)) => {
                assert_eq!(ran.request.command, *command, "{name}");
                assert_eq!(ran.outcome.succeeded, *succeeded, "{name}");
                assert_eq!(
                    form(&recording.output),
                    read_reply(recording.agent, &empty_reply(ran.hook))
                );
                &ran.request
            }
            (Refused(command), HookEvent::Refused(denial)) => {
                assert_eq!(denial.request.command, *command, "{name}");
                assert_eq!(
                    recording.output,
                    read_reply(recording.agent, &empty_reply(denial.hook))
                );
                &denial.request
            }
            (Nothing, HookEvent::Nothing { hook, .. }) => {
                assert_eq!(
                    recording.output,
                    read_reply(recording.agent, &empty_reply(*hook)),
                    "{name}"
                );
                continue;
            }
            (is, event) => panic!("{name} is {is:?}, read as {event:?}"),
        };
        assert_eq!(request.agent.as_deref(), Some(recording.agent.name()));
        assert!(request.session_id.is_some(), "{name}");
        assert_eq!(
            request.cwd.as_deref(),
            Some("/srv/dev/proj".as_ref()),
            "{name}"
        );
    }
}

#[test]
fn each_reply_has_the_shape_that_the_client_accepted() {
    let mut accepted = BTreeMap::new();
    for (name, is) in RECORDED {
        let Asks(_) = is else { continue };
        let recording = recording(name);
        let (agent, event) = (recording.agent, recording.event.clone());
        let field = decision(agent, &event, &recording.output);
        let form = form(&recording.output);
        let before = accepted.insert((agent, event, field), form.clone());
        assert!(before.is_none_or(|before| before == form), "{name}");
    }
    for (name, is) in RECORDED {
        let Asks(_) = is else { continue };
        let recording = recording(name);
        let agent = recording.agent;
        let HookEvent::Ask(question) = read(agent, &recording.input).unwrap() else {
            panic!("{name} is a question");
        };
        let why = || "DELETE: because".to_owned();
        let answers = [
            AgentDecision::Allow(why()),
            AgentDecision::Ask(why()),
            AgentDecision::Deny(why()),
            AgentDecision::Nothing,
        ];
        let [allow, ask, deny] = expected(&recording);
        for (given, field) in answers.iter().zip([allow, ask, deny, Silent]) {
            let reply = decision_reply(&question, given);
            let exit = exit_status(agent, field == Deny);
            assert_eq!(reply.exit, exit, "{name}");
            assert_eq!(reply.stderr.is_empty(), exit == 0, "{name}");
            let output = read_reply(agent, &reply);
            let what = format!("{name}: {given:?} is answered {output}");
            assert_eq!(decision(agent, &recording.event, &output), field, "{what}");
            let key = (agent, recording.event.clone(), field);
            if let Some(accepted) = accepted.get(&key) {
                assert_eq!(form(&output), *accepted, "{what}");
            }
        }
        let output = read_reply(agent, &failure_reply(agent, Some(question.hook), "failed"));
        assert_eq!(decision(agent, &recording.event, &output), Deny, "{name}");
    }
}

#[test]
fn an_unreadable_input_is_denied_by_the_exit_status() {
    for agent in [
        Agent::MistralVibe,
        Agent::OpenHands,
        Agent::LettaCode,
        Agent::Auggie,
        Agent::ClaudeCode,
        Agent::Codex,
        Agent::Gemini,
        Agent::Copilot,
        Agent::QwenCode,
        Agent::Droid,
        Agent::Grok,
        Agent::KimiCode,
        Agent::Goose,
    ] {
        let reply = failure_reply(agent, None, "not JSON");
        assert_eq!(
            (reply.exit, reply.stdout.as_str(), reply.stderr.as_str()),
            (2, "", "not JSON"),
            "{agent}"
        );
    }
}

#[test]
fn an_unreadable_input_is_denied_by_the_output_for_cline_which_ignores_the_exit_status() {
    let reply = failure_reply(Agent::Cline, None, "not JSON");
    assert_eq!(
        printed(&reply.stdout),
        json!({"cancel": true, "errorMessage": "not JSON"})
    );
    assert_eq!(reply.stderr, "not JSON");
    assert_eq!(reply.exit, 0, "the script would add a second reply");
}

#[test]
fn the_result_of_cline_has_the_error_and_the_exit_status() {
    for (name, status, error) in [
        ("run_commands.failed", Some(2), "Command exited with code 2"),
        ("notes__create_note.failed", None, "EISDIR"),
    ] {
        let recording = recording(&format!("cline/tool_result.{name}"));
        let HookEvent::Ran(ran) = read(recording.agent, &recording.input).unwrap() else {
            panic!("{name} ran");
        };
        assert_eq!(ran.outcome.exit_status, status, "{name}");
        assert!(ran.outcome.error.unwrap().contains(error), "{name}");
        assert!(ran.request.call_id.unwrap().starts_with("call_"), "{name}");
    }
}

/// Mistral Vibe reports a command that failed as a success, with its exit status.
#[test]
fn a_failed_command_of_mistral_vibe_has_its_exit_status() {
    let recording = recording("mistral-vibe/post_tool.file_system.bash");
    let mut input: Value = serde_json::from_slice(&recording.input).unwrap();
    for (status, returned, succeeded) in [
        ("success", 3, Some(false)),
        ("failure", 0, Some(false)),
        ("cancelled", 0, Some(false)),
        ("success", 0, YES),
    ] {
        input["tool_status"] = status.into();
        input["tool_output"]["returncode"] = returned.into();
        let event = read(Agent::MistralVibe, input.to_string().as_bytes()).unwrap();
        let HookEvent::Ran(ran) = event else {
            panic!("it ran");
        };
        assert_eq!(ran.outcome.succeeded, succeeded, "{status} {returned}");
        assert_eq!(ran.outcome.exit_status, Some(returned));
    }
}

/// The variables of a process of Mistral Vibe are part of its command.
#[test]
fn the_variables_of_a_process_count() {
    let recording = recording("mistral-vibe/pre_tool.process.start");
    let mut input: Value = serde_json::from_slice(&recording.input).unwrap();
    input["tool_input"]["env"] = json!({"GIT_PAGER": "it's", "A_1": "b"});
    let event = read(Agent::MistralVibe, input.to_string().as_bytes()).unwrap();
    let HookEvent::Ask(question) = event else {
        panic!("a question");
    };
    let command = question.request.command;
    assert_eq!(command, r"export GIT_PAGER='it'\''s'; export A_1='b'; cat");
    for env in [json!({"A": 1}), json!({"A;rm -r x": "b"}), json!({"": "b"})] {
        input["tool_input"]["env"] = env;
        assert!(read(Agent::MistralVibe, input.to_string().as_bytes()).is_err());
    }
}

/// OpenHands calls the hook to read more output of a command that runs.
#[test]
fn openhands_that_reads_more_output_asks_nothing() {
    let of = |arguments: Value| {
        let input = json!({
            "event_type": "PreToolUse", "tool_name": "terminal", "tool_input": arguments,
            "session_id": "s", "working_dir": "/srv/dev/proj",
        });
        read(Agent::OpenHands, input.to_string().as_bytes())
    };
    let waits = of(json!({"command": "", "is_input": false, "reset": false}));
    assert!(matches!(waits, Ok(HookEvent::Nothing { .. })), "{waits:?}");
    for arguments in [
        json!({"command": "", "is_input": true}),
        json!({"command": "", "is_input": false, "reset": true}),
        json!({"command": "!rm -r build", "is_input": true}),
    ] {
        let asks = of(arguments);
        assert!(!matches!(asks, Ok(HookEvent::Nothing { .. })), "{asks:?}");
    }
}

/// Kimi Code reports a call that its hook denied as a failed one.
#[test]
fn the_failure_of_kimi_code_has_the_error_and_the_exit_status() {
    for (name, status) in [("Bash", Some(2)), ("Bash.denied", None)] {
        let recording = recording(&format!("kimi-code/PostToolUseFailure.{name}"));
        let HookEvent::Ran(ran) = read(recording.agent, &recording.input).unwrap() else {
            panic!("{name} ran");
        };
        assert_eq!(ran.outcome.exit_status, status, "{name}");
        assert!(ran.request.call_id.unwrap().starts_with("call_"), "{name}");
        let denied = recording_of_denial(&ran.request.command).denial_reason();
        let is_denial = ran.outcome.error == denied;
        assert_eq!(is_denial, name == "Bash.denied", "{:?}", ran.outcome.error);
    }
}

/// Returns the recorded denial of this command by the hook of Kimi Code.
fn recording_of_denial(command: &str) -> HookReply {
    let denial = recording("kimi-code/PreToolUse.Bash.deny");
    let input: Value = serde_json::from_slice(&denial.input).unwrap();
    match input["tool_input"]["command"] == command {
        true => HookReply {
            stdout: denial.output.to_string(),
            ..HookReply::default()
        },
        false => HookReply::default(),
    }
}

/// Kimi Code moves a command to the background if its model asks for it, or after its timeout.
#[test]
fn a_command_of_kimi_code_in_the_background_has_no_result_yet() {
    let recording = recording("kimi-code/PostToolUse.Bash");
    let mut input: Value = serde_json::from_slice(&recording.input).unwrap();
    let running = "task_id: bash-0\npid: 1\ndescription: x\nstatus: running\nnext_step: x";
    for (output, succeeded) in [
        (running, None),
        ("status: running\n", YES),
        ("task_id: x", YES),
    ] {
        input["tool_output"] = output.into();
        let event = read(Agent::KimiCode, input.to_string().as_bytes()).unwrap();
        let HookEvent::Ran(ran) = event else {
            panic!("it ran");
        };
        assert_eq!(ran.outcome.succeeded, succeeded, "{output}");
    }
}

#[test]
fn a_failed_command_of_pi_has_its_exit_status() {
    let recording = recording("pi/tool_result.bash.failed");
    let HookEvent::Ran(ran) = read(recording.agent, &recording.input).unwrap() else {
        panic!("it ran");
    };
    assert_eq!(ran.outcome.exit_status, Some(2));
    assert_eq!(ran.request.call_id.as_deref(), Some("call_000003"));
}

#[test]
fn a_failed_command_of_letta_code_and_auggie_has_its_exit_status() {
    for name in [
        "letta-code/PostToolUse.Bash.failed",
        "auggie/PostToolUse.launch-process.failed",
    ] {
        let recording = recording(name);
        let HookEvent::Ran(ran) = read(recording.agent, &recording.input).unwrap() else {
            panic!("{name} ran");
        };
        assert_eq!(ran.outcome.exit_status, Some(2), "{name}");
        let error = ran.outcome.error.unwrap();
        assert!(error.contains("cannot access"), "{name}: {error}");
    }
}

#[test]
fn a_failure_event_of_claude_code_has_the_exit_status() {
    let recording = recording("claude-code/PostToolUseFailure.Bash.default");
    let HookEvent::Ran(ran) = read(recording.agent, &recording.input).unwrap() else {
        panic!("it ran");
    };
    assert_eq!(ran.outcome.exit_status, Some(2));
    assert_eq!(ran.request.call_id.as_deref(), Some("toolu_mwvztaib0001"));
    assert!(ran.outcome.error.unwrap().contains("cannot access"));
}

/// Part of a request that is compared after a run.
type Compared = (String, Option<FileAccess>, Option<McpCall>);

#[test]
fn a_run_has_the_input_of_its_question() {
    let mut asked: Vec<(Agent, Compared)> = Vec::new();
    let mut ran = Vec::new();
    for (name, _) in RECORDED {
        let recording = recording(name);
        match read(recording.agent, &recording.input).unwrap() {
            HookEvent::Ask(question) => {
                let request = question.request;
                let compared = (request.command, request.file, request.mcp);
                asked.push((recording.agent, compared));
            }
            HookEvent::Ran(run) => {
                let request = run.request;
                let compared = (request.command, request.file, request.mcp);
                ran.push((*name, (recording.agent, compared)));
            }
            _ => {}
        }
    }
    let is_asked = |(agent, (command, ..)): &(Agent, Compared)| {
        asked
            .iter()
            .any(|(other, (text, ..))| other == agent && text == command)
    };
    let pairs: Vec<_> = ran.iter().filter(|(_, ran)| is_asked(ran)).collect();
    assert!(pairs.len() > 20, "{}", pairs.len());
    let differs = pairs.iter().filter(|(_, ran)| !asked.contains(ran));
    let differs: Vec<_> = differs.map(|(name, _)| name).collect();
    assert!(differs.is_empty(), "{differs:?}");
}
