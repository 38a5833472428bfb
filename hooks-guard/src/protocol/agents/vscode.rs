//! The agent in Visual Studio Code.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::{Shells, TerminalInput};
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureRules, HookSwitch, HookSwitches,
    JsonRegistration, McpNaming, OffValue, RegistrationFormat, ReplyFormat, SettingsPlaces,
    ToolKind, ToolMatcher,
};

pub(crate) const VSCODE: AgentDescription = AgentDescription {
    name: "vscode",
    aliases: &[],
    title: "VS Code",
    program: "code",
    tested_versions: &[],
    input: EventNaming::COMMON,
    events: &[
        AgentEvent::before("PreToolUse").registered(ToolMatcher::Omitted),
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Omitted),
    ],
    tools: &[
        ("runTerminalCommand", ToolKind::Shell),
        ("run_in_terminal", ToolKind::Shell),
        ("create_file", ToolKind::CREATES),
        ("create_directory", ToolKind::CREATES),
        ("editFiles", ToolKind::UPDATES),
        ("insert_edit_into_file", ToolKind::UPDATES),
        ("replace_string_in_file", ToolKind::UPDATES),
        ("multi_replace_string_in_file", ToolKind::UPDATES),
        ("edit_notebook_file", ToolKind::UPDATES),
        ("apply_patch", ToolKind::Patch),
        ("read_file", ToolKind::Reads),
        ("list_dir", ToolKind::Lists),
        ("grep_search", ToolKind::Searches),
        ("file_search", ToolKind::Lists),
    ],
    mcp_names: Some(McpNaming {
        prefix: "mcp_",
        separator: "_",
        ..McpNaming::COMMON
    }),
    reply: ReplyFormat::Claude,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: true,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: false,
    types_into_programs: Some(TerminalInput::Pager),
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules::UNKNOWN,
    places: SettingsPlaces {
        // VS Code always uses directories below the home; no variable moves them.
        directory: "",
        variable: None,
        sign: ".vscode",
        user: ".copilot/hooks/hooks-guard-vscode.json",
        project: ".github/hooks/hooks-guard-vscode.json",
        switches: HookSwitches {
            settings: &[HookSwitch {
                keys: &["chat.useHooks"],
                off: OffValue::Is(false),
            }],
            ..HookSwitches::NONE
        },
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        grouped: false,
        ..JsonRegistration::COMMON
    }),
    notes: &[
        "Copilot CLI reads this file, too, and gets replies in its own format; `install copilot` \
         is not needed.",
    ],
};
