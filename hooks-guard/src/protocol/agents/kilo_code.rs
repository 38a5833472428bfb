//! Kilo Code, through a plugin that calls the binary. It descends from opencode 1, and loads the same
//! plugin.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES, USERS_SHELLS};
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HookSwitches,
    JsonObject, McpNaming, OffArgument, PluginHost, RegistrationFormat, ReplyFormat,
    SettingsPlaces, ToolKind, ToolLocation,
};

pub(crate) const KILO_CODE: AgentDescription = AgentDescription {
    name: "kilo-code",
    aliases: &["kilo"],
    title: "Kilo Code",
    program: "kilo",
    tested_versions: &["7.7.9"],
    input: EventNaming {
        fields: &["hook"],
        unnamed: event_by_fields,
    },
    events: &[
        AgentEvent::before(BEFORE)
            .without_prompt()
            .with_tool(ToolLocation::Plugin),
        AgentEvent::after("tool.execute.after").with_tool(ToolLocation::Plugin),
    ],
    tools: &[
        ("bash", ToolKind::Shell),
        ("write", ToolKind::CREATES),
        ("edit", ToolKind::UPDATES),
        ("apply_patch", ToolKind::Patch),
        ("notebook_edit", ToolKind::UPDATES),
        ("read", ToolKind::Reads),
        ("notebook_read", ToolKind::Reads),
        ("glob", ToolKind::Lists),
        ("repo_overview", ToolKind::Lists),
        ("grep", ToolKind::Searches),
        ("semantic_search", ToolKind::Searches),
    ],
    mcp_names: Some(McpNaming {
        prefix: "",
        separator: "_",
        ..McpNaming::COMMON
    }),
    reply: ReplyFormat::OpenCode1,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: false,
    types_into_programs: None,
    shells: USERS_SHELLS,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    // By the plugin.
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Denies,
        invalid_output: FailureReaction::Denies,
    },
    places: SettingsPlaces {
        directory: ".config",
        variable: Some("XDG_CONFIG_HOME"),
        sign: "kilo",
        user: "kilo/plugins/hooks-guard.js",
        project: ".kilo/plugins/hooks-guard.js",
        switches: HookSwitches {
            arguments: &[OffArgument::Flag("--pure")],
            variables: &["KILO_PURE"],
            ..HookSwitches::NONE
        },
    },
    registration: RegistrationFormat::Plugin(PluginHost::OpenCode),
    notes: &["Restart Kilo Code: it reads plugins when it starts."],
};

const BEFORE: &str = "tool.execute.before";

/// Returns the event of an input that does not name it.
fn event_by_fields(object: &JsonObject) -> Result<&'static str, &'static str> {
    match object.contains_key("input") {
        true => Ok(BEFORE),
        false => Err("hook"),
    }
}
