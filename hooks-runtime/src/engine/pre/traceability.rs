//! `traceability`: every destructive call belongs to an intent.

use regex::Regex;

use crate::engine::context::EngineContext;
use crate::engine::error::{EngineError, TraceabilityError};
use crate::engine::tools::ToolClass;
use crate::{HookError, HookResponse, PreHook, ResponseAction, ToolRequest};

/// Fails for destructive calls that name no intent, or an invalid id, and denies calls for an
/// intent that does not exist or whose status does not allow work.
///
/// | | |
/// |---|---|
/// | Input | the class of the tool, the intent of the call, a pattern; `^REQ-[a-zA-Z0-9\-]+$` by default; the [intents](crate::engine::IntentCatalogue), if there are any |
/// | Effect | `Err` with a [`TraceabilityError`]; `DENY` with the error type `unknown_intent` or `resting_intent`; safe tools pass without an intent |
/// | Storage | none |
///
/// For calls that change files, [`ScopeEnforcement`](crate::engine::ScopeEnforcement) checks that
/// the intent exists and allows work. An engine without intents checks only the form of the id.
#[derive(Debug, Clone)]
pub struct Traceability {
    context: EngineContext,
    pattern: Regex,
}

impl Traceability {
    /// The default pattern of ids.
    pub const PATTERN: &'static str = r"^REQ-[a-zA-Z0-9\-]+$";

    /// Creates a hook with the default pattern.
    pub fn new(context: &EngineContext) -> Self {
        Traceability {
            context: context.clone(),
            pattern: Regex::new(Self::PATTERN).expect("it is a pattern"),
        }
    }

    /// Sets the regular expression for ids. Without `^` and `$` it matches within a text.
    ///
    /// # Errors
    /// If it is not a regular expression.
    pub fn pattern(mut self, pattern: &str) -> Result<Self, EngineError> {
        self.pattern = Regex::new(pattern).map_err(|source| EngineError::Pattern {
            pattern: pattern.to_owned(),
            source,
        })?;
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
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
            Some(intent) => Ok(self.denied(&request.tool, intent).unwrap_or_default()),
        }
    }
}

impl Traceability {
    /// Returns the denial of a call whose intent does not exist or does not allow work.
    fn denied(&self, tool: &str, intent: &str) -> Option<HookResponse> {
        let (intents, tools) = (self.context.intents(), self.context.tools());
        if tools.is_file_destructive(tool) || !intents.is_told() {
            return None;
        }
        let (reason, kind, details) = match intents.status(intent) {
            Some(status) if status.may_act() => return None,
            Some(status) => (
                "Intent May Not Act",
                "resting_intent",
                format!("intent `{intent}` is {status:?}"),
            ),
            None => (
                "Unknown Intent",
                "unknown_intent",
                format!("there is no intent `{intent}`"),
            ),
        };
        Some(
            HookResponse::new(ResponseAction::Deny)
                .classification(tools.classify(tool).name())
                .reason(reason)
                .error_type(kind)
                .details(details)
                .recovery_hint("select an intent that is pending or active, and name it"),
        )
    }
}
