//! opencode, through a plugin that calls the binary.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES, USERS_SHELLS};
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HookSwitches,
    JsonObject, McpNaming, OffArgument, PluginHost, RegistrationFormat, ReplyFormat,
    SettingsPlaces, ToolKind, ToolLocation,
};

pub(crate) const OPENCODE: AgentDescription = AgentDescription {
    name: "opencode",
    aliases: &[],
    title: "opencode",
    program: "opencode",
    tested_versions: &["1.18.33"],
    input: EventNaming {
        fields: &["hook"],
        unnamed: event_by_fields,
    },
    events: &[
        // opencode 1.
        AgentEvent::before(BEFORE)
            .without_prompt()
            .with_tool(ToolLocation::Plugin),
        AgentEvent::after("tool.execute.after").with_tool(ToolLocation::Plugin),
        // opencode 2.
        AgentEvent::before(EVALUATE)
            .with_tool(ToolLocation::Permission)
            .with_reply(ReplyFormat::OpenCode2),
    ],
    tools: &[
        ("bash", ToolKind::Shell),
        ("write", ToolKind::CREATES),
        ("edit", ToolKind::UPDATES),
        ("multiedit", ToolKind::UPDATES),
        ("apply_patch", ToolKind::Patch),
        ("patch", ToolKind::Patch),
        ("read", ToolKind::Reads),
        ("glob", ToolKind::Lists),
        ("grep", ToolKind::Searches),
        ("list", ToolKind::Lists),
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
        sign: "opencode",
        user: "opencode/plugins/hooks-guard.js",
        project: ".opencode/plugins/hooks-guard.js",
        switches: HookSwitches {
            arguments: &[OffArgument::Flag("--pure")],
            variables: &["OPENCODE_PURE"],
            ..HookSwitches::NONE
        },
    },
    registration: RegistrationFormat::Plugin(PluginHost::OpenCode),
    notes: &["Restart opencode: it reads plugins when it starts."],
};

const BEFORE: &str = "tool.execute.before";
const EVALUATE: &str = "permission.evaluate";

/// Returns the event of an input that does not name it.
fn event_by_fields(object: &JsonObject) -> Result<&'static str, &'static str> {
    if object.contains_key("action") {
        Ok(EVALUATE)
    } else if object.contains_key("input") {
        Ok(BEFORE)
    } else {
        Err("hook")
    }
}
