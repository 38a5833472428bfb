//! Conversion of an adapter's events into a caller's, and its errors.

use hooks_runtime::model::{
    AdapterError, AdapterEvent, FinishReason, HookedModel, ModelError, ModelHooksSet, ModelInput,
    ToolSpec, Unlimited, emit_provider_error,
};
use hooks_runtime::{HookRegistry, HookResult, Map, RegisterOptions};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kit::{Log, Recorder, Script, Scripted, call, stop, text};

fn model(log: &Log, script: impl IntoIterator<Item = Scripted>) -> HookedModel<'static> {
    let hooks = ModelHooksSet::new().with_hooks(Recorder(log.clone()));
    HookedModel::with_hooks(Script::new(&Log::new(), script), Unlimited, hooks)
}

fn with_weather() -> ModelInput {
    ModelInput::user("hi").tool(ToolSpec::new("weather", json!({"type": "object"})))
}

#[tokio::test]
async fn t_72_a_tool_call_is_raw_for_hooks_and_json_for_the_caller() {
    let log = Log::new();
    let model = model(&log, [call("weather", "{\"city\": \"Oslo\"}"), stop()]);
    let reply = model.text_turn(with_weather()).collect().await.unwrap();
    assert_eq!(reply.tool_calls[0].input, json!({"city": "Oslo"}));
    assert_eq!(reply.output.as_deref(), Some(""));
    assert!(
        log.lines()[2].contains(r#"arguments: "{\"city\": \"Oslo\"}""#),
        "{log:?}"
    );
}

#[tokio::test]
async fn t_72_hooks_see_invalid_tool_calls_that_become_errors_for_the_caller() {
    for (scripted, expected) in [
        (
            call("launch", "{}"),
            "the model calls `launch`, which is not a tool of the input; the tools are [\"weather\"]",
        ),
        (
            call("weather", "{\"city\": "),
            "the arguments for `weather` are not JSON: EOF while parsing a value at line 1 column 8",
        ),
    ] {
        let log = Log::new();
        let model = model(&log, [scripted, stop()]);
        let error = model.text_turn(with_weather()).collect().await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(log.take()[2].starts_with("hook: ToolCall"));
    }
}

#[tokio::test]
async fn t_72_empty_tool_arguments_become_an_empty_object() {
    let model = model(&Log::new(), [call("weather", ""), stop()]);
    let reply = model.text_turn(with_weather()).collect().await.unwrap();
    assert_eq!(reply.tool_calls[0].input, json!({}));
}

#[tokio::test]
async fn t_72_a_structured_turn_that_calls_tools_has_no_output() {
    let model = model(&Log::new(), [call("weather", "{}"), stop()]);
    let reply = model
        .structured_turn::<u8>(with_weather())
        .collect()
        .await
        .unwrap();
    assert_eq!((reply.output, reply.tool_calls.len()), (None, 1));
}

#[tokio::test]
async fn t_72_a_structured_output_is_parsed_after_its_last_piece() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct City {
        name: String,
    }
    let log = Log::new();
    let script = [text("{\"name\":"), text(" \"Oslo\"}"), stop()];
    let call = model(&log, script).structured_completion::<City>("where?");
    let name = "Oslo".to_owned();
    assert_eq!(call.collect().await.unwrap().output, Some(City { name }));
    assert_eq!(
        log.lines()[1..3],
        ["hook: text {\"name\":", "hook: text  \"Oslo\"}"]
    );
}

#[tokio::test]
async fn t_72_an_invalid_structured_output_is_an_error_with_its_text() {
    let length = Ok(AdapterEvent::Finished(FinishReason::Length));
    let model = model(&Log::new(), [text("{\"name\""), length]);
    let error = model
        .structured_completion::<Value>("where?")
        .collect()
        .await
        .unwrap_err();
    let ModelError::InvalidOutput { text, finish, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((&*text, finish), ("{\"name\"", FinishReason::Length));
}

#[tokio::test]
async fn t_72_a_response_without_its_end_event_is_an_error() {
    let model = model(&Log::new(), [text("42")]);
    let error = model
        .structured_completion::<u8>("?")
        .collect()
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the response to a `structured_completion` was cut off before its end"
    );
    assert!(error.is_provider_error());
}

#[tokio::test]
async fn t_72_a_refusal_of_the_model_is_an_error() {
    let refusal = |text: &str| Ok(AdapterEvent::Refusal(text.to_owned()));
    let log = Log::new();
    let model = model(&log, [refusal("I will "), refusal("not"), stop()]);
    let error = model.text_turn("hi").collect().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model refuses to respond: I will not"
    );
    assert_eq!(log.take()[2], "hook: Refusal(\"I will \")");
}

#[tokio::test]
async fn t_72_reasoning_is_separate_from_the_output() {
    let reasoning = Ok(AdapterEvent::Reasoning("hm".to_owned()));
    let reply = model(&Log::new(), [reasoning, text("42"), stop()]);
    let reply = reply.completion("?").collect().await.unwrap();
    assert_eq!(
        (reply.output.as_deref(), &*reply.reasoning),
        (Some("42"), "hm")
    );
}

#[tokio::test]
async fn e_80_only_provider_errors_are_emitted_as_events() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let seen = log.clone();
    registry.register(
        HookRegistry::ERROR_PROVIDER,
        move |_: std::sync::Arc<str>, data: std::sync::Arc<Map>| {
            seen.add(serde_json::to_string(&*data).unwrap());
            HookResult::proceed()
        },
        RegisterOptions::new(),
    );

    let error = ModelError::from(AdapterError::Status {
        status: 429,
        code: Some("rate_limit".to_owned()),
        message: "slow down".to_owned(),
        retry_after: Some(std::time::Duration::from_secs(2)),
    });
    let more = Map::from_iter([
        ("session_id".to_owned(), json!("s-1")),
        ("status".to_owned(), json!(200)),
    ]);
    let emission = emit_provider_error(&registry, &error, more).await.unwrap();
    assert!(emission.is_some());
    let data: Value = serde_json::from_str(&log.take()[0]).unwrap();
    assert_eq!(
        data,
        json!({
            "session_id": "s-1",
            "status": 429,
            "error_type": "status",
            "error_message": "the provider responded with status 429: slow down",
            "code": "rate_limit",
            "retry_after_ms": 2000,
        })
    );

    let refused = ModelError::Refused {
        text: "no".to_owned(),
    };
    let emission = emit_provider_error(&registry, &refused, Map::new())
        .await
        .unwrap();
    assert!(emission.is_none());
    assert!(log.take().is_empty());
}
