//! Messages, in the style of Claude.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::adapter::adapter;
use super::config::{Options, ProviderConfig};
use super::http::HttpRequest;
use super::limits::{Calls, ResponseLimits};
use super::protocol::{Protocol, Reader};
use super::response::{WireError, json as read_json};
use super::sse::SseEvent;
use crate::model::adapter::FinishReason;
use crate::model::adapter::{AdapterError, AdapterEvent};
use crate::model::budget::Usage;
use crate::model::input::{ModelMessage, ModelOperation, RawToolCall};

adapter! {
    protocol: Messages,
    /// The extension points of a [`ClaudeAdapter`].
    hooks: ClaudeHooks, ClaudeHooksSet,
    /// Adapter for servers with Claude's messages protocol.
    ///
    /// Completions are sent as a conversation of one message. A structured operation with a schema
    /// requests output of that form. Without a schema, the text itself has to request JSON. By
    /// default, a response may have [`MAX_OUTPUT_TOKENS`](ClaudeAdapter::MAX_OUTPUT_TOKENS) tokens.
    adapter: ClaudeAdapter,
}

impl<T> ClaudeAdapter<'_, T> {
    /// Default maximum number of tokens of a response: the provider requires a number.
    pub const MAX_OUTPUT_TOKENS: u32 = 4096;
}

/// Messages.
enum Messages {}

impl Protocol for Messages {
    type Reader = ClaudeMessage;

    fn body(operation: &ModelOperation, options: Options) -> Result<Value, AdapterError> {
        let most = ClaudeAdapter::<()>::MAX_OUTPUT_TOKENS;
        let max_tokens = options.max_output_tokens.unwrap_or(most);
        body(operation, options, max_tokens)
    }

    fn request(config: &ProviderConfig, body: Value) -> HttpRequest {
        HttpRequest::new(
            config.url("https://api.anthropic.com/v1", "messages"),
            [
                ("x-api-key", config.api_key.clone()),
                ("anthropic-version", "2023-06-01".to_owned()),
            ],
            body.to_string().into_bytes(),
        )
    }

    fn reader(limits: ResponseLimits) -> ClaudeMessage {
        ClaudeMessage {
            used: ClaudeUsage::default(),
            begun: Calls::within(limits),
            calls: BTreeMap::new(),
            stop_reason: None,
            is_over: false,
        }
    }
}

fn body(
    operation: &ModelOperation,
    options: Options,
    max_tokens: u32,
) -> Result<Value, AdapterError> {
    let mut messages = Vec::new();
    let mut system = Vec::new();
    match operation.input() {
        Some(input) => {
            for message in &input.messages {
                match message {
                    ModelMessage::System(text) => system.push(&**text),
                    message => add(&mut messages, message)?,
                }
            }
        }
        None => messages.push(json!({"role": "user", "content": operation.prompt()})),
    }
    let mut body = json!({
        "model": options.model,
        "max_tokens": max_tokens,
        "messages": messages,
        "stream": true,
    });
    if !system.is_empty() {
        body["system"] = system.join("\n\n").into();
    }
    if let Some(temperature) = options.temperature {
        body["temperature"] = temperature.into();
    }
    let tools = operation.input().map_or(&[][..], |input| &input.tools);
    if !tools.is_empty() {
        let tool = |tool: &crate::model::ToolSpec| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.schema,
            })
        };
        body["tools"] = tools.iter().map(tool).collect();
    }
    if let Some(schema) = operation.schema() {
        body["output_config"] = json!({"format": {
            "type": "json_schema",
            "schema": schema.schema,
        }});
    }
    Ok(body)
}

/// Adds a message; results of calls in one response become one message.
fn add(messages: &mut Vec<Value>, message: &ModelMessage) -> Result<(), AdapterError> {
    let message = match message {
        // The provider takes it in a field beside the conversation.
        ModelMessage::System(_) => return Ok(()),
        ModelMessage::User(text) => json!({"role": "user", "content": text}),
        ModelMessage::Assistant { text, tool_calls } if tool_calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        ModelMessage::Assistant { text, tool_calls } => {
            // The provider refuses an empty block of text.
            let text = Some(text).filter(|text| !text.is_empty());
            let mut blocks: Vec<Value> = text
                .map(|text| json!({"type": "text", "text": text}))
                .into_iter()
                .collect();
            for call in tool_calls {
                blocks.push(json!({
                    "type": "tool_use",
                    "id": call.id,
                    "name": call.name,
                    "input": arguments(call)?,
                }));
            }
            json!({"role": "assistant", "content": blocks})
        }
        ModelMessage::ToolResult {
            call_id,
            content,
            is_error,
        } => {
            let result = json!({
                "type": "tool_result",
                "tool_use_id": call_id,
                "content": content,
                "is_error": is_error,
            });
            // A user message with an array contains results: a text of the user is not an array.
            let before = messages.last_mut().filter(|last| last["role"] == "user");
            if let Some(results) = before.and_then(|last| last["content"].as_array_mut()) {
                results.push(result);
                return Ok(());
            }
            json!({"role": "user", "content": [result]})
        }
    };
    messages.push(message);
    Ok(())
}

fn arguments(call: &RawToolCall) -> Result<Value, AdapterError> {
    match call.arguments.trim() {
        "" => Ok(json!({})),
        arguments => serde_json::from_str(arguments).map_err(|error| {
            AdapterError::unsupported(format!(
                "the call `{}` of `{}`, whose arguments are not JSON: {error}",
                call.id, call.name
            ))
        }),
    }
}

/// Reads the events of one response.
struct ClaudeMessage {
    used: ClaudeUsage,
    begun: Calls,
    calls: BTreeMap<u64, RawToolCall>,
    stop_reason: Option<String>,
    is_over: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Wire {
    MessageStart {
        message: Start,
    },
    ContentBlockStart {
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u64,
        delta: Piece,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        delta: StopDetails,
        usage: Option<ClaudeUsage>,
    },
    MessageStop,
    Error {
        error: WireError,
    },
    /// `ping`, and events of future versions.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Start {
    id: Option<String>,
    model: Option<String>,
    usage: Option<ClaudeUsage>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct StopDetails {
    stop_reason: Option<String>,
}

/// Totals so far.
#[derive(Default, Deserialize)]
struct ClaudeUsage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Reader for ClaudeMessage {
    fn read(&mut self, event: &SseEvent) -> Result<Vec<AdapterEvent>, AdapterError> {
        let mut events = Vec::new();
        match read_json(event)? {
            Wire::MessageStart { message } => {
                let Start { id, model, usage } = message;
                events.push(AdapterEvent::Started { id, model });
                events.extend(usage.map(|usage| self.usage(usage)));
            }
            Wire::ContentBlockStart {
                index,
                content_block,
            } => match content_block {
                Block::Text { text } if !text.is_empty() => events.push(AdapterEvent::Text(text)),
                Block::ToolUse { id, name } => {
                    self.calls.insert(index, self.begun.begin(id, name)?);
                }
                Block::Text { .. } | Block::Other => {}
            },
            Wire::ContentBlockDelta { index, delta } => match delta {
                Piece::TextDelta { text } => events.push(AdapterEvent::Text(text)),
                Piece::ThinkingDelta { thinking } => {
                    events.push(AdapterEvent::Reasoning(thinking));
                }
                // Blocks of tools that the provider runs itself have this form too.
                Piece::InputJsonDelta { partial_json } => {
                    if let Some(call) = self.calls.get_mut(&index) {
                        self.begun.grow(call, &partial_json)?;
                    }
                }
                Piece::Other => {}
            },
            Wire::ContentBlockStop { index } => {
                events.extend(self.calls.remove(&index).map(AdapterEvent::ToolCall));
            }
            Wire::MessageDelta { delta, usage } => {
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
                events.extend(usage.map(|usage| self.usage(usage)));
            }
            Wire::MessageStop => {
                let Some(reason) = self.stop_reason.take() else {
                    return Err(AdapterError::protocol("a message stops without a reason"));
                };
                self.is_over = true;
                events.push(AdapterEvent::Finished(match &*reason {
                    "end_turn" | "stop_sequence" => FinishReason::Stop,
                    "max_tokens" => FinishReason::Length,
                    "tool_use" => FinishReason::ToolCalls,
                    "refusal" => FinishReason::ContentFilter,
                    _ => FinishReason::Other(reason),
                }));
            }
            Wire::Error { error } => return Err(error.into()),
            Wire::Other => {}
        }
        Ok(events)
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

impl ClaudeMessage {
    fn usage(&mut self, usage: ClaudeUsage) -> AdapterEvent {
        let used = &mut self.used;
        for (total, now) in [
            (&mut used.input_tokens, usage.input_tokens),
            (
                &mut used.cache_creation_input_tokens,
                usage.cache_creation_input_tokens,
            ),
            (
                &mut used.cache_read_input_tokens,
                usage.cache_read_input_tokens,
            ),
            (&mut used.output_tokens, usage.output_tokens),
        ] {
            *total = now.or(*total);
        }
        // Tokens written to and read from a cache are input too.
        let input = [
            used.input_tokens,
            used.cache_creation_input_tokens,
            used.cache_read_input_tokens,
        ];
        let input = input.into_iter().flatten().fold(0, u64::saturating_add);
        AdapterEvent::Usage(Usage::tokens(input, used.output_tokens.unwrap_or(0)))
    }
}
