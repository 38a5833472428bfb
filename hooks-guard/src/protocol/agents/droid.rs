//! Factory Droid.

use super::MANUAL_TIMEOUT;
use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HookKind, HookSwitch,
    HookSwitches, JsonRegistration, McpNaming, OffValue, RegistrationFormat, ReplyFormat,
    SettingsPlaces, ToolKind, ToolMatcher,
};

pub(crate) const DROID: AgentDescription = AgentDescription {
    name: "droid",
    aliases: &[],
    title: "Factory Droid",
    program: "droid",
    tested_versions: &["0.225.2"],
    input: EventNaming::COMMON,
    events: &[
        // Droid reads `ask` and then decides by its autonomy level.
        AgentEvent::before("PreToolUse")
            .without_prompt()
            .registered(ToolMatcher::Any),
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Any),
        AgentEvent::of_kind("PreCompact", HookKind::Other),
    ],
    tools: &[
        ("Execute", ToolKind::Shell),
        ("Create", ToolKind::CREATES),
        ("Edit", ToolKind::UPDATES),
        ("MultiEdit", ToolKind::UPDATES),
        ("ApplyPatch", ToolKind::Patch),
        ("Read", ToolKind::Reads),
        ("LS", ToolKind::Lists),
        ("Glob", ToolKind::Lists),
        ("Grep", ToolKind::Searches),
    ],
    mcp_names: Some(McpNaming {
        prefix: "",
        separator: "___",
        ..McpNaming::COMMON
    }),
    reply: ReplyFormat::Claude,
    prompting_modes: &["off", "spec", "auto-low", "auto-medium", "auto-high"],
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: None,
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Continues,
        invalid_output: FailureReaction::Continues,
    },
    places: SettingsPlaces {
        // The variable replaces the home directory.
        directory: "",
        variable: Some("FACTORY_HOME_OVERRIDE"),
        sign: ".factory",
        user: ".factory/hooks.json",
        project: ".factory/hooks.json",
        switches: HookSwitches {
            settings: &[
                HookSwitch {
                    keys: &["hooksDisabled"],
                    off: OffValue::Is(true),
                },
                HookSwitch {
                    keys: &["hooks", "hooksDisabled"],
                    off: OffValue::Is(true),
                },
                // In the settings of an organization.
                HookSwitch {
                    keys: &["general", "allowManagedHooksOnly"],
                    off: OffValue::ManagedOnly,
                },
            ],
            variables: &[],
            arguments: &[],
            file_variables: &[
                "FACTORY_RUNTIME_SETTINGS_PATH",
                "FACTORY_ORG_MANAGED_SETTINGS_LOCAL_PATH",
            ],
            project_replaces: false,
            managed: None,
        },
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        // The events are at the top of `hooks.json`.
        container: None,
        ..JsonRegistration::COMMON
    }),
    notes: &[
        "Droid does not prompt if a hook asks. Requests that need approval are denied unless a \
         rule allows them or you approve them while `hooks-guard serve` runs.",
    ],
};
