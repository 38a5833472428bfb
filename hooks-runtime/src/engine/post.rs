//! The nine POST hooks of the engine, in their order.
//!
//! | Id | Type | Record |
//! |---|---|---|
//! | `mutation-log` | [`MutationLog`] | each file changed, with its intent, in `mutations.jsonl` |
//! | `turn-context` | [`TurnUpdate`] | session state: the selected intent, resources used, content written |
//! | `read-file-baseline` | [`ReadFileBaseline`] | content that was read, in the session |
//! | `agent-trace` | [`AgentTrace`] | changes of the agent and their reasons, in `agent_trace.jsonl` |
//! | `general-trace` | [`GeneralTrace`] | every call, in `trace.jsonl` |
//! | `verification-failure` | [`VerificationFailure`] | checks that failed, in `verification_failures.jsonl` |
//! | `intent-progress` | [`IntentProgress`] | progress of an intent, in `intent_progress.jsonl` |
//! | `scope-drift` | [`ScopeDrift`] | changes outside of the scope, in `scope_drift.jsonl` |
//! | `shared-brain` | [`SharedBrain`] | lessons, in `lessons.jsonl` |
//!
//! They ignore a result without an intent, with two exceptions whose records only make later checks
//! stricter: `turn-context` adds up the resources used, and `read-file-baseline` notes the content
//! that was read. The call that selects an intent counts as a call of the selected intent. Without
//! a storage nothing is written.

/// Defines a hook that is built from a context alone, and appends to one file.
macro_rules! hook_with_file {
    ($(#[$doc:meta])* $name:ident, $file:path) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name {
            context: $crate::engine::context::EngineContext,
        }

        impl $name {
            /// The file that the hook appends to.
            pub const FILE: &'static str = $file;

            /// Creates a hook that writes to the storage of this context.
            pub fn new(context: &$crate::engine::context::EngineContext) -> Self {
                $name {
                    context: context.clone(),
                }
            }
        }
    };
}

mod agent_trace;
mod general_trace;
mod intent_progress;
mod mutation_log;
mod read_file_baseline;
mod scope_drift;
mod shared_brain;
mod turn_context;
mod verification_failure;

pub use agent_trace::AgentTrace;
pub use general_trace::GeneralTrace;
pub use intent_progress::IntentProgress;
pub use mutation_log::MutationLog;
pub use read_file_baseline::ReadFileBaseline;
pub use scope_drift::ScopeDrift;
pub use shared_brain::SharedBrain;
pub use turn_context::TurnUpdate;
pub use verification_failure::VerificationFailure;
