//! Governance for coding agents: [`HookEngine`] stands around the tools of a session, with
//! sixteen hooks on a [`PhaseRegistry`](crate::PhaseRegistry). Needs the feature `engine`.
//!
//! | Module | Subject |
//! |---|---|
//! | `gateway`, `builder` | [`HookEngine`], and how one is put together |
//! | [`pre`] | the seven hooks that are asked before a call |
//! | [`post`] | the nine hooks that are told after it |
//! | `call` | [`ToolRequest`] and [`ToolResult`]: what hooks are given |
//! | `tools`, `patch` | [`ToolTable`]: which tools are safe, which parameters and patches name files |
//! | `context` | [`EngineContext`]: what the hooks share |
//! | `session` | [`Session`]: what is remembered between calls |
//! | `intent` | [`IntentCatalogue`]: what is worked on, and whose files are whose |
//! | `scope` | whether a file may be changed for an intent |
//! | `contents` | what is in the files that a call has touched |
//! | `record` | what hooks write down about a call |
//! | `workspace` | [`Workspace`]: where a path leads, the ignore file, hashes |
//! | `storage` | [`Storage`]: the files that hooks append to |
//! | `files` | how files are opened that an agent can get at |
//! | `health` | [`HealthProbe`]: whether all that is in order |
//! | `error` | what goes wrong |
//!
//! Where nothing was said, the answer is no: a tool that nobody knows is destructive and writes
//! files that nobody can judge, a file that no intent owns is out of scope, an engine that cannot be asked how it is
//! denies everything.
//!
//! Hooks read and append to files away from the async runtime, on tokio's threads for that.
//! Without a tokio runtime they do it in place, and block.

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
pub use call::{ToolRequest, ToolResult, Usage};
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
    Budget, CircuitBreaker, Concurrency, FailSafe, Limits, ScopeEnforcement, StateCheck,
    Traceability,
};
pub use session::{Lesson, Progress, Session, Spent, Stage};
pub use storage::{STORAGE_FOLDER, Storage};
pub use tools::{ToolClass, ToolRole, ToolTable, UnreadablePath};
pub use workspace::{IGNORE_FILE, PathRefusal, Workspace, content_hash};
