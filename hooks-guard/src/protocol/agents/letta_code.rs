//! Letta Code.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::{Shells, TerminalInput};
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HandlerField,
    HookKind, HookSwitch, HookSwitches, JsonRegistration, OffValue, RegistrationFormat,
    ReplyFormat, SettingsPlaces, ToolKind, ToolMatcher,
};

pub(crate) const LETTA_CODE: AgentDescription = AgentDescription {
    name: "letta-code",
    aliases: &["letta"],
    title: "Letta Code",
    program: "letta",
    tested_versions: &["0.32.18"],
    input: EventNaming {
        fields: &["event_type"],
        unnamed: |_| Err("event_type"),
    },
    events: &[
        // Letta Code reads the exit status, and no decision in the output.
        AgentEvent::before("PreToolUse")
            .without_prompt()
            .registered(ToolMatcher::Any),
        // Letta Code also calls it after a tool that failed.
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Any),
        AgentEvent::of_kind("PostToolUseFailure", HookKind::Other),
        // Status 2 denies; status 0 answers no prompt.
        AgentEvent::of_kind("PermissionRequest", HookKind::Other),
        AgentEvent::of_kind("PreCompact", HookKind::Other),
    ],
    tools: &[
        ("Bash", ToolKind::Shell),
        ("Shell", ToolKind::Shell),
        ("ShellCommand", ToolKind::Shell),
        ("exec_command", ToolKind::Shell),
        ("Monitor", ToolKind::Shell),
        ("Write", ToolKind::CREATES),
        ("Edit", ToolKind::UPDATES),
        ("MultiEdit", ToolKind::UPDATES),
        ("ApplyPatch", ToolKind::Patch),
        ("Read", ToolKind::Reads),
        ("ReadFile", ToolKind::Reads),
        ("ReadLSP", ToolKind::Reads),
        ("ViewImage", ToolKind::Reads),
        ("LS", ToolKind::Lists),
        ("ListDir", ToolKind::Lists),
        ("Glob", ToolKind::Lists),
        ("Grep", ToolKind::Searches),
        ("GrepFiles", ToolKind::Searches),
    ],
    mcp_names: None,
    reply: ReplyFormat::ExitStatus,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    // `write_stdin`. Its commands run with `PAGER=cat` and `GIT_PAGER=cat`.
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
        directory: ".letta",
        variable: None,
        sign: "",
        user: "settings.json",
        project: ".letta/settings.local.json",
        switches: HookSwitches {
            settings: &[HookSwitch {
                keys: &["hooks", "disabled"],
                off: OffValue::Is(true),
            }],
            managed: Some(
                "`\"disabled\": false` in the `hooks` of `~/.letta/settings.json` overrides the \
                 setting of a project.",
            ),
            ..HookSwitches::NONE
        },
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        handler: &[
            HandlerField::Text("type", "command"),
            HandlerField::Command("command"),
            HandlerField::Milliseconds("timeout"),
            // Otherwise Letta Code prints each call, also into the output of `letta -p`.
            HandlerField::True("quiet"),
        ],
        ..JsonRegistration::COMMON
    }),
    notes: &[
        "Letta Code does not prompt if a hook asks. Requests that need approval are denied unless a \
         rule allows them or you approve them while `hooks-guard serve` runs.",
    ],
};
