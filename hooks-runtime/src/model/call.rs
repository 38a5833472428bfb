//! One operation of a model.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_timer::Delay;
use futures_util::future::{Either, select};
use futures_util::{Stream, StreamExt};
use hooks_core::{HookObject, RequestExtensions};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::adapter::{AdapterEvent, AdapterEvents};
use super::budget::Reservation;
use super::coroutine::{Coroutine, Yielder};
use super::error::ModelError;
use super::event::{Mapper, ModelEvent, ModelReply};
use super::hooks::{
    ModelInputHookContext, OperationEnd, OperationOutcome, StreamEventHookContext, UsageHookContext,
};
use super::input::{ModelInput, ModelOperation, ModelRequest, OperationKind, OutputSchema};
use super::output::{Json, ModelOutput, Text};
use super::owner::HookedModel;

/// An operation that has not been sent; call [`stream`](ModelCall::stream) or
/// [`collect`](ModelCall::collect).
#[must_use = "an operation is sent by `stream` or `collect`"]
pub struct ModelCall<'h, O> {
    model: HookedModel<'h>,
    request: ModelRequest,
    output: PhantomData<fn() -> O>,
}

/// Constructors of the four kinds of operation.
impl<'h> HookedModel<'h> {
    /// Continues a conversation, with text.
    pub fn text_turn(&self, input: impl Into<ModelInput>) -> ModelCall<'h, Text> {
        let input = input.into();
        ModelCall::new(self, ModelOperation::TextTurn { input })
    }

    /// Continues a conversation, with a value of a type.
    pub fn structured_turn<T: DeserializeOwned>(
        &self,
        input: impl Into<ModelInput>,
    ) -> ModelCall<'h, Json<T>> {
        let (input, schema) = (input.into(), None);
        ModelCall::new(self, ModelOperation::StructuredTurn { input, schema })
    }

    /// Responds to a prompt with text.
    pub fn completion(&self, prompt: impl Into<String>) -> ModelCall<'h, Text> {
        let prompt = prompt.into();
        ModelCall::new(self, ModelOperation::Completion { prompt })
    }

    /// Responds to a prompt with a value of a type.
    pub fn structured_completion<T: DeserializeOwned>(
        &self,
        prompt: impl Into<String>,
    ) -> ModelCall<'h, Json<T>> {
        let (prompt, schema) = (prompt.into(), None);
        ModelCall::new(
            self,
            ModelOperation::StructuredCompletion { prompt, schema },
        )
    }
}

impl<'h, O> ModelCall<'h, O> {
    pub(crate) fn new(model: &HookedModel<'h>, operation: ModelOperation) -> Self {
        ModelCall {
            model: model.clone(),
            request: ModelRequest::new(operation, RequestExtensions::new()),
            output: PhantomData,
        }
    }

    /// Attaches a value, which hooks and adapters look up by its type. It overrides the model's
    /// default of that type.
    pub fn ext<V: Any + HookObject>(mut self, value: V) -> Self {
        self.request.extensions.insert(value);
        self
    }

    /// Attaches all values of a map.
    pub fn extensions(mut self, extensions: RequestExtensions) -> Self {
        self.request.extensions.extend(extensions);
        self
    }

    /// Returns the kind of the operation.
    pub fn kind(&self) -> OperationKind {
        self.request.kind()
    }
}

impl<T> ModelCall<'_, Json<T>> {
    /// Sets the schema of the JSON, for adapters whose provider can enforce one. The name is for
    /// providers that require one.
    pub fn schema(mut self, name: impl Into<String>, schema: Value) -> Self {
        if let Some(place) = self.request.operation.schema_mut() {
            *place = Some(OutputSchema::new(name, schema));
        }
        self
    }
}

impl<'h, O: ModelOutput + 'h> ModelCall<'h, O>
where
    O::Value: Send + 'h,
{
    /// Returns the events of the response as a stream. Nothing is sent before the stream is polled,
    /// and dropping it cancels the operation.
    pub fn stream(self) -> ModelStream<'h, O::Value> {
        let ModelCall { model, request, .. } = self;
        ModelStream {
            kind: request.kind(),
            events: Coroutine::new(|tx| run::<O>(model, request, tx)),
        }
    }

    /// Returns the whole response.
    ///
    /// # Errors
    /// The first error of the stream.
    ///
    /// # Panics
    /// If a hook panics.
    pub async fn collect(self) -> Result<ModelReply<O::Value>, ModelError> {
        let mut events = self.stream();
        let mut reply = ModelReply::default();
        while let Some(event) = events.next().await {
            reply.add(event?);
        }
        Ok(reply)
    }
}

impl<O> fmt::Debug for ModelCall<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelCall")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

/// The events of a response. The stream ends after the first error.
///
/// # Panics
/// Polling it panics if a hook does; it must not be polled again then.
#[must_use = "nothing is sent before the stream is polled"]
pub struct ModelStream<'h, T> {
    kind: OperationKind,
    events: Coroutine<'h, Result<ModelEvent<T>, ModelError>>,
}

impl<T> ModelStream<'_, T> {
    /// Returns the kind of the operation.
    pub fn kind(&self) -> OperationKind {
        self.kind
    }

    /// Returns the next event, without a stream trait in scope. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<ModelEvent<T>, ModelError>> {
        self.events.next().await
    }
}

impl<T> Stream for ModelStream<'_, T> {
    type Item = Result<ModelEvent<T>, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.events).poll_next(cx)
    }
}

impl<T> fmt::Debug for ModelStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelStream")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

type Events<T> = Yielder<Result<ModelEvent<T>, ModelError>>;

async fn run<O: ModelOutput>(
    model: HookedModel<'_>,
    mut request: ModelRequest,
    tx: Events<O::Value>,
) {
    request.extensions = request.extensions.with_defaults(&model.parts.defaults);
    let mut end = OperationEnd::new(&model.hooks, &request);
    if let Err(error) = send::<O>(&model, request, &tx, &mut end).await {
        end.report(OperationOutcome::Failed(&error));
        tx.send(Err(error)).await;
    }
}

/// Runs an operation in the order that the module's page describes.
async fn send<O: ModelOutput>(
    model: &HookedModel<'_>,
    request: ModelRequest,
    tx: &Events<O::Value>,
    end: &mut OperationEnd<'_, '_>,
) -> Result<(), ModelError> {
    let HookedModel { parts, hooks } = model;
    let kind = request.kind();
    let extensions = request.extensions.clone();

    let cx = UsageHookContext::new(&request);
    let estimate = hooks.resolve_usage_estimate(&cx).await;
    let mut reservation = Reservation::new(&*parts.budget, estimate, &extensions)?;
    if let Some(cx) = ModelInputHookContext::of(&request) {
        hooks.on_model_input(&cx).await;
    }

    let mut mapper = Mapper::new(&request.operation);
    let mut events = parts.adapter.start(request).await?;
    reservation.response_started();
    while let Some(event) = events.next().await {
        let event = event?;
        if let AdapterEvent::Usage(used) = &event {
            reservation.note(*used);
        }
        let cx = StreamEventHookContext::new(&extensions, kind, &event);
        hooks.on_stream_event(&cx).await;
        match mapper.map(event) {
            Ok(event) => tx.send(Ok(event)).await,
            Err(error) => {
                let is_whole = read_on(&mut events, &mut reservation).await;
                drop(events);
                if is_whole {
                    reservation.settle();
                }
                return Err(error);
            }
        }
    }
    drop(events);

    if mapper.is_complete() {
        reservation.settle();
    } else {
        drop(reservation);
    }
    let output = mapper.finish::<O>()?;
    // Before the output, after which the caller may drop the stream.
    end.report(OperationOutcome::Completed);
    if let Some(output) = output {
        tx.send(Ok(ModelEvent::Output(output))).await;
    }
    Ok(())
}

/// Maximum number of events that are read for the usage of a response that has failed.
const READ_ON_EVENTS: usize = 1024;

/// Timeout of this.
const READ_ON_TIME: Duration = Duration::from_secs(1);

/// Reads the rest of a response for its usage, and returns `true` if it completed. No hook sees it,
/// and the caller waits for it, so it is bounded.
async fn read_on(events: &mut AdapterEvents<'_>, reservation: &mut Reservation<'_>) -> bool {
    let rest = pin!(async {
        let mut is_finished = false;
        for _ in 0..READ_ON_EVENTS {
            match events.next().await {
                Some(Ok(AdapterEvent::Usage(used))) => reservation.note(used),
                Some(Ok(AdapterEvent::Finished(_))) => is_finished = true,
                Some(Ok(_)) => {}
                Some(Err(_)) => return false,
                None => return is_finished,
            }
        }
        false
    });
    // Not the runtime's timer: a model works without one.
    match select(rest, Delay::new(READ_ON_TIME)).await {
        Either::Left((is_whole, _)) => is_whole,
        Either::Right(_) => false,
    }
}
