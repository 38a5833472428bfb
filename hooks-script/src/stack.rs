//! Ordered hooks with a shared budget. Before an action each hook receives the message of the
//! previous one; after the action hooks only observe.

mod budget;
mod member;
mod order;
mod records;
mod turn;

use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hooks_runtime::{HostTimer, Map, Timer};

use crate::consent::{ConsentStore, Permit};
use crate::decision::Rejection;
use crate::fields::ContextData;
use crate::history::RunHistory;
use crate::hook::ScriptHook;
use crate::run::{Run, Stage};
use crate::scope::Scope;

use self::budget::Budget;
pub use self::member::HookState;
use self::member::Member;
use self::order::Orders;
pub use self::order::UnknownHook;
pub(crate) use self::records::Records;
use self::turn::{Done, Turns};

const FUEL: u64 = 1_000_000_000;
const WALL: Duration = Duration::from_secs(5);

/// An ordered list of hooks that run before and after the actions of a server. Clones share the
/// stack; a run uses the hooks and the order of the moment at which it started.
///
/// Every hook has an equal share of what is left of the stack's fuel and time, at most what the
/// engine allows it: whatever one of them does, those behind it have theirs.
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
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    orders: Mutex<Orders>,
    fuel: u64,
    wall: Duration,
    pub(crate) disable_after: Option<NonZeroU32>,
    pub(crate) history: Option<RunHistory>,
    pub(crate) consent: Option<ConsentStore>,
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

/// Context of a run besides the message: it selects the order, the scope of the records, and the
/// consents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occasion {
    pub(crate) order: Option<String>,
    pub(crate) action: String,
    pub(crate) scope: Scope,
}

/// Result of the hooks before an action that no hook stopped.
#[derive(Debug)]
#[non_exhaustive]
pub struct PreOutcome {
    /// The final message.
    pub message: Map,
    /// What became of each hook, in the order in which they ran.
    pub runs: Vec<StackRun>,
}

/// Result of the hooks after an action. It is not meant for the user.
#[derive(Debug)]
#[non_exhaustive]
pub struct PostOutcome {
    /// The result of each hook, in execution order. A [`Stop`](crate::Verdict::Stop) is an
    /// annotation.
    pub runs: Vec<StackRun>,
}

/// The result of one hook of a stack.
#[derive(Debug)]
#[non_exhaustive]
pub struct StackRun {
    /// What the stack calls the hook.
    pub id: Arc<str>,
    /// Its run; none where the hook is disabled.
    pub run: Option<Run>,
    /// The consent that the run had `context.http` by: what
    /// [`OutboxSender::send`](crate::OutboxSender) asks for.
    pub permit: Option<Permit>,
}

impl ScriptStack {
    /// The settings, all with defaults.
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

    /// Adds a hook behind the others, or in the place of the one with this id.
    pub fn insert(&self, id: impl Into<Arc<str>>, hook: ScriptHook) {
        self.orders().insert(Member::new(id.into(), hook));
    }

    /// Removes the hook with this id, and says whether there was one.
    pub fn remove(&self, id: &str) -> bool {
        self.orders().remove(id)
    }

    /// Puts the hooks into this order, where no scope has its own. Hooks that are not named come
    /// behind those that are, as they were inserted.
    ///
    /// # Errors
    ///
    /// If there is no hook of a name; nothing has changed then.
    pub fn set_order(&self, ids: &[&str]) -> Result<(), UnknownHook> {
        self.orders().set(None, ids)
    }

    /// The same for one scope, such as a guild: [`Occasion::order`] names it. It takes the place
    /// of the order for all others; without ids, that counts again.
    ///
    /// # Errors
    ///
    /// If there is no hook of a name; nothing has changed then.
    pub fn set_order_in(&self, scope: &str, ids: &[&str]) -> Result<(), UnknownHook> {
        self.orders().set(Some(scope), ids)
    }

    /// The hooks in their order, in a scope or in all that have no order of their own, and which
    /// of them are disabled.
    pub fn hooks(&self, scope: Option<&str>) -> Vec<HookState> {
        let slot = self.orders().slot(scope);
        slot.iter().map(|(member, _)| member.state()).collect()
    }

    /// Has a hook that was disabled run again, with a clean record. Answers whether there is one
    /// of this id.
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
    /// [fails closed](ScriptHook::fail_closed) failed or is disabled. No later hook has run.
    pub async fn run_pre(&self, message: Map, data: &ContextData) -> Result<PreOutcome, Rejection> {
        self.run_pre_on(&Occasion::new(), message, data).await
    }

    /// The same on an occasion.
    ///
    /// # Errors
    ///
    /// As [`run_pre`](Self::run_pre).
    pub async fn run_pre_on(
        &self,
        occasion: &Occasion,
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
        self.run_post_on(&Occasion::new(), message, data).await
    }

    /// The same on an occasion. Hooks have `context.http` where its scope has consent.
    pub async fn run_post_on(
        &self,
        occasion: &Occasion,
        message: Map,
        data: &ContextData,
    ) -> PostOutcome {
        let runs = self.run(Stage::Post, occasion, message, data).await.runs;
        PostOutcome { runs }
    }

    async fn run(
        &self,
        stage: Stage,
        occasion: &Occasion,
        message: Map,
        data: &ContextData,
    ) -> Done {
        let inner = &*self.inner;
        let slot = self.orders().slot(occasion.order.as_deref());
        let budget = Budget::new(inner.fuel, inner.wall);
        let turns = Turns::new(inner, stage, occasion, message, data, budget);
        let (done, records) = slot.dispatch(turns).await;
        records.keep().await;
        done
    }

    fn orders(&self) -> MutexGuard<'_, Orders> {
        // Nothing in there is half done.
        let orders = self.inner.orders.lock();
        orders.unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScriptStackBuilder {
    /// Fuel of all hooks of a run together; 1,000,000,000, unless given.
    pub fn fuel(mut self, fuel: u64) -> Self {
        self.fuel = fuel;
        self
    }

    /// The time of all hooks of a run together, with what they wait for a worker; five
    /// seconds, unless given.
    pub fn wall(mut self, wall: Duration) -> Self {
        self.wall = wall;
        self
    }

    /// How often in a row a hook may fail before it is disabled; 5, unless given, and `None` is
    /// without end. What is not the hook's fault does not count: a message that is larger than
    /// [`Limits::input`](crate::Limits::input) or cannot be read, an engine that fails, a queue that is too long, and too little time
    /// because others waited.
    pub fn disable_after(mut self, failures: Option<NonZeroU32>) -> Self {
        self.disable_after = failures;
        self
    }

    /// Sets the history that records every run. A record that cannot be stored is logged.
    ///
    /// A run of the stack that is given up, its future dropped, leaves the records of the hooks
    /// that had run, and one that says `skipped` of the hook whose turn it was. A database is
    /// written to in the background then, as long as the runtime is there.
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

    /// What measures time; [`HostTimer`], unless given.
    pub fn timer(mut self, timer: Arc<dyn Timer>) -> Self {
        self.timer = timer;
        self
    }

    /// A stack without hooks.
    pub fn build(self) -> ScriptStack {
        ScriptStack {
            inner: Arc::new(Inner {
                orders: Mutex::new(Orders::new(self.timer)),
                fuel: self.fuel,
                wall: self.wall,
                disable_after: self.disable_after,
                history: self.history,
                consent: self.consent,
            }),
        }
    }
}

impl Occasion {
    /// Any action, of anybody, in the order of all scopes.
    pub fn new() -> Self {
        Occasion::default()
    }

    /// The scope whose order counts: see [`ScriptStack::set_order_in`].
    #[must_use]
    pub fn order(mut self, scope: impl Into<String>) -> Self {
        self.order = Some(scope.into());
        self
    }

    /// What the action is called in records.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = action.into();
        self
    }

    /// Who acts, and where: for records, and for consents.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
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
