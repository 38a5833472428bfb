//! Crush. Follows the documentation and the source; not tried with a published client.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureRules, HandlerField, HookKind, HookSwitches,
    JsonRegistration, McpNaming, RegistrationFormat, ReplyFormat, SettingsPlaces, ToolKind,
    ToolMatcher,
};

pub(crate) const CRUSH: AgentDescription = AgentDescription {
    name: "crush",
    aliases: &[],
    title: "Crush",
    program: "crush",
    tested_versions: &[],
    input: EventNaming {
        fields: &["event"],
        unnamed: |_| Err("event"),
    },
    events: &[
        AgentEvent::before("PreToolUse")
            .without_prompt()
            .registered(ToolMatcher::Omitted),
        AgentEvent::after("PostToolUse"),
        AgentEvent::after("PostToolUseFailure"),
        AgentEvent::of_kind("PermissionRequest", HookKind::Other),
        AgentEvent::of_kind("PreCompact", HookKind::Other),
    ],
    tools: &[
        ("bash", ToolKind::Shell),
        ("write", ToolKind::CREATES),
        ("edit", ToolKind::UPDATES),
        ("multiedit", ToolKind::UPDATES),
        ("lsp_replace_symbol", ToolKind::UPDATES),
        ("download", ToolKind::CREATES),
        ("view", ToolKind::Reads),
        ("ls", ToolKind::Lists),
        ("glob", ToolKind::Lists),
        ("grep", ToolKind::Searches),
    ],
    mcp_names: Some(McpNaming {
        prefix: "mcp_",
        separator: "_",
        ..McpNaming::COMMON
    }),
    reply: ReplyFormat::Gemini,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: true,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: None,
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules::UNKNOWN,
    places: SettingsPlaces {
        directory: ".config",
        variable: Some("XDG_CONFIG_HOME"),
        sign: "crush",
        user: "crush/crush.json",
        project: "crush.json",
        switches: HookSwitches::NONE,
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        grouped: false,
        handler: &[
            HandlerField::Text("name", "hooks-guard"),
            HandlerField::Command("command"),
            HandlerField::Seconds("timeout"),
        ],
        ..JsonRegistration::COMMON
    }),
    notes: &[
        "Crush does not prompt if a hook asks. Requests that need approval are denied unless a \
         rule allows them or you approve them while `hooks-guard serve` runs.",
    ],
};
