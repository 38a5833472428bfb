//! The output of a slot with an `EventPipeline`.

use std::fmt;
use std::sync::Arc;

use hooks_core::Entry;

use crate::HookError;
use crate::error::text;
use crate::events::emit::MergeState;
use crate::events::event::EventContext;
use crate::events::fields::Fields;
use crate::events::handler::{HandlerOutput, HandlerResult};
use crate::events::{Emission, EmitError, HookResult};

/// Output of a slot with an [`EventPipeline`](super::EventPipeline) that keeps every part of an
/// emission. A hook returns a [`HookResult`], a `Result<HookResult, HookError>`, an [`Emission`] or
/// a `Result<Emission, EmitError>`, by `.into()`; a dispatch returns the emission of all hooks.
///
/// A function that returns an `EventOutput` can also be registered in a
/// [`HookRegistry`](crate::HookRegistry): a typed set is then a handler of an event.
///
/// ```
/// use std::sync::Arc;
///
/// use hooks_runtime::slots::{EventOutput, EventPipeline, SlotEvent};
/// use hooks_runtime::{EmitError, HookRegistry, HookResult, Map, RegisterOptions, hooks};
///
/// #[hooks]
/// trait AgentHooks {
///     #[hook(fallback, custom = EventPipeline)]
///     async fn tool_pre(_event: SlotEvent) -> EventOutput {
///         HookResult::set("checked", true).into()
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let hooks = Arc::new(AgentHooksSet::new());
/// let registry = HookRegistry::new();
/// registry.register(
///     "tool:pre",
///     move |event: Arc<str>, data: Arc<Map>| {
///         let hooks = Arc::clone(&hooks);
///         async move { hooks.tool_pre(SlotEvent::new(event, data)?).await.emission() }
///     },
///     RegisterOptions::new().name("agent_hooks"),
/// );
/// let emission = registry.emit("tool:pre", ()).await?;
/// assert_eq!(emission.data["checked"], true);
/// assert_eq!(emission.decided_by.as_deref(), Some("agent_hooks"));
/// # Ok::<_, EmitError>(())
/// # }).unwrap();
/// ```
#[must_use = "it may be a denial, or a question for the user"]
pub struct EventOutput(Body);

enum Body {
    Hook(HandlerOutput),
    Emission(Result<Emission, EmitError>),
}

impl EventOutput {
    /// Returns the emission of a dispatch. The emission of the output of one hook, before a
    /// dispatch has merged it, has no data of an event.
    ///
    /// # Errors
    /// If a hook ended the dispatch by an [`EmitError`], or failed and was registered with
    /// [`FailurePolicy::Propagate`](crate::FailurePolicy::Propagate).
    pub fn emission(self) -> Result<Emission, EmitError> {
        match self.0 {
            Body::Emission(emission) => emission,
            Body::Hook(output) => {
                let name = Arc::from("");
                let entry = Entry::new(()).name("hook");
                let state = MergeState::new(Fields::new(Arc::default(), None));
                let (state, _) = state.merge(&name, entry.meta(), output);
                state.emission()
            }
        }
    }
}

/// Output of a slot with an [`EventPipeline`](super::EventPipeline).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the output of a slot with `EventPipeline`; return a `HookResult`, a `Result<HookResult, HookError>` or an `EventOutput`",
    label = "invalid output"
)]
pub trait PipelineOutput {
    /// Returns the output of a hook, or the error that ends the dispatch.
    #[doc(hidden)]
    fn into_handler_output(self) -> Result<HandlerOutput, EmitError>;

    /// Returns the result of a dispatch.
    #[doc(hidden)]
    fn of_emission(emission: Result<Emission, EmitError>) -> Self;
}

/// The result of a dispatch is the [summary](Emission::result) of its emission, or a denial if the
/// emission has an error.
impl PipelineOutput for HookResult {
    fn into_handler_output(self) -> Result<HandlerOutput, EmitError> {
        Ok(self.apply(None))
    }

    fn of_emission(emission: Result<Emission, EmitError>) -> Self {
        match emission {
            Ok(emission) => emission.result(),
            Err(error) => HookResult::deny(text(&error)),
        }
    }
}

/// The result of a dispatch is the [summary](Emission::result) of its emission, or its error.
impl PipelineOutput for Result<HookResult, HookError> {
    fn into_handler_output(self) -> Result<HandlerOutput, EmitError> {
        Ok(self.apply(None))
    }

    fn of_emission(emission: Result<Emission, EmitError>) -> Self {
        Ok(emission?.result())
    }
}

impl PipelineOutput for EventOutput {
    fn into_handler_output(self) -> Result<HandlerOutput, EmitError> {
        match self.0 {
            Body::Hook(output) => Ok(output),
            Body::Emission(emission) => Ok(emission?.apply(None)),
        }
    }

    fn of_emission(emission: Result<Emission, EmitError>) -> Self {
        emission.into()
    }
}

/// As the output of an event hook.
impl HandlerResult for EventOutput {
    fn apply(self, context: Option<EventContext<'_>>) -> HandlerOutput {
        match self.0 {
            Body::Hook(output) => output,
            Body::Emission(emission) => emission.apply(context),
        }
    }
}

impl From<HookResult> for EventOutput {
    fn from(result: HookResult) -> Self {
        EventOutput(Body::Hook(result.apply(None)))
    }
}

/// An error is logged and is among the failures of the emission; the dispatch continues.
impl From<Result<HookResult, HookError>> for EventOutput {
    fn from(output: Result<HookResult, HookError>) -> Self {
        EventOutput(Body::Hook(output.apply(None)))
    }
}

impl From<Emission> for EventOutput {
    fn from(emission: Emission) -> Self {
        EventOutput(Body::Emission(Ok(emission)))
    }
}

/// An error ends the dispatch, and is the error of its emission.
impl From<Result<Emission, EmitError>> for EventOutput {
    fn from(emission: Result<Emission, EmitError>) -> Self {
        EventOutput(Body::Emission(emission))
    }
}

impl fmt::Debug for EventOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Body::Hook(output) => output.fmt(f),
            Body::Emission(emission) => emission.fmt(f),
        }
    }
}
