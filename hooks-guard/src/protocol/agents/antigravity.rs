//! Google's Antigravity CLI, `agy`. Follows the documentation; not tried with a published client.

use std::time::Duration;

use super::PROMPTING_MODES;
use crate::classify::{Shells, TerminalInput};
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureRules, HookKind, HookSwitches, JsonObject,
    JsonRegistration, RegistrationFormat, ReplyFormat, SettingsPlaces, ToolKind, ToolLocation,
    ToolMatcher,
};

pub(crate) const ANTIGRAVITY: AgentDescription = AgentDescription {
    name: "antigravity",
    aliases: &["agy"],
    title: "Antigravity",
    program: "agy",
    tested_versions: &[],
    input: EventNaming {
        unnamed: event_by_fields,
        ..EventNaming::COMMON
    },
    events: &[
        AgentEvent::before(BEFORE)
            .with_tool(ToolLocation::Call {
                object: "toolCall",
                name: "name",
                arguments: "args",
                id: None,
            })
            .registered(ToolMatcher::Any),
        // The input does not name the tool.
        AgentEvent::of_kind("PostToolUse", HookKind::Other),
        AgentEvent::of_kind("PreInvocation", HookKind::Other),
        AgentEvent::of_kind(OTHER_EVENT, HookKind::Other),
    ],
    tools: &[
        ("run_command", ToolKind::Shell),
        ("write_to_file", ToolKind::CREATES),
        ("replace_file_content", ToolKind::UPDATES),
        ("multi_replace_file_content", ToolKind::UPDATES),
        ("view_file", ToolKind::Reads),
        ("list_dir", ToolKind::Lists),
        ("find_by_name", ToolKind::Lists),
        ("grep_search", ToolKind::Searches),
    ],
    mcp_names: None,
    reply: ReplyFormat::Antigravity,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    types_into_programs: Some(TerminalInput::Commands),
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: Duration::from_secs(5),
    failures: FailureRules::UNKNOWN,
    places: SettingsPlaces {
        directory: ".gemini",
        variable: None,
        sign: "antigravity-cli",
        user: "config/hooks.json",
        project: ".agents/hooks.json",
        switches: HookSwitches::NONE,
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        container: Some("hooks-guard"),
        ..JsonRegistration::COMMON
    }),
    notes: &["Restart Antigravity; `/hooks` lists its hooks."],
};

const BEFORE: &str = "PreToolUse";

/// Name for the events without a tool.
const OTHER_EVENT: &str = "invocation";

/// Returns the event of an input, which does not name it.
fn event_by_fields(object: &JsonObject) -> Result<&'static str, &'static str> {
    if object.contains_key("toolCall") {
        Ok(BEFORE)
    } else if object.contains_key("conversationId") {
        Ok(OTHER_EVENT)
    } else {
        Err("toolCall")
    }
}
