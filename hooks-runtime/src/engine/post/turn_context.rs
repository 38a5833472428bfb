//! `turn-context`: session state after a call.

use crate::engine::context::EngineContext;
use crate::engine::error::EngineError;
use crate::engine::tools::ToolClass;
use crate::{HookError, PostHook, ToolResult};

/// Updates the session after a call.
///
/// | | |
/// |---|---|
/// | Input | every result |
/// | Effect | the resources used are added, for the intent and for the session, also without an intent; a call that selects an intent selects it in the session, after the file of intents was read again, if it exists and its status allows work; the content that a successful destructive call left in files is the baseline of later writes |
/// | Storage | none: it is in the [`Session`](crate::engine::Session) |
#[derive(Debug, Clone)]
pub struct TurnUpdate {
    context: EngineContext,
}

impl TurnUpdate {
    /// Updates the session of this context.
    pub fn new(context: &EngineContext) -> Self {
        TurnUpdate {
            context: context.clone(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl PostHook<ToolResult> for TurnUpdate {
    fn id(&self) -> &str {
        "turn-context"
    }

    async fn execute(&self, result: &ToolResult, _: Option<&str>) -> Result<(), HookError> {
        let (request, session) = (&result.request, self.context.session());
        session.charge(request.intent_id.as_deref(), result.usage);
        if !result.success || self.context.intent_of(request).is_none() {
            return Ok(());
        }
        if let Some(selected) = self.context.selected(request) {
            let reloaded = self.context.blocking(|context| context.intents().reload());
            reloaded.await??;
            let intent = self.context.intents().get(selected);
            if !intent.is_some_and(|intent| intent.status.may_act()) {
                return Err(EngineError::NotSelectable(selected.to_owned()).into());
            }
            session.select_intent(selected);
            return Ok(());
        }
        let class = self.context.tools().classify(&request.tool);
        if class == ToolClass::Safe {
            return Ok(());
        }
        for file in self.context.contents(result).await?.iter() {
            if let Some(path) = &file.located {
                session.set_baseline(path, file.hash());
            }
        }
        Ok(())
    }
}
