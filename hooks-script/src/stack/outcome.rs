//! Results of a run of a stack.

use std::sync::Arc;

use hooks_runtime::Map;

use crate::consent::Permit;
use crate::run::Run;

/// Result of the hooks before an action that no hook stopped.
#[derive(Debug)]
#[non_exhaustive]
pub struct PreOutcome {
    /// The final message.
    pub message: Map,
    /// Result of each hook, in execution order.
    pub runs: Vec<StackRun>,
}

/// Result of the hooks after an action. It is not meant for the user.
#[derive(Debug)]
#[non_exhaustive]
pub struct PostOutcome {
    /// The result of each hook, in execution order. A [`Stop`](crate::RunResult::Stop) is an
    /// annotation.
    pub runs: Vec<StackRun>,
}

/// The result of one hook of a stack.
#[derive(Debug)]
#[non_exhaustive]
pub struct StackRun {
    /// Id of the hook in the stack.
    pub id: Arc<str>,
    /// The run; `None` if the hook is disabled.
    pub run: Option<Run>,
    /// Consent by which the run had `context.http`; pass it to
    /// `OutboxSender::send`.
    pub permit: Option<Permit>,
}
