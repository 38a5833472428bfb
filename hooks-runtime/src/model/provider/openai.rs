//! Chat completions, in the style of OpenAI.

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
    protocol: Chat,
    /// The extension points of an [`OpenAiAdapter`].
    hooks: OpenAiHooks, OpenAiHooksSet,
    /// Adapter for servers with OpenAI's chat completions protocol.
    ///
    /// Completions are sent as a conversation of one message. A structured operation with a schema
    /// requests `json_schema`, in its strict form. Without a schema it requests `json_object`, for
    /// which the conversation has to contain the word JSON.
    adapter: OpenAiAdapter,
}

/// Chat completions.
enum Chat {}

impl Protocol for Chat {
    type Reader = Chunks;

    fn body(operation: &ModelOperation, options: Options) -> Result<Value, AdapterError> {
        Ok(body(operation, options))
    }

    fn request(config: &ProviderConfig, body: Value) -> HttpRequest {
        HttpRequest::new(
            config.url("https://api.openai.com/v1", "chat/completions"),
            [("authorization", format!("Bearer {}", config.api_key))],
            body.to_string().into_bytes(),
        )
    }

    fn reader(limits: ResponseLimits) -> Chunks {
        Chunks {
            has_started: false,
            is_over: false,
            begun: Calls::within(limits),
            calls: Vec::new(),
        }
    }
}

fn body(operation: &ModelOperation, options: Options) -> Value {
    let messages: Vec<Value> = match operation.input() {
        Some(input) => input.messages.iter().map(message).collect(),
        None => vec![json!({"role": "user", "content": operation.prompt()})],
    };
    let mut body = json!({
        "model": options.model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if let Some(tokens) = options.max_output_tokens {
        body["max_completion_tokens"] = tokens.into();
    }
    if let Some(temperature) = options.temperature {
        body["temperature"] = temperature.into();
    }
    let tools = operation.input().map_or(&[][..], |input| &input.tools);
    if !tools.is_empty() {
        let tool = |tool: &crate::model::ToolSpec| {
            json!({"type": "function", "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
            }})
        };
        body["tools"] = tools.iter().map(tool).collect();
    }
    if operation.is_structured() {
        body["response_format"] = match operation.schema() {
            Some(schema) => json!({"type": "json_schema", "json_schema": {
                "name": schema.name,
                "schema": schema.schema,
                "strict": true,
            }}),
            None => json!({"type": "json_object"}),
        };
    }
    body
}

fn message(message: &ModelMessage) -> Value {
    match message {
        ModelMessage::System(text) => json!({"role": "system", "content": text}),
        ModelMessage::User(text) => json!({"role": "user", "content": text}),
        ModelMessage::Assistant { text, tool_calls } if tool_calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        ModelMessage::Assistant { text, tool_calls } => {
            let call = |call: &RawToolCall| {
                json!({"id": call.id, "type": "function", "function": {
                    "name": call.name,
                    "arguments": call.arguments,
                }})
            };
            let calls: Value = tool_calls.iter().map(call).collect();
            json!({"role": "assistant", "content": text, "tool_calls": calls})
        }
        // The protocol has no field for `is_error`; the content describes the failure.
        ModelMessage::ToolResult {
            call_id, content, ..
        } => json!({"role": "tool", "tool_call_id": call_id, "content": content}),
    }
}

/// Reads the chunks of one response.
struct Chunks {
    has_started: bool,
    is_over: bool,
    begun: Calls,
    calls: Vec<RawToolCall>,
}

#[derive(Deserialize)]
struct Chunk {
    id: Option<String>,
    model: Option<String>,
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<OpenAiUsage>,
    error: Option<WireError>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: u32,
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: usize,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct OpenAiUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

impl Reader for Chunks {
    fn read(&mut self, event: &SseEvent) -> Result<Vec<AdapterEvent>, AdapterError> {
        let mut events = Vec::new();
        if event.data == "[DONE]" {
            self.is_over = true;
            return Ok(events);
        }
        let chunk: Chunk = read_json(event)?;
        if let Some(error) = chunk.error {
            return Err(error.into());
        }
        if !std::mem::replace(&mut self.has_started, true) {
            let (id, model) = (chunk.id, chunk.model);
            events.push(AdapterEvent::Started { id, model });
        }
        // One response is requested; if a hook requests more, the first one is used.
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            self.choice(choice, &mut events)?;
        }
        if let Some(usage) = chunk.usage {
            let used = Usage::tokens(usage.prompt_tokens, usage.completion_tokens);
            events.push(AdapterEvent::Usage(used));
        }
        Ok(events)
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

impl Chunks {
    fn choice(
        &mut self,
        choice: Choice,
        events: &mut Vec<AdapterEvent>,
    ) -> Result<(), AdapterError> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        events.extend(given(choice.delta.content).map(AdapterEvent::Text));
        events.extend(given(choice.delta.refusal).map(AdapterEvent::Refusal));
        for call in choice.delta.tool_calls.into_iter().flatten() {
            self.call(call)?;
        }
        let Some(reason) = choice.finish_reason else {
            return Ok(());
        };
        events.extend(self.calls.drain(..).map(AdapterEvent::ToolCall));
        events.push(AdapterEvent::Finished(match &*reason {
            "stop" => FinishReason::Stop,
            "length" => FinishReason::Length,
            "tool_calls" | "function_call" => FinishReason::ToolCalls,
            "content_filter" => FinishReason::ContentFilter,
            _ => FinishReason::Other(reason),
        }));
        Ok(())
    }

    /// Adds a piece of a call, which is complete at the end of the response.
    fn call(&mut self, delta: CallDelta) -> Result<(), AdapterError> {
        if delta.index == self.calls.len() {
            let call = self.begun.begin(String::new(), String::new())?;
            self.calls.push(call);
        }
        let Some(call) = self.calls.get_mut(delta.index) else {
            let error = format!(
                "a piece of tool call {} comes before its first",
                delta.index
            );
            return Err(AdapterError::protocol(error));
        };
        // Some servers send an empty id with every later piece.
        if let Some(id) = delta.id.filter(|id| !id.is_empty()) {
            call.id = id;
        }
        if let Some(function) = delta.function {
            call.name.push_str(&function.name.unwrap_or_default());
            let arguments = function.arguments.unwrap_or_default();
            self.begun.grow(call, &arguments)?;
        }
        Ok(())
    }
}
