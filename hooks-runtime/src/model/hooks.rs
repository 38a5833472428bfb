//! The hooks around a model, and what they are given.

use hooks_core::{RequestExtensions, hooks};

use super::adapter::AdapterEvent;
use super::budget::UsageEstimate;
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
    /// What the operation may use, before the budget reserves it: all four kinds.
    ///
    /// Without a hook, the [`UsageEstimate`] among the extensions, else nothing.
    #[hook(singleton)]
    async fn resolve_usage_estimate(cx: &UsageHookContext<'_>) -> UsageEstimate {
        let estimate = cx.extensions().get::<UsageEstimate>();
        estimate.copied().unwrap_or_default()
    }

    /// The input of a text or a structured turn, before the adapter has it.
    #[hook(always)]
    async fn on_model_input(cx: &ModelInputHookContext<'_>) {
        let _ = cx;
    }

    /// An event of the adapter, before it becomes one of the caller's.
    #[hook(always)]
    async fn on_stream_event(cx: &StreamEventHookContext<'_>) {
        let _ = cx;
    }
}

/// What `resolve_usage_estimate` is given.
#[derive(Debug, Clone, Copy)]
pub struct UsageHookContext<'a> {
    request: &'a ModelRequest,
}

impl<'a> UsageHookContext<'a> {
    pub(crate) fn new(request: &'a ModelRequest) -> Self {
        UsageHookContext { request }
    }

    /// The extensions of the request over the defaults of the model.
    pub fn extensions(&self) -> &'a RequestExtensions {
        &self.request.extensions
    }

    /// The kind of the operation.
    pub fn kind(&self) -> OperationKind {
        self.request.kind()
    }

    /// The operation itself, from which an estimate can be made.
    pub fn operation(&self) -> &'a ModelOperation {
        &self.request.operation
    }
}

/// What `on_model_input` is given.
#[derive(Debug, Clone, Copy)]
pub struct ModelInputHookContext<'a> {
    request: &'a ModelRequest,
    input: &'a ModelInput,
}

impl<'a> ModelInputHookContext<'a> {
    /// None for completions, which have no such input.
    pub(crate) fn of(request: &'a ModelRequest) -> Option<Self> {
        let input = request.operation.input()?;
        Some(ModelInputHookContext { request, input })
    }

    /// The extensions of the request over the defaults of the model.
    pub fn extensions(&self) -> &'a RequestExtensions {
        &self.request.extensions
    }

    /// [`TextTurn`](OperationKind::TextTurn) or
    /// [`StructuredTurn`](OperationKind::StructuredTurn).
    pub fn kind(&self) -> OperationKind {
        self.request.kind()
    }

    /// The conversation and the tools.
    pub fn input(&self) -> &'a ModelInput {
        self.input
    }
}

/// What `on_stream_event` is given.
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

    /// The extensions of the request over the defaults of the model.
    pub fn extensions(&self) -> &'a RequestExtensions {
        self.extensions
    }

    /// The kind of the operation.
    pub fn kind(&self) -> OperationKind {
        self.kind
    }

    /// The event, by the kind of the operation.
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

/// An event as the adapter sent it: before a tool is looked up, before arguments or a
/// structured output are read.
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
    /// The event, whatever the kind of the operation.
    pub fn raw(self) -> &'a AdapterEvent {
        match self {
            ModelStreamEvent::TextTurn(event)
            | ModelStreamEvent::StructuredTurn(event)
            | ModelStreamEvent::Completion(event)
            | ModelStreamEvent::StructuredCompletion(event) => event,
        }
    }
}
