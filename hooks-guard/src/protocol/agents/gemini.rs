//! Gemini CLI.

use std::time::Duration;

use super::PROMPTING_MODES;
use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HandlerField,
    HookSwitch, HookSwitches, JsonRegistration, McpNaming, OffValue, RegistrationFormat,
    ReplyFormat, SettingsPlaces, ToolKind, ToolMatcher,
};

pub(crate) const GEMINI: AgentDescription = AgentDescription {
    name: "gemini",
    aliases: &[],
    title: "Gemini CLI",
    program: "gemini",
    tested_versions: &["0.61.0"],
    input: EventNaming::COMMON,
    events: &[
        AgentEvent::before("BeforeTool").registered(ToolMatcher::Exact),
        AgentEvent::after("AfterTool").registered(ToolMatcher::Exact),
    ],
    tools: &[
        ("run_shell_command", ToolKind::Shell),
        ("write_file", ToolKind::CREATES),
        ("replace", ToolKind::UPDATES),
        ("glob", ToolKind::Lists),
        ("read_file", ToolKind::Reads),
        ("read_many_files", ToolKind::Reads),
        ("list_directory", ToolKind::Lists),
        ("search_file_content", ToolKind::Searches),
        ("grep_search", ToolKind::Searches),
    ],
    mcp_names: Some(McpNaming {
        prefix: "mcp_",
        separator: "_",
        ..McpNaming::COMMON
    }),
    reply: ReplyFormat::Gemini,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: false,
    types_into_programs: None,
    shells: Shells::BASH,
    runs_in_hook_directory: false,
    // Hand-written settings count in milliseconds.
    manual_timeout: Duration::from_secs(5),
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Continues,
        invalid_output: FailureReaction::Continues,
    },
    places: SettingsPlaces {
        // The variable replaces the home directory.
        directory: "",
        variable: Some("GEMINI_CLI_HOME"),
        sign: ".gemini",
        user: ".gemini/settings.json",
        project: ".gemini/settings.json",
        switches: HookSwitches {
            settings: &[
                HookSwitch {
                    keys: &["hooksConfig", "enabled"],
                    off: OffValue::Is(false),
                },
                HookSwitch {
                    keys: &["hooksConfig", "disabled"],
                    off: OffValue::NamesHook,
                },
            ],
            variables: &[],
            arguments: &[],
            file_variables: &[
                "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
                "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
            ],
            project_replaces: false,
            managed: Some(
                "The setting `hooksConfig.enabled` of `/etc/gemini-cli/settings.json` overrides the one of a \
                 project, but the list `hooksConfig.disabled` of a trusted project still counts.",
            ),
        },
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        handler: &[
            HandlerField::Text("type", "command"),
            HandlerField::Command("command"),
            HandlerField::Text("name", "hooks-guard"),
            HandlerField::Milliseconds("timeout"),
        ],
        ..JsonRegistration::COMMON
    }),
    notes: &["Restart Gemini CLI; `/hooks` lists its hooks."],
};
