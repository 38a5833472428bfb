//! The nine POST hooks of the engine, in their order.
//!
//! | Id | Type | Keeps |
//! |---|---|---|
//! | `mutation-log` | [`MutationLog`] | which file was changed for which intent, in `mutations.jsonl` |
//! | `turn-context` | [`TurnUpdate`] | what the session knows: the selected intent, what was used, what was left in files |
//! | `read-file-baseline` | [`ReadFileBaseline`] | what was seen in files, in the session |
//! | `agent-trace` | [`AgentTrace`] | what the agent changed and why, in `agent_trace.jsonl` |
//! | `general-trace` | [`GeneralTrace`] | every call, in `trace.jsonl` |
//! | `verification-failure` | [`VerificationFailure`] | checks that failed, in `verification_failures.jsonl` |
//! | `intent-progress` | [`IntentProgress`] | how far an intent is, in `intent_progress.jsonl` |
//! | `scope-drift` | [`ScopeDrift`] | changes outside of the scope, in `scope_drift.jsonl` |
//! | `shared-brain` | [`SharedBrain`] | lessons, in `lessons.jsonl` |
//!
//! None of them does anything for a result without an intent, but for two, whose records
//! only make later checks stricter: `turn-context` adds up what was used, and
//! `read-file-baseline` notes what was seen. The call that selects an intent counts as one of
//! the intent that it selects. Without a storage nothing is written.

/// A hook that is made from a context alone, and appends to one file.
macro_rules! hook_with_file {
    ($(#[$doc:meta])* $name:ident, $file:path) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name {
            context: $crate::engine::context::EngineContext,
        }

        impl $name {
            /// The file that the lines go to.
            pub const FILE: &'static str = $file;

            /// Writes to the storage of this context.
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
