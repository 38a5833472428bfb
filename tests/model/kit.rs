//! Shared helpers: an adapter with a script, and hooks and a budget that record their calls.

use std::sync::Mutex;

use futures::stream;
use hooks_runtime::model::{
    AdapterError, AdapterEvent, AdapterEvents, Budget, BudgetError, FinishReason, ModelAdapter,
    ModelError, ModelEvent, ModelHooks, ModelHooksSet, ModelInputHookContext, ModelRequest,
    ModelStream, RawToolCall, StreamEventHookContext, Usage, UsageBudget, UsageEstimate,
    UsageHookContext,
};
use hooks_runtime::{RequestExtensions, impl_hooks};
pub(crate) use hooks_tests::Log;

/// An extension of the tests.
#[derive(Debug)]
pub(crate) struct Tenant(pub(crate) &'static str);

pub(crate) fn tenant(extensions: &RequestExtensions) -> &'static str {
    extensions
        .get::<Tenant>()
        .map_or("absent", |tenant| tenant.0)
}

/// Records the parameters of every hook.
pub(crate) struct Recorder(pub(crate) Log);

#[impl_hooks(ModelHooksSet)]
impl ModelHooks for Recorder {
    async fn resolve_usage_estimate(&self, cx: &UsageHookContext<'_>) -> UsageEstimate {
        let tenant = tenant(cx.extensions());
        self.0
            .add(format_args!("estimate {} for {tenant}", cx.kind()));
        UsageEstimate::tokens(10)
    }

    async fn on_model_input(&self, cx: &ModelInputHookContext<'_>) {
        let (tenant, messages) = (tenant(cx.extensions()), cx.input().messages.len());
        self.0.add(format_args!(
            "input {} of {messages} for {tenant}",
            cx.kind()
        ));
    }

    async fn on_stream_event(&self, cx: &StreamEventHookContext<'_>) {
        // Suspends, so that an order that is only accidental fails.
        hooks_tests::yield_once().await;
        self.0.add(format_args!("hook: {}", raw(cx.event().raw())));
    }
}

/// Returns an adapter's event in a few words.
pub(crate) fn raw(event: &AdapterEvent) -> String {
    match event {
        AdapterEvent::Started { model, .. } => {
            format!("started {}", model.as_deref().unwrap_or("-"))
        }
        AdapterEvent::Text(text) => format!("text {text}"),
        AdapterEvent::Usage(used) => format!("usage {}+{}", used.input_tokens, used.output_tokens),
        AdapterEvent::Finished(reason) => format!("finished {reason:?}"),
        other => format!("{other:?}"),
    }
}

/// Returns a caller's event in these words.
pub(crate) fn typed<T: std::fmt::Debug>(event: &ModelEvent<T>) -> String {
    match event {
        ModelEvent::Started { model, .. } => format!("started {}", model.as_deref().unwrap_or("-")),
        ModelEvent::Text(text) => format!("text {text}"),
        ModelEvent::Usage(used) => format!("usage {}+{}", used.input_tokens, used.output_tokens),
        ModelEvent::Finished(reason) => format!("finished {reason:?}"),
        ModelEvent::Output(output) => format!("output {output:?}"),
        other => format!("{other:?}"),
    }
}

/// Reads all events, and records each one.
pub(crate) async fn drain<T: std::fmt::Debug>(
    mut events: ModelStream<'_, T>,
    log: &Log,
) -> Result<(), ModelError> {
    while let Some(event) = events.next().await {
        log.add(format_args!("caller: {}", typed(&event?)));
    }
    Ok(())
}

/// A budget that records its calls.
#[derive(Clone)]
pub(crate) struct RecordedBudget {
    pub(crate) log: Log,
    pub(crate) budget: UsageBudget,
}

impl RecordedBudget {
    pub(crate) fn new(log: &Log) -> Self {
        RecordedBudget {
            log: log.clone(),
            budget: UsageBudget::new().limit_tokens(100),
        }
    }
}

impl Budget for RecordedBudget {
    fn reserve(
        &self,
        estimate: &UsageEstimate,
        extensions: &RequestExtensions,
    ) -> Result<(), BudgetError> {
        let tenant = tenant(extensions);
        self.log
            .add(format_args!("reserve {} for {tenant}", estimate.tokens));
        self.budget.reserve(estimate, extensions)
    }

    fn settle(&self, estimate: &UsageEstimate, used: &Usage, extensions: &RequestExtensions) {
        self.log.add(format_args!("settle {}", used.total_tokens()));
        self.budget.settle(estimate, used, extensions);
    }

    fn release(&self, estimate: &UsageEstimate, extensions: &RequestExtensions) {
        self.log.add("release");
        self.budget.release(estimate, extensions);
    }
}

/// An event or an error of a script.
pub(crate) type Scripted = Result<AdapterEvent, AdapterError>;

/// Plays a script, once.
pub(crate) struct Script {
    log: Log,
    events: Mutex<Option<Result<Vec<Scripted>, AdapterError>>>,
}

impl Script {
    pub(crate) fn new(log: &Log, events: impl IntoIterator<Item = Scripted>) -> Self {
        let events = Ok(events.into_iter().collect());
        Script {
            log: log.clone(),
            events: Mutex::new(Some(events)),
        }
    }

    /// Returns a script without a stream.
    pub(crate) fn failing(log: &Log, error: AdapterError) -> Self {
        Script {
            log: log.clone(),
            events: Mutex::new(Some(Err(error))),
        }
    }
}

impl ModelAdapter for Script {
    async fn stream(&self, request: ModelRequest) -> Result<AdapterEvents<'_>, AdapterError> {
        let tenant = tenant(&request.extensions);
        self.log
            .add(format_args!("adapter {} for {tenant}", request.kind()));
        let events = self.events.lock().unwrap().take();
        let events = events.expect("a script is played once")?;
        Ok(Box::pin(stream::iter(events)))
    }
}

pub(crate) fn text(text: &str) -> Scripted {
    Ok(AdapterEvent::Text(text.to_owned()))
}

pub(crate) fn used(input: u64, output: u64) -> Scripted {
    Ok(AdapterEvent::Usage(Usage::tokens(input, output)))
}

pub(crate) fn call(name: &str, arguments: &str) -> Scripted {
    Ok(AdapterEvent::ToolCall(RawToolCall::new(
        "call-1", name, arguments,
    )))
}

pub(crate) fn stop() -> Scripted {
    Ok(AdapterEvent::Finished(FinishReason::Stop))
}
