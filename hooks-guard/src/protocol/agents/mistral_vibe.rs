//! Mistral Vibe.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, FieldValue,
    HandlerField, HookKind, HookSwitch, HookSwitches, McpNaming, OffValue, RegistrationFormat,
    ReplyFormat, SettingsPlaces, TomlRegistration, ToolKind, ToolMatcher,
};

pub(crate) const MISTRAL_VIBE: AgentDescription = AgentDescription {
    name: "mistral-vibe",
    aliases: &["vibe"],
    title: "Mistral Vibe",
    program: "vibe",
    tested_versions: &["3.0.3"],
    input: EventNaming::COMMON,
    events: &[
        // Mistral Vibe obeys a denial only.
        AgentEvent::before("pre_tool")
            .without_prompt()
            .registered(ToolMatcher::Omitted),
        AgentEvent::after("post_tool").registered(ToolMatcher::Omitted),
        AgentEvent::of_kind("post_agent", HookKind::Other),
    ],
    // The names in the hook's input; the model calls some of them by the last part.
    tools: &[
        ("file_system.bash", ToolKind::Shell),
        ("process.start", ToolKind::Shell),
        ("file_system.write_file", ToolKind::CREATES),
        ("file_system.edit", ToolKind::UPDATES),
        ("file_system.read_file", ToolKind::Reads),
    ],
    mcp_names: Some(McpNaming {
        prefix: "mcp_",
        separator: ".",
        ..McpNaming::COMMON
    }),
    reply: ReplyFormat::Vibe,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    // `process.write` types into a program, and calls the hook.
    types_into_programs: None,
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    // Because of `strict`.
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Denies,
        invalid_output: FailureReaction::Denies,
    },
    places: SettingsPlaces {
        directory: ".vibe",
        variable: Some("VIBE_HOME"),
        sign: "",
        user: "hooks.toml",
        project: ".vibe/hooks.toml",
        switches: HookSwitches {
            settings: &[HookSwitch {
                keys: &["hooks", "*", "name"],
                off: OffValue::ReplacesHook,
            }],
            ..HookSwitches::NONE
        },
    },
    registration: RegistrationFormat::Toml(TomlRegistration {
        user_only: true,
        list: "hooks",
        event: "type",
        fields: &[
            HandlerField::Name("name"),
            HandlerField::Command("command"),
            HandlerField::Seconds("timeout"),
        ],
        fail_closed: Some(("strict", FieldValue::True)),
        // Mistral Vibe skips an invalid table, and reads the others.
        accepted: None,
    }),
    notes: &[
        "Mistral Vibe does not prompt if a hook asks. Requests that need approval are denied unless \
         a rule allows them or you approve them while `hooks-guard serve` runs.",
        "Restart Mistral Vibe: it reads its hooks when it starts.",
    ],
};
