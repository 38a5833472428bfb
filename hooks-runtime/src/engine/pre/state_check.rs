//! `state-check`: planning before acting.

use crate::engine::context::EngineContext;
use crate::engine::tools::ToolClass;
use crate::{HookError, HookResponse, PreHook, ResponseAction, ToolRequest};

/// Denies destructive calls until the agent has planned: the turn has to have left the
/// [request](crate::engine::Stage) stage.
///
/// | | |
/// |---|---|
/// | Input | the class of the tool, the stage of the turn, the selected intent |
/// | Effect | `DENY` with the error type `premature_action`, or `other_intent` if that check is enabled; a destructive call that passes begins the stage of action |
/// | Storage | none |
#[derive(Debug, Clone)]
pub struct StateCheck {
    context: EngineContext,
    selected_only: bool,
}

impl StateCheck {
    /// Creates a hook for the session of this context.
    pub fn new(context: &EngineContext) -> Self {
        StateCheck {
            context: context.clone(),
            selected_only: false,
        }
    }

    /// Also denies destructive calls for an intent that is not selected, or while none is selected.
    /// Off by default.
    #[must_use]
    pub fn selected_intent_only(mut self, only: bool) -> Self {
        self.selected_only = only;
        self
    }
}

#[diagnostic::do_not_recommend]
impl PreHook<ToolRequest> for StateCheck {
    fn id(&self) -> &str {
        "state-check"
    }

    fn priority(&self) -> Option<i32> {
        Some(2)
    }

    async fn execute(&self, request: &ToolRequest) -> Result<HookResponse, HookError> {
        let class = self.context.tools().classify(&request.tool);
        if class == ToolClass::Safe {
            return Ok(HookResponse::default());
        }
        let session = self.context.session();
        let deny = |kind, details: String, hint| {
            HookResponse::new(ResponseAction::Deny)
                .reason("State Check")
                .error_type(kind)
                .details(details)
                .recovery_hint(hint)
        };
        if self.selected_only && session.active_intent() != request.intent_id {
            let selected = session.active_intent();
            let selected = selected.as_deref().unwrap_or("none");
            return Ok(deny(
                "other_intent",
                format!("the intent that is selected is `{selected}`"),
                "select the intent of this call first",
            ));
        }
        if !session.act() {
            return Ok(deny(
                "premature_action",
                format!(
                    "`{}` is destructive, and nothing was selected yet",
                    request.tool
                ),
                "select the intent that this is for first, with `select_active_intent`",
            ));
        }
        Ok(HookResponse::default())
    }
}
