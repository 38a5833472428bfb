//! The hook protocols of coding agents. In: the input that an agent sends before and after it uses a
//! tool. Out: the reply in the agent's format. Pure functions; the caller reads and prints.
//!
//! [`read`] parses the input into a [`HookEvent`]. [`AgentDecision::of`] converts a decision of the
//! service, and [`decision_reply`] returns the [`HookReply`] in the agent's format.
//! [`failure_reply`] converts an error to a denial.
//!
//! Unknown keys and events are ignored, except that an unknown event before an action is an error if
//! the agent runs what its hook does not deny. A tool that is not in the table of [`tools`](self) is
//! treated as a shell if its input has a `command` text, and gets no decision otherwise; it never
//! gets an allow, so the agent's own prompt stays. Required fields are checked strictly: a `command`
//! that is not a text, or a patch without a file, is an error and denied.
//!
//! Each agent is described by one constant in `agents`: its events, tools, replies and settings, and
//! what it does if the hook fails.
//!
//! ```
//! use hooks_guard::protocol::{self, Agent, AgentDecision, HookEvent};
//!
//! let input = br#"{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/project",
//!     "tool_name": "Bash", "tool_input": {"command": "make clean"}, "tool_use_id": "t"}"#;
//! let HookEvent::Ask(question) = protocol::read(Agent::ClaudeCode, input)? else {
//!     panic!("a question");
//! };
//! assert_eq!(question.request.command, "make clean");
//! let decision = AgentDecision::Ask("CREATE: `make` runs a build".into());
//! let reply = protocol::decision_reply(&question, &decision);
//! assert!(reply.stdout.contains(r#""permissionDecision":"ask""#));
//! # Ok::<(), protocol::ProtocolError>(())
//! ```

mod agent;
mod agents;
mod client_files;
#[cfg(feature = "cli")]
pub(crate) mod command_files;
mod description;
mod edits;
mod error;
mod events;
mod input;
mod limit;
mod mcp;
mod model;
#[cfg(feature = "cli")]
pub(crate) mod other_hooks;
mod outcome;
pub(crate) mod own_tools;
mod past_call;
mod patch;
mod reply;
pub(crate) mod settings_text;
mod tools;
pub(crate) mod variable_files;

pub use self::description::{FailureReaction, FailureRules, HookKind};
pub use self::error::{MAX_INPUT_BYTES, Problem, ProtocolError};
pub use self::model::{
    AgentDecision, AgentDenial, AgentHook, AgentPrompt, DENIED, DecisionRequest, HookEvent,
    MAX_TEXT_CHARS, ToolOutcome, ToolRun,
};
pub use agent::{Agent, UnknownAgent, is_unattended};
#[cfg(feature = "cli")]
pub(crate) use client_files::client;
pub use client_files::{AgentClient, CLIENTS, ClientFile, FilePlace, Source};
#[cfg(any(feature = "cli", feature = "acp"))]
pub(crate) use description::ToolKind;
#[cfg(feature = "cli")]
pub(crate) use description::{
    AcceptedTables, HandlerField, HookSwitch, JsonObject, JsonRegistration, McpNaming, OffArgument,
    OffValue, PluginHost, ReplyFormat, ScriptRegistration, SettingsPlaces, TomlRegistration,
    ToolMatcher,
};
#[cfg(feature = "acp")]
pub(crate) use edits::edits;
pub use events::{read, read_in};
#[cfg(feature = "acp")]
pub(crate) use input::hash as input_hash;
pub use limit::limit;
#[cfg(feature = "cli")]
pub(crate) use limit::{AFTER_TOOL_TIMEOUT, BEFORE_TOOL_TIMEOUT};
pub(crate) use mcp::separators as mcp_separators;
#[cfg(feature = "acp")]
pub(crate) use model::directory;
pub use past_call::{PastCall, past_input};
pub use reply::{
    HookReply, approval_missing, decision_reply, empty_reply, failure_reply, other_command_reply,
    unread_reply,
};
#[cfg(feature = "acp")]
pub(crate) use tools::{access, line, tool};
pub(crate) use tools::{lists, names_files, searches};
