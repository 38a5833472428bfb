//! Claude Code.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES, USERS_SHELLS};
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, FieldValue, HookKind,
    HookSwitch, HookSwitches, JsonRegistration, OffArgument, OffValue, RegistrationFormat,
    ReplyFormat, SettingsPlaces, ToolKind, ToolMatcher, UnattendedVariable,
};

pub(crate) const CLAUDE_CODE: AgentDescription = AgentDescription {
    name: "claude-code",
    aliases: &["claude"],
    title: "Claude Code",
    program: "claude",
    tested_versions: &["2.1.332", "2.1.197"],
    input: EventNaming::COMMON,
    // All tools are matched: an unknown tool may have a `command`, too.
    events: &[
        AgentEvent::before("PreToolUse").registered(ToolMatcher::Any),
        AgentEvent::of_kind("PreSkillShellCommand", HookKind::BeforeSkillCommand)
            .without_prompt()
            .registered(ToolMatcher::Any),
        AgentEvent::of_kind("PermissionRequest", HookKind::Prompt),
        AgentEvent::of_kind("PermissionDenied", HookKind::Refused).registered(ToolMatcher::Any),
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Any),
        AgentEvent::after("PostToolUseFailure").registered(ToolMatcher::Any),
    ],
    tools: &[
        ("Bash", ToolKind::Shell),
        ("Monitor", ToolKind::Shell),
        ("PowerShell", ToolKind::PowerShell),
        ("Write", ToolKind::CREATES),
        ("Edit", ToolKind::UPDATES),
        ("MultiEdit", ToolKind::UPDATES),
        ("NotebookEdit", ToolKind::UPDATES),
        ("Read", ToolKind::Reads),
        ("Glob", ToolKind::Lists),
        ("Grep", ToolKind::Searches),
        ("LS", ToolKind::Lists),
        ("NotebookRead", ToolKind::Reads),
    ],
    mcp_names: None,
    reply: ReplyFormat::Claude,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: true,
    reports_denied_calls: false,
    unattended: &[
        // `claude -p`; the SDKs have other names, and their hosts may show a prompt.
        UnattendedVariable::Is("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),
        UnattendedVariable::IsNot("CLAUDE_CODE_SESSION_ATTENDED", "1"),
    ],
    denies_unknown_events: false,
    types_into_programs: None,
    shells: USERS_SHELLS,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Denies,
        invalid_output: FailureReaction::Continues,
    },
    places: SettingsPlaces {
        directory: ".claude",
        variable: Some("CLAUDE_CONFIG_DIR"),
        sign: "",
        user: "settings.json",
        // Not the shared settings: the binary's path is specific to one machine.
        project: ".claude/settings.local.json",
        switches: HookSwitches {
            arguments: &[
                OffArgument::Flag("--safe-mode"),
                OffArgument::Flag("--bare"),
                OffArgument::Without("--setting-sources", "user"),
                OffArgument::Settings("--settings"),
            ],
            settings: &[
                HookSwitch {
                    keys: &["disableAllHooks"],
                    off: OffValue::Is(true),
                },
                // These two count in managed settings.
                HookSwitch {
                    keys: &["allowManagedHooksOnly"],
                    off: OffValue::ManagedOnly,
                },
                HookSwitch {
                    keys: &["strictPluginOnlyCustomization"],
                    off: OffValue::ManagedOnly,
                },
            ],
            variables: &[
                "CLAUDE_CODE_SAFE_MODE",
                "CLAUDE_CODE_SIMPLE",
                "CLAUDE_CODE_PERSONAL_HOOKS_OFF",
            ],
            file_variables: &["CLAUDE_CODE_MANAGED_SETTINGS_PATH"],
            project_replaces: false,
            managed: Some(
                "The hooks of `/etc/claude-code/managed-settings.json` run even if a project sets \
                 `disableAllHooks`; an administrator can copy the entries there.",
            ),
        },
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        fail_closed: Some(("onFailure", FieldValue::Text("block"))),
        ..JsonRegistration::COMMON
    }),
    // They depend on the version.
    notes: &[],
};
