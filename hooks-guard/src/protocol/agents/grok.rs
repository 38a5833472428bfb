//! xAI's Grok CLI. Follows the documentation; not tried with a published client.

use std::time::Duration;

use super::PROMPTING_MODES;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureRules, HookKind, JsonRegistration,
    RegistrationFormat, ReplyFormat, SettingsPlaces, ToolKind, ToolMatcher,
};

pub(crate) const GROK: AgentDescription = AgentDescription {
    name: "grok",
    aliases: &[],
    title: "Grok CLI",
    tested_versions: &[],
    input: EventNaming::COMMON,
    events: &[
        AgentEvent::before("PreToolUse")
            .without_prompt()
            .registered(ToolMatcher::Omitted),
        AgentEvent::of_kind("PermissionDenied", HookKind::Refused),
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Omitted),
        AgentEvent::after("PostToolUseFailure").registered(ToolMatcher::Omitted),
        AgentEvent::of_kind("PreCompact", HookKind::Other),
    ],
    tools: &[
        ("run_terminal_command", ToolKind::Shell),
        ("write_file", ToolKind::CREATES),
        ("search_replace", ToolKind::UPDATES),
        ("read_file", ToolKind::Reads),
        ("list_dir", ToolKind::Lists),
        ("grep", ToolKind::Searches),
    ],
    mcp_names: None,
    reply: ReplyFormat::Grok,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: true,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: None,
    manual_timeout: Duration::from_secs(5),
    failures: FailureRules::UNKNOWN,
    places: SettingsPlaces {
        directory: ".grok",
        variable: None,
        sign: "",
        user: "hooks/hooks-guard.json",
        project: ".grok/hooks/hooks-guard.json",
        user_others: &["hooks", "config.toml", "trusted_folders.toml"],
        machine: &[],
        project_others: &[".grok/hooks"],
        switches: &[],
    },
    registration: RegistrationFormat::Json(JsonRegistration::COMMON),
    notes: &[
        "Grok CLI does not prompt if a hook asks. Requests that need approval are denied unless a \
         rule allows them or you approve them while `hooks-guard serve` runs.",
    ],
};
