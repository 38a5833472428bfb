//! Output of a tool's hook.

use std::ops::ControlFlow;

use hooks_core::Pipeline;

/// Output of a hook, for a tool that takes `I` and returns `O`.
///
/// Only [`Run`](Self::Run) continues: to the next hook, and after the last one to the tool. Any
/// other decision ends the call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "return it from the hook, otherwise it has no effect"]
pub enum ToolDecision<I, O> {
    /// Continues with this input.
    Run(I),
    /// Ends the call with this output; the tool does not run.
    Complete(O),
    /// Refuses the call, for this reason; the tool does not run.
    Reject(String),
}

impl<I, O> ToolDecision<I, O> {
    /// Creates a refusal with a reason.
    pub fn reject(reason: impl Into<String>) -> Self {
        ToolDecision::Reject(reason.into())
    }
}

/// The pipeline of a tool set's slots: `Run` passes the call on.
#[derive(Debug)]
pub enum ToolPipeline {}

impl<I, O> Pipeline<I, ToolDecision<I, O>> for ToolPipeline {
    fn next(decision: ToolDecision<I, O>) -> ControlFlow<ToolDecision<I, O>, I> {
        match decision {
            ToolDecision::Run(input) => ControlFlow::Continue(input),
            end @ (ToolDecision::Complete(_) | ToolDecision::Reject(_)) => ControlFlow::Break(end),
        }
    }
}
