//! `traceability`: whatever changes something is done for an intent.

use regex::Regex;

use crate::engine::context::EngineContext;
use crate::engine::error::{EngineError, TraceabilityError};
use crate::engine::tools::ToolClass;
use crate::{HookError, HookResponse, PreHook, ToolRequest};

/// Fails for destructive calls that name no intent, or what is no id of one (`R-29`).
///
/// | | |
/// |---|---|
/// | Input | the class of the tool, the intent of the call, a pattern; `^REQ-[a-zA-Z0-9\-]+$` by default |
/// | Effect | `Err` with a [`TraceabilityError`]; safe tools pass without an intent |
/// | Storage | none |
#[derive(Debug, Clone)]
pub struct Traceability {
    context: EngineContext,
    pattern: Regex,
}

impl Traceability {
    /// The pattern of ids, unless there is another one.
    pub const PATTERN: &'static str = r"^REQ-[a-zA-Z0-9\-]+$";

    /// With the usual pattern.
    pub fn new(context: &EngineContext) -> Self {
        Traceability {
            context: context.clone(),
            pattern: Regex::new(Self::PATTERN).expect("it is a pattern"),
        }
    }

    /// Takes for an id what this regular expression matches. One without `^` and `$` matches
    /// within a text.
    ///
    /// # Errors
    /// If it is no regular expression.
    pub fn pattern(mut self, pattern: &str) -> Result<Self, EngineError> {
        self.pattern = Regex::new(pattern).map_err(|source| EngineError::Pattern {
            pattern: pattern.to_owned(),
            source,
        })?;
        Ok(self)
    }
}

impl PreHook<ToolRequest> for Traceability {
    fn id(&self) -> &str {
        "traceability"
    }

    fn priority(&self) -> Option<i32> {
        Some(10)
    }

    async fn execute(&self, request: &ToolRequest) -> Result<HookResponse, HookError> {
        if self.context.tools().classify(&request.tool) == ToolClass::Safe {
            return Ok(HookResponse::default());
        }
        match &request.intent_id {
            None => Err(TraceabilityError::Missing {
                tool: request.tool.clone(),
            })?,
            Some(intent) if !self.pattern.is_match(intent) => Err(TraceabilityError::Invalid {
                intent: intent.clone(),
                pattern: self.pattern.to_string(),
            })?,
            Some(_) => Ok(HookResponse::default()),
        }
    }
}
