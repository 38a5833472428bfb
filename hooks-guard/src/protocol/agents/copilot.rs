//! GitHub Copilot CLI and the cloud agent.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::{Shells, TerminalInput};
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HandlerField,
    HookKind, HookSwitch, HookSwitches, JsonObject, JsonRegistration, McpNaming, OffArgument,
    OffValue, RegistrationFormat, ReplyFormat, SettingsPlaces, ToolKind, ToolMatcher,
};

pub(crate) const COPILOT: AgentDescription = AgentDescription {
    name: "copilot",
    aliases: &[],
    title: "Copilot CLI",
    program: "copilot",
    tested_versions: &["1.0.102"],
    input: EventNaming {
        unnamed: event_by_fields,
        ..EventNaming::COMMON
    },
    events: &[
        AgentEvent::before("preToolUse").registered(ToolMatcher::Names),
        AgentEvent::of_kind("permissionRequest", HookKind::Prompt),
        AgentEvent::after("postToolUse").registered(ToolMatcher::Names),
        AgentEvent::of_kind(OTHER_EVENT, HookKind::Other),
    ],
    tools: &[
        ("bash", ToolKind::Shell),
        ("powershell", ToolKind::PowerShell),
        ("create", ToolKind::CREATES),
        ("edit", ToolKind::UPDATES),
        ("insert", ToolKind::UPDATES),
        ("str_replace_editor", ToolKind::UPDATES),
        ("apply_patch", ToolKind::Patch),
        ("glob", ToolKind::Lists),
        ("grep", ToolKind::Searches),
        ("view", ToolKind::Reads),
    ],
    mcp_names: Some(McpNaming {
        prefix: "",
        separator: "-",
        ..McpNaming::COMMON
    }),
    reply: ReplyFormat::Copilot,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: false,
    // `write_bash`.
    types_into_programs: Some(TerminalInput::Pager),
    shells: Shells::BASH,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Continues,
        invalid_output: FailureReaction::Continues,
    },
    places: SettingsPlaces {
        directory: ".copilot",
        variable: Some("COPILOT_HOME"),
        sign: "",
        user: "hooks/hooks-guard.json",
        project: ".github/hooks/hooks-guard.json",
        switches: HookSwitches {
            arguments: &[OffArgument::Flag("--config-dir")],
            settings: &[
                HookSwitch {
                    keys: &["disableAllHooks"],
                    off: OffValue::Is(true),
                },
                HookSwitch {
                    keys: &["disabledHooks"],
                    off: OffValue::NamesHook,
                },
            ],
            ..HookSwitches::NONE
        },
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        version: Some(1),
        grouped: false,
        handler: &[
            HandlerField::Text("type", "command"),
            HandlerField::Command("bash"),
            HandlerField::PowerShell("powershell"),
            HandlerField::Matcher("matcher"),
            HandlerField::Seconds("timeoutSec"),
        ],
        ..JsonRegistration::COMMON
    }),
    notes: &[
        "VS Code reads this file, too, and gets replies in its own format; `install vscode` is \
         not needed.",
    ],
};

/// Name for the events of a session, which have no tool.
const OTHER_EVENT: &str = "session";

/// Returns the event of an input, which does not name it.
fn event_by_fields(object: &JsonObject) -> Result<&'static str, &'static str> {
    let has = |field: &&str| object.contains_key(*field);
    if has(&"toolName") {
        return Ok(if ["toolResult", "error"].iter().any(has) {
            "postToolUse"
        } else if has(&"toolInput") && !has(&"toolArgs") {
            "permissionRequest"
        } else {
            "preToolUse"
        });
    }
    let others = [
        "prompt",
        "source",
        "reason",
        "stopReason",
        "error",
        "message",
    ];
    match others.iter().any(has) {
        true => Ok(OTHER_EVENT),
        false => Err("toolName"),
    }
}
