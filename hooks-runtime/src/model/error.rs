//! Why an operation has no answer.

use serde_json::Value;

use super::adapter::{AdapterError, FinishReason};
use super::budget::BudgetError;
use super::input::OperationKind;
use crate::Map;
use crate::events::{Emission, EmitError, HookRegistry};

/// Why an operation has no answer, or no whole one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The budget refuses. Nothing was sent.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The adapter has no answer, or no more of it.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// The events ended before the adapter said that this is all.
    #[error("the answer to a `{kind}` was cut off before its end")]
    Incomplete {
        /// The kind of the operation.
        kind: OperationKind,
    },
    /// The model refused to answer.
    #[error("the model refuses to answer: {text}")]
    Refused {
        /// What it says.
        text: String,
    },
    /// The JSON is not the value that was asked for.
    #[error(
        "the structured output cannot be read: {source}; give the call a schema with `.schema(…)`, or more tokens if the answer was too long"
    )]
    InvalidOutput {
        /// What the model answered.
        text: String,
        /// Why it stopped.
        finish: FinishReason,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The model called a tool that it was not offered.
    #[error("the model calls `{name}`, which is no tool of the input; the tools are {available:?}")]
    UnknownTool {
        /// The name that it called.
        name: String,
        /// The names of the tools of the input.
        available: Vec<String>,
    },
    /// The arguments of a tool call are not JSON.
    #[error("the arguments for `{tool}` are not JSON: {source}")]
    InvalidToolArguments {
        /// The tool.
        tool: String,
        /// What the model wrote.
        arguments: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl ModelError {
    /// Whether the provider is at failure: an `error:provider`. What the budget refuses, and
    /// what the model answers in the wrong form, is not.
    pub fn is_provider_error(&self) -> bool {
        matches!(self, ModelError::Adapter(_) | ModelError::Incomplete { .. })
    }

    /// The data of an `error:provider` event, where the provider is at failure.
    ///
    /// | Field | |
    /// |---|---|
    /// | `error_type` | `incomplete`, or the [`AdapterError::kind`] |
    /// | `error_message` | what went wrong, in words |
    /// | `status` | the HTTP status, if there is one |
    /// | `code` | what kind of error it is in the provider's words, if it said so |
    /// | `retry_after_ms` | how many milliseconds the provider asks to wait, if it does |
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

/// Emits `error:provider`, where the provider is at failure, and nothing otherwise; a
/// [`HookedModel`](super::HookedModel) emits nothing itself. The orchestrator adds its own
/// fields, such as the operation or the session, as `more`; they give way to those of
/// [`provider_error_data`](ModelError::provider_error_data).
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
