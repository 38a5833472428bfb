//! Goose.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, FieldValue, HookKind,
    HookSwitch, HookSwitches, JsonRegistration, McpNaming, OffValue, RegistrationFormat,
    ReplyFormat, SettingsPlaces, ToolKind, ToolMatcher,
};

pub(crate) const GOOSE: AgentDescription = AgentDescription {
    name: "goose",
    aliases: &[],
    title: "Goose",
    program: "goose",
    tested_versions: &["1.52.0"],
    input: EventNaming {
        fields: &["event"],
        unnamed: |_| Err("event"),
    },
    events: &[
        AgentEvent::before("PreToolUse")
            .without_prompt()
            .registered(ToolMatcher::Omitted),
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Omitted),
        AgentEvent::after("PostToolUseFailure").registered(ToolMatcher::Omitted),
        // Goose ignores what a hook returns at these events.
        AgentEvent::of_kind("PreToolUseResult", HookKind::Other),
        AgentEvent::of_kind("BeforeReadFile", HookKind::Other),
        AgentEvent::of_kind("BeforeShellExecution", HookKind::Other),
        AgentEvent::of_kind("AfterFileEdit", HookKind::Other),
        AgentEvent::of_kind("AfterShellExecution", HookKind::Other),
    ],
    tools: &[
        ("shell", ToolKind::Shell),
        ("write", ToolKind::CREATES),
        ("edit", ToolKind::UPDATES),
        ("tree", ToolKind::Lists),
        ("analyze", ToolKind::Searches),
        ("summarize__summarize", ToolKind::Reads),
        // Of earlier versions.
        ("developer__shell", ToolKind::Shell),
        ("developer__write", ToolKind::CREATES),
        ("developer__edit", ToolKind::UPDATES),
        ("developer__text_editor", ToolKind::UPDATES),
        ("developer__tree", ToolKind::Lists),
    ],
    mcp_names: Some(McpNaming {
        prefix: "",
        separator: "__",
        ..McpNaming::COMMON
    }),
    reply: ReplyFormat::ExitStatus,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: true,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: None,
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Denies,
        invalid_output: FailureReaction::Denies,
    },
    places: SettingsPlaces {
        directory: "",
        variable: Some("GOOSE_PATH_ROOT"),
        sign: ".config/goose",
        user: ".agents/plugins/hooks-guard/hooks/hooks.json",
        project: ".agents/plugins/hooks-guard/hooks/hooks.json",
        switches: HookSwitches {
            settings: &[HookSwitch {
                keys: &["disabledPlugins"],
                off: OffValue::NamesHook,
            }],
            ..HookSwitches::NONE
        },
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        fail_closed: Some(("on_failure", FieldValue::Text("block"))),
        companion: Some(("plugin.json", MANIFEST)),
        ..JsonRegistration::COMMON
    }),
    notes: &[
        "Goose does not prompt if a hook asks. Requests that need approval are denied unless a \
         rule allows them or you approve them while `hooks-guard serve` runs.",
    ],
};

/// The manifest of the plugin, without which Goose does not read the hooks.
const MANIFEST: &str = r#"{
  "name": "hooks-guard",
  "version": "1.0.0",
  "description": "Calls hooks-guard before and after a tool"
}
"#;
