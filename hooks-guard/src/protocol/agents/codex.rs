//! OpenAI's Codex CLI.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES, USERS_SHELLS};
use crate::classify::TerminalInput;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HandlerField,
    HookKind, HookSwitch, HookSwitches, JsonRegistration, OffArgument, OffValue,
    RegistrationFormat, ReplyFormat, SettingsPlaces, ToolKind, ToolMatcher,
};

pub(crate) const CODEX: AgentDescription = AgentDescription {
    name: "codex",
    aliases: &[],
    title: "Codex",
    program: "codex",
    tested_versions: &["0.171.0"],
    input: EventNaming::COMMON,
    events: &[
        // Codex treats `ask` as an error, and then runs what its sandbox permits.
        AgentEvent::before("PreToolUse")
            .without_prompt()
            .registered(ToolMatcher::Exact),
        AgentEvent::of_kind("PermissionRequest", HookKind::Prompt).registered(ToolMatcher::Exact),
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Exact),
    ],
    tools: &[("Bash", ToolKind::Shell), ("apply_patch", ToolKind::Patch)],
    mcp_names: None,
    reply: ReplyFormat::Codex,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: false,
    // `write_stdin`. Its commands run with `PAGER=cat` and `GIT_PAGER=cat`.
    types_into_programs: Some(TerminalInput::Commands),
    shells: USERS_SHELLS,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Continues,
        invalid_output: FailureReaction::Continues,
    },
    places: SettingsPlaces {
        directory: ".codex",
        variable: Some("CODEX_HOME"),
        sign: "",
        user: "hooks.json",
        project: ".codex/hooks.json",
        switches: HookSwitches {
            arguments: &[
                OffArgument::Flag("--ignore-user-config"),
                OffArgument::Value("--disable", "hooks"),
                OffArgument::Value("--disable", "codex_hooks"),
                OffArgument::Text("hooks=false"),
            ],
            settings: &[
                HookSwitch {
                    keys: &["features", "hooks"],
                    off: OffValue::Is(false),
                },
                HookSwitch {
                    keys: &["features", "codex_hooks"],
                    off: OffValue::Is(false),
                },
                HookSwitch {
                    keys: &["profiles", "*", "features", "hooks"],
                    off: OffValue::Is(false),
                },
                HookSwitch {
                    keys: &["profiles", "*", "features", "codex_hooks"],
                    off: OffValue::Is(false),
                },
                // In `requirements.toml`.
                HookSwitch {
                    keys: &["allow_managed_hooks_only"],
                    off: OffValue::ManagedOnly,
                },
            ],
            project_replaces: false,
            managed: Some(
                "By its documentation, `[features]` with `hooks = true` in `/etc/codex/requirements.toml` \
                 pins the hooks for all projects.",
            ),
            ..HookSwitches::NONE
        },
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        handler: &[
            HandlerField::Text("type", "command"),
            HandlerField::Command("command"),
            HandlerField::Seconds("timeout"),
            HandlerField::Text("statusMessage", "hooks-guard"),
        ],
        needs_trust: true,
        ..JsonRegistration::COMMON
    }),
    notes: &[
        "Codex has no prompt for hooks. Requests that need approval are denied unless a rule \
         allows them or you approve them while `hooks-guard serve` runs.",
    ],
};
