//! Cline, as a command line (CLI).

use std::time::Duration;

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HookKind,
    HookSwitches, McpNaming, OffArgument, RegistrationFormat, ReplyFormat, ScriptRegistration,
    SettingsPlaces, ToolKind, ToolLocation,
};

pub(crate) const CLINE: AgentDescription = AgentDescription {
    name: "cline",
    aliases: &[],
    title: "Cline",
    program: "cline",
    tested_versions: &["3.0.65"],
    input: EventNaming {
        fields: &["hookName"],
        unnamed: |_| Err("hookName"),
    },
    events: &[
        AgentEvent::before("tool_call")
            .without_prompt()
            .with_tool(ToolLocation::Call {
                object: "tool_call",
                name: "name",
                arguments: "input",
                id: Some("id"),
            }),
        AgentEvent::after("tool_result").with_tool(ToolLocation::Call {
            object: "tool_result",
            name: "name",
            arguments: "input",
            id: Some("id"),
        }),
        // The extension of VS Code, by its documentation. All of its parameters are texts.
        AgentEvent::before("PreToolUse")
            .without_prompt()
            .with_tool(ToolLocation::Call {
                object: "preToolUse",
                name: "toolName",
                arguments: "parameters",
                id: None,
            }),
        AgentEvent::after("PostToolUse").with_tool(ToolLocation::Call {
            object: "postToolUse",
            name: "toolName",
            arguments: "parameters",
            id: None,
        }),
        AgentEvent::of_kind("pre_compact", HookKind::Other),
    ],
    tools: &[
        ("run_commands", ToolKind::Shell),
        ("execute_command", ToolKind::Shell),
        ("editor", ToolKind::UPDATES),
        ("write_to_file", ToolKind::CREATES),
        ("replace_in_file", ToolKind::UPDATES),
        ("apply_patch", ToolKind::Patch),
        ("read_files", ToolKind::Reads),
        ("read_file", ToolKind::Reads),
        ("list_files", ToolKind::Lists),
        ("search_codebase", ToolKind::Searches),
        ("search_files", ToolKind::Searches),
    ],
    mcp_names: Some(McpNaming {
        prefix: "",
        separator: "__",
        ..McpNaming::COMMON
    }),
    reply: ReplyFormat::Cline,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: None,
    // Commands run in the directory of the hook; the input names the root of the repository.
    shells: Shells::ALL,
    runs_in_hook_directory: true,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Continues,
        invalid_output: FailureReaction::Continues,
    },
    places: SettingsPlaces {
        // Hooks are in two directories of the home directory.
        directory: "",
        variable: None,
        sign: ".cline",
        user: ".cline/hooks/PreToolUse.sh",
        project: ".cline/hooks/PreToolUse.sh",
        switches: HookSwitches {
            arguments: &[OffArgument::Flag("--config")],
            ..HookSwitches::NONE
        },
    },
    registration: RegistrationFormat::Scripts(ScriptRegistration {
        after: "PostToolUse.sh",
        // Cline kills a hook that runs longer, and then runs the tool.
        timeout: Duration::from_secs(120),
    }),
    notes: &[
        "Cline does not prompt if a hook asks. Requests that need approval are denied unless a rule \
         allows them or you approve them while `hooks-guard serve` runs; Cline waits at most two \
         minutes.",
        "If the hook denies a tool call, Cline ends the run and does not show the reason; \
         `hooks-guard audit list` shows it.",
    ],
};
