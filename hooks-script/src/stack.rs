//! Ordered hooks with a shared budget. Before an action each hook receives the message of the
//! previous one; after the action hooks only observe.

mod budget;
mod context;
mod inner;
mod member;
mod order;
mod outcome;
mod policy;
mod records;

use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hooks_runtime::{HostTimer, Map, Timer};

use crate::consent::ConsentStore;
use crate::decision::Rejection;
use crate::fields::ContextData;
use crate::history::RunHistory;
use crate::hook::ScriptHook;
use crate::run::Stage;

use self::budget::StackBudget;
pub use self::context::RunContext;
use self::inner::StackInner;
pub use self::member::HookState;
use self::member::StackMember;
use self::order::HookOrder;
pub use self::order::UnknownHook;
pub use self::outcome::{PostOutcome, PreOutcome, StackRun};
use self::policy::{StackPolicy, StackResult};
pub(crate) use self::records::RunRecords;

const FUEL: u64 = 1_000_000_000;
const WALL: Duration = Duration::from_secs(5);

/// An ordered list of hooks that run before and after the actions of a server. Clones share the
/// stack. A run uses the hooks and the order at its start.
///
/// Every hook gets an equal share of the remaining fuel and time of the stack, up to the limits of
/// the engine. So a hook cannot use up the share of later hooks.
///
/// ```
/// use hooks_script::{ContextData, Manifest, ScriptEngine, ScriptStack};
/// use serde_json::json;
///
/// let engine = ScriptEngine::builder().build().unwrap();
/// let register = |name, source| engine.register(Manifest::new("text:", name, []).unwrap(), source);
/// let stack = ScriptStack::builder().build();
/// stack.insert("trim", register("Trim", "export default ({ in: m }) => ({ out: { text: m.text.trim() } });")?);
/// stack.insert("short", register("Short", "export default ({ in: m }) => {
///     if (m.text.length > 5) throw new HookStopException('too long');
///     return { out: m };
/// };")?);
///
/// # futures_executor::block_on(async {
/// let message = |text| json!({ "text": text }).as_object().cloned().unwrap();
/// let outcome = stack.run_pre(message("  hello "), &ContextData::new()).await.unwrap();
/// assert_eq!(outcome.message["text"], "hello");
///
/// let rejection = stack.run_pre(message("hello world"), &ContextData::new()).await.unwrap_err();
/// assert_eq!((&*rejection.class, &*rejection.hook), ("HookStopException", "Short"));
/// # });
/// # Ok::<_, hooks_script::RegisterError>(())
/// ```
#[derive(Clone)]
pub struct ScriptStack {
    inner: Arc<StackInner>,
}

/// Builder of a [`ScriptStack`].
#[must_use]
pub struct ScriptStackBuilder {
    fuel: u64,
    wall: Duration,
    disable_after: Option<NonZeroU32>,
    history: Option<RunHistory>,
    consent: Option<ConsentStore>,
    timer: Arc<dyn Timer>,
}

impl ScriptStack {
    /// Returns a builder with default settings.
    pub fn builder() -> ScriptStackBuilder {
        ScriptStackBuilder {
            fuel: FUEL,
            wall: WALL,
            disable_after: NonZeroU32::new(5),
            history: None,
            consent: None,
            timer: Arc::new(HostTimer),
        }
    }

    /// Adds a hook after the others, or replaces the hook with this id. [`hooks`](Self::hooks)
    /// shows whether its failures reject actions.
    pub fn insert(&self, id: impl Into<Arc<str>>, hook: ScriptHook) {
        self.orders().insert(StackMember::new(id.into(), hook));
    }

    /// Removes the hook with this id. Returns `true` if there was one.
    pub fn remove(&self, id: &str) -> bool {
        self.orders().remove(id)
    }

    /// Sets the order for all scopes that have no order of their own. Hooks that are not named run
    /// after the named ones, in insertion order.
    ///
    /// # Errors
    ///
    /// Returns an error if an id is unknown; then nothing changes.
    pub fn set_order(&self, ids: &[&str]) -> Result<(), UnknownHook> {
        self.orders().set(None, ids)
    }

    /// Sets the order for one scope, such as a guild; select it with [`RunContext::order`]. It
    /// overrides the general order. An empty list removes it.
    ///
    /// # Errors
    ///
    /// Returns an error if an id is unknown; then nothing changes.
    pub fn set_order_in(&self, scope: &str, ids: &[&str]) -> Result<(), UnknownHook> {
        self.orders().set(Some(scope), ids)
    }

    /// Returns the hooks in the order of a scope, or in the general order, with their failures,
    /// whether they are disabled, and whether they fail closed.
    pub fn hooks(&self, scope: Option<&str>) -> Vec<HookState> {
        let slot = self.orders().slot(scope);
        slot.iter().map(|(member, _)| member.state()).collect()
    }

    /// Enables a disabled hook and resets its count of failures. Returns `true` if there is a hook
    /// with this id.
    pub fn enable(&self, id: &str) -> bool {
        let slot = self.orders().slot(None);
        let found = slot.get(id);
        found.inspect(|(member, _)| member.enable()).is_some()
    }

    /// Runs the hooks before an action, until one stops it. Each hook receives the message that the
    /// previous one returned.
    ///
    /// # Errors
    ///
    /// Returns the rejection, for the client, if a hook stopped the action, or if a hook that
    /// [fails closed](ScriptHook::fail_closed) failed. No later hook has run.
    pub async fn run_pre(&self, message: Map, data: &ContextData) -> Result<PreOutcome, Rejection> {
        self.run_pre_on(&RunContext::new(), message, data).await
    }

    /// Like [`run_pre`](Self::run_pre), with the settings of an occasion.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run_pre`](Self::run_pre).
    pub async fn run_pre_on(
        &self,
        occasion: &RunContext,
        message: Map,
        data: &ContextData,
    ) -> Result<PreOutcome, Rejection> {
        let done = self.run(Stage::Pre, occasion, message, data).await;
        match done.rejection {
            Some(rejection) => Err(rejection),
            None => Ok(PreOutcome {
                message: Arc::unwrap_or_clone(done.message),
                runs: done.runs,
            }),
        }
    }

    /// Runs all hooks after an action that is completed and acknowledged, with the final message.
    /// The result of a hook does not affect the others.
    pub async fn run_post(&self, message: Map, data: &ContextData) -> PostOutcome {
        self.run_post_on(&RunContext::new(), message, data).await
    }

    /// Like [`run_post`](Self::run_post), with the settings of an occasion. Hooks have
    /// `context.http` if the scope has consent.
    pub async fn run_post_on(
        &self,
        occasion: &RunContext,
        message: Map,
        data: &ContextData,
    ) -> PostOutcome {
        let runs = self.run(Stage::Post, occasion, message, data).await.runs;
        PostOutcome { runs }
    }

    async fn run(
        &self,
        stage: Stage,
        occasion: &RunContext,
        message: Map,
        data: &ContextData,
    ) -> StackResult {
        let inner = &*self.inner;
        let slot = self.orders().slot(occasion.order.as_deref());
        let budget = StackBudget::new(inner.fuel, inner.wall);
        let turns = StackPolicy::new(inner, stage, occasion, message, data, budget);
        let (done, records) = slot.dispatch(turns).await;
        records.keep().await;
        done
    }

    fn orders(&self) -> MutexGuard<'_, HookOrder> {
        // No change is visible half done, so a poisoned lock is safe to use.
        let orders = self.inner.orders.lock();
        orders.unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScriptStackBuilder {
    /// Sets the fuel of all hooks of a run together. Default: 1,000,000,000.
    pub fn fuel(mut self, fuel: u64) -> Self {
        self.fuel = fuel;
        self
    }

    /// Sets the timeout of all hooks of a run together, including waits for a worker. Default: five
    /// seconds.
    pub fn wall(mut self, wall: Duration) -> Self {
        self.wall = wall;
        self
    }

    /// Sets the number of consecutive failures after which a hook is disabled; `None` disables
    /// this. Default: 5. A hook that [fails closed](ScriptHook::fail_closed) is never disabled: each
    /// failure rejects its own message. Failures that the hook did not cause are not counted: a message that is
    /// larger than [`Limits::input`](crate::Limits::input) or cannot be read, an engine failure, a
    /// full queue, and a lack of time because of other runs.
    pub fn disable_after(mut self, failures: Option<NonZeroU32>) -> Self {
        self.disable_after = failures;
        self
    }

    /// Sets the history that records every run. If a record cannot be stored, the error is logged.
    ///
    /// If the future of a stack's run is dropped, the history gets the records of the hooks that
    /// ran, and a `skipped` record of the hook that was running. A database is then written in the
    /// background while the runtime exists.
    pub fn history(mut self, history: RunHistory) -> Self {
        self.history = Some(history);
        self
    }

    /// Sets the consents to outbound requests after an action. Without it, hooks cannot make
    /// requests.
    pub fn consent(mut self, consent: ConsentStore) -> Self {
        self.consent = Some(consent);
        self
    }

    /// Sets the timer. Default: [`HostTimer`].
    pub fn timer(mut self, timer: Arc<dyn Timer>) -> Self {
        self.timer = timer;
        self
    }

    /// Builds a stack without hooks.
    pub fn build(self) -> ScriptStack {
        ScriptStack {
            inner: Arc::new(StackInner {
                orders: Mutex::new(HookOrder::new(self.timer)),
                fuel: self.fuel,
                wall: self.wall,
                disable_after: self.disable_after,
                history: self.history,
                consent: self.consent,
            }),
        }
    }
}

impl fmt::Debug for ScriptStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptStack")
            .field("hooks", &self.hooks(None))
            .field("fuel", &self.inner.fuel)
            .field("wall", &self.inner.wall)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ScriptStackBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptStackBuilder")
            .field("fuel", &self.fuel)
            .field("wall", &self.wall)
            .field("disable_after", &self.disable_after)
            .finish_non_exhaustive()
    }
}
