//! Hooks around a client that many programs use, `async-openai`, over HTTP.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::types::chat::{
    ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestUserMessage, ChatCompletionStreamOptions, CreateChatCompletionRequestArgs,
    CreateChatCompletionStreamResponse, FinishReason as Reason, ResponseFormat,
};
use futures::StreamExt;
use hooks_runtime::RequestExtensions;
use hooks_runtime::model::{
    AdapterError, AdapterEvent, AdapterEvents, FinishReason, GenerationOptions, HookedModel,
    ModelAdapter, ModelError, ModelHooksSet, ModelInput, ModelMessage, ModelRequest, Usage,
    emit_provider_error,
};
use hooks_runtime::{HookRegistry, Map};

use crate::kit::{Log, RecordedBudget, Recorder, Tenant, drain, typed};
use crate::stand_in::{Answer, Piece, StandIn, http_client};

/// The adapter that a program would write.
struct AsyncOpenAi(Client<OpenAIConfig>);

impl ModelAdapter for AsyncOpenAi {
    async fn stream(&self, request: ModelRequest) -> Result<AdapterEvents<'_>, AdapterError> {
        let messages: Vec<ChatCompletionRequestMessage> = match request.operation.input() {
            Some(input) => input
                .messages
                .iter()
                .map(message)
                .collect::<Result<_, _>>()?,
            None => {
                let prompt = request.operation.prompt().unwrap_or_default();
                vec![ChatCompletionRequestUserMessage::from(prompt).into()]
            }
        };
        let options = request.extensions.get::<GenerationOptions>();
        let model = options.and_then(|options| options.model.as_deref());
        let mut builder = CreateChatCompletionRequestArgs::default();
        builder.model(model.unwrap_or("small")).messages(messages);
        builder.stream_options(ChatCompletionStreamOptions {
            include_usage: Some(true),
            ..Default::default()
        });
        if request.operation.is_structured() {
            builder.response_format(ResponseFormat::JsonObject);
        }
        let chat = builder.build().map_err(AdapterError::other)?;
        let chunks = self.0.chat().create_stream(chat).await.map_err(error)?;

        let mut has_started = false;
        let events = chunks.flat_map(move |chunk| {
            let events = match chunk {
                Ok(chunk) => read(chunk, &mut has_started).into_iter().map(Ok).collect(),
                Err(failed) => vec![Err(error(failed))],
            };
            futures::stream::iter(events)
        });
        Ok(Box::pin(events))
    }
}

fn message(message: &ModelMessage) -> Result<ChatCompletionRequestMessage, AdapterError> {
    Ok(match message {
        ModelMessage::System(text) => {
            ChatCompletionRequestSystemMessage::from(text.as_str()).into()
        }
        ModelMessage::User(text) => ChatCompletionRequestUserMessage::from(text.as_str()).into(),
        _ => return Err(AdapterError::unsupported("tools")),
    })
}

fn read(chunk: CreateChatCompletionStreamResponse, has_started: &mut bool) -> Vec<AdapterEvent> {
    let mut events = Vec::new();
    if !std::mem::replace(has_started, true) {
        events.push(AdapterEvent::Started {
            id: Some(chunk.id),
            model: Some(chunk.model),
        });
    }
    for choice in chunk.choices {
        let text = choice.delta.content.filter(|text| !text.is_empty());
        events.extend(text.map(AdapterEvent::Text));
        events.extend(choice.finish_reason.map(|reason| {
            AdapterEvent::Finished(match reason {
                Reason::Stop => FinishReason::Stop,
                Reason::Length => FinishReason::Length,
                Reason::ToolCalls | Reason::FunctionCall => FinishReason::ToolCalls,
                Reason::ContentFilter => FinishReason::ContentFilter,
            })
        }));
    }
    events.extend(chunk.usage.map(|usage| {
        let (input, output) = (usage.prompt_tokens, usage.completion_tokens);
        AdapterEvent::Usage(Usage::tokens(input.into(), output.into()))
    }));
    events
}

fn error(error: OpenAIError) -> AdapterError {
    match error {
        OpenAIError::ApiError(refused) => AdapterError::Status {
            status: refused.status_code.as_u16(),
            code: refused.api_error.code.or(refused.api_error.r#type),
            message: refused.api_error.message,
            retry_after: None,
        },
        OpenAIError::Reqwest(error) => AdapterError::transport(error),
        error @ OpenAIError::StreamError(_) => AdapterError::transport(error),
        error @ OpenAIError::JSONDeserialize(..) => AdapterError::protocol(error),
        error => AdapterError::other(error),
    }
}

fn model(log: &Log, provider: &StandIn) -> (HookedModel<'static>, RecordedBudget) {
    let config = OpenAIConfig::new()
        .with_api_base(&provider.url)
        .with_api_key("key");
    let tracker = RecordedBudget::new(log);
    let hooks = ModelHooksSet::new().with_hooks(Recorder(log.clone()));
    let defaults = RequestExtensions::new()
        .ext(Tenant("shared"))
        .ext(GenerationOptions::new().model("default-model"));
    let client = Client::with_config(config).with_http_client(http_client());
    let adapter = AsyncOpenAi(client);
    let model = HookedModel::with_hooks(adapter, tracker.clone(), hooks);
    (model.with_default_extensions(defaults), tracker)
}

fn chunk(choices: &str, usage: &str) -> String {
    format!(
        "data: {{\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m-1\",\"choices\":[{choices}],\"usage\":{usage}}}\n\n"
    )
}

fn delta(text: &str) -> String {
    let choice =
        format!("{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}");
    chunk(&choice, "null")
}

/// Returns the end of an answer: finish reason and usage.
fn end() -> String {
    chunk(
        "{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}",
        "null",
    ) + &chunk(
        "",
        "{\"prompt_tokens\":7,\"completion_tokens\":2,\"total_tokens\":9}",
    ) + "data: [DONE]\n\n"
}

#[tokio::test]
async fn t_70_t_71_t_72_hooks_see_every_input_and_event_once_in_order() {
    let log = Log::new();
    let pieces = [
        Piece::Bytes(delta("Hel").into_bytes()),
        Piece::Gate,
        Piece::Bytes(delta("lo").into_bytes()),
        Piece::Gate,
        Piece::Bytes(end().into_bytes()),
    ];
    let provider = StandIn::new(&log, [Answer::stream(pieces)]).await;
    let (model, tracker) = model(&log, &provider);
    let input = ModelInput::user("hi").system("be brief");
    let mut events = model.text_turn(input).ext(Tenant("eu")).stream();

    // The provider sends no more until the caller has received the pieces before.
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        log.add(format_args!("caller: {}", typed(&event)));
        if typed(&event).starts_with("text") {
            provider.pass_gate();
        }
    }
    assert_eq!(
        log.take(),
        [
            "estimate text_turn for eu",
            "reserve 10 for eu",
            "input text_turn of 2 for eu",
            "http POST /v1/chat/completions",
            "hook: started m-1",
            "caller: started m-1",
            "hook: text Hel",
            "caller: text Hel",
            "hook: text lo",
            "caller: text lo",
            "hook: finished Stop",
            "caller: finished Stop",
            "hook: usage 7+2",
            "caller: usage 7+2",
            "settle 9",
            "caller: output \"Hello\"",
        ]
    );
    assert_eq!(
        (
            tracker.budget.used().tokens,
            tracker.budget.reserved().tokens
        ),
        (9, 0)
    );

    let received = provider.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].body["model"], "default-model");
    assert_eq!(received[0].body["messages"][0]["content"], "be brief");
    assert_eq!(received[0].body["messages"][1]["content"], "hi");
    assert!(received[0].body.get("response_format").is_none());
}

#[tokio::test]
async fn t_72_events_do_not_depend_on_the_chunks_of_the_response() {
    let answer =
        delta("H\u{e4}l").replace('\n', "\r\n") + ": still here\r\n\r\n" + &delta("lo") + &end();
    for size in [3, 17, 1000] {
        let log = Log::new();
        let provider = StandIn::new(&log, [Answer::cut(&answer, size)]).await;
        let (model, _) = model(&log, &provider);
        drain(model.completion("hi").stream(), &log).await.unwrap();
        let seen = log.take();
        let of = |who: &str| -> Vec<String> {
            let lines = seen.iter().filter_map(|line| line.strip_prefix(who));
            lines.map(str::to_owned).collect()
        };
        let hooks = of("hook: ");
        assert_eq!(
            hooks,
            [
                "started m-1",
                "text H\u{e4}l",
                "text lo",
                "finished Stop",
                "usage 7+2"
            ],
            "pieces of {size} bytes"
        );
        assert_eq!(of("caller: ")[..5], hooks);
    }
}

#[tokio::test]
async fn t_70_t_72_all_four_operation_kinds_work_with_the_client() {
    let log = Log::new();
    let json = || Answer::cut(&(delta("[1") + &delta(",2]") + &end()), 1000);
    let provider = StandIn::new(&log, [json(), json(), json(), json()]).await;
    let (model, tracker) = model(&log, &provider);
    let expected = Some(vec![1, 2]);

    let text = model.text_turn("hi").collect().await.unwrap();
    assert_eq!(text.output.as_deref(), Some("[1,2]"));
    assert_eq!(
        (text.id.as_deref(), text.usage),
        (Some("c-1"), Some(Usage::tokens(7, 2)))
    );
    let value = model
        .structured_turn::<Vec<u8>>("hi")
        .collect()
        .await
        .unwrap();
    assert_eq!(value.output, expected);
    let text = model.completion("hi").collect().await.unwrap();
    assert_eq!(text.output.as_deref(), Some("[1,2]"));
    let options = GenerationOptions::new().model("large");
    let value = model.structured_completion::<Vec<u8>>("hi").ext(options);
    assert_eq!(value.collect().await.unwrap().output, expected);

    assert_eq!(tracker.budget.used().tokens, 36);
    let received = provider.received();
    let formats: Vec<_> = received
        .iter()
        .map(|one| one.body["response_format"]["type"].as_str())
        .collect();
    assert_eq!(
        formats,
        [None, Some("json_object"), None, Some("json_object")]
    );
    let models: Vec<_> = received
        .iter()
        .map(|one| one.body["model"].as_str().unwrap())
        .collect();
    assert_eq!(
        models,
        ["default-model", "default-model", "default-model", "large"]
    );
    let inputs = log
        .take()
        .into_iter()
        .filter(|line| line.starts_with("input"));
    assert_eq!(
        inputs.collect::<Vec<_>>(),
        [
            "input text_turn of 1 for shared",
            "input structured_turn of 1 for shared"
        ]
    );
}

#[tokio::test]
async fn t_70_an_error_status_becomes_a_typed_error_and_a_provider_error_event() {
    let log = Log::new();
    let body =
        "{\"error\":{\"message\":\"no such key\",\"type\":\"auth\",\"code\":\"invalid_api_key\"}}";
    let provider = StandIn::new(&log, [Answer::error(401, "", body)]).await;
    let (model, tracker) = model(&log, &provider);
    let error = model.text_turn("hi").collect().await.unwrap_err();
    let ModelError::Adapter(adapter) = &error else {
        panic!("{error}");
    };
    assert_eq!(
        (adapter.status(), adapter.code()),
        (Some(401), Some("invalid_api_key"))
    );
    assert_eq!(
        log.take()[3..],
        ["http POST /v1/chat/completions", "release"]
    );
    assert_eq!(
        (
            tracker.budget.used().tokens,
            tracker.budget.reserved().tokens
        ),
        (0, 0)
    );

    let emission = emit_provider_error(&HookRegistry::new(), &error, Map::new()).await;
    assert_eq!(emission.unwrap().unwrap().data["status"], 401);
}

#[tokio::test]
async fn t_70_a_broken_connection_is_an_error() {
    let log = Log::new();
    let pieces = [
        Piece::Bytes(delta("Hel").into_bytes()),
        Piece::Gate,
        Piece::Break,
    ];
    // No server runs at this address.
    let absent = StandIn::new(&log, []).await;
    let (unreachable, _) = model(&log, &absent);
    drop(absent);
    let provider = StandIn::new(&log, [Answer::stream(pieces)]).await;
    let (model, tracker) = model(&log, &provider);

    let mut events = model.text_turn("hi").stream();
    let mut seen = Vec::new();
    let error = loop {
        match events.next().await.expect("an error comes before the end") {
            Ok(event) => {
                seen.push(typed(&event));
                provider.pass_gate();
            }
            Err(error) => break error,
        }
    };
    assert_eq!(seen, ["started m-1", "text Hel"]);
    assert!(error.is_provider_error(), "{error}");
    assert_eq!(tracker.budget.reserved().tokens, 0);

    let error = unreachable.text_turn("hi").collect().await.unwrap_err();
    assert!(
        matches!(error, ModelError::Adapter(AdapterError::Transport(_))),
        "{error:?}"
    );
}

#[tokio::test]
async fn t_70_a_dropped_http_stream_settles_the_estimate() {
    let log = Log::new();
    let pieces = [Piece::Bytes(delta("Hel").into_bytes()), Piece::Gate];
    let provider = StandIn::new(&log, [Answer::stream(pieces)]).await;
    let (model, tracker) = model(&log, &provider);
    let mut events = model.text_turn("hi").stream();
    events.next().await.unwrap().unwrap();
    assert_eq!(tracker.budget.reserved().tokens, 10);
    let _ = log.take();
    drop(events);
    assert_eq!(log.take(), ["settle 10"]);
    assert_eq!(
        (
            tracker.budget.used().tokens,
            tracker.budget.reserved().tokens
        ),
        (10, 0)
    );
}
