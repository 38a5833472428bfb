//! `circuit-breaker`: stops an agent that repeats a call.

use crate::engine::context::EngineContext;
use crate::engine::error::EngineError;
use crate::engine::session::Lesson;
use crate::{HookError, HookResponse, PreHook, ResponseAction, ToolRequest};

/// Halts the agent at its third equal call in a row.
///
/// | | |
/// |---|---|
/// | Input | the tool and the parameters of the call, and of the calls before it that reached this hook |
/// | Effect | `HALT` with the classification, a reason, details and a hint, until another call or [`Session::reset`](crate::engine::Session::reset); the session gets a lesson |
/// | Storage | none: the last call is in the session |
///
/// Parameters are equal if their values are; the order of keys has no effect.
#[derive(Debug, Clone)]
pub struct CircuitBreaker {
    context: EngineContext,
    threshold: u32,
}

impl CircuitBreaker {
    /// Creates a breaker that halts the third call.
    pub fn new(context: &EngineContext) -> Self {
        CircuitBreaker {
            context: context.clone(),
            threshold: 3,
        }
    }

    /// Sets the number of the call in a row at which the agent is halted.
    ///
    /// # Errors
    /// If it is 0 or 1: no call would pass.
    pub fn threshold(mut self, threshold: u32) -> Result<Self, EngineError> {
        if threshold < 2 {
            return Err(EngineError::Threshold(threshold));
        }
        self.threshold = threshold;
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl PreHook<ToolRequest> for CircuitBreaker {
    fn id(&self) -> &str {
        "circuit-breaker"
    }

    fn priority(&self) -> Option<i32> {
        Some(50)
    }

    async fn execute(&self, request: &ToolRequest) -> Result<HookResponse, HookError> {
        let times = self.context.session().repeat(request);
        if times < self.threshold {
            return Ok(HookResponse::default());
        }
        let tool = &request.tool;
        let details =
            format!("`{tool}` was called {times} times in a row with the same parameters");
        let intent = request.intent_id.as_deref();
        let lesson = format!("`{tool}` was called with the same parameters until it was halted");
        let session = self.context.session();
        session.learn(Lesson::new("repeated-call", intent, tool, lesson));
        let class = self.context.tools().classify(tool);
        Ok(HookResponse::new(ResponseAction::Halt)
            .classification(class.name())
            .reason("Circuit Breaker Tripped")
            .error_type("repeated_call")
            .details(details)
            .recovery_hint("try something else, or the same with other parameters"))
    }
}
