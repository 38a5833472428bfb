//! What a hook of a tool answers.

use std::ops::ControlFlow;

use hooks_core::Pipeline;

/// What a hook says of a call, where the tool takes `I` and answers `O`.
///
/// Only [`Run`](Self::Run) goes on: to the next hook, and after the last one to the tool. What
/// ends the call runs neither.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a decision that nobody reads lets nothing pass"]
pub enum ToolDecision<I, O> {
    /// The call goes on, with this input.
    Run(I),
    /// The call is answered with this, and the tool does not run.
    Complete(O),
    /// The call is refused, for this reason, and the tool does not run.
    Reject(String),
}

impl<I, O> ToolDecision<I, O> {
    /// Refuses the call for a reason.
    pub fn reject(reason: impl Into<String>) -> Self {
        ToolDecision::Reject(reason.into())
    }
}

/// The pipeline of the slots of a tool set: `Run` hands the call on.
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
