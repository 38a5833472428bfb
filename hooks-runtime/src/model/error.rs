//! Errors of an operation.

use serde_json::Value;

use super::adapter::{AdapterError, FinishReason};
use super::budget::BudgetError;
use super::input::OperationKind;
use crate::Map;
use crate::events::{Emission, EmitError, HookRegistry};

/// Reason for which an operation has no response, or an incomplete one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The budget refuses. Nothing was sent.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The adapter failed, at its start or later.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// The events ended without [`Finished`](super::AdapterEvent::Finished).
    #[error("the response to a `{kind}` was cut off before its end")]
    Incomplete {
        /// The kind of the operation.
        kind: OperationKind,
    },
    /// The model refused to respond.
    #[error("the model refuses to respond: {text}")]
    Refused {
        /// Text of the refusal.
        text: String,
    },
    /// The JSON does not have the requested type.
    #[error(
        "the structured output cannot be read: {source}; give the call a schema with `.schema(…)`, or more tokens if the response was too long"
    )]
    InvalidOutput {
        /// Response of the model.
        text: String,
        /// Reason for which it stopped.
        finish: FinishReason,
        /// Cause.
        source: serde_json::Error,
    },
    /// The model called a tool that is not in the input.
    #[error(
        "the model calls `{name}`, which is not a tool of the input; the tools are {available:?}"
    )]
    UnknownTool {
        /// Name in the call.
        name: String,
        /// Names of the input's tools.
        available: Vec<String>,
    },
    /// The arguments of a tool call are not JSON.
    #[error("the arguments for `{tool}` are not JSON: {source}")]
    InvalidToolArguments {
        /// The tool.
        tool: String,
        /// Text that the model wrote.
        arguments: String,
        /// Cause.
        source: serde_json::Error,
    },
}

impl ModelError {
    /// Returns `true` for a failure of the provider: an `error:provider`. A refusal of the budget,
    /// and output of the model in the wrong form, is none.
    pub fn is_provider_error(&self) -> bool {
        matches!(self, ModelError::Adapter(_) | ModelError::Incomplete { .. })
    }

    /// Returns the data of an `error:provider` event, for a failure of the provider.
    ///
    /// | Field | Description |
    /// |---|---|
    /// | `error_type` | `incomplete`, or the [`AdapterError::kind`] |
    /// | `error_message` | message of the error |
    /// | `status` | the HTTP status, if there is one |
    /// | `code` | kind of the error in the provider's words, if there is one |
    /// | `retry_after_ms` | delay that the provider requests before a retry, in milliseconds |
    pub fn provider_error_data(&self) -> Option<Map> {
        let mut data = Map::new();
        let mut put = |field: &str, value: Option<Value>| {
            if let Some(value) = value {
                data.insert(field.to_owned(), value);
            }
        };
        let error_type = match self {
            ModelError::Incomplete { .. } => "incomplete",
            ModelError::Adapter(error) => error.kind(),
            _ => return None,
        };
        put("error_type", Some(error_type.into()));
        put("error_message", Some(self.to_string().into()));
        if let ModelError::Adapter(error) = self {
            put("status", error.status().map(Value::from));
            put("code", error.code().map(Value::from));
            let wait = error.retry_after().map(|wait| wait.as_millis());
            let wait = wait.map(|wait| u64::try_from(wait).unwrap_or(u64::MAX));
            put("retry_after_ms", wait.map(Value::from));
        }
        Some(data)
    }
}

/// Emits `error:provider` for a failure of the provider, else nothing; a
/// [`HookedModel`](super::HookedModel) emits nothing itself. `more` contains the orchestrator's own
/// fields, such as the operation or the session; fields of
/// [`provider_error_data`](ModelError::provider_error_data) override them.
///
/// # Errors
/// As of [`HookRegistry::emit`].
pub async fn emit_provider_error(
    registry: &HookRegistry,
    error: &ModelError,
    more: Map,
) -> Result<Option<Emission>, EmitError> {
    let Some(data) = error.provider_error_data() else {
        return Ok(None);
    };
    let mut all = more;
    all.extend(data);
    let emission = registry.emit(HookRegistry::ERROR_PROVIDER, all).await?;
    Ok(Some(emission))
}
