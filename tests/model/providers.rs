//! The adapters of this workspace, over HTTP through `reqwest`.

use std::error::Error;
use std::time::Duration;

use futures::StreamExt;
use hooks_runtime::model::provider::{
    ClaudeAdapter, ClaudeHooks, ClaudeHooksSet, HttpRequest, HttpResponse, HttpTransport,
    OpenAiAdapter, OpenAiHooks, OpenAiHooksSet, ProviderConfig, SseEvent,
};
use hooks_runtime::model::{
    AdapterError, AdapterEvent, FinishReason, GenerationOptions, HookedModel, ModelAdapter,
    ModelError, ModelHooksSet, ModelInput, ModelMessage, ModelReply, RawToolCall, ToolSpec,
    Unlimited, Usage,
};
use hooks_runtime::{RequestExtensions, impl_hooks};
use serde_json::{Value, json};

use crate::kit::{Log, Recorder, Tenant, drain, tenant};
use crate::stand_in::{Answer, Piece, StandIn, http_client};

/// The transport that a program would write.
struct Reqwest(reqwest::Client);

impl HttpTransport for Reqwest {
    async fn send(
        &self,
        request: HttpRequest,
    ) -> Result<HttpResponse<'_>, Box<dyn Error + Send + Sync>> {
        let mut builder = self.0.post(request.url).body(request.body);
        for (name, value) in request.headers {
            builder = builder.header(name, value);
        }
        let response = builder.send().await?;
        let headers: Vec<_> = response
            .headers()
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
            .collect();
        let status = response.status().as_u16();
        let body = response.bytes_stream().map(|piece| Ok(piece?.to_vec()));
        Ok(HttpResponse::new(status, headers, Box::pin(body)))
    }
}

fn transport() -> Reqwest {
    Reqwest(http_client())
}

fn config(provider: &StandIn) -> ProviderConfig {
    ProviderConfig::new("the-key", "small").base_url(&provider.url)
}

fn open_ai(provider: &StandIn) -> HookedModel<'static> {
    HookedModel::new(OpenAiAdapter::new(transport(), config(provider)), Unlimited)
}

fn claude(provider: &StandIn) -> HookedModel<'static> {
    HookedModel::new(ClaudeAdapter::new(transport(), config(provider)), Unlimited)
}

const OPEN_AI_TEXT: &str = r#": processing

data: {"id":"c-1","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"c-1","model":"m-1","choices":[{"index":0,"delta":{"content":"Grüß "},"finish_reason":null},{"index":1,"delta":{"content":"another answer"}}]}

data: {"id":"c-1","model":"m-1","choices":[{"index":0,"delta":{"content":"Gott"},"finish_reason":null}]}

data: {"id":"c-1","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"c-1","model":"m-1","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}

data: [DONE]

"#;

const CLAUDE_TEXT: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg-1","model":"m-1","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Grüß "}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Gott"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

"#;

#[tokio::test]
async fn t_75_events_of_both_providers_do_not_depend_on_the_chunks() {
    for size in [7, 64, 10_000] {
        let provider = StandIn::new(&Log::new(), [Answer::cut(OPEN_AI_TEXT, size)]).await;
        let reply = open_ai(&provider).text_turn("hi").collect().await.unwrap();
        assert_eq!(
            reply.output.as_deref(),
            Some("Grüß Gott"),
            "pieces of {size} bytes"
        );
        assert_eq!(
            (reply.usage, reply.finish),
            (Some(Usage::tokens(7, 2)), FinishReason::Stop)
        );
        assert_eq!(
            (reply.id.as_deref(), reply.model.as_deref()),
            (Some("c-1"), Some("m-1"))
        );

        let text = CLAUDE_TEXT.replace('\n', "\r\n");
        let provider = StandIn::new(&Log::new(), [Answer::cut(&text, size)]).await;
        let reply = claude(&provider).text_turn("hi").collect().await.unwrap();
        assert_eq!(
            reply.output.as_deref(),
            Some("Grüß Gott"),
            "pieces of {size} bytes"
        );
        assert_eq!(reply.reasoning, "hm");
        assert_eq!(
            (reply.usage, reply.finish),
            (Some(Usage::tokens(7, 9)), FinishReason::Stop)
        );
        assert_eq!(
            (reply.id.as_deref(), reply.model.as_deref()),
            (Some("msg-1"), Some("m-1"))
        );
    }
}

#[tokio::test]
async fn t_72_hooks_see_each_event_before_the_caller() {
    for (answer, is_claude) in [(OPEN_AI_TEXT, false), (CLAUDE_TEXT, true)] {
        let log = Log::new();
        let provider = StandIn::new(&log, [Answer::cut(answer, 11)]).await;
        let model = match is_claude {
            true => claude(&provider),
            false => open_ai(&provider),
        };
        let hooks = ModelHooksSet::new().with_hooks(Recorder(log.clone()));
        let model = model.with_extended_hooks(hooks);
        drain(model.text_turn("hi").stream(), &log).await.unwrap();
        let seen = log.take();
        let path = if is_claude {
            "messages"
        } else {
            "chat/completions"
        };
        assert_eq!(
            seen[..3],
            [
                "estimate text_turn for absent".to_owned(),
                "input text_turn of 1 for absent".to_owned(),
                format!("http POST /v1/{path}"),
            ]
        );
        let (last, events) = seen[3..].split_last().unwrap();
        assert_eq!(last, "caller: output \"Grüß Gott\"");
        assert!(events.len() >= 8 && events.len() % 2 == 0, "{events:?}");
        for pair in events.chunks(2) {
            let event = pair[0].strip_prefix("hook: ").expect("the hook is first");
            assert_eq!(pair[1], format!("caller: {event}"));
        }
    }
}

/// The three slots of an adapter's set, once for each style.
macro_rules! adapter_hooks {
    ($name:ident, $hooks:ident, $set:ident) => {
        struct $name(Log);

        #[impl_hooks($set)]
        impl $hooks for $name {
            async fn select_model(
                &self,
                extensions: &RequestExtensions,
                requested: &str,
                last: Option<String>,
            ) -> String {
                let requested = last.unwrap_or_else(|| requested.to_owned());
                format!("{requested}-{}", tenant(extensions))
            }

            async fn on_request_body(
                &self,
                extensions: &RequestExtensions,
                body: Value,
                last: Option<Value>,
            ) -> Value {
                let mut body = last.unwrap_or(body);
                body["metadata"] = json!({"user_id": tenant(extensions)});
                body
            }

            async fn on_wire_event(&self, extensions: &RequestExtensions, event: &SseEvent) {
                let (event, length) = (&event.event, event.data.len());
                self.0.add(format_args!("{event} of {length} for {}", tenant(extensions)));
            }
        }
    };
}

adapter_hooks!(AroundOpenAi, OpenAiHooks, OpenAiHooksSet);
adapter_hooks!(AroundClaude, ClaudeHooks, ClaudeHooksSet);

#[tokio::test]
async fn t_75_an_adapter_calls_its_own_hooks() {
    let log = Log::new();
    let provider = StandIn::new(&Log::new(), [Answer::cut(OPEN_AI_TEXT, 9)]).await;
    let hooks = OpenAiHooksSet::new().with_hooks(AroundOpenAi(log.clone()));
    let adapter = OpenAiAdapter::with_hooks(transport(), config(&provider), hooks);
    let call = HookedModel::new(adapter, Unlimited)
        .text_turn("hi")
        .ext(Tenant("eu"));
    call.collect().await.unwrap();
    let received = &provider.received()[0];
    assert_eq!(received.body["model"], "small-eu");
    assert_eq!(received.body["metadata"]["user_id"], "eu");
    assert!(
        received.head.contains("authorization: Bearer the-key\r\n"),
        "{}",
        received.head
    );
    let seen = log.take();
    assert_eq!((seen.len(), &*seen[5]), (6, "message of 6 for eu"));

    let provider = StandIn::new(&Log::new(), [Answer::cut(CLAUDE_TEXT, 9)]).await;
    let hooks = ClaudeHooksSet::new().with_hooks(AroundClaude(log.clone()));
    let adapter = ClaudeAdapter::with_hooks(transport(), config(&provider), hooks);
    let call = HookedModel::new(adapter, Unlimited)
        .text_turn("hi")
        .ext(Tenant("us"));
    call.ext(GenerationOptions::new().model("large"))
        .collect()
        .await
        .unwrap();
    let received = &provider.received()[0];
    assert_eq!(received.body["model"], "large-us");
    assert_eq!(received.body["metadata"]["user_id"], "us");
    for header in [
        "x-api-key: the-key\r\n",
        "anthropic-version: 2023-06-01\r\n",
        "content-type: application/json\r\n",
    ] {
        assert!(received.head.contains(header), "{}", received.head);
    }
    let seen = log.take();
    assert_eq!(seen.len(), 12);
    assert!(seen[5].starts_with("ping of 15"), "{seen:?}");
}

#[tokio::test]
async fn t_73_t_75_hooks_added_to_an_adapter_run_after_existing_hooks() {
    let log = Log::new();
    let provider = StandIn::new(&Log::new(), [Answer::cut(OPEN_AI_TEXT, 999)]).await;
    let hooks = || OpenAiHooksSet::new().with_hooks(AroundOpenAi(log.clone()));
    let adapter = OpenAiAdapter::with_hooks(transport(), config(&provider), hooks());
    let adapter = adapter.with_extended_hooks(hooks());
    HookedModel::new(adapter, Unlimited)
        .text_turn("hi")
        .collect()
        .await
        .unwrap();
    assert_eq!(provider.received()[0].body["model"], "small-absent-absent");
    assert_eq!(log.take().len(), 12);

    let provider = StandIn::new(&Log::new(), [Answer::cut(CLAUDE_TEXT, 999)]).await;
    let hooks = || ClaudeHooksSet::new().with_hooks(AroundClaude(log.clone()));
    let mut adapter = ClaudeAdapter::with_hooks(transport(), config(&provider), hooks());
    adapter.extend_hooks(hooks());
    let model = HookedModel::new(adapter, Unlimited);
    model.text_turn("hi").collect().await.unwrap();
    assert_eq!(provider.received()[0].body["model"], "small-absent-absent");
    assert_eq!(log.take().len(), 24);
}

fn conversation() -> ModelInput {
    let call = |id: &str, arguments: &str| RawToolCall::new(id, "weather", arguments);
    let result = |call_id: &str, is_error| ModelMessage::ToolResult {
        call_id: call_id.to_owned(),
        content: "cold".to_owned(),
        is_error,
    };
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    ModelInput::user("Oslo?")
        .system("be brief")
        .message(ModelMessage::Assistant {
            text: String::new(),
            tool_calls: vec![call("1", "{\"city\":\"Oslo\"}"), call("2", "")],
        })
        .message(result("1", false))
        .message(result("2", true))
        .message(ModelMessage::User("and now?".to_owned()))
        .tool(ToolSpec::new("weather", schema).description("the weather"))
}

#[tokio::test]
async fn t_75_a_conversation_with_tools_is_serialized_for_each_provider() {
    let provider = StandIn::new(&Log::new(), [Answer::cut(OPEN_AI_TEXT, 999)]).await;
    let options = GenerationOptions::new()
        .max_output_tokens(50)
        .temperature(0.5);
    let call = open_ai(&provider)
        .text_turn(conversation())
        .ext(options.clone());
    call.collect().await.unwrap();
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    assert_eq!(
        provider.received()[0].body,
        json!({
            "model": "small",
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "Oslo?"},
                {"role": "assistant", "content": "", "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}},
                    {"id": "2", "type": "function", "function": {"name": "weather", "arguments": ""}},
                ]},
                {"role": "tool", "tool_call_id": "1", "content": "cold"},
                {"role": "tool", "tool_call_id": "2", "content": "cold"},
                {"role": "user", "content": "and now?"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_completion_tokens": 50,
            "temperature": 0.5,
            "tools": [{"type": "function", "function": {
                "name": "weather", "description": "the weather", "parameters": schema,
            }}],
        })
    );

    let provider = StandIn::new(&Log::new(), [Answer::cut(CLAUDE_TEXT, 999)]).await;
    let call = claude(&provider).text_turn(conversation()).ext(options);
    call.collect().await.unwrap();
    assert_eq!(
        provider.received()[0].body,
        json!({
            "model": "small",
            "max_tokens": 50,
            "messages": [
                {"role": "user", "content": "Oslo?"},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Oslo"}},
                    {"type": "tool_use", "id": "2", "name": "weather", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "1", "content": "cold", "is_error": false},
                    {"type": "tool_result", "tool_use_id": "2", "content": "cold", "is_error": true},
                ]},
                {"role": "user", "content": "and now?"},
            ],
            "stream": true,
            "system": "be brief",
            "temperature": 0.5,
            "tools": [{
                "name": "weather", "description": "the weather", "input_schema": schema,
            }],
        })
    );
}

#[tokio::test]
async fn t_75_a_schema_is_requested_from_each_provider() {
    let schema = json!({"type": "string"});
    let open_ai_json = OPEN_AI_TEXT
        .replace("Grüß ", "\\\"Grüß ")
        .replace("Gott", "Gott\\\"");
    let provider = StandIn::new(
        &Log::new(),
        [
            Answer::cut(&open_ai_json, 999),
            Answer::cut(&open_ai_json, 999),
        ],
    )
    .await;
    let model = open_ai(&provider);
    let call = model
        .structured_turn::<String>("hi")
        .schema("greeting", schema.clone());
    assert_eq!(
        call.collect().await.unwrap().output.as_deref(),
        Some("Grüß Gott")
    );
    model
        .structured_completion::<String>("JSON")
        .collect()
        .await
        .unwrap();
    let received = provider.received();
    assert_eq!(
        received[0].body["response_format"],
        json!({"type": "json_schema", "json_schema": {"name": "greeting", "schema": schema, "strict": true}})
    );
    assert_eq!(
        received[1].body["response_format"],
        json!({"type": "json_object"})
    );
    assert_eq!(
        received[1].body["messages"],
        json!([{"role": "user", "content": "JSON"}])
    );

    let claude_json = CLAUDE_TEXT
        .replace("Grüß ", "\\\"Grüß ")
        .replace("Gott", "Gott\\\"");
    let provider = StandIn::new(&Log::new(), [Answer::cut(&claude_json, 999)]).await;
    let call = claude(&provider)
        .structured_completion::<String>("hi")
        .schema("greeting", schema.clone());
    assert_eq!(
        call.collect().await.unwrap().output.as_deref(),
        Some("Grüß Gott")
    );
    let body = &provider.received()[0].body;
    assert_eq!(
        body["output_config"],
        json!({"format": {"type": "json_schema", "schema": schema}})
    );
    assert_eq!(body["max_tokens"], 4096);
}

fn assert_calls(reply: ModelReply<String>) {
    let calls: Vec<_> = reply
        .tool_calls
        .iter()
        .map(|call| (&*call.id, &*call.name, &call.input))
        .collect();
    assert_eq!(
        calls,
        [
            ("a", "weather", &json!({"city": "Oslo"})),
            ("b", "weather", &json!({}))
        ]
    );
    assert_eq!(reply.finish, FinishReason::ToolCalls);
}

#[tokio::test]
async fn t_75_tool_calls_are_assembled_from_their_pieces() {
    let open_ai_calls = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"weather","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\""}},{"index":1,"id":"b","function":{"name":"weather"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":\"Oslo\"}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

"#;
    let provider = StandIn::new(&Log::new(), [Answer::cut(open_ai_calls, 20)]).await;
    assert_calls(
        open_ai(&provider)
            .text_turn(conversation())
            .collect()
            .await
            .unwrap(),
    );

    let claude_calls = r#"data: {"type":"message_start","message":{"id":"msg-1","model":"m-1"}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"weather","input":{}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":":\"Oslo\"}"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"weather","input":{}}}

data: {"type":"content_block_stop","index":1}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

data: {"type":"message_stop"}

"#;
    let provider = StandIn::new(&Log::new(), [Answer::cut(claude_calls, 20)]).await;
    assert_calls(
        claude(&provider)
            .text_turn(conversation())
            .collect()
            .await
            .unwrap(),
    );
}

#[tokio::test]
async fn t_75_an_error_status_of_each_provider_is_a_typed_error() {
    for is_claude in [false, true] {
        let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
        let provider = StandIn::new(
            &Log::new(),
            [
                Answer::error(429, "retry-after: 7\r\n", body),
                Answer::error(503, "", " <html>busy</html>\n"),
            ],
        )
        .await;
        let model = match is_claude {
            true => claude(&provider),
            false => open_ai(&provider),
        };
        let error = model.text_turn("hi").collect().await.unwrap_err();
        let ModelError::Adapter(error) = error else {
            panic!("{error}");
        };
        assert_eq!(
            (error.status(), error.code()),
            (Some(429), Some("rate_limit_error"))
        );
        assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
        let error = model.text_turn("hi").collect().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the provider responded with status 503: <html>busy</html>"
        );
    }
}

/// Returns the first error of an answer.
async fn fails(model: &HookedModel<'_>) -> ModelError {
    model.text_turn(conversation()).collect().await.unwrap_err()
}

#[tokio::test]
async fn t_75_every_failure_within_a_response_is_an_error() {
    let provider = StandIn::new(&Log::new(), [
        Answer::cut("data: {\"error\":{\"message\":\"overloaded\",\"code\":502}}\n\n", 999),
        Answer::cut("data: {nonsense\n\n", 999),
        Answer::cut("data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":3}]}}]}\n\n", 999),
        Answer::cut("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n", 999),
        Answer::stream([Piece::Bytes(OPEN_AI_TEXT.as_bytes()[..300].to_vec()), Piece::Break]),
        Answer::cut("data: {\"choices\":[{\"index\":0,\"delta\":{\"refusal\":\"no\"},\"finish_reason\":\"stop\"}]}\n\n", 999),
    ])
    .await;
    let model = open_ai(&provider);
    let error = fails(&model).await;
    let ModelError::Adapter(AdapterError::Provider { code, message }) = error else {
        panic!("{error}");
    };
    assert_eq!((code.as_deref(), &*message), (Some("502"), "overloaded"));
    for _ in 0..2 {
        assert!(matches!(
            fails(&model).await,
            ModelError::Adapter(AdapterError::Protocol(_))
        ));
    }
    assert!(matches!(fails(&model).await, ModelError::Incomplete { .. }));
    assert!(matches!(
        fails(&model).await,
        ModelError::Adapter(AdapterError::Transport(_))
    ));
    assert!(matches!(fails(&model).await, ModelError::Refused { .. }));

    let cut_off = CLAUDE_TEXT.replace("message_stop", "message_other");
    let provider = StandIn::new(&Log::new(), [
        Answer::cut("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", 999),
        Answer::cut("data: {\"type\":\"message_start\"}\n\n", 999),
        Answer::cut("data: {\"type\":\"message_stop\"}\n\n", 999),
        Answer::cut(&cut_off, 999),
    ])
    .await;
    let model = claude(&provider);
    let error = fails(&model).await;
    assert_eq!(
        error.to_string(),
        "the provider broke off its response: Overloaded"
    );
    for _ in 0..2 {
        assert!(matches!(
            fails(&model).await,
            ModelError::Adapter(AdapterError::Protocol(_))
        ));
    }
    assert!(matches!(fails(&model).await, ModelError::Incomplete { .. }));
}

#[tokio::test]
async fn t_75_tool_arguments_that_are_not_json_are_not_sent_to_claude() {
    let provider = StandIn::new(&Log::new(), []).await;
    let call = RawToolCall::new("1", "weather", "{");
    let input = ModelInput::user("hi").message(ModelMessage::Assistant {
        text: "a".to_owned(),
        tool_calls: vec![call],
    });
    let error = claude(&provider)
        .text_turn(input)
        .collect()
        .await
        .unwrap_err();
    assert!(
        matches!(error, ModelError::Adapter(AdapterError::Unsupported { .. })),
        "{error}"
    );
    assert!(provider.received().is_empty());
}

#[tokio::test]
async fn t_75_finish_reasons_are_mapped_and_unknown_ones_keep_their_name() {
    for (reason, expected) in [
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("bored", FinishReason::Other("bored".to_owned())),
    ] {
        let text = OPEN_AI_TEXT.replace("\"stop\"", &format!("\"{reason}\""));
        let provider = StandIn::new(&Log::new(), [Answer::cut(&text, 999)]).await;
        assert_eq!(
            open_ai(&provider)
                .completion("hi")
                .collect()
                .await
                .unwrap()
                .finish,
            expected
        );
    }
    for (reason, expected) in [
        ("max_tokens", FinishReason::Length),
        ("stop_sequence", FinishReason::Stop),
        ("refusal", FinishReason::ContentFilter),
        ("pause_turn", FinishReason::Other("pause_turn".to_owned())),
    ] {
        let text = CLAUDE_TEXT.replace("end_turn", reason);
        let provider = StandIn::new(&Log::new(), [Answer::cut(&text, 999)]).await;
        assert_eq!(
            claude(&provider)
                .completion("hi")
                .collect()
                .await
                .unwrap()
                .finish,
            expected
        );
    }
}

#[test]
fn t_75_debug_output_does_not_contain_the_key() {
    let config = ProviderConfig::new("the-key", "small");
    let shown = format!(
        "{config:?} {:?} {:?}",
        OpenAiAdapter::new(transport(), config.clone()),
        ClaudeAdapter::new(transport(), config.clone())
    );
    assert!(
        shown.contains("small") && !shown.contains("the-key"),
        "{shown}"
    );
}

/// Records the request, and sends nothing.
struct Showing;

impl HttpTransport for Showing {
    async fn send(
        &self,
        request: HttpRequest,
    ) -> Result<HttpResponse<'_>, Box<dyn Error + Send + Sync>> {
        Err(format!("{request:?}").into())
    }
}

#[tokio::test]
async fn t_75_the_debug_output_of_a_request_omits_the_key() {
    let config = ProviderConfig::new("the-key", "small");
    let adapter = OpenAiAdapter::new(Showing, config.clone());
    let open_ai = HookedModel::new(adapter, Unlimited).completion("hi");
    let claude = HookedModel::new(ClaudeAdapter::new(Showing, config), Unlimited).completion("hi");
    for (call, url, header) in [
        (
            open_ai,
            "https://api.openai.com/v1/chat/completions",
            "authorization",
        ),
        (claude, "https://api.anthropic.com/v1/messages", "x-api-key"),
    ] {
        let shown = call.collect().await.unwrap_err().to_string();
        assert!(shown.contains(url) && shown.contains(header), "{shown}");
        assert!(!shown.contains("the-key"), "{shown}");
    }
}

#[tokio::test]
async fn t_75_an_adapter_can_be_used_without_a_model() {
    use hooks_runtime::model::{ModelOperation, ModelRequest};
    let provider = StandIn::new(&Log::new(), [Answer::cut(OPEN_AI_TEXT, 99)]).await;
    let adapter = OpenAiAdapter::new(transport(), config(&provider));
    let prompt = "hi".to_owned();
    let operation = ModelOperation::Completion { prompt };
    let request = ModelRequest::new(operation, RequestExtensions::new());
    let events = adapter.stream(request).await.unwrap();
    let events: Vec<_> = events.map(|event| event.unwrap()).collect().await;
    assert!(matches!(events[0], AdapterEvent::Started { .. }));
    assert_eq!(events.len(), 5);
}
