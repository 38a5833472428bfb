//! Kimi Code.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::Shells;
use crate::protocol::description::{
    AcceptedTables, AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules,
    HandlerField, HookKind, HookSwitches, RegistrationFormat, ReplyFormat, SettingsPlaces,
    TomlRegistration, ToolKind, ToolMatcher,
};

pub(crate) const KIMI_CODE: AgentDescription = AgentDescription {
    name: "kimi-code",
    aliases: &["kimi"],
    title: "Kimi Code",
    program: "kimi",
    tested_versions: &["2.1.0"],
    input: EventNaming::COMMON,
    events: &[
        // Kimi Code obeys a denial only.
        AgentEvent::before("PreToolUse")
            .without_prompt()
            .registered(ToolMatcher::Omitted),
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Omitted),
        AgentEvent::after("PostToolUseFailure").registered(ToolMatcher::Omitted),
        // Kimi Code reports its own prompt, and does not wait for the hook.
        AgentEvent::of_kind("PermissionRequest", HookKind::Other),
        AgentEvent::of_kind("PermissionResult", HookKind::Other),
        AgentEvent::of_kind("PreCompact", HookKind::Other),
    ],
    tools: &[
        ("Bash", ToolKind::Shell),
        ("Write", ToolKind::CREATES),
        ("Edit", ToolKind::UPDATES),
        ("Read", ToolKind::Reads),
        ("ReadMediaFile", ToolKind::Reads),
        ("Glob", ToolKind::Lists),
        ("Grep", ToolKind::Searches),
    ],
    mcp_names: None,
    reply: ReplyFormat::Claude,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: true,
    reports_denied_calls: true,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: None,
    shells: Shells::BASH,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Continues,
        invalid_output: FailureReaction::Continues,
    },
    places: SettingsPlaces {
        directory: ".kimi-code",
        variable: Some("KIMI_CODE_HOME"),
        sign: "",
        user: "config.toml",
        project: ".kimi-code/config.toml",
        switches: HookSwitches::NONE,
    },
    registration: RegistrationFormat::Toml(TomlRegistration {
        user_only: true,
        list: "hooks",
        event: "event",
        fields: &[
            HandlerField::Command("command"),
            // At most 600; without it, 30.
            HandlerField::Seconds("timeout"),
        ],
        fail_closed: None,
        accepted: Some(AcceptedTables {
            events: &[
                "PreToolUse",
                "PostToolUse",
                "PostToolUseFailure",
                "PermissionRequest",
                "PermissionResult",
                "UserPromptSubmit",
                "UserPromptQueued",
                "TurnStarted",
                "Stop",
                "StopFailure",
                "Interrupt",
                "SessionStart",
                "SessionEnd",
                "SessionHeartbeat",
                "SubagentStart",
                "SubagentStop",
                "TaskStarted",
                "PreCompact",
                "PostCompact",
                "Notification",
            ],
            texts: &["matcher", "command"],
            timeout: "timeout",
            max_timeout: 600,
        }),
    }),
    notes: &[
        "Kimi Code does not prompt if a hook asks. Requests that need approval are denied unless a \
         rule allows them or you approve them while `hooks-guard serve` runs.",
        "Restart Kimi Code: it reads its hooks when it starts.",
    ],
};
