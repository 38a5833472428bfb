//! The end of an operation, as the slot `on_operation_end` receives it (T-67).

use futures::stream;
use hooks_runtime::impl_hooks;
use hooks_runtime::model::{
    AdapterError, AdapterEvent, AdapterEvents, HookedModel, ModelAdapter, ModelEvent, ModelHooks,
    ModelHooksSet, ModelRequest, OperationEndHookContext, OperationOutcome, StreamEventHookContext,
    UsageBudget, UsageEstimate,
};

use crate::kit::{Log, RecordedBudget, Scripted, Tenant, stop, tenant, text, used};

/// Records the end of operations; panics at an event with the text `panic`, or at a cancellation.
struct Ends(Log, bool);

#[impl_hooks(ModelHooksSet)]
impl ModelHooks for Ends {
    async fn on_stream_event(&self, cx: &StreamEventHookContext<'_>) {
        assert_ne!(*cx.event().raw(), AdapterEvent::Text("panic".into()));
    }

    fn on_operation_end(&self, cx: &OperationEndHookContext<'_>) {
        let outcome = match cx.outcome() {
            OperationOutcome::Completed => "completed".to_owned(),
            OperationOutcome::Failed(error) => format!("failed: {error}"),
            _ => "cancelled".to_owned(),
        };
        let (kind, tenant) = (cx.kind(), tenant(cx.extensions()));
        self.0.add(format!("{kind} for {tenant} {outcome}"));
        assert!(!self.1, "the end");
    }
}

/// Returns a model with these events; its hook may panic at the end.
fn model(log: &Log, events: fn() -> Vec<Scripted>, panics: bool) -> HookedModel<'static> {
    let hooks = ModelHooksSet::new().with_hooks(Ends(log.clone(), panics));
    HookedModel::with_hooks(Fixed(events), RecordedBudget::new(log), hooks)
}

/// An adapter with fixed events.
struct Fixed(fn() -> Vec<Scripted>);

impl ModelAdapter for Fixed {
    async fn stream(&self, _: ModelRequest) -> Result<AdapterEvents<'_>, AdapterError> {
        Ok(Box::pin(stream::iter((self.0)())))
    }
}

fn seven() -> Vec<Scripted> {
    vec![text("7"), used(3, 4), stop()]
}

fn words() -> Vec<Scripted> {
    vec![text("no number"), stop()]
}

fn panicking() -> Vec<Scripted> {
    vec![text("panic")]
}

fn last(log: &Log) -> String {
    log.take().pop().unwrap()
}

#[tokio::test]
async fn t_67_a_complete_operation_ends_once_after_the_budget_is_settled() {
    let log = Log::new();
    let model = model(&log, seven, false);
    let reply = model.text_turn("hi").ext(Tenant("eu")).collect().await;
    assert_eq!(reply.unwrap().output.as_deref(), Some("7"));
    let lines = log.take();
    assert_eq!(
        lines[lines.len() - 2..],
        ["settle 7", "text_turn for eu completed"]
    );

    model
        .structured_completion::<u8>("hi")
        .collect()
        .await
        .unwrap();
    assert_eq!(last(&log), "structured_completion for absent completed");

    // The caller may leave when it has the output.
    let mut events = model.completion("hi").stream();
    while !matches!(events.next().await, Some(Ok(ModelEvent::Output(_)))) {}
    drop(events);
    assert_eq!(last(&log), "completion for absent completed");
}

#[tokio::test]
async fn t_67_an_operation_that_fails_ends_with_its_error() {
    let log = Log::new();
    // The stream fails, an output does not parse, the budget refuses.
    let broken = || vec![text("a"), Err(AdapterError::other("broken"))];
    let error = model(&log, broken, false).completion("hi").collect().await;
    let expected = format!("completion for absent failed: {}", error.unwrap_err());
    assert_eq!(last(&log), expected);
    let call = model(&log, words, false).structured_completion::<u8>("hi");
    let error = call.collect().await.unwrap_err();
    let expected = format!("structured_completion for absent failed: {error}");
    assert_eq!(last(&log), expected);

    let hooks = ModelHooksSet::new().with_hooks(Ends(log.clone(), false));
    let budget = UsageBudget::new().limit_tokens(5);
    let model = HookedModel::with_hooks(Fixed(Vec::new), budget, hooks);
    let call = model.completion("hi").ext(UsageEstimate::tokens(6));
    let error = call.collect().await.unwrap_err();
    assert_eq!(
        log.take(),
        [format!("completion for absent failed: {error}")]
    );
}

#[tokio::test]
async fn t_67_a_dropped_stream_is_a_cancelled_operation() {
    let log = Log::new();
    let model = model(&log, words, false);
    drop(model.completion("hi").stream());
    assert!(log.take().is_empty(), "an operation that was not polled");

    let mut stream = model.completion("hi").stream();
    stream.next().await.unwrap().unwrap();
    drop(log.take());
    drop(stream);
    let lines = log.take();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("settle"), "{lines:?}");
    assert_eq!(lines[1], "completion for absent cancelled");

    // After an error, the stream has ended.
    let mut stream = model.structured_completion::<u8>("hi").stream();
    while let Some(event) = stream.next().await {
        if event.is_err() {
            break;
        }
    }
    drop(stream);
    let lines = log.take().into_iter();
    let ends: Vec<_> = lines
        .filter(|line| line.starts_with("structured"))
        .collect();
    assert_eq!(ends.len(), 1, "{ends:?}");
}

#[tokio::test]
async fn t_67_panics_end_an_operation_and_do_not_abort() {
    let log = Log::new();
    let collects = |events, panics| {
        let model = model(&log, events, panics);
        tokio::spawn(async move { drop(model.completion("hi").collect().await) })
    };
    assert!(collects(panicking, false).await.unwrap_err().is_panic());
    assert_eq!(last(&log), "completion for absent cancelled");

    // A hook that panics at the end: caught in a drop, also during a panic; else it propagates.
    let mut stream = model(&log, words, true).completion("hi").stream();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    assert!(collects(panicking, true).await.unwrap_err().is_panic());
    assert!(collects(words, true).await.unwrap_err().is_panic());
    let ends = log.take().into_iter().filter(|line| line.ends_with("ed"));
    let ends: Vec<_> = ends.filter(|line| line.starts_with("completion")).collect();
    assert_eq!(
        ends,
        [
            "completion for absent cancelled",
            "completion for absent cancelled",
            "completion for absent completed"
        ]
    );
}
