//! Reservations are released or counted, however an operation ends.

use std::panic::AssertUnwindSafe;

use futures::{FutureExt, StreamExt};
use hooks_runtime::RequestExtensions;
use hooks_runtime::model::hooks::{OnModelInput, OnStreamEvent};
use hooks_runtime::model::{
    AdapterError, AdapterEvents, Budget, BudgetError, HookedModel, ModelAdapter, ModelError,
    ModelHooksSet, ModelInputHookContext, ModelRequest, StreamEventHookContext, Usage,
    UsageEstimate,
};

use crate::kit::{Log, RecordedBudget, Recorder, Script, call, drain, stop, text, typed, used};

fn recorded(log: &Log, adapter: Script) -> (HookedModel<'static>, RecordedBudget) {
    let tracker = RecordedBudget::new(log);
    let hooks = ModelHooksSet::new().with_hooks(Recorder(log.clone()));
    (
        HookedModel::with_hooks(adapter, tracker.clone(), hooks),
        tracker,
    )
}

#[tokio::test]
async fn t_70_a_refused_reservation_sends_nothing_and_calls_no_further_hook() {
    let log = Log::new();
    let (model, tracker) = recorded(&log, Script::new(&log, [stop()]));
    let all = Usage::tokens(100, 0);
    tracker
        .budget
        .settle(&UsageEstimate::default(), &all, &RequestExtensions::new());
    let error = model.text_turn("hi").collect().await.unwrap_err();
    assert!(matches!(
        error,
        ModelError::Budget(BudgetError::Exceeded { left: 0, .. })
    ));
    assert!(!error.is_provider_error());
    assert_eq!(
        log.take(),
        ["estimate text_turn for absent", "reserve 10 for absent"]
    );
}

#[tokio::test]
async fn t_70_a_failed_adapter_call_uses_no_budget() {
    let log = Log::new();
    let error = AdapterError::transport("no route to host");
    let (model, tracker) = recorded(&log, Script::failing(&log, error));
    let error = model.completion("hi").collect().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the provider cannot be reached: no route to host"
    );
    assert_eq!(log.take().last().unwrap(), "release");
    assert_eq!(
        (
            tracker.budget.used().tokens,
            tracker.budget.reserved().tokens
        ),
        (0, 0)
    );
}

#[tokio::test]
async fn t_70_a_stream_error_settles_the_budget_before_the_stream_ends() {
    let log = Log::new();
    let script = [
        text("a"),
        Err(AdapterError::protocol("?")),
        text("b"),
        stop(),
    ];
    let (model, tracker) = recorded(&log, Script::new(&log, script));
    let mut events = model.completion("hi").stream();
    assert!(events.next().await.unwrap().is_ok());
    assert_eq!(tracker.budget.reserved().tokens, 10);
    assert!(events.next().await.unwrap().is_err());
    assert_eq!(
        tracker.budget.reserved().tokens,
        0,
        "settled before the caller has the error"
    );
    assert!(StreamExt::next(&mut events).await.is_none());
    assert!(StreamExt::next(&mut events).await.is_none());
    assert_eq!(log.take()[3..], ["hook: text a", "settle 10"]);
}

#[tokio::test]
async fn t_70_a_dropped_stream_runs_no_further_hook_and_settles_the_estimate() {
    let log = Log::new();
    let (model, tracker) = recorded(&log, Script::new(&log, [text("a"), text("b"), stop()]));
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

#[tokio::test]
async fn t_70_a_dropped_stream_settles_the_maximum_of_estimate_and_report() {
    for (report, counted) in [(used(5, 1), 10), (used(5, 40), 45)] {
        let log = Log::new();
        let (model, tracker) = recorded(&log, Script::new(&log, [report, text("a"), stop()]));
        let mut events = model.text_turn("hi").stream();
        events.next().await.unwrap().unwrap();
        drop(events);
        assert_eq!(
            (
                tracker.budget.used().tokens,
                tracker.budget.reserved().tokens
            ),
            (counted, 0)
        );
    }
}

#[tokio::test]
async fn t_70_streams_dropped_before_their_usage_report_exhaust_the_budget() {
    let (log, tracker) = (Log::new(), RecordedBudget::new(&Log::new()));
    let mut refused = 0;
    for _ in 0..50 {
        let script = [text("all of it"), stop(), used(10, 25_000)];
        let hooks = ModelHooksSet::new().with_hooks(Recorder(log.clone()));
        let model = HookedModel::with_hooks(Script::new(&log, script), tracker.clone(), hooks);
        let mut events = model.completion("hi").stream();
        match events.next().await.unwrap() {
            Ok(_) => assert_eq!(
                typed(&events.next().await.unwrap().unwrap()),
                "finished Stop"
            ),
            Err(ModelError::Budget(_)) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((tracker.budget.used().tokens, refused), (100, 40));
}

#[tokio::test]
async fn t_70_a_call_dropped_before_the_adapter_responds_releases_its_reservation() {
    struct Waiting;
    impl ModelAdapter for Waiting {
        async fn stream(&self, _: ModelRequest) -> Result<AdapterEvents<'_>, AdapterError> {
            std::future::pending().await
        }
    }
    let log = Log::new();
    let model = HookedModel::new(Waiting, RecordedBudget::new(&log));
    let mut events = model.completion("hi").stream();
    assert!(events.next().now_or_never().is_none());
    drop(events);
    assert_eq!(log.take(), ["reserve 0 for absent", "release"]);
}

#[tokio::test]
async fn t_70_the_last_usage_report_is_settled_not_the_sum() {
    let log = Log::new();
    let script = [used(5, 1), text("a"), used(5, 9), stop()];
    let (model, tracker) = recorded(&log, Script::new(&log, script));
    drain(model.text_turn("hi").stream(), &Log::new())
        .await
        .unwrap();
    assert_eq!(tracker.budget.used().tokens, 14);
}

#[tokio::test]
async fn t_70_an_invalid_response_still_settles_its_usage() {
    let log = Log::new();
    let (model, tracker) = recorded(&log, Script::new(&log, [used(5, 1), text("no"), stop()]));
    let error = model.structured_completion::<u8>("hi").collect().await;
    assert!(matches!(error, Err(ModelError::InvalidOutput { .. })));
    assert_eq!(tracker.budget.used().tokens, 6);

    let (model, tracker) = recorded(&log, Script::new(&log, [call("nope", "{}"), stop()]));
    assert!(model.text_turn("hi").collect().await.is_err());
    assert_eq!(
        (
            tracker.budget.used().tokens,
            tracker.budget.reserved().tokens
        ),
        (10, 0)
    );
}

#[tokio::test]
async fn t_70_usage_after_an_invalid_tool_call_is_settled_without_calling_hooks() {
    for (name, arguments) in [("nope", "{}"), ("nope", "{")] {
        let log = Log::new();
        let script = [call(name, arguments), text("more"), stop(), used(10, 40)];
        let (model, tracker) = recorded(&log, Script::new(&log, script));
        let error = model.text_turn("hi").collect().await.unwrap_err();
        assert!(matches!(error, ModelError::UnknownTool { .. }));
        assert_eq!(
            (
                tracker.budget.used().tokens,
                tracker.budget.reserved().tokens
            ),
            (50, 0)
        );
        let lines = log.take();
        let seen = lines.iter().filter(|line| line.starts_with("hook: "));
        assert_eq!(seen.count(), 1, "{lines:?}");
        assert_eq!(lines.last().unwrap(), "settle 50");
    }

    // The sum of the reports is less than the estimate, and counts.
    let log = Log::new();
    let script = [call("nope", "{}"), stop(), used(1, 2)];
    let (model, tracker) = recorded(&log, Script::new(&log, script));
    model.text_turn("hi").collect().await.unwrap_err();
    assert_eq!(tracker.budget.used().tokens, 3);
}

/// Calls an unknown tool, and then sends this many pieces of text, or stays pending.
struct EndlessText(Option<usize>);

impl ModelAdapter for EndlessText {
    async fn stream(&self, _: ModelRequest) -> Result<AdapterEvents<'_>, AdapterError> {
        let first = futures::stream::iter([call("nope", "{}")]);
        Ok(match self.0 {
            None => Box::pin(first.chain(futures::stream::pending())),
            Some(pieces) => {
                let pieces = futures::stream::iter(0..pieces).map(|_| text("and"));
                Box::pin(
                    first
                        .chain(pieces)
                        .chain(futures::stream::iter([used(1, 1)])),
                )
            }
        })
    }
}

#[tokio::test]
async fn t_70_reading_for_a_usage_report_after_an_error_is_bounded() {
    for adapter in [EndlessText(None), EndlessText(Some(usize::MAX))] {
        let tracker = RecordedBudget::new(&Log::new());
        let model = HookedModel::new(adapter, tracker.clone());
        let estimate = UsageEstimate::tokens(10);
        let reply = model.text_turn("hi").ext(estimate).collect().await;
        assert!(matches!(reply, Err(ModelError::UnknownTool { .. })));
        assert_eq!(
            (
                tracker.budget.used().tokens,
                tracker.budget.reserved().tokens
            ),
            (10, 0)
        );
    }
}

/// Panics on the input, or on an event.
struct Panicking;

impl OnModelInput for Panicking {
    async fn call(&self, _: &ModelInputHookContext<'_>) {
        panic!("the input hook panics");
    }
}

impl OnStreamEvent for Panicking {
    async fn call(&self, _: &StreamEventHookContext<'_>) {
        panic!("the event hook panics");
    }
}

#[tokio::test]
async fn t_70_a_hook_panic_reaches_the_caller_and_settles_after_the_request() {
    for (hooks, reached) in [
        (ModelHooksSet::new().with_on_model_input(Panicking), false),
        (ModelHooksSet::new().with_on_stream_event(Panicking), true),
    ] {
        let log = Log::new();
        let adapter = Script::new(&log, [text("a"), stop()]);
        let tracker = RecordedBudget::new(&log);
        let model = HookedModel::with_hooks(adapter, tracker.clone(), hooks)
            .with_default_extensions(RequestExtensions::new().ext(UsageEstimate::tokens(10)));
        let call = AssertUnwindSafe(model.text_turn("hi").collect());
        let panic = call.catch_unwind().await.unwrap_err();
        assert!(
            panic
                .downcast_ref::<&str>()
                .unwrap()
                .contains("hook panics")
        );
        let lines = log.take();
        let end = if reached { "settle 10" } else { "release" };
        assert_eq!(lines.last().unwrap(), end);
        assert_eq!(lines.len() == 3, reached, "{lines:?}");
        assert_eq!(tracker.budget.reserved().tokens, 0);
    }
}

#[tokio::test]
async fn t_70_a_truncated_response_settles_the_estimate() {
    let log = Log::new();
    let (model, tracker) = recorded(&log, Script::new(&log, [text("a")]));
    let error = model.text_turn("hi").collect().await.unwrap_err();
    assert!(matches!(error, ModelError::Incomplete { .. }));
    assert_eq!(log.take().last().unwrap(), "settle 10");
    assert_eq!(tracker.budget.used(), UsageEstimate::tokens(10));
}

/// Records the drop of its stream, which has this many pieces of text.
struct Closing(Log, usize);

impl ModelAdapter for Closing {
    async fn stream(&self, _: ModelRequest) -> Result<AdapterEvents<'_>, AdapterError> {
        struct Close<'a>(&'a Log);
        impl Drop for Close<'_> {
            fn drop(&mut self) {
                self.0.add("close");
            }
        }
        let close = Close(&self.0);
        let pieces = futures::stream::iter(0..self.1).map(|n| text(&n.to_string()));
        let events = pieces.chain(futures::stream::iter([stop()]));
        Ok(Box::pin(events.inspect(move |_| {
            let _ = &close;
        })))
    }
}

#[tokio::test]
async fn t_70_the_connection_is_closed_before_the_budget_is_settled() {
    let log = Log::new();
    let model = HookedModel::new(Closing(log.clone(), 9), RecordedBudget::new(&log));
    let mut events = model.completion("count").stream();
    for expected in ["text 0", "text 1"] {
        let event = events.next().await.unwrap().unwrap();
        assert_eq!(typed(&event), expected);
    }
    drop(events);
    assert_eq!(log.take(), ["reserve 0 for absent", "close", "settle 0"]);

    let model = HookedModel::new(Closing(log.clone(), 1), RecordedBudget::new(&log));
    model.completion("count").collect().await.unwrap();
    assert_eq!(log.take(), ["reserve 0 for absent", "close", "settle 0"]);
}
