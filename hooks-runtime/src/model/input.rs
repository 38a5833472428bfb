//! What a model is asked.

use std::fmt;

use hooks_core::RequestExtensions;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The four kinds of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OperationKind {
    /// A conversation goes on with text, and calls of tools.
    TextTurn,
    /// A conversation goes on with a value of a type, and calls of tools.
    StructuredTurn,
    /// A prompt is answered with text.
    Completion,
    /// A prompt is answered with a value of a type.
    StructuredCompletion,
}

/// As in JSON: `text_turn`, `structured_turn`, `completion`, `structured_completion`.
impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OperationKind::TextTurn => "text_turn",
            OperationKind::StructuredTurn => "structured_turn",
            OperationKind::Completion => "completion",
            OperationKind::StructuredCompletion => "structured_completion",
        })
    }
}

/// The input of a turn: the conversation so far, and the tools that may be called.
///
/// ```
/// use hooks_runtime::model::{ModelInput, ToolSpec};
/// use serde_json::json;
///
/// let input = ModelInput::user("How warm is it in Oslo?")
///     .system("Answer in one sentence.")
///     .tool(ToolSpec::new("weather", json!({"type": "object"})).description("today's weather"));
/// assert_eq!(input.messages.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelInput {
    /// The conversation, oldest first.
    pub messages: Vec<ModelMessage>,
    /// The tools that the model may call. A call of another one ends the turn with
    /// [`ModelError::UnknownTool`](super::ModelError::UnknownTool).
    pub tools: Vec<ToolSpec>,
}

impl ModelInput {
    /// A conversation.
    pub fn new(messages: impl IntoIterator<Item = ModelMessage>) -> Self {
        ModelInput {
            messages: messages.into_iter().collect(),
            tools: Vec::new(),
        }
    }

    /// A conversation that begins with this text of the user's.
    pub fn user(text: impl Into<String>) -> Self {
        ModelInput::new([ModelMessage::User(text.into())])
    }

    /// Adds a text of the system's, in front of everything.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.messages.insert(0, ModelMessage::System(text.into()));
        self
    }

    /// Adds a message at the end.
    #[must_use]
    pub fn message(mut self, message: ModelMessage) -> Self {
        self.messages.push(message);
        self
    }

    /// Adds a tool that may be called.
    #[must_use]
    pub fn tool(mut self, tool: ToolSpec) -> Self {
        self.tools.push(tool);
        self
    }
}

/// A text is what the user says.
impl From<&str> for ModelInput {
    fn from(text: &str) -> Self {
        ModelInput::user(text)
    }
}

/// A text is what the user says.
impl From<String> for ModelInput {
    fn from(text: String) -> Self {
        ModelInput::user(text)
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelMessage {
    /// What the system says.
    System(String),
    /// What the user says.
    User(String),
    /// What the model has answered.
    Assistant {
        /// Its text; may be empty.
        text: String,
        /// The tools that it has called.
        #[serde(default)]
        tool_calls: Vec<RawToolCall>,
    },
    /// What a tool has answered.
    ToolResult {
        /// The [`RawToolCall::id`] of the call.
        call_id: String,
        /// The answer.
        content: String,
        /// Whether the call has failed.
        #[serde(default)]
        is_error: bool,
    },
}

/// A tool call as a model writes it: its arguments are a text that should be JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RawToolCall {
    /// Names the call, for its result.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
}

impl RawToolCall {
    /// A call.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        RawToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it is good for, in words for the model.
    #[serde(default)]
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

impl ToolSpec {
    /// A tool, and the JSON schema of its arguments.
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        ToolSpec {
            name: name.into(),
            description: String::new(),
            schema,
        }
    }

    /// Says what it is good for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }
}

/// The JSON schema that a structured output is asked to meet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputSchema {
    /// Names the schema, for providers that want a name.
    pub name: String,
    /// The schema.
    pub schema: Value,
}

impl OutputSchema {
    /// A schema with a name.
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        OutputSchema {
            name: name.into(),
            schema,
        }
    }
}

/// How an answer is made: an extension that adapters read, from the request or the defaults.
///
/// What is `None` is left to the adapter.
///
/// ```
/// use hooks_runtime::RequestExtensions;
/// use hooks_runtime::model::GenerationOptions;
///
/// let options = GenerationOptions::new().model("small").max_output_tokens(200);
/// let extensions = RequestExtensions::new().ext(options);
/// assert_eq!(extensions.get::<GenerationOptions>().unwrap().temperature, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct GenerationOptions {
    /// The model that is asked.
    pub model: Option<String>,
    /// How many tokens an answer may have.
    pub max_output_tokens: Option<u32>,
    /// How much chance there is in an answer.
    pub temperature: Option<f32>,
}

impl GenerationOptions {
    /// Everything is left to the adapter.
    pub fn new() -> Self {
        GenerationOptions::default()
    }

    /// Asks this model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Bounds the answer.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets how much chance there is in the answer.
    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }
}

/// An operation without the types of whoever asks: what an adapter is given.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelOperation {
    /// Goes on with a conversation.
    TextTurn {
        /// The conversation.
        input: ModelInput,
    },
    /// Goes on with a conversation, with JSON.
    StructuredTurn {
        /// The conversation.
        input: ModelInput,
        /// What the JSON has to look like, where the caller said so.
        schema: Option<OutputSchema>,
    },
    /// Answers a prompt.
    Completion {
        /// The prompt.
        prompt: String,
    },
    /// Answers a prompt with JSON.
    StructuredCompletion {
        /// The prompt.
        prompt: String,
        /// What the JSON has to look like, where the caller said so.
        schema: Option<OutputSchema>,
    },
}

impl ModelOperation {
    /// Its kind.
    pub fn kind(&self) -> OperationKind {
        match self {
            ModelOperation::TextTurn { .. } => OperationKind::TextTurn,
            ModelOperation::StructuredTurn { .. } => OperationKind::StructuredTurn,
            ModelOperation::Completion { .. } => OperationKind::Completion,
            ModelOperation::StructuredCompletion { .. } => OperationKind::StructuredCompletion,
        }
    }

    /// The conversation, of a turn.
    pub fn input(&self) -> Option<&ModelInput> {
        match self {
            ModelOperation::TextTurn { input } | ModelOperation::StructuredTurn { input, .. } => {
                Some(input)
            }
            _ => None,
        }
    }

    /// The prompt, of a completion.
    pub fn prompt(&self) -> Option<&str> {
        match self {
            ModelOperation::Completion { prompt }
            | ModelOperation::StructuredCompletion { prompt, .. } => Some(prompt),
            _ => None,
        }
    }

    /// Whether the answer is JSON.
    pub fn is_structured(&self) -> bool {
        matches!(
            self,
            ModelOperation::StructuredTurn { .. } | ModelOperation::StructuredCompletion { .. }
        )
    }

    /// What the JSON has to look like, where the caller said so.
    pub fn schema(&self) -> Option<&OutputSchema> {
        match self {
            ModelOperation::StructuredTurn { schema, .. }
            | ModelOperation::StructuredCompletion { schema, .. } => schema.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn schema_mut(&mut self) -> Option<&mut Option<OutputSchema>> {
        match self {
            ModelOperation::StructuredTurn { schema, .. }
            | ModelOperation::StructuredCompletion { schema, .. } => Some(schema),
            _ => None,
        }
    }
}

/// What an adapter is asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The operation.
    pub operation: ModelOperation,
    /// The extensions of the request over the defaults of the model.
    pub extensions: RequestExtensions,
}

impl ModelRequest {
    /// A request: for tests of an adapter alone.
    pub fn new(operation: ModelOperation, extensions: RequestExtensions) -> Self {
        ModelRequest {
            operation,
            extensions,
        }
    }

    /// The kind of the operation.
    pub fn kind(&self) -> OperationKind {
        self.operation.kind()
    }
}
