//! Windsurf, with the hooks of its agent Cascade. Follows the documentation; not tried with a
//! published client.

use std::time::Duration;

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureRules, HandlerField, HookKind, HookSwitches,
    JsonRegistration, RegistrationFormat, ReplyFormat, SettingsPlaces, ToolKind, ToolLocation,
    ToolMatcher,
};

pub(crate) const WINDSURF: AgentDescription = AgentDescription {
    name: "windsurf",
    aliases: &["cascade"],
    title: "Windsurf",
    program: "windsurf",
    tested_versions: &[],
    input: EventNaming {
        fields: &["agent_action_name"],
        unnamed: |_| Err("agent_action_name"),
    },
    events: &[
        before("pre_run_command", "run_command"),
        before("pre_write_code", "write_code"),
        before("pre_read_code", "read_code"),
        after("post_run_command", "run_command"),
        after("post_write_code", "write_code"),
        AgentEvent::of_kind("pre_user_prompt", HookKind::Other),
        AgentEvent::of_kind("pre_mcp_tool_use", HookKind::Other),
    ],
    tools: &[
        ("run_command", ToolKind::Shell),
        ("write_code", ToolKind::UPDATES),
        ("read_code", ToolKind::Reads),
    ],
    mcp_names: None,
    reply: ReplyFormat::ExitStatus,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: None,
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules::UNKNOWN,
    places: SettingsPlaces {
        directory: ".codeium/windsurf",
        variable: None,
        sign: "",
        user: "hooks.json",
        project: ".windsurf/hooks.json",
        switches: HookSwitches::NONE,
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        grouped: false,
        handler: &[
            HandlerField::Command("command"),
            HandlerField::True("show_output"),
        ],
        short_timeout: Some(Duration::from_secs(30)),
        ..JsonRegistration::COMMON
    }),
    notes: &[
        "Windsurf does not prompt if a hook asks. Requests that need approval are denied unless a \
         rule allows them or you approve them while `hooks-guard serve` runs.",
    ],
};

/// An event before a tool is used.
const fn before(name: &'static str, tool: &'static str) -> AgentEvent {
    of_tool(AgentEvent::before(name).without_prompt(), tool)
}

/// An event after a tool was used.
const fn after(name: &'static str, tool: &'static str) -> AgentEvent {
    of_tool(AgentEvent::after(name), tool)
}

/// The event of a tool, whose arguments are in `tool_info`.
const fn of_tool(event: AgentEvent, tool: &'static str) -> AgentEvent {
    let object = "tool_info";
    event
        .with_tool(ToolLocation::Within { object, tool })
        .registered(ToolMatcher::Omitted)
}
