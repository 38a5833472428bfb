//! Cursor.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureRules, FieldValue, HandlerField,
    HookSwitches, JsonRegistration, RegistrationFormat, ReplyFormat, SettingsPlaces, ToolKind,
    ToolLocation, ToolMatcher,
};

pub(crate) const CURSOR: AgentDescription = AgentDescription {
    name: "cursor",
    aliases: &[],
    title: "Cursor",
    program: "cursor-agent",
    tested_versions: &[],
    input: EventNaming::COMMON,
    events: &[
        // Cursor compares the matcher of this event with the command.
        AgentEvent::before("beforeShellExecution")
            .with_tool(ToolLocation::Top("Shell"))
            .registered(ToolMatcher::Omitted),
        AgentEvent::before("preToolUse")
            .without_prompt()
            .registered(ToolMatcher::FileNames),
        AgentEvent::before("beforeReadFile")
            .without_prompt()
            .with_tool(ToolLocation::Top("Read")),
        AgentEvent::after("afterShellExecution")
            .with_tool(ToolLocation::Top("Shell"))
            .registered(ToolMatcher::Omitted),
        AgentEvent::after("afterFileEdit")
            .with_tool(ToolLocation::Top("Edit"))
            .registered(ToolMatcher::Omitted),
        AgentEvent::after("postToolUse"),
    ],
    tools: &[
        ("Shell", ToolKind::Shell),
        ("Write", ToolKind::CREATES),
        ("TabWrite", ToolKind::UPDATES),
        ("Edit", ToolKind::UPDATES),
        ("StrReplace", ToolKind::UPDATES),
        ("EditNotebook", ToolKind::UPDATES),
        ("Delete", ToolKind::DELETES),
        ("Read", ToolKind::Reads),
        ("Grep", ToolKind::Searches),
    ],
    mcp_names: None,
    reply: ReplyFormat::Cursor,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: false,
    types_into_programs: None,
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules::UNKNOWN,
    places: SettingsPlaces {
        directory: ".cursor",
        variable: None,
        sign: "",
        user: "hooks.json",
        project: ".cursor/hooks.json",
        switches: HookSwitches::NONE,
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        version: Some(1),
        grouped: false,
        handler: &[
            HandlerField::Command("command"),
            HandlerField::Matcher("matcher"),
            HandlerField::Seconds("timeout"),
        ],
        fail_closed: Some(("failClosed", FieldValue::True)),
        ..JsonRegistration::COMMON
    }),
    notes: &["Restart Cursor; its settings list its hooks."],
};
