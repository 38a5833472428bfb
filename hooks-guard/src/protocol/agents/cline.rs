//! Cline. Follows the documentation; not tried with a published client.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureRules, HookKind, RegistrationFormat,
    ReplyFormat, SettingsPlaces, ToolKind, ToolLocation,
};

pub(crate) const CLINE: AgentDescription = AgentDescription {
    name: "cline",
    aliases: &[],
    title: "Cline",
    tested_versions: &[],
    input: EventNaming {
        fields: &["hookName"],
        unnamed: |_| Err("hookName"),
    },
    events: &[
        AgentEvent::before("PreToolUse")
            .without_prompt()
            .with_tool(ToolLocation::Call {
                object: "preToolUse",
                name: "toolName",
                arguments: "parameters",
            }),
        AgentEvent::after("PostToolUse").with_tool(ToolLocation::Call {
            object: "postToolUse",
            name: "toolName",
            arguments: "parameters",
        }),
        AgentEvent::of_kind("PreCompact", HookKind::Other),
    ],
    tools: &[
        ("execute_command", ToolKind::Shell),
        ("run_commands", ToolKind::Shell),
        ("write_to_file", ToolKind::CREATES),
        ("replace_in_file", ToolKind::UPDATES),
        ("apply_patch", ToolKind::Patch),
        ("read_file", ToolKind::Reads),
        ("list_files", ToolKind::Lists),
        ("search_files", ToolKind::Searches),
    ],
    mcp_names: None,
    reply: ReplyFormat::Cline,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: None,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules::UNKNOWN,
    places: SettingsPlaces {
        directory: "Documents/Cline",
        variable: None,
        sign: "",
        user: "Hooks",
        project: ".clinerules/hooks",
        user_others: &["Hooks"],
        machine: &[],
        project_others: &[".clinerules/hooks"],
        switches: &[],
    },
    registration: RegistrationFormat::ByHand(HOW),
    notes: &[],
};

const HOW: &str = "Cline runs a program named `PreToolUse`; write a shell script with this command to \
                   `~/Documents/Cline/Hooks/PreToolUse`, make it executable, and turn on hooks in Cline";
