//! Kiro CLI. Follows the documentation; not tried with a published client.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureRules, HookSwitches, RegistrationFormat,
    ReplyFormat, SettingsPlaces, ToolKind,
};

pub(crate) const KIRO: AgentDescription = AgentDescription {
    name: "kiro",
    aliases: &[],
    title: "Kiro",
    program: "kiro-cli",
    tested_versions: &[],
    input: EventNaming::COMMON,
    events: &[
        AgentEvent::before("preToolUse").without_prompt(),
        AgentEvent::after("postToolUse"),
    ],
    tools: &[
        ("execute_bash", ToolKind::Shell),
        ("shell", ToolKind::Shell),
        ("fs_write", ToolKind::UPDATES),
        ("fs_read", ToolKind::Reads),
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
        directory: ".kiro",
        variable: None,
        sign: "",
        user: "agents",
        project: ".kiro/agents",
        switches: HookSwitches::NONE,
    },
    registration: RegistrationFormat::ByHand(HOW),
    notes: &[],
};

const HOW: &str = "Kiro has no hooks for all of its agents; add this command to `hooks.preToolUse` \
                   of each file in `~/.kiro/agents`, with `\"matcher\": \"*\"` and a `timeout_ms` of \
                   600000";
