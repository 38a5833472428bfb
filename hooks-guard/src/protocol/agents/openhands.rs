//! OpenHands.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::{Shells, TerminalInput};
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HookSwitches,
    JsonRegistration, RegistrationFormat, ReplyFormat, SettingsPlaces, ToolKind, ToolMatcher,
};

pub(crate) const OPENHANDS: AgentDescription = AgentDescription {
    name: "openhands",
    aliases: &[],
    title: "OpenHands",
    program: "openhands",
    tested_versions: &["1.16.0"],
    input: EventNaming {
        fields: &["event_type"],
        unnamed: |_| Err("event_type"),
    },
    events: &[
        AgentEvent::before("PreToolUse")
            .without_prompt()
            .registered(ToolMatcher::Any),
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Any),
    ],
    tools: &[
        ("terminal", ToolKind::Shell),
        ("execute_bash", ToolKind::Shell),
        // With `view`, it only reads.
        ("file_editor", ToolKind::UPDATES),
        ("planning_file_editor", ToolKind::UPDATES),
        ("apply_patch", ToolKind::Patch),
        ("glob", ToolKind::Lists),
        ("grep", ToolKind::Searches),
    ],
    mcp_names: None,
    reply: ReplyFormat::ExitStatus,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: Some(TerminalInput::Commands),
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Continues,
        invalid_output: FailureReaction::Continues,
    },
    places: SettingsPlaces {
        directory: ".openhands",
        variable: None,
        sign: "",
        user: "hooks.json",
        project: ".openhands/hooks.json",
        switches: HookSwitches {
            project_replaces: true,
            ..HookSwitches::NONE
        },
    },
    registration: RegistrationFormat::Json(JsonRegistration::COMMON),
    notes: &[
        "OpenHands does not prompt if a hook asks. Requests that need approval are denied unless a \
         rule allows them or you approve them while `hooks-guard serve` runs.",
        "OpenHands does not read this file in a project that has a `.openhands/hooks.json` of its \
         own; start it with `hooks-guard run openhands`, which refuses then.",
    ],
};
