//! Pi, through an extension that calls the binary.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::Shells;
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HookKind, HookSwitch,
    HookSwitches, JsonObject, OffArgument, OffValue, PluginHost, RegistrationFormat, ReplyFormat,
    SettingsPlaces, ToolKind, ToolLocation,
};

pub(crate) const PI: AgentDescription = AgentDescription {
    name: "pi",
    aliases: &[],
    title: "Pi",
    program: "pi",
    tested_versions: &["1.6.0"],
    input: EventNaming {
        fields: &[],
        unnamed: event_type,
    },
    events: &[
        // The extension shows a dialog, unless the session has none.
        AgentEvent::before(BEFORE).with_tool(ToolLocation::Extension),
        AgentEvent::after(AFTER).with_tool(ToolLocation::Extension),
        // By the extension, if the user answers no in its dialog.
        AgentEvent::of_kind(REFUSED, HookKind::Refused).with_tool(ToolLocation::Extension),
    ],
    tools: &[
        ("bash", ToolKind::Shell),
        ("powershell", ToolKind::PowerShell),
        ("write", ToolKind::CREATES),
        ("edit", ToolKind::UPDATES),
        ("read", ToolKind::Reads),
        ("ls", ToolKind::Lists),
        ("find", ToolKind::Lists),
        ("grep", ToolKind::Searches),
    ],
    mcp_names: None,
    reply: ReplyFormat::Pi,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: false,
    types_into_programs: None,
    // A setting selects the shell.
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    // By the extension.
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Denies,
        invalid_output: FailureReaction::Denies,
    },
    places: SettingsPlaces {
        directory: ".pi/agent",
        variable: Some("PI_CODING_AGENT_DIR"),
        sign: "",
        user: "extensions/hooks-guard.ts",
        project: ".pi/extensions/hooks-guard.ts",
        switches: HookSwitches {
            arguments: &[
                OffArgument::Flag("--no-extensions"),
                OffArgument::Flag("-ne"),
            ],
            settings: &[HookSwitch {
                keys: &["extensions"],
                off: OffValue::ExcludesHook,
            }],
            ..HookSwitches::NONE
        },
    },
    registration: RegistrationFormat::Plugin(PluginHost::Pi),
    notes: &[
        "Restart Pi, or run `/reload`: it reads extensions when it starts.",
        "The extensions of a project that you trust run in Pi before the one of the guard, and can \
         do anything that you can. `hooks-guard doctor` names them.",
    ],
};

const BEFORE: &str = "tool_call";
const AFTER: &str = "tool_result";
const REFUSED: &str = "tool_refused";

/// Returns the event, whose name is in its object.
fn event_type(object: &JsonObject) -> Result<&'static str, &'static str> {
    let event = object.get("event").and_then(|event| event.get("type"));
    match event.and_then(|name| name.as_str()) {
        Some(BEFORE) => Ok(BEFORE),
        Some(AFTER) => Ok(AFTER),
        Some(REFUSED) => Ok(REFUSED),
        // Nothing to decide.
        Some(_) => Ok("another event"),
        None => Err("event"),
    }
}
