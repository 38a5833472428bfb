//! Input of a model.

use std::fmt;

use hooks_core::RequestExtensions;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The four kinds of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OperationKind {
    /// Continues a conversation with text, and tool calls.
    TextTurn,
    /// Continues a conversation with a value of a type, and tool calls.
    StructuredTurn,
    /// Responds to a prompt with text.
    Completion,
    /// Responds to a prompt with a value of a type.
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

/// The input of a turn: the conversation so far, and the available tools.
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
    /// Tools that the model may call. A call of another tool ends the turn with
    /// [`ModelError::UnknownTool`](super::ModelError::UnknownTool).
    pub tools: Vec<ToolSpec>,
}

impl ModelInput {
    /// Creates an input from a conversation.
    pub fn new(messages: impl IntoIterator<Item = ModelMessage>) -> Self {
        ModelInput {
            messages: messages.into_iter().collect(),
            tools: Vec::new(),
        }
    }

    /// Creates a conversation that begins with this text of the user.
    pub fn user(text: impl Into<String>) -> Self {
        ModelInput::new([ModelMessage::User(text.into())])
    }

    /// Adds a system message at the beginning.
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

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: ToolSpec) -> Self {
        self.tools.push(tool);
        self
    }
}

/// Converts a text into a message of the user.
impl From<&str> for ModelInput {
    fn from(text: &str) -> Self {
        ModelInput::user(text)
    }
}

/// Converts a text into a message of the user.
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
    /// Message of the system.
    System(String),
    /// Message of the user.
    User(String),
    /// Response of the model.
    Assistant {
        /// Its text; may be empty.
        text: String,
        /// Tool calls in the response.
        #[serde(default)]
        tool_calls: Vec<RawToolCall>,
    },
    /// Result of a tool.
    ToolResult {
        /// The [`RawToolCall::id`] of the call.
        call_id: String,
        /// Text of the result.
        content: String,
        /// `true` if the call has failed.
        #[serde(default)]
        is_error: bool,
    },
}

/// A tool call as a model writes it: its arguments are text, which should be JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RawToolCall {
    /// Id of the call, for its result.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
}

impl RawToolCall {
    /// Creates a call.
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
    /// Description of its use, for the model.
    #[serde(default)]
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

impl ToolSpec {
    /// Creates a tool with the JSON schema of its arguments.
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        ToolSpec {
            name: name.into(),
            description: String::new(),
            schema,
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }
}

/// JSON schema of a structured output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputSchema {
    /// Name of the schema, for providers that require one.
    pub name: String,
    /// The schema.
    pub schema: Value,
}

impl OutputSchema {
    /// Creates a schema with a name.
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        OutputSchema {
            name: name.into(),
            schema,
        }
    }
}

/// Options of a response: an extension that adapters read, from the request or the defaults.
///
/// `None` selects the adapter's default.
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
    /// Model to use.
    pub model: Option<String>,
    /// Maximum number of tokens of a response.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature.
    pub temperature: Option<f32>,
}

impl GenerationOptions {
    /// Creates options with the adapter's defaults.
    pub fn new() -> Self {
        GenerationOptions::default()
    }

    /// Sets the model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the maximum number of tokens.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets the sampling temperature.
    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }
}

/// An operation without the caller's types: input of an adapter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelOperation {
    /// Continues a conversation.
    TextTurn {
        /// The conversation.
        input: ModelInput,
    },
    /// Continues a conversation, with JSON.
    StructuredTurn {
        /// The conversation.
        input: ModelInput,
        /// Schema of the JSON, if the caller set one.
        schema: Option<OutputSchema>,
    },
    /// Responds to a prompt.
    Completion {
        /// The prompt.
        prompt: String,
    },
    /// Responds to a prompt with JSON.
    StructuredCompletion {
        /// The prompt.
        prompt: String,
        /// Schema of the JSON, if the caller set one.
        schema: Option<OutputSchema>,
    },
}

impl ModelOperation {
    /// Returns its kind.
    pub fn kind(&self) -> OperationKind {
        match self {
            ModelOperation::TextTurn { .. } => OperationKind::TextTurn,
            ModelOperation::StructuredTurn { .. } => OperationKind::StructuredTurn,
            ModelOperation::Completion { .. } => OperationKind::Completion,
            ModelOperation::StructuredCompletion { .. } => OperationKind::StructuredCompletion,
        }
    }

    /// Returns the conversation, for a turn.
    pub fn input(&self) -> Option<&ModelInput> {
        match self {
            ModelOperation::TextTurn { input } | ModelOperation::StructuredTurn { input, .. } => {
                Some(input)
            }
            _ => None,
        }
    }

    /// Returns the prompt, for a completion.
    pub fn prompt(&self) -> Option<&str> {
        match self {
            ModelOperation::Completion { prompt }
            | ModelOperation::StructuredCompletion { prompt, .. } => Some(prompt),
            _ => None,
        }
    }

    /// Returns `true` if the response is JSON.
    pub fn is_structured(&self) -> bool {
        matches!(
            self,
            ModelOperation::StructuredTurn { .. } | ModelOperation::StructuredCompletion { .. }
        )
    }

    /// Returns the schema of the JSON, if the caller set one.
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

/// Input of an adapter.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The operation.
    pub operation: ModelOperation,
    /// Extensions of the request, which override the defaults of the model.
    pub extensions: RequestExtensions,
}

impl ModelRequest {
    /// Creates a request, for tests of an adapter alone.
    pub fn new(operation: ModelOperation, extensions: RequestExtensions) -> Self {
        ModelRequest {
            operation,
            extensions,
        }
    }

    /// Returns the kind of the operation.
    pub fn kind(&self) -> OperationKind {
        self.operation.kind()
    }
}
