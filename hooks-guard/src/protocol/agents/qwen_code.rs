//! Qwen Code.

use super::MANUAL_TIMEOUT;
use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HandlerField,
    HookKind, HookSwitch, HookSwitches, JsonRegistration, OffArgument, OffValue,
    RegistrationFormat, ReplyFormat, SettingsPlaces, ToolKind, ToolMatcher,
};

pub(crate) const QWEN_CODE: AgentDescription = AgentDescription {
    name: "qwen-code",
    aliases: &["qwen"],
    title: "Qwen Code",
    program: "qwen",
    tested_versions: &["0.24.4"],
    input: EventNaming::COMMON,
    events: &[
        AgentEvent::before("PreToolUse").registered(ToolMatcher::Any),
        AgentEvent::of_kind("PermissionRequest", HookKind::Prompt),
        AgentEvent::of_kind("PermissionDenied", HookKind::Refused),
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Any),
        AgentEvent::after("PostToolUseFailure").registered(ToolMatcher::Any),
        AgentEvent::of_kind("PreCompact", HookKind::Other),
    ],
    tools: &[
        ("run_shell_command", ToolKind::Shell),
        ("monitor", ToolKind::Shell),
        ("write_file", ToolKind::CREATES),
        ("edit", ToolKind::UPDATES),
        ("notebook_edit", ToolKind::UPDATES),
        ("read_file", ToolKind::Reads),
        ("glob", ToolKind::Lists),
        ("grep_search", ToolKind::Searches),
        ("list_directory", ToolKind::Lists),
    ],
    mcp_names: None,
    reply: ReplyFormat::Qwen,
    prompting_modes: &["default", "plan", "auto-edit", "auto_edit", "auto", "yolo"],
    has_failure_event: true,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: None,
    shells: Shells::BASH,
    runs_in_hook_directory: false,
    // Hand-written settings may count in milliseconds.
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Continues,
        invalid_output: FailureReaction::Continues,
    },
    places: SettingsPlaces {
        directory: ".qwen",
        variable: Some("QWEN_HOME"),
        sign: "",
        user: "settings.json",
        project: ".qwen/settings.json",
        switches: HookSwitches {
            arguments: &[
                OffArgument::Flag("--safe-mode"),
                OffArgument::Flag("--bare"),
            ],
            settings: &[
                HookSwitch {
                    keys: &["disableAllHooks"],
                    off: OffValue::Is(true),
                },
                // Versions before 0.24.
                HookSwitch {
                    keys: &["hooksConfig", "enabled"],
                    off: OffValue::Is(false),
                },
                HookSwitch {
                    keys: &["hooksConfig", "disabled"],
                    off: OffValue::NamesHook,
                },
            ],
            variables: &["QWEN_CODE_SAFE_MODE"],
            file_variables: &[
                "QWEN_CODE_SYSTEM_SETTINGS_PATH",
                "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
            ],
            project_replaces: false,
            managed: Some(
                "The setting `disableAllHooks` of `/etc/qwen-code/settings.json` overrides the one of a \
                 project.",
            ),
        },
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        handler: &[
            HandlerField::Text("type", "command"),
            HandlerField::Command("command"),
            HandlerField::Text("name", "hooks-guard"),
            // Qwen Code counts in seconds, and reads numbers from 1000 as milliseconds; earlier
            // versions count in milliseconds.
            HandlerField::Milliseconds("timeout"),
        ],
        ..JsonRegistration::COMMON
    }),
    notes: &["Restart Qwen Code; `/hooks` lists its hooks."],
};
