//! Governance for coding agents: [`HookEngine`] checks and records the tool calls of a session,
//! with sixteen hooks on a [`PhaseRegistry`](crate::PhaseRegistry). Needs the feature `engine`.
//!
//! | Module | Subject |
//! |---|---|
//! | `gateway`, `builder` | [`HookEngine`] and its builder |
//! | [`pre`] | the seven hooks that run before a call |
//! | [`post`] | the nine hooks that run after a call |
//! | `call` | [`ToolRequest`] and [`ToolResult`]: the input of the hooks |
//! | `tools`, `patch` | [`ToolTable`]: safe tools, and the parameters and patches that name files |
//! | `context` | [`EngineContext`]: state that the hooks share |
//! | `session` | [`Session`]: state between calls |
//! | `intent` | [`IntentCatalogue`]: intents, and the files that they own |
//! | `scope` | checks that an intent may change a file |
//! | `contents` | content of the files that a call has touched |
//! | `record` | fields of the records that hooks write |
//! | `workspace` | [`Workspace`]: paths, the ignore file, hashes |
//! | `storage` | [`Storage`]: the files that hooks append to |
//! | `files` | opens files that an agent can replace |
//! | `health` | [`HealthProbe`]: checks the state of the engine |
//! | `error` | errors |
//!
//! The engine fails closed: an unknown tool is destructive and writes unknown files, a file that no
//! intent owns is out of scope, and an engine whose state cannot be checked denies every call.
//!
//! Hooks read and append to files on tokio's blocking threads. Without a tokio runtime they block
//! in place.

pub mod post;
pub mod pre;

mod builder;
mod call;
mod contents;
mod context;
mod error;
mod files;
mod gateway;
mod health;
mod intent;
mod patch;
mod record;
mod scope;
mod session;
mod storage;
mod tools;
mod workspace;

pub use builder::EngineBuilder;
pub use call::{CallUsage, ToolRequest, ToolResult};
pub use context::EngineContext;
pub use error::{ConcurrencyError, EngineError, TraceabilityError};
pub use gateway::HookEngine;
pub use health::{FilesProbe, HealthProbe, IntoHealth, Unhealthy};
pub use intent::{Intent, IntentCatalogue, IntentStatus};
pub use post::{
    AgentTrace, GeneralTrace, IntentProgress, MutationLog, ReadFileBaseline, ScopeDrift,
    SharedBrain, TurnUpdate, VerificationFailure,
};
pub use pre::{
    BudgetLimits, CallBudget, CircuitBreaker, Concurrency, FailSafe, ScopeEnforcement, StateCheck,
    Traceability,
};
pub use session::{IntentActivity, Lesson, Session, Spent, Stage};
pub use storage::{STORAGE_FOLDER, Storage};
pub use tools::{ToolClass, ToolRole, ToolTable, UnreadablePath};
pub use workspace::{IGNORE_FILE, PathRefusal, Workspace, content_hash};
