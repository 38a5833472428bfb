//! What a caller gets, and how it is made of what an adapter sends.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::adapter::{AdapterEvent, FinishReason};
use super::budget::Usage;
use super::error::ModelError;
use super::input::{ModelOperation, OperationKind, RawToolCall};
use super::output::ModelOutput;

/// One event of an answer, as a caller gets it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent<T> {
    /// The model has begun to answer.
    Started {
        /// The provider's name for the answer.
        id: Option<String>,
        /// The model that answers.
        model: Option<String>,
    },
    /// More of the text; of the JSON, in a structured operation.
    Text(String),
    /// More of what the model thinks aloud; no part of the answer.
    Reasoning(String),
    /// More of the text in which the model refuses to answer.
    Refusal(String),
    /// A call of one of the tools of the input.
    ToolCall(ModelToolCall),
    /// What has been used so far, in total.
    Usage(Usage),
    /// Why the model has stopped.
    Finished(FinishReason),
    /// All of the text, or the value that the JSON is. The last event.
    Output(T),
}

/// A tool call whose arguments are JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelToolCall {
    /// Names the call, for its result.
    pub id: String,
    /// The name of the tool, one of the input's.
    pub name: String,
    /// The arguments.
    pub input: Value,
}

impl ModelToolCall {
    /// A call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        ModelToolCall {
            id: id.into(),
            name: name.into(),
            input,
        }
    }
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelReply<T> {
    /// All of the text, or the value that the JSON is. None where a structured turn called
    /// tools in the place of answering.
    pub output: Option<T>,
    /// What the model thought aloud.
    pub reasoning: String,
    /// The tools to call.
    pub tool_calls: Vec<ModelToolCall>,
    /// What was used, where the provider said so.
    pub usage: Option<Usage>,
    /// Why the model has stopped.
    pub finish: FinishReason,
    /// The provider's name for the answer.
    pub id: Option<String>,
    /// The model that answered.
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
            // All of the text is the output; an answer that is a refusal is an error.
            ModelEvent::Text(_) | ModelEvent::Refusal(_) => {}
        }
    }
}

/// Makes a caller's events of an adapter's.
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
        // A tool without arguments is called with nothing by some models.
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

    /// Whether the adapter has said that this is all.
    pub(crate) fn is_complete(&self) -> bool {
        self.finish.is_some()
    }

    /// The output, at the end of the events.
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
