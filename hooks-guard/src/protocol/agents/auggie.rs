//! Auggie, the command line of Augment Code.

use super::{MANUAL_TIMEOUT, PROMPTING_MODES};
use crate::classify::{Shells, TerminalInput};
use crate::protocol::description::{
    AgentDescription, AgentEvent, EventNaming, FailureReaction, FailureRules, HandlerField,
    HookSwitches, JsonRegistration, McpCaller, McpNaming, RegistrationFormat, ReplyFormat,
    SettingsPlaces, ToolKind, ToolMatcher,
};

pub(crate) const AUGGIE: AgentDescription = AgentDescription {
    name: "auggie",
    aliases: &["augment"],
    title: "Auggie",
    program: "auggie",
    tested_versions: &["0.36.0"],
    input: EventNaming::COMMON,
    events: &[
        // Auggie reads `ask`, and then runs the tool by its own rules. It ignores an entry with the
        // matcher `*`.
        AgentEvent::before("PreToolUse")
            .without_prompt()
            .registered(ToolMatcher::Omitted),
        AgentEvent::after("PostToolUse").registered(ToolMatcher::Omitted),
    ],
    tools: &[
        ("launch-process", ToolKind::Shell),
        ("save-file", ToolKind::CREATES),
        ("str-replace-editor", ToolKind::UPDATES),
        ("apply_patch", ToolKind::Patch),
        ("remove-files", ToolKind::DELETES),
        ("view", ToolKind::Reads),
        ("grep-search", ToolKind::Searches),
        // Its input names files whose lines it returns.
        ("finish-subagent-context-gathering", ToolKind::Reads),
        // If the service selects the compact set of tools.
        ("bash", ToolKind::Shell),
        ("write", ToolKind::CREATES),
        ("edit", ToolKind::UPDATES),
        ("read", ToolKind::Reads),
        ("ls", ToolKind::Lists),
        ("find", ToolKind::Lists),
        ("grep", ToolKind::Searches),
    ],
    mcp_names: Some(McpNaming {
        prefix: "",
        separator: "_",
        tool_first: true,
        caller: Some(McpCaller {
            tool: "execute-tool",
            server: "mcp_server",
            name: "tool_name",
            arguments: "arguments",
        }),
        ..McpNaming::COMMON
    }),
    // Auggie also reads `permissionDecision`, and shows the user the reason of each `allow`.
    reply: ReplyFormat::ExitStatus,
    prompting_modes: PROMPTING_MODES,
    has_failure_event: false,
    reports_denied_calls: false,
    unattended: &[],
    denies_unknown_events: true,
    // `write-process`.
    types_into_programs: Some(TerminalInput::Commands),
    shells: Shells::ALL,
    runs_in_hook_directory: false,
    manual_timeout: MANUAL_TIMEOUT,
    failures: FailureRules {
        failed: FailureReaction::Denies,
        late: FailureReaction::Continues,
        invalid_output: FailureReaction::Continues,
    },
    places: SettingsPlaces {
        directory: ".augment",
        variable: None,
        sign: "",
        user: "settings.json",
        project: ".augment/settings.local.json",
        switches: HookSwitches::NONE,
    },
    registration: RegistrationFormat::Json(JsonRegistration {
        handler: &[
            HandlerField::Text("type", "command"),
            HandlerField::Command("command"),
            HandlerField::Milliseconds("timeout"),
        ],
        ..JsonRegistration::COMMON
    }),
    notes: &[
        "Auggie does not prompt if a hook asks. Requests that need approval are denied unless a \
         rule allows them or you approve them while `hooks-guard serve` runs.",
        "Auggie calls hooks only if its service enables them for your account (`enable_hooks`), and \
         calls none if it cannot read the settings of the service at its start. `/hooks` in Auggie \
         shows whether it has the hook.",
    ],
};
