//! The event of a typed slot.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use hooks_core::{EntryMeta, Failure};
use serde_json::Value;

use super::output::EventOutput;
use crate::Map;
use crate::events::emit::MergeState;
use crate::events::fields::Fields;
use crate::events::handler::HandlerOutput;
use crate::events::{Emission, EmitError, HookRegistry, IntoEventData};

/// An event as the first argument of a slot with an [`EventPipeline`](super::EventPipeline): its
/// name, and its data with the changes of the hooks before. A clone shares the data.
///
/// ```
/// use hooks_runtime::slots::{EventPipeline, SlotEvent};
/// use hooks_runtime::{EmitError, HookResult, hooks, impl_hook};
/// use serde_json::json;
///
/// #[hooks]
/// trait AgentHooks {
///     #[hook(fallback, custom = EventPipeline)]
///     async fn tool_pre(_event: SlotEvent) -> HookResult {
///         HookResult::proceed()
///     }
/// }
///
/// #[impl_hook(ToolPre)]
/// async fn absolute(event: SlotEvent) -> HookResult {
///     let path = event.str("path").unwrap_or_default();
///     HookResult::set("path", format!("/srv/{path}"))
/// }
///
/// #[impl_hook(ToolPre)]
/// async fn only_srv(event: SlotEvent) -> HookResult {
///     match event.str("path") {
///         Some(path) if path.starts_with("/srv/") => HookResult::proceed(),
///         _ => HookResult::deny("the path is outside of `/srv`"),
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let hooks = AgentHooksSet::new().with_tool_pre(Absolute).with_tool_pre(OnlySrv);
/// let event = SlotEvent::new("tool:pre", json!({"path": "a.txt"}))?;
/// let result = hooks.tool_pre(event).await;
/// assert_eq!(result.data.unwrap()["path"], "/srv/a.txt");
/// # Ok::<_, EmitError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct SlotEvent {
    name: Arc<str>,
    content: Content,
}

#[derive(Clone)]
enum Content {
    /// The event as a hook receives it.
    Data(Fields),
    /// The event as the pipeline keeps it between two hooks.
    Merged(Box<MergeState>),
}

impl SlotEvent {
    /// Creates an event. The data are an object: a map, a [`Value`], or `()`.
    ///
    /// # Errors
    /// If the data are not an object.
    pub fn new(name: impl Into<Arc<str>>, data: impl IntoEventData) -> Result<Self, EmitError> {
        let data = data.into_event_data().into_map()?;
        Ok(SlotEvent {
            name: name.into(),
            content: Content::Data(Fields::new(data, None)),
        })
    }

    /// Returns the name of the event.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a field of the data.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.fields().get(field)
    }

    /// Returns a field of the data, if it is text.
    pub fn str(&self, field: &str) -> Option<&str> {
        self.get(field)?.as_str()
    }

    /// Returns all data as one shared map. Copies the map if earlier hooks changed single fields.
    pub fn data(&self) -> Arc<Map> {
        self.fields().to_map()
    }

    /// Emits this event in a registry, as a hook of a typed slot. The output contains the whole
    /// emission: its data, injections, messages and failures, and the question or the denial. The
    /// registry can also be registered itself.
    ///
    /// ```
    /// use hooks_runtime::slots::{EventOutput, EventPipeline, SlotEvent};
    /// use hooks_runtime::{
    ///     Action, EmitError, Event, HookRegistry, HookResult, RegisterOptions, hooks,
    /// };
    ///
    /// #[hooks]
    /// trait AgentHooks {
    ///     #[hook(fallback, custom = EventPipeline)]
    ///     async fn tool_pre(_event: SlotEvent) -> EventOutput {
    ///         HookResult::proceed().into()
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let plugins = HookRegistry::new();
    /// let registry = plugins.clone();
    /// let hooks = AgentHooksSet::new().with_tool_pre(move |event: SlotEvent| {
    ///     let registry = registry.clone();
    ///     async move { event.emit_to(&registry).await }
    /// });
    /// // The same without a closure: `with_tool_pre(plugins.clone())`.
    ///
    /// // A plugin registers at run time, and takes part in the typed dispatch.
    /// let deny = |_: Event<'_>| HookResult::deny("frozen");
    /// plugins.register("tool:pre", deny, RegisterOptions::new());
    /// let output = hooks.tool_pre(SlotEvent::new("tool:pre", ())?).await;
    /// assert_eq!(output.emission()?.action, Action::Deny);
    /// # Ok::<_, EmitError>(())
    /// # }).unwrap();
    /// ```
    pub async fn emit_to(&self, registry: &HookRegistry) -> EventOutput {
        registry.emit(&self.name, self.data()).await.into()
    }

    /// Returns the event for the next hook.
    pub(super) fn lend(&self) -> SlotEvent {
        SlotEvent {
            name: Arc::clone(&self.name),
            content: Content::Data(self.fields().clone()),
        }
    }

    /// Merges the output of the hook of this entry, or ends the emission with its error. Returns
    /// `Break` if the dispatch ends.
    pub(super) fn merge(
        self,
        entry: &EntryMeta,
        output: Result<HandlerOutput, EmitError>,
    ) -> (Self, ControlFlow<()>) {
        let state = match self.content {
            Content::Data(fields) => MergeState::new(fields),
            Content::Merged(state) => *state,
        };
        let (state, flow) = match output {
            Ok(output) => state.merge(&self.name, entry, output),
            Err(error) => {
                let state = state.raise(&self.name, entry, Failure::error(error));
                (state, ControlFlow::Break(()))
            }
        };
        let merged = SlotEvent {
            name: self.name,
            content: Content::Merged(Box::new(state)),
        };
        (merged, flow)
    }

    /// Ends the emission.
    pub(super) fn into_emission(self) -> Result<Emission, EmitError> {
        match self.content {
            Content::Data(fields) => Ok(Emission::of(fields.into_map())),
            Content::Merged(state) => state.emission(),
        }
    }

    fn fields(&self) -> &Fields {
        match &self.content {
            Content::Data(fields) => fields,
            Content::Merged(state) => state.fields(),
        }
    }
}

impl fmt::Debug for SlotEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlotEvent")
            .field("name", &self.name)
            .field("data", &self.data())
            .finish()
    }
}
