//! Events: plugins register for the name of an event, and a host that emits it gets one
//! answer, in which nothing that a hook said is lost.
//!
//! | Module | Subject |
//! |---|---|
//! | [`registry`] | [`HookRegistry`]: registering, emitting, listing |
//! | [`result`] | [`HookResult`]: what a hook answers |
//! | [`handler`] | what can be a hook: functions, closures, [`EventHook`]s |
//! | [`event`] | [`Event`]: what a hook is given, borrowed; and the data behind it |
//! | [`emission`] | [`Emission`]: what the host is given |
//! | `emit`, `collect` | the two policies |
//! | `command` | `CommandHook`: programs as hooks (feature `command`) |
//!
//! # Which answer wins
//!
//! Hooks run one after the other, by priority. `deny` ends the emission; of everything else
//! the strongest counts, in this order, and what the weaker ones brought is kept:
//!
//! | [`Action`] | The emission |
//! |---|---|
//! | `Deny` | stops; the hook's reason says why |
//! | `AskUser` | goes on; the first question counts, but one of a trusted hook before others |
//! | `InjectContext` | goes on; all injections count |
//! | `Modify` | goes on with the changed data |
//! | `Continue` | goes on |

pub mod emission;
pub mod event;
pub mod handler;
pub mod registry;
pub mod result;

mod changes;
mod collect;
#[cfg(feature = "command")]
pub mod command;

pub(crate) mod data;
mod emit;
mod lookup;
mod record;
pub(crate) mod table;

pub use changes::Changes;
pub use collect::Collected;
#[cfg(feature = "command")]
pub use command::CommandHook;

pub use data::{DefaultFields, EmitError, EventData, IntoEventData};
pub use emission::{Emission, HandlerFailure, HookOutput, Injection, Provenance, UserMessage};
pub use event::Event;
pub use handler::{EventHook, HookAnswer, IntoHandler, StatefulEventHook};
pub use registry::{EmitOptions, HookRegistry, WeakHookRegistry};
pub use result::json::InvalidResult;
pub use result::{Action, ApprovalDefault, ContextRole, HookResult, MessageLevel};
pub use table::EventDescriptor;
/// The type of the lists of an [`Emission`]: a `Vec` of one word.
pub use thin_vec::ThinVec;

/// The names of the standard events, also to be had as `HookRegistry::TOOL_PRE`.
macro_rules! standard_events {
    ($($(#[$doc:meta])* $constant:ident = $name:literal;)*) => {
        $($(#[$doc])* pub const $constant: &str = $name;)*

        impl HookRegistry {
            $($(#[$doc])* pub const $constant: &'static str = $name;)*
        }

        /// All standard events, in the order of the documentation.
        pub const STANDARD: [&str; 16] = [$($name),*];
    };
}

standard_events! {
    /// A session begins.
    SESSION_START = "session:start";
    /// A session ends.
    SESSION_END = "session:end";
    /// The user submits a prompt.
    PROMPT_SUBMIT = "prompt:submit";
    /// A tool is about to run.
    TOOL_PRE = "tool:pre";
    /// A tool has run.
    TOOL_POST = "tool:post";
    /// The context is about to be compacted.
    CONTEXT_PRE_COMPACT = "context:pre-compact";
    /// An agent is created.
    AGENT_SPAWN = "agent:spawn";
    /// An agent is done.
    AGENT_COMPLETE = "agent:complete";
    /// The orchestration is done.
    ORCHESTRATOR_COMPLETE = "orchestrator:complete";
    /// The user is notified.
    USER_NOTIFICATION = "user:notification";
    /// A tool is to be chosen.
    DECISION_TOOL_RESOLUTION = "decision:tool_resolution";
    /// An agent is to be chosen.
    DECISION_AGENT_RESOLUTION = "decision:agent_resolution";
    /// The context is to be decided on.
    DECISION_CONTEXT_RESOLUTION = "decision:context_resolution";
    /// A tool failed.
    ERROR_TOOL = "error:tool";
    /// A provider failed.
    ERROR_PROVIDER = "error:provider";
    /// The orchestration failed.
    ERROR_ORCHESTRATION = "error:orchestration";
}
