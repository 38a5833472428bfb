//! xAI's Grok CLI.

use std::time::Duration;

use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HookKind,
    HookSwitches, JsonRegistration, McpNaming, RegistrationFormat, ReplyFormat, SettingsPlaces,
    ToolKind, ToolMatcher,
};

pub(crate) const GROK: AgentDescription = AgentDescription {
    name: "grok",
    aliases: &[],
    title: "Grok CLI",
    program: "grok",
    tested_versions: &["1.0.41"],
    input: EventNaming::COMMON,
    events: &[
        AgentEvent::before("PreToolUse").registered(ToolMatcher::Omitted),
        AgentEvent::of_kind("PermissionDenied", HookKind::Refused).registered(ToolMatcher::Omitted),
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Omitted),
        AgentEvent::after("PostToolUseFailure").registered(ToolMatcher::Omitted),
        AgentEvent::of_kind("PreCompact", HookKind::Other),
    ],
    tools: &[
        ("run_terminal_command", ToolKind::Shell),
        ("monitor", ToolKind::Shell),
        ("write", ToolKind::CREATES),
        ("search_replace", ToolKind::UPDATES),
        ("read_file", ToolKind::Reads),
        ("list_dir", ToolKind::Lists),
        ("grep", ToolKind::Searches),
    ],
    mcp_names: Some(McpNaming {
        prefix: "",
        separator: "__",
        wraps_arguments: true,
        ..McpNaming::COMMON
    }),
    reply: ReplyFormat::Grok,
    // In `bypassPermissions`, Grok approves what a hook asks about.
    prompting_modes: &["default", "auto", "plan"],
    has_failure_event: true,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: None,
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: Duration::from_secs(5),
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Continues,
        invalid_output: FailureReaction::Continues,
    },
    places: SettingsPlaces {
        directory: ".grok",
        variable: Some("GROK_HOME"),
        sign: "",
        user: "hooks/hooks-guard.json",
        project: ".grok/hooks/hooks-guard.json",
        switches: HookSwitches::NONE,
    },
    registration: RegistrationFormat::Json(JsonRegistration::COMMON),
    notes: &[
        "Restart Grok CLI; `/hooks` lists its hooks.",
        "With `--always-approve`, Grok CLI shows no prompt. Requests that need approval are then \
         denied unless a rule allows them or you approve them while `hooks-guard serve` runs.",
    ],
};
