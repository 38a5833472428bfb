//! Events: plugins register hooks for the name of an event. A host that emits the event gets an
//! [`Emission`]: the strongest action of the hooks, and the changed data, injections and messages
//! of all hooks that ran.
//!
//! | Module | Subject |
//! |---|---|
//! | [`registry`] | [`HookRegistry`]: registering, emitting, listing |
//! | `run` | an emission: the phases, around hooks and observers; `emit_future` is the future of `emit` |
//! | `table` | the registered hooks: a snapshot for emissions, and the writers' copy |
//! | `event_slots` | the hooks of one event, and those for every event |
//! | `state` | what the clones of a registry share |
//! | `emit_options` | [`EmitOptions`]: a deadline, a report |
//! | `declarations` | the methods of [`HookRegistry`] that declare events |
//! | [`result`] | [`HookResult`]: output of a hook |
//! | [`handler`] | forms of hooks: functions, closures, [`EventHook`]s |
//! | [`event`] | [`Event`]: borrowed input of a hook, and the data behind it |
//! | [`emission`] | [`Emission`]: result of an emission |
//! | `phase` | [`EventPhase`]: transforming, deciding and observing hooks |
//! | `schema` | [`EventSchema`]: declarations of events and their data |
//! | `names` | [`EventNameWarning`]: names of events that are probably mistakes |
//! | `emit`, `observe`, `collect` | the policies |
//! | `concurrent` | state of the policies whose hooks run concurrently |
//! | `command` | `CommandHook`: programs as hooks (feature `command`) |
//!
//! # Precedence of actions
//!
//! Hooks run one after the other, by priority. The action of the emission is the strongest action
//! that a hook returned. The changed data, injections and messages of hooks with weaker actions are
//! also in the emission. From the strongest action to the weakest:
//!
//! | [`Action`] | Effect on the emission |
//! |---|---|
//! | `Deny` | ends; later hooks do not run |
//! | `AskUser` | continues; the first question of a trusted hook applies, or the first question if no trusted hook asks |
//! | `InjectContext` | continues; all injections apply |
//! | `Modify` | continues with the changed data |
//! | `Continue` | continues |

pub mod emission;
pub mod event;
pub mod handler;
pub mod registry;
pub mod result;

mod call;
mod changes;
mod collect;
#[cfg(feature = "command")]
pub mod command;
mod concurrent;
pub(crate) mod condition;

pub(crate) mod data;
mod declarations;
pub(crate) mod emit;
mod emit_future;
mod emit_options;
mod event_slots;
pub(crate) mod fields;
mod lookup;
mod names;
mod observe;
mod phase;
mod run;
mod schema;
mod state;
pub(crate) mod table;

pub use call::EventCall;
pub use changes::Changes;
pub use collect::Collected;
#[cfg(feature = "command")]
pub use command::CommandHook;

pub use data::{DefaultFields, EmitError, EventData, IntoEventData};
pub use emission::{Emission, HandlerFailure, HookOutput, Injection, Provenance, UserMessage};
pub use emit_options::EmitOptions;
pub use event::Event;
pub use handler::{EventHook, HookReturn, IntoHandler, StatefulEventHook};
pub use names::{EventNameProblem, EventNameWarning};
pub use phase::EventPhase;
pub use registry::{HookRegistry, WeakHookRegistry};
pub use result::json::InvalidResult;
pub use result::{Action, ApprovalDefault, ContextRole, HookResult, MessageLevel};
pub use schema::{EventField, EventSchema, FieldProblem, FieldType, SchemaMismatch};
pub use table::EventDescriptor;
/// List type of an [`Emission`]: a `Vec` of one word.
pub use thin_vec::ThinVec;

/// Names of the standard events, also available as `HookRegistry::TOOL_PRE`.
macro_rules! standard_events {
    ($($(#[$doc:meta])* $constant:ident = $name:literal;)*) => {
        $($(#[$doc])* pub const $constant: &str = $name;)*

        impl HookRegistry {
            $($(#[$doc])* pub const $constant: &'static str = $name;)*

            pub(crate) const STANDARD_EVENTS: &'static [&'static str] = &STANDARD;
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
