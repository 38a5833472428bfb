//! A model, and the hooks around it.

use std::fmt;
use std::sync::Arc;

use hooks_core::RequestExtensions;

use super::adapter::{Erased, ModelAdapter};
use super::budget::Budget;
use super::hooks::ModelHooksSet;

/// Sends operations to a model through an adapter, within a budget, with hooks around each.
///
/// A clone shares the adapter, the budget and the hooks; hooks that are added later belong to
/// one of them only. An operation has the hooks that there were when it was made.
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
    /// A model without hooks.
    pub fn new(adapter: impl ModelAdapter + 'h, budget: impl Budget + 'h) -> Self {
        HookedModel::with_hooks(adapter, budget, ModelHooksSet::new())
    }

    /// A model with hooks.
    pub fn with_hooks(
        adapter: impl ModelAdapter + 'h,
        budget: impl Budget + 'h,
        hooks: ModelHooksSet<'h>,
    ) -> Self {
        HookedModel::from_parts_with_hooks(ModelParts::new(adapter, budget), hooks)
    }

    /// A model of parts that others may share, with hooks of its own.
    pub fn from_parts_with_hooks(parts: ModelParts<'h>, hooks: ModelHooksSet<'h>) -> Self {
        HookedModel { parts, hooks }
    }

    /// What it is made of, but for its hooks.
    pub fn parts(&self) -> &ModelParts<'h> {
        &self.parts
    }

    /// Its hooks.
    pub fn hooks(&self) -> &ModelHooksSet<'h> {
        &self.hooks
    }

    /// Adds hooks behind those of equal priority; a `resolve_usage_estimate` replaces the one there is.
    pub fn extend_hooks(&mut self, hooks: ModelHooksSet<'h>) -> &mut Self {
        self.hooks.extend(hooks);
        self
    }

    /// Adds hooks, for builder chains.
    #[must_use]
    pub fn with_extended_hooks(mut self, hooks: ModelHooksSet<'h>) -> Self {
        self.extend_hooks(hooks);
        self
    }

    /// Sets the extensions that every operation has, where its request has none of the type.
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

/// What a [`HookedModel`] is made of, but for its hooks. A clone shares the adapter
/// and the budget.
#[derive(Clone)]
pub struct ModelParts<'h> {
    pub(crate) adapter: Arc<dyn Erased + 'h>,
    pub(crate) budget: Arc<dyn Budget + 'h>,
    pub(crate) defaults: RequestExtensions,
}

impl<'h> ModelParts<'h> {
    /// An adapter and a budget.
    pub fn new(adapter: impl ModelAdapter + 'h, budget: impl Budget + 'h) -> Self {
        ModelParts {
            adapter: Arc::new(adapter),
            budget: Arc::new(budget),
            defaults: RequestExtensions::new(),
        }
    }

    /// Sets the extensions that every operation has, where its request has none of the type.
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
