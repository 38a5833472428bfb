//! A model, and the hooks around it.

use std::fmt;
use std::sync::Arc;

use hooks_core::RequestExtensions;

use super::adapter::{Erased, ModelAdapter};
use super::budget::Budget;
use super::hooks::ModelHooksSet;

/// Sends operations to a model through an adapter, within a budget, with hooks around each.
///
/// Clones share the adapter, the budget and the hooks; hooks that are added later belong to one
/// clone only. An operation uses the hooks at the time of its creation.
///
/// ```
/// use hooks_runtime::impl_hooks;
/// use hooks_runtime::model::{
///     AdapterError, AdapterEvent, AdapterEvents, FinishReason, HookedModel, ModelAdapter,
///     ModelHooks, ModelHooksSet, ModelRequest, StreamEventHookContext, Unlimited,
/// };
///
/// struct Parrot;
///
/// impl ModelAdapter for Parrot {
///     async fn stream(&self, request: ModelRequest) -> Result<AdapterEvents<'_>, AdapterError> {
///         let text = request.operation.prompt().unwrap_or("squawk").to_owned();
///         Ok(Box::pin(futures_util::stream::iter([
///             Ok(AdapterEvent::Text(text)),
///             Ok(AdapterEvent::Finished(FinishReason::Stop)),
///         ])))
///     }
/// }
///
/// struct Print;
///
/// #[impl_hooks(ModelHooksSet)]
/// impl ModelHooks for Print {
///     async fn on_stream_event(&self, cx: &StreamEventHookContext<'_>) {
///         println!("{}: {:?}", cx.kind(), cx.event().raw());
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let hooks = ModelHooksSet::new().with_hooks(Print);
/// let model = HookedModel::with_hooks(Parrot, Unlimited, hooks);
/// let reply = model.completion("hello").collect().await.unwrap();
/// assert_eq!(reply.output.as_deref(), Some("hello"));
/// # });
/// ```
#[derive(Clone)]
pub struct HookedModel<'h> {
    pub(crate) parts: ModelParts<'h>,
    pub(crate) hooks: ModelHooksSet<'h>,
}

impl<'h> HookedModel<'h> {
    /// Creates a model without hooks.
    pub fn new(adapter: impl ModelAdapter + 'h, budget: impl Budget + 'h) -> Self {
        HookedModel::with_hooks(adapter, budget, ModelHooksSet::new())
    }

    /// Creates a model with hooks.
    pub fn with_hooks(
        adapter: impl ModelAdapter + 'h,
        budget: impl Budget + 'h,
        hooks: ModelHooksSet<'h>,
    ) -> Self {
        HookedModel::from_parts_with_hooks(ModelParts::new(adapter, budget), hooks)
    }

    /// Creates a model from parts, which may be shared, with its own hooks.
    pub fn from_parts_with_hooks(parts: ModelParts<'h>, hooks: ModelHooksSet<'h>) -> Self {
        HookedModel { parts, hooks }
    }

    /// Returns its parts, without the hooks.
    pub fn parts(&self) -> &ModelParts<'h> {
        &self.parts
    }

    /// Returns its hooks.
    pub fn hooks(&self) -> &ModelHooksSet<'h> {
        &self.hooks
    }

    /// Adds hooks after those of equal priority; a `resolve_usage_estimate` hook replaces the
    /// existing one.
    pub fn extend_hooks(&mut self, hooks: ModelHooksSet<'h>) -> &mut Self {
        self.hooks.extend(hooks);
        self
    }

    /// Like [`extend_hooks`](Self::extend_hooks), for builder chains.
    #[must_use]
    pub fn with_extended_hooks(mut self, hooks: ModelHooksSet<'h>) -> Self {
        self.extend_hooks(hooks);
        self
    }

    /// Sets the default extensions of every operation; extensions of its request override them by
    /// type.
    #[must_use]
    pub fn with_default_extensions(mut self, defaults: RequestExtensions) -> Self {
        self.parts.defaults = defaults;
        self
    }
}

impl fmt::Debug for HookedModel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookedModel")
            .field("parts", &self.parts)
            .field("hooks", &self.hooks)
            .finish()
    }
}

/// The parts of a [`HookedModel`] without the hooks. Clones share the adapter and the budget.
#[derive(Clone)]
pub struct ModelParts<'h> {
    pub(crate) adapter: Arc<dyn Erased + 'h>,
    pub(crate) budget: Arc<dyn Budget + 'h>,
    pub(crate) defaults: RequestExtensions,
}

impl<'h> ModelParts<'h> {
    /// Creates parts from an adapter and a budget.
    pub fn new(adapter: impl ModelAdapter + 'h, budget: impl Budget + 'h) -> Self {
        ModelParts {
            adapter: Arc::new(adapter),
            budget: Arc::new(budget),
            defaults: RequestExtensions::new(),
        }
    }

    /// Sets the default extensions of every operation; extensions of its request override them by
    /// type.
    #[must_use]
    pub fn with_default_extensions(mut self, defaults: RequestExtensions) -> Self {
        self.defaults = defaults;
        self
    }
}

impl fmt::Debug for ModelParts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelParts")
            .field("defaults", &self.defaults)
            .finish_non_exhaustive()
    }
}
