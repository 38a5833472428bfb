//! Order of the steps of an operation.

use hooks_runtime::RequestExtensions;
use hooks_runtime::model::hooks::{OnModelInput, OnStreamEvent, ResolveUsageEstimate};
use hooks_runtime::model::{
    HookedModel, ModelHooksSet, ModelInputHookContext, ModelOperation, ModelStreamEvent,
    OperationKind, StreamEventHookContext, Unlimited, UsageBudget, UsageEstimate, UsageHookContext,
};
use serde_json::Value;

use crate::kit::{Log, RecordedBudget, Recorder, Script, Tenant, drain, stop, text, used};

fn model(log: &Log, answer: &'static str) -> HookedModel<'static> {
    let adapter = Script::new(log, [text(answer), used(3, 4), stop()]);
    let hooks = ModelHooksSet::new().with_hooks(Recorder(log.clone()));
    HookedModel::with_hooks(adapter, RecordedBudget::new(log), hooks)
        .with_default_extensions(RequestExtensions::new().ext(Tenant("shared")))
}

#[tokio::test]
async fn t_70_t_71_t_72_a_text_turn_calls_hooks_budget_and_adapter_in_order() {
    let log = Log::new();
    let model = model(&log, "hello");
    let events = model.text_turn("hi").ext(Tenant("eu")).stream();
    assert_eq!(events.kind(), OperationKind::TextTurn);
    assert!(
        log.lines().is_empty(),
        "nothing happens before the stream is polled"
    );
    drain(events, &log).await.unwrap();
    assert_eq!(
        log.take(),
        [
            "estimate text_turn for eu",
            "reserve 10 for eu",
            "input text_turn of 1 for eu",
            "adapter text_turn for eu",
            "hook: text hello",
            "caller: text hello",
            "hook: usage 3+4",
            "caller: usage 3+4",
            "hook: finished Stop",
            "caller: finished Stop",
            "settle 7",
            "caller: output \"hello\"",
        ]
    );
}

#[tokio::test]
async fn t_71_a_structured_turn_calls_the_input_hook() {
    let log = Log::new();
    let model = model(&log, "[1, 2]");
    let reply = model
        .structured_turn::<Vec<u8>>("hi")
        .collect()
        .await
        .unwrap();
    assert_eq!(reply.output, Some(vec![1, 2]));
    assert_eq!(
        log.take(),
        [
            "estimate structured_turn for shared",
            "reserve 10 for shared",
            "input structured_turn of 1 for shared",
            "adapter structured_turn for shared",
            "hook: text [1, 2]",
            "hook: usage 3+4",
            "hook: finished Stop",
            "settle 7",
        ]
    );
}

#[tokio::test]
async fn t_70_t_71_completions_are_estimated_without_calling_the_input_hook() {
    let log = Log::new();
    let reply = model(&log, "hello")
        .completion("hi")
        .collect()
        .await
        .unwrap();
    assert_eq!(reply.output.as_deref(), Some("hello"));
    let completion = log.take();

    let call = model(&log, "7").structured_completion::<u8>("hi");
    assert_eq!(call.collect().await.unwrap().output, Some(7));
    let structured = log.take();

    for (kind, answer, lines) in [
        ("completion", "hello", completion),
        ("structured_completion", "7", structured),
    ] {
        assert_eq!(
            lines,
            [
                format!("estimate {kind} for shared"),
                "reserve 10 for shared".to_owned(),
                format!("adapter {kind} for shared"),
                format!("hook: text {answer}"),
                "hook: usage 3+4".to_owned(),
                "hook: finished Stop".to_owned(),
                "settle 7".to_owned(),
            ]
        );
    }
}

/// Estimates by the length of the input, which only the operation itself contains.
struct ByLength;

impl ResolveUsageEstimate for ByLength {
    async fn call(&self, cx: &UsageHookContext<'_>) -> UsageEstimate {
        let length = match cx.operation() {
            ModelOperation::Completion { prompt } => prompt.len(),
            _ => 0,
        };
        UsageEstimate::tokens(length as u64)
    }
}

#[tokio::test]
async fn t_70_an_estimate_hook_sees_the_operation() {
    let log = Log::new();
    let adapter = Script::new(&log, [text("x"), stop()]);
    let hooks = ModelHooksSet::new().with_resolve_usage_estimate(ByLength);
    let model = HookedModel::with_hooks(adapter, RecordedBudget::new(&log), hooks);
    model.completion("123456").collect().await.unwrap();
    assert_eq!(
        log.take(),
        [
            "reserve 6 for absent",
            "adapter completion for absent",
            "settle 6"
        ],
        "without a report of the provider, the estimate counts as used"
    );
}

#[tokio::test]
async fn t_70_without_an_estimate_hook_the_extensions_provide_the_estimate() {
    let log = Log::new();
    let budget = UsageBudget::new().limit_tokens(50);
    let model = HookedModel::new(Script::new(&log, [text("x"), stop()]), budget.clone())
        .with_default_extensions(RequestExtensions::new().ext(UsageEstimate::tokens(60)));
    let refused = model.completion("hi").collect().await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the budget of 50 tokens has 50 left, and the operation may need 60; raise the limit, or lower the estimate"
    );
    assert!(log.take().is_empty(), "nothing is sent");

    let call = model.completion("hi").ext(UsageEstimate::tokens(40));
    call.collect().await.unwrap();
    assert_eq!(budget.used().tokens, 40);

    let model = HookedModel::new(Script::new(&log, [text("x"), stop()]), budget.clone());
    model.completion("hi").collect().await.unwrap();
    assert_eq!(budget.used().tokens, 40, "without either it is nothing");
}

/// Names the variant, and the kind beside it.
struct Variants(Log);

impl OnStreamEvent for Variants {
    async fn call(&self, cx: &StreamEventHookContext<'_>) {
        let variant = match cx.event() {
            ModelStreamEvent::TextTurn(_) => "TextTurn",
            ModelStreamEvent::StructuredTurn(_) => "StructuredTurn",
            ModelStreamEvent::Completion(_) => "Completion",
            ModelStreamEvent::StructuredCompletion(_) => "StructuredCompletion",
            other => unreachable!("{other:?}"),
        };
        self.0.add(format_args!("{variant} {:?}", cx.kind()));
    }
}

#[tokio::test]
async fn t_72_the_event_variant_matches_the_operation_kind() {
    let log = Log::new();
    let model = || {
        let hooks = ModelHooksSet::new().with_on_stream_event(Variants(log.clone()));
        HookedModel::with_hooks(Script::new(&Log::new(), [stop()]), Unlimited, hooks)
    };
    // The text is empty, which is not valid JSON.
    let _ = model().text_turn("hi").collect().await;
    let _ = model().structured_turn::<Value>("hi").collect().await;
    let _ = model().completion("hi").collect().await;
    let _ = model().structured_completion::<Value>("hi").collect().await;
    assert_eq!(
        log.take(),
        [
            "TextTurn TextTurn",
            "StructuredTurn StructuredTurn",
            "Completion Completion",
            "StructuredCompletion StructuredCompletion",
        ]
    );
}

/// Borrows the test's log.
struct Borrowing<'a>(&'a Log);

impl OnModelInput for Borrowing<'_> {
    async fn call(&self, cx: &ModelInputHookContext<'_>) {
        self.0.add(format_args!("{:?}", cx.input().messages));
    }
}

#[tokio::test]
async fn t_50_t_71_a_model_can_borrow_its_hooks_and_adapter() {
    let (log, adapter) = (Log::new(), Script::new(&Log::new(), [text("x"), stop()]));
    let hooks = ModelHooksSet::new().with_on_model_input(Borrowing(&log));
    let model = HookedModel::with_hooks(&adapter, Unlimited, hooks);
    let events = model.text_turn("hi").stream();
    drop(model);
    drain(events, &Log::new()).await.unwrap();
    assert_eq!(log.take(), ["[User(\"hi\")]"]);
}

#[tokio::test]
async fn t_72_a_stream_of_a_static_model_can_be_spawned() {
    let log = Log::new();
    let model = model(&log, "hello");
    let events = model.text_turn("hi").stream();
    drop(model);
    let task = tokio::spawn(async move { drain(events, &Log::new()).await });
    task.await.unwrap().unwrap();
    assert_eq!(log.lines().len(), 8);
}
