//! Converts between a [`Conversation`](crate::Conversation), which event hooks change, and the
//! messages of a model.

use serde_json::Value;

use super::event::ModelReply;
use super::input::{ModelInput, ModelMessage, RawToolCall};
use crate::{Message, Role};

/// Field of a [`Message`] with the agent's calls: a list of [`RawToolCall`]s.
const TOOL_CALLS: &str = "tool_calls";

/// Field of a [`Message`] that is `true` if a tool has failed.
const IS_ERROR: &str = "is_error";

/// Reason for which a message cannot be converted for a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMessage {
    /// A result does not name its call.
    #[error("the result of a tool names no call; set its `tool_call_id`")]
    NoCallId,
    /// The agent's calls do not have the form of a model's.
    #[error(
        "the `tool_calls` of a message cannot be read: {0}; each has an `id`, a `name` and `arguments`, which are a text"
    )]
    InvalidToolCalls(#[source] serde_json::Error),
}

impl ModelInput {
    /// Returns the messages of [`Conversation::next_call`](crate::Conversation::next_call),
    /// including those that hooks have injected.
    ///
    /// Tool calls are a list of [`RawToolCall`]s in the field `tool_calls` of [`Message::extra`]. A
    /// failed result has `true` in its field `is_error`. The conversion from a [`ModelMessage`] to
    /// a [`Message`] sets these fields.
    ///
    /// # Errors
    /// If a tool's result has no call id, or calls have another form.
    pub fn from_messages(
        messages: impl IntoIterator<Item = Message>,
    ) -> Result<Self, InvalidMessage> {
        let messages = messages.into_iter().map(ModelMessage::try_from);
        Ok(ModelInput::new(messages.collect::<Result<Vec<_>, _>>()?))
    }
}

impl TryFrom<Message> for ModelMessage {
    type Error = InvalidMessage;

    fn try_from(mut message: Message) -> Result<Self, InvalidMessage> {
        let content = message.content;
        Ok(match message.role {
            Role::System => ModelMessage::System(content),
            Role::User => ModelMessage::User(content),
            Role::Assistant => ModelMessage::Assistant {
                text: content,
                tool_calls: match message.extra.remove(TOOL_CALLS) {
                    None | Some(Value::Null) => Vec::new(),
                    Some(calls) => {
                        serde_json::from_value(calls).map_err(InvalidMessage::InvalidToolCalls)?
                    }
                },
            },
            Role::Tool => ModelMessage::ToolResult {
                call_id: message.tool_call_id.ok_or(InvalidMessage::NoCallId)?,
                content,
                is_error: message.extra.get(IS_ERROR) == Some(&Value::Bool(true)),
            },
        })
    }
}

impl From<ModelMessage> for Message {
    fn from(message: ModelMessage) -> Self {
        match message {
            ModelMessage::System(text) => Message::system(text),
            ModelMessage::User(text) => Message::user(text),
            ModelMessage::Assistant { text, tool_calls } => {
                let mut message = Message::assistant(text);
                if !tool_calls.is_empty() {
                    let calls = serde_json::json!(tool_calls);
                    message.extra.insert(TOOL_CALLS.to_owned(), calls);
                }
                message
            }
            ModelMessage::ToolResult {
                call_id,
                content,
                is_error,
            } => {
                let mut message = Message::tool_result(call_id, content);
                if is_error {
                    message.extra.insert(IS_ERROR.to_owned(), true.into());
                }
                message
            }
        }
    }
}

impl ModelReply<String> {
    /// Returns the response as a message, to continue the conversation.
    pub fn to_message(&self) -> ModelMessage {
        let calls = self
            .tool_calls
            .iter()
            .map(|call| RawToolCall::new(&*call.id, &*call.name, call.input.to_string()));
        ModelMessage::Assistant {
            text: self.output.clone().unwrap_or_default(),
            tool_calls: calls.collect(),
        }
    }
}
