//! The hooks around a model, and their parameters.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hooks_core::__private::drop_catching_panic;
use hooks_core::{RequestExtensions, hooks};

use super::adapter::AdapterEvent;
use super::budget::UsageEstimate;
use super::error::ModelError;
use super::input::{ModelInput, ModelOperation, ModelRequest, OperationKind};

/// The extension points of every operation of a [`HookedModel`](super::HookedModel).
///
/// ```
/// use hooks_runtime::impl_hooks;
/// use hooks_runtime::model::{ModelHooks, ModelHooksSet, ModelInputHookContext};
///
/// struct CountMessages;
///
/// #[impl_hooks(ModelHooksSet)]
/// impl ModelHooks for CountMessages {
///     async fn on_model_input(&self, cx: &ModelInputHookContext<'_>) {
///         println!("{}: {} messages", cx.kind(), cx.input().messages.len());
///     }
/// }
///
/// let hooks = ModelHooksSet::new().with_hooks(CountMessages);
/// ```
#[hooks]
pub trait ModelHooks {
    /// Estimates the usage of an operation of any kind, before the budget reserves it.
    ///
    /// Without a hook, the estimate is the [`UsageEstimate`] among the extensions, else zero.
    #[hook(singleton)]
    async fn resolve_usage_estimate(cx: &UsageHookContext<'_>) -> UsageEstimate {
        let estimate = cx.extensions().get::<UsageEstimate>();
        estimate.copied().unwrap_or_default()
    }

    /// Receives the input of a text or a structured turn, before the adapter.
    #[hook(always)]
    async fn on_model_input(cx: &ModelInputHookContext<'_>) {
        let _ = cx;
    }

    /// Receives an event of the adapter, before its conversion into the caller's event.
    #[hook(always)]
    async fn on_stream_event(cx: &StreamEventHookContext<'_>) {
        let _ = cx;
    }

    /// Receives the end of an operation that was polled: its completion, its error, or that its stream was
    /// dropped before. Called once, after the budget is settled. Synchronous, because nothing polls an
    /// operation that is dropped.
    ///
    /// A panic of a hook propagates, except if the stream is dropped: it is then caught and logged.
    #[hook(always, sync)]
    fn on_operation_end(cx: &OperationEndHookContext<'_>) {
        let _ = cx;
    }
}

/// Parameter of `resolve_usage_estimate`.
#[derive(Debug, Clone, Copy)]
pub struct UsageHookContext<'a> {
    request: &'a ModelRequest,
}

impl<'a> UsageHookContext<'a> {
    pub(crate) fn new(request: &'a ModelRequest) -> Self {
        UsageHookContext { request }
    }

    /// Returns the extensions of the request, which override the defaults of the model.
    pub fn extensions(&self) -> &'a RequestExtensions {
        &self.request.extensions
    }

    /// Returns the kind of the operation.
    pub fn kind(&self) -> OperationKind {
        self.request.kind()
    }

    /// Returns the operation, to derive an estimate from.
    pub fn operation(&self) -> &'a ModelOperation {
        &self.request.operation
    }
}

/// Parameter of `on_model_input`.
#[derive(Debug, Clone, Copy)]
pub struct ModelInputHookContext<'a> {
    request: &'a ModelRequest,
    input: &'a ModelInput,
}

impl<'a> ModelInputHookContext<'a> {
    /// Returns `None` for completions, which have no such input.
    pub(crate) fn of(request: &'a ModelRequest) -> Option<Self> {
        let input = request.operation.input()?;
        Some(ModelInputHookContext { request, input })
    }

    /// Returns the extensions of the request, which override the defaults of the model.
    pub fn extensions(&self) -> &'a RequestExtensions {
        &self.request.extensions
    }

    /// Returns [`TextTurn`](OperationKind::TextTurn) or
    /// [`StructuredTurn`](OperationKind::StructuredTurn).
    pub fn kind(&self) -> OperationKind {
        self.request.kind()
    }

    /// Returns the conversation and the tools.
    pub fn input(&self) -> &'a ModelInput {
        self.input
    }
}

/// Parameter of `on_stream_event`.
#[derive(Debug, Clone, Copy)]
pub struct StreamEventHookContext<'a> {
    extensions: &'a RequestExtensions,
    kind: OperationKind,
    event: &'a AdapterEvent,
}

impl<'a> StreamEventHookContext<'a> {
    pub(crate) fn new(
        extensions: &'a RequestExtensions,
        kind: OperationKind,
        event: &'a AdapterEvent,
    ) -> Self {
        StreamEventHookContext {
            extensions,
            kind,
            event,
        }
    }

    /// Returns the extensions of the request, which override the defaults of the model.
    pub fn extensions(&self) -> &'a RequestExtensions {
        self.extensions
    }

    /// Returns the kind of the operation.
    pub fn kind(&self) -> OperationKind {
        self.kind
    }

    /// Returns the event, by the kind of the operation.
    pub fn event(&self) -> ModelStreamEvent<'a> {
        match self.kind {
            OperationKind::TextTurn => ModelStreamEvent::TextTurn(self.event),
            OperationKind::StructuredTurn => ModelStreamEvent::StructuredTurn(self.event),
            OperationKind::Completion => ModelStreamEvent::Completion(self.event),
            OperationKind::StructuredCompletion => {
                ModelStreamEvent::StructuredCompletion(self.event)
            }
        }
    }
}

/// Parameter of `on_operation_end`.
#[derive(Debug, Clone, Copy)]
pub struct OperationEndHookContext<'a> {
    extensions: &'a RequestExtensions,
    kind: OperationKind,
    outcome: OperationOutcome<'a>,
}

impl<'a> OperationEndHookContext<'a> {
    /// Returns the extensions of the request, which override the defaults of the model.
    pub fn extensions(&self) -> &'a RequestExtensions {
        self.extensions
    }

    /// Returns the kind of the operation.
    pub fn kind(&self) -> OperationKind {
        self.kind
    }

    /// Returns how the operation ended.
    pub fn outcome(&self) -> OperationOutcome<'a> {
        self.outcome
    }
}

/// End of an operation.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum OperationOutcome<'a> {
    /// The response is complete.
    Completed,
    /// The operation ended with this error, which the caller gets.
    Failed(&'a ModelError),
    /// The stream was dropped before its end, or a hook or the adapter panicked.
    Cancelled,
}

/// Reports the end of an operation to the hooks: when it is known, else when this value is dropped.
pub(crate) struct OperationEnd<'a, 'h> {
    hooks: &'a ModelHooksSet<'h>,
    extensions: RequestExtensions,
    kind: OperationKind,
    is_reported: bool,
}

impl<'a, 'h> OperationEnd<'a, 'h> {
    pub(crate) fn new(hooks: &'a ModelHooksSet<'h>, request: &ModelRequest) -> Self {
        OperationEnd {
            hooks,
            extensions: request.extensions.clone(),
            kind: request.kind(),
            is_reported: false,
        }
    }

    /// Calls the hooks, unless they were called before.
    pub(crate) fn report(&mut self, outcome: OperationOutcome<'_>) {
        if mem::replace(&mut self.is_reported, true) {
            return;
        }
        self.hooks.on_operation_end(&OperationEndHookContext {
            extensions: &self.extensions,
            kind: self.kind,
            outcome,
        });
    }
}

impl Drop for OperationEnd<'_, '_> {
    fn drop(&mut self) {
        let report = AssertUnwindSafe(|| self.report(OperationOutcome::Cancelled));
        // A second panic would abort the process.
        if let Err(payload) = catch_unwind(report) {
            drop_catching_panic(payload);
            tracing::error!(
                target: "hooks_runtime",
                "a hook of `on_operation_end` panicked after the operation was cancelled"
            );
        }
    }
}

/// An event as the adapter sent it: before tools are looked up, and arguments or a structured
/// output are parsed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ModelStreamEvent<'a> {
    /// Of a text turn.
    TextTurn(&'a AdapterEvent),
    /// Of a structured turn.
    StructuredTurn(&'a AdapterEvent),
    /// Of a completion.
    Completion(&'a AdapterEvent),
    /// Of a structured completion.
    StructuredCompletion(&'a AdapterEvent),
}

impl<'a> ModelStreamEvent<'a> {
    /// Returns the event, for any kind of operation.
    pub fn raw(self) -> &'a AdapterEvent {
        match self {
            ModelStreamEvent::TextTurn(event)
            | ModelStreamEvent::StructuredTurn(event)
            | ModelStreamEvent::Completion(event)
            | ModelStreamEvent::StructuredCompletion(event) => event,
        }
    }
}
