//! Limits of an answer over HTTP: it ends as its protocol defines, and within limits.

use std::error::Error;
use std::time::Duration;

use futures::{StreamExt, stream};
use hooks_runtime::model::provider::{
    ClaudeAdapter, HttpBody, HttpRequest, HttpResponse, HttpTransport, OpenAiAdapter,
    ProviderConfig,
};
use hooks_runtime::model::{
    AdapterError, HookedModel, ModelError, ModelInput, ModelReply, ToolSpec, Unlimited,
};
use serde_json::{Value, json};
use tokio::time::timeout;

/// Gives these events, so often.
#[derive(Clone)]
struct Body {
    events: Vec<String>,
    times: usize,
    stays_open: bool,
}

impl Body {
    fn of(events: impl IntoIterator<Item = Value>) -> Self {
        let events = events.into_iter().map(|event| format!("data: {event}\n\n"));
        Body {
            events: events.collect(),
            times: 1,
            stays_open: false,
        }
    }

    fn times(self, times: usize) -> Self {
        Body { times, ..self }
    }

    fn stays_open(self) -> Self {
        Body {
            stays_open: true,
            ..self
        }
    }
}

impl HttpTransport for Body {
    async fn send(&self, _: HttpRequest) -> Result<HttpResponse<'_>, Box<dyn Error + Send + Sync>> {
        let pieces = (0..self.times).flat_map(|_| &self.events);
        let pieces = stream::iter(pieces).map(|event| Ok(event.clone().into_bytes()));
        let body: HttpBody<'_> = match self.stays_open {
            true => Box::pin(pieces.chain(stream::pending())),
            false => Box::pin(pieces),
        };
        Ok(HttpResponse::new(200, [], body))
    }
}

fn config() -> ProviderConfig {
    ProviderConfig::new("key", "small")
}

fn open_ai(body: Body, config: ProviderConfig) -> HookedModel<'static> {
    HookedModel::new(OpenAiAdapter::new(body, config), Unlimited)
}

fn claude(body: Body, config: ProviderConfig) -> HookedModel<'static> {
    HookedModel::new(ClaudeAdapter::new(body, config), Unlimited)
}

async fn ask(model: HookedModel<'static>) -> Result<ModelReply<String>, ModelError> {
    let input = ModelInput::user("hi").tool(ToolSpec::new("look", json!({})));
    let reply = model.text_turn(input).collect();
    let reply = timeout(Duration::from_secs(60), reply).await;
    reply.expect("the answer ends")
}

fn exceeded(reply: Result<ModelReply<String>, ModelError>) -> (&'static str, usize) {
    match reply {
        Err(ModelError::Adapter(error @ AdapterError::TooLarge { what, limit, .. })) => {
            assert_eq!(error.kind(), "too_large");
            (what, limit)
        }
        other => panic!("{other:?}"),
    }
}

fn text(text: &str, finish: Option<&str>) -> Value {
    json!({"choices": [{"delta": {"content": text}, "finish_reason": finish}]})
}

/// Returns a piece of a tool call of OpenAI's style.
fn piece(index: usize, arguments: &str) -> Value {
    let function = json!({"name": "look", "arguments": arguments});
    json!({"choices": [{"delta": {"tool_calls": [
        {"index": index, "id": "call", "function": function},
    ]}}]})
}

/// Returns a tool call of Claude's style.
fn block(index: usize, arguments: &str) -> [Value; 3] {
    [
        json!({"type": "content_block_start", "index": index, "content_block": {
            "type": "tool_use", "id": "call", "name": "look",
        }}),
        json!({"type": "content_block_delta", "index": index, "delta": {
            "type": "input_json_delta", "partial_json": arguments,
        }}),
        json!({"type": "content_block_stop", "index": index}),
    ]
}

#[tokio::test(start_paused = true)]
async fn t_75_a_response_ends_at_its_end_event_even_if_the_body_stays_open() {
    let mut body = Body::of([text("all", Some("stop"))]);
    body.events.push("data: [DONE]\n\n".to_owned());
    body.events.push("data: no JSON\n\n".to_owned());
    let reply = ask(open_ai(body.stays_open(), config())).await.unwrap();
    assert_eq!(reply.output.as_deref(), Some("all"));

    let body = Body::of([
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "all"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
        json!({"type": "error", "error": {"message": "never read"}}),
    ]);
    let reply = ask(claude(body.stays_open(), config())).await.unwrap();
    assert_eq!(reply.output.as_deref(), Some("all"));
}

#[tokio::test(start_paused = true)]
async fn t_75_max_response_bytes_limits_the_bytes_of_a_response() {
    let endless = Body::of([text("and so on", None)]).times(usize::MAX);
    let reply = ask(open_ai(endless, config().max_response_bytes(10_000))).await;
    assert_eq!(exceeded(reply), ("bytes", 10_000));

    let endless = Body::of([json!({"type": "ping"})]).times(usize::MAX);
    let reply = ask(claude(endless, config().max_response_bytes(10_000))).await;
    assert_eq!(exceeded(reply), ("bytes", 10_000));

    let whole = Body::of([text("all", Some("stop"))]);
    let length = whole.events[0].len();
    let limited = |limit| ask(open_ai(whole.clone(), config().max_response_bytes(limit)));
    assert!(limited(length).await.is_ok());
    assert_eq!(exceeded(limited(length - 1).await), ("bytes", length - 1));
}

#[tokio::test(start_paused = true)]
async fn t_75_responses_have_a_default_size_limit() {
    let endless = Body::of([text(&"x".repeat(1 << 20), None)]).times(usize::MAX);
    let reply = ask(open_ai(endless, config())).await;
    assert_eq!(
        exceeded(reply),
        ("bytes", ProviderConfig::MAX_RESPONSE_BYTES)
    );
}

#[tokio::test(start_paused = true)]
async fn t_75_a_single_event_can_fill_the_whole_size_limit() {
    let long = "x".repeat(9 << 20);
    let body = || Body::of([text(&long, Some("stop"))]);
    let reply = ask(open_ai(body(), config())).await.unwrap();
    assert_eq!(reply.output.map(|text| text.len()), Some(long.len()));
    let reply = ask(open_ai(body(), config().max_response_bytes(9 << 20))).await;
    assert_eq!(exceeded(reply), ("bytes", 9 << 20));
}

#[tokio::test(start_paused = true)]
async fn t_75_max_tool_calls_limits_the_tool_calls_of_a_response() {
    let config = || config().max_tool_calls(3);
    let finish = json!({"choices": [{"finish_reason": "tool_calls"}]});
    let calls = |count| Body::of((0..count).map(|n| piece(n, "{}")).chain([finish.clone()]));
    let reply = ask(open_ai(calls(3), config())).await.unwrap();
    assert_eq!(reply.tool_calls.len(), 3);
    assert_eq!(
        exceeded(ask(open_ai(calls(4), config())).await),
        ("tool calls", 3)
    );

    let end = [
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    let calls = |count| Body::of((0..count).flat_map(|n| block(n, "{}")).chain(end.clone()));
    let reply = ask(claude(calls(3), config())).await.unwrap();
    assert_eq!(reply.tool_calls.len(), 3);
    assert_eq!(
        exceeded(ask(claude(calls(4), config())).await),
        ("tool calls", 3)
    );
}

#[tokio::test(start_paused = true)]
async fn t_75_max_argument_bytes_limits_the_arguments_of_a_tool_call() {
    let config = || config().max_argument_bytes(1000);
    let arguments = "x".repeat(600);
    let body = Body::of([piece(0, &arguments), piece(0, &arguments)]);
    let found = exceeded(ask(open_ai(body, config())).await);
    assert_eq!(found, ("bytes of arguments", 1000));

    let [start, more, _] = block(0, &arguments);
    let body = Body::of([start, more.clone(), more]);
    let found = exceeded(ask(claude(body, config())).await);
    assert_eq!(found, ("bytes of arguments", 1000));
}
