//! Events for the caller, and their conversion from an adapter's events.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::adapter::{AdapterEvent, FinishReason};
use super::budget::Usage;
use super::error::ModelError;
use super::input::{ModelOperation, OperationKind, RawToolCall};
use super::output::ModelOutput;

/// An event of a response, for the caller.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent<T> {
    /// The model has begun to respond.
    Started {
        /// The provider's name for the response.
        id: Option<String>,
        /// The model that responds.
        model: Option<String>,
    },
    /// More of the text; of the JSON, in a structured operation.
    Text(String),
    /// More of the model's reasoning; not part of the response.
    Reasoning(String),
    /// More of the text of a refusal.
    Refusal(String),
    /// A call of one of the tools of the input.
    ToolCall(ModelToolCall),
    /// Total usage so far.
    Usage(Usage),
    /// Reason for which the model has stopped.
    Finished(FinishReason),
    /// The whole text, or the value parsed from the JSON. The last event.
    Output(T),
}

/// A tool call whose arguments are JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelToolCall {
    /// Id of the call, for its result.
    pub id: String,
    /// The name of the tool, one of the input's.
    pub name: String,
    /// The arguments.
    pub input: Value,
}

impl ModelToolCall {
    /// Creates a call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        ModelToolCall {
            id: id.into(),
            name: name.into(),
            input,
        }
    }
}

/// A whole response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelReply<T> {
    /// The whole text, or the value parsed from the JSON. `None` if a structured turn called tools
    /// instead of responding.
    pub output: Option<T>,
    /// Reasoning of the model.
    pub reasoning: String,
    /// Tool calls that the model requests.
    pub tool_calls: Vec<ModelToolCall>,
    /// Usage, if the provider reported it.
    pub usage: Option<Usage>,
    /// Reason for which the model has stopped.
    pub finish: FinishReason,
    /// The provider's name for the response.
    pub id: Option<String>,
    /// The model that responded.
    pub model: Option<String>,
}

impl<T> Default for ModelReply<T> {
    fn default() -> Self {
        ModelReply {
            output: None,
            reasoning: String::new(),
            tool_calls: Vec::new(),
            usage: None,
            finish: FinishReason::Other(String::new()),
            id: None,
            model: None,
        }
    }
}

impl<T> ModelReply<T> {
    pub(crate) fn add(&mut self, event: ModelEvent<T>) {
        match event {
            ModelEvent::Started { id, model } => (self.id, self.model) = (id, model),
            ModelEvent::Reasoning(text) => self.reasoning.push_str(&text),
            ModelEvent::ToolCall(call) => self.tool_calls.push(call),
            ModelEvent::Usage(usage) => self.usage = Some(usage),
            ModelEvent::Finished(reason) => self.finish = reason,
            ModelEvent::Output(output) => self.output = Some(output),
            // The output contains the text; a refusal is an error.
            ModelEvent::Text(_) | ModelEvent::Refusal(_) => {}
        }
    }
}

/// Converts an adapter's events into a caller's.
pub(crate) struct Mapper {
    kind: OperationKind,
    tools: Vec<String>,
    text: String,
    refusal: Option<String>,
    has_called: bool,
    finish: Option<FinishReason>,
}

impl Mapper {
    pub(crate) fn new(operation: &ModelOperation) -> Self {
        let tools = operation.input().map(|input| &*input.tools);
        Mapper {
            kind: operation.kind(),
            tools: tools
                .unwrap_or_default()
                .iter()
                .map(|tool| tool.name.clone())
                .collect(),
            text: String::new(),
            refusal: None,
            has_called: false,
            finish: None,
        }
    }

    pub(crate) fn map<T>(&mut self, event: AdapterEvent) -> Result<ModelEvent<T>, ModelError> {
        Ok(match event {
            AdapterEvent::Started { id, model } => ModelEvent::Started { id, model },
            AdapterEvent::Text(text) => {
                self.text.push_str(&text);
                ModelEvent::Text(text)
            }
            AdapterEvent::Reasoning(text) => ModelEvent::Reasoning(text),
            AdapterEvent::Refusal(text) => {
                self.refusal.get_or_insert_default().push_str(&text);
                ModelEvent::Refusal(text)
            }
            AdapterEvent::ToolCall(call) => {
                self.has_called = true;
                ModelEvent::ToolCall(self.tool_call(call)?)
            }
            AdapterEvent::Usage(usage) => ModelEvent::Usage(usage),
            AdapterEvent::Finished(reason) => {
                self.finish = Some(reason.clone());
                ModelEvent::Finished(reason)
            }
        })
    }

    fn tool_call(&self, call: RawToolCall) -> Result<ModelToolCall, ModelError> {
        if !self.tools.contains(&call.name) {
            return Err(ModelError::UnknownTool {
                name: call.name,
                available: self.tools.clone(),
            });
        }
        // Some models send empty arguments for a tool without parameters.
        let arguments = match call.arguments.trim() {
            "" => "{}",
            arguments => arguments,
        };
        match serde_json::from_str(arguments) {
            Ok(input) => Ok(ModelToolCall {
                id: call.id,
                name: call.name,
                input,
            }),
            Err(source) => Err(ModelError::InvalidToolArguments {
                tool: call.name,
                arguments: call.arguments,
                source,
            }),
        }
    }

    /// Returns `true` if the adapter has sent `Finished`.
    pub(crate) fn is_complete(&self) -> bool {
        self.finish.is_some()
    }

    /// Returns the output, at the end of the events.
    pub(crate) fn finish<O: ModelOutput>(self) -> Result<Option<O::Value>, ModelError> {
        let Some(finish) = self.finish else {
            return Err(ModelError::Incomplete { kind: self.kind });
        };
        if let Some(text) = self.refusal {
            return Err(ModelError::Refused { text });
        }
        if O::IS_JSON && self.has_called && self.text.trim().is_empty() {
            return Ok(None);
        }
        match O::read(&self.text) {
            Ok(output) => Ok(Some(output)),
            Err(source) => Err(ModelError::InvalidOutput {
                text: self.text,
                finish,
                source,
            }),
        }
    }
}
