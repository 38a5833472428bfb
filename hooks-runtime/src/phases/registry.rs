//! The registry of PRE and POST hooks.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use hooks_core::__private::drop_catching_panic;
use hooks_core::{
    Entry, EntryId, EntryMeta, FailurePolicy, Registration, Report, Slot, Timer, Unregister,
};
use serde::Serialize;

use super::bail::Bail;
use super::hook::{Post, PostHook, Pre, PreHook};
use super::observe::Observe;
use super::phase::Phase;
use super::response::HookResponse;
use crate::HookError;
use crate::cow_cell::{CowCell, Writer};
use crate::options::RegisterOptions;
use crate::timer::HostTimer;

/// Hooks before and after a call: PRE hooks take a `Req`, POST hooks a `Res`. Clones share one
/// registry; there is no global registry.
///
/// Every method takes `&self`, on any thread. A hook that is registered or removed during a run
/// affects later runs only.
///
/// ```
/// use hooks_runtime::phases::{PostFn, PreFn};
/// use hooks_runtime::{HookResponse, PhaseRegistry, RegisterOptions, ResponseAction};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let registry: PhaseRegistry<str, bool> = PhaseRegistry::new();
/// registry.register_pre(
///     PreFn::new("budget", |_: &str| {
///         HookResponse::new(ResponseAction::Halt).reason("Budget Exceeded")
///     }),
///     RegisterOptions::new(),
/// );
/// registry.register_post(
///     PostFn::new("audit", |done: &bool, _: Option<&str>| println!("done: {done}")),
///     RegisterOptions::new(),
/// );
///
/// let response = registry.execute_pre("read README.md").await?;
/// assert_eq!(response.action, ResponseAction::Halt);
/// registry.execute_post(&false, Some("request-1")).await;
/// # Ok::<_, hooks_runtime::HookError>(())
/// # }).unwrap();
/// ```
pub struct PhaseRegistry<Req: ?Sized, Res: ?Sized> {
    inner: Arc<PhaseRegistryInner<Req, Res>>,
}

struct PhaseRegistryInner<Req: ?Sized, Res: ?Sized> {
    pre: CowCell<Slot<dyn Pre<Req>>>,
    post: CowCell<Slot<dyn Post<Res>>>,
}

impl<H: ?Sized> Writer for Slot<H> {
    type Snapshot = Slot<H>;

    /// Returns a clone without the index.
    fn snapshot(&self) -> Slot<H> {
        self.clone()
    }

    fn filter_bits(&self) -> u64 {
        u64::MAX
    }
}

/// Default priority of a PRE hook.
const PRIORITY: i32 = 100;

impl<Req: ?Sized + 'static, Res: ?Sized + 'static> PhaseRegistry<Req, Res> {
    /// Creates a registry without hooks, with [`HostTimer`] as its timer.
    pub fn new() -> Self {
        PhaseRegistry::with_timer(Arc::new(HostTimer))
    }

    /// Creates a registry without hooks, with this timer.
    pub fn with_timer(timer: Arc<dyn Timer>) -> Self {
        PhaseRegistry {
            inner: Arc::new(PhaseRegistryInner {
                pre: CowCell::new(Slot::with_timer(Arc::clone(&timer))),
                post: CowCell::new(Slot::with_timer(timer)),
            }),
        }
    }

    /// Registers a PRE hook; replaces a hook with an equal id. Its priority is that of the options,
    /// else its own, else 100.
    ///
    /// # Panics
    /// If the options set a phase of events.
    #[track_caller]
    pub fn register_pre<H>(&self, hook: H, options: RegisterOptions) -> Registration
    where
        H: PreHook<Req> + 'static,
    {
        refuse_phase(Phase::Pre, hook.id(), &options);
        self.insert_pre(hook, |_, _| options)
    }

    /// Registers a PRE hook with the options of the hook that it replaces by id; without such a
    /// hook, like [`register_pre`](Self::register_pre).
    pub fn replace_pre<H>(&self, hook: H) -> Registration
    where
        H: PreHook<Req> + 'static,
    {
        self.insert_pre(hook, conditions)
    }

    /// Registers a hook with options that are computed from the existing hooks and its id.
    fn insert_pre<H>(
        &self,
        hook: H,
        options: impl FnOnce(&Slot<dyn Pre<Req>>, &str) -> RegisterOptions,
    ) -> Registration
    where
        H: PreHook<Req> + 'static,
    {
        let key = PreHook::id(&hook).to_owned();
        let priority = PreHook::priority(&hook).unwrap_or(PRIORITY);
        let hook: Arc<dyn Pre<Req>> = Arc::new(hook);
        let (replaces, id) = self.inner.pre.update(|slot| {
            let entry = options(slot, &key).entry(hook, std::any::type_name::<H>(), priority);
            (slot.get(&key).is_some(), slot.insert(keyed(entry, &key)))
        });
        tracing::debug!(
            target: "hooks_runtime",
            phase = %Phase::Pre, hook = key, replaces, "hook registered"
        );
        self.registration(Phase::Pre, id, key)
    }

    /// Registers a POST hook; replaces a hook with an equal id. A priority has no effect.
    ///
    /// # Panics
    /// If the options set a failure policy other than [isolate](FailurePolicy::Isolate): the call
    /// is over when POST hooks run. If the options set a phase of events.
    #[track_caller]
    pub fn register_post<H>(&self, hook: H, options: RegisterOptions) -> Registration
    where
        H: PostHook<Res> + 'static,
    {
        refuse_phase(Phase::Post, hook.id(), &options);
        let policy = Phase::Post.policy(options.on_failure);
        assert!(
            policy == FailurePolicy::Isolate,
            "POST hook `{}` cannot {policy}, because the call is over when it runs; leave `on_failure` out, or make it a PRE hook",
            hook.id()
        );
        // The order of registration alone counts.
        let key = PostHook::id(&hook).to_owned();
        let hook: Arc<dyn Post<Res>> = Arc::new(hook);
        let entry = options
            .entry(hook, std::any::type_name::<H>(), 0)
            .priority(0);
        let entry = keyed(entry, &key);
        let (replaces, id) = self
            .inner
            .post
            .update(|slot| (slot.get(&key).is_some(), slot.insert(entry)));
        tracing::debug!(
            target: "hooks_runtime",
            phase = %Phase::Post, hook = key, replaces, "hook registered"
        );
        self.registration(Phase::Post, id, key)
    }

    /// Removes the hook with this id, and returns `true` if it existed.
    pub fn deregister(&self, phase: Phase, id: &str) -> bool {
        let found = match phase {
            Phase::Pre => self.inner.pre.update(|slot| slot.remove(id)),
            Phase::Post => self.inner.post.update(|slot| slot.remove(id)),
        };
        log_removal(found, phase, id)
    }

    /// Runs the PRE hooks until one returns a response that is not `CONTINUE`, and returns that
    /// response with all its fields; else the last hook's response, or `CONTINUE` without hooks.
    ///
    /// Dropping the future cancels the running hook, and starts no further ones.
    ///
    /// # Errors
    /// If a hook fails, panics or exceeds its timeout: later hooks do not run. Registrations can
    /// set another [`FailurePolicy`].
    pub async fn execute_pre(&self, request: &Req) -> Result<HookResponse, HookError> {
        let slot = self.inner.pre.load();
        let response = slot.dispatch(Bail::new(request)).await;
        drop_catching_panic(slot);
        response
    }

    /// Like [`execute_pre`](Self::execute_pre), with a report on each hook.
    ///
    /// # Errors
    /// As [`execute_pre`](Self::execute_pre); the report is returned in any case.
    pub async fn execute_pre_reported(
        &self,
        request: &Req,
    ) -> (Result<HookResponse, HookError>, Report) {
        let slot = self.inner.pre.load();
        let response = slot.dispatch_reported(Bail::new(request)).await;
        drop_catching_panic(slot);
        response
    }

    /// Runs all POST hooks, one after the other, and returns when the last has finished. Hooks that
    /// fail, panic or exceed their timeout are logged. Dropping the future cancels the running
    /// hook, and starts no further ones.
    pub async fn execute_post(&self, result: &Res, request_id: Option<&str>) {
        let slot = self.inner.post.load();
        slot.dispatch(Observe::new(result, request_id)).await;
        drop_catching_panic(slot);
    }

    /// Like [`execute_post`](Self::execute_post), with a report on each hook.
    pub async fn execute_post_reported(&self, result: &Res, request_id: Option<&str>) -> Report {
        let slot = self.inner.post.load();
        let ((), report) = slot
            .dispatch_reported(Observe::new(result, request_id))
            .await;
        drop_catching_panic(slot);
        report
    }

    /// Runs the POST hooks in a separate task, without making the caller wait.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[track_caller]
    pub fn execute_post_detached(
        &self,
        result: impl Into<Arc<Res>>,
        request_id: Option<String>,
    ) -> tokio::task::JoinHandle<()>
    where
        Req: Send + Sync,
        Res: Send + Sync,
    {
        let (registry, result) = (self.clone(), result.into());
        tokio::spawn(async move {
            registry.execute_post(&result, request_id.as_deref()).await;
        })
    }

    /// Returns the hooks of a phase, in execution order.
    pub fn registered_hooks(&self, phase: Phase) -> Vec<HookDescriptor> {
        let describe = |entry: &EntryMeta| HookDescriptor {
            id: entry.key().unwrap_or_default().to_owned(),
            phase,
            priority: (phase == Phase::Pre).then(|| entry.priority()),
            timeout: entry.timeout(),
            on_failure: phase.policy(entry.on_failure()),
        };
        match phase {
            Phase::Pre => {
                let slot = self.inner.pre.load();
                slot.iter().map(|(_, entry)| describe(entry)).collect()
            }
            Phase::Post => {
                let slot = self.inner.post.load();
                slot.iter().map(|(_, entry)| describe(entry)).collect()
            }
        }
    }

    /// Returns a weak handle of this registry, for hooks that run its phases themselves.
    ///
    /// The registry owns its hooks. If a hook stores a clone of the registry, the two own each
    /// other and neither is ever dropped. A [`WeakPhaseRegistry`] does not keep the registry
    /// alive.
    ///
    /// ```
    /// use hooks_runtime::phases::PreFn;
    /// use hooks_runtime::{HookResponse, Phase, PhaseRegistry, RegisterOptions};
    ///
    /// let registry: PhaseRegistry<str, bool> = PhaseRegistry::new();
    /// let weak = registry.downgrade();
    /// registry.register_pre(
    ///     PreFn::new("once", move |_: &str| {
    ///         if let Some(registry) = weak.upgrade() {
    ///             registry.deregister(Phase::Pre, "once");
    ///         }
    ///         HookResponse::default()
    ///     }),
    ///     RegisterOptions::new(),
    /// );
    ///
    /// let weak = registry.downgrade();
    /// drop(registry);
    /// assert!(weak.upgrade().is_none());
    /// ```
    pub fn downgrade(&self) -> WeakPhaseRegistry<Req, Res> {
        WeakPhaseRegistry {
            inner: Arc::downgrade(&self.inner),
        }
    }

    fn registration(&self, phase: Phase, id: EntryId, key: String) -> Registration {
        let registry = Arc::downgrade(&self.inner);
        let handle = PhaseUnregister {
            registry,
            phase,
            key,
        };
        Registration::new(id, handle)
    }
}

/// Sets the key of the entry to the hook's id, which is also its displayed name by default.
fn keyed<H>(entry: Entry<H>, key: &str) -> Entry<H> {
    let entry = match entry.meta().explicit_name() {
        Some(_) => entry,
        None => entry.name(key.to_owned()),
    };
    entry.key(key.to_owned())
}

/// Checks that the options set no phase of events.
#[track_caller]
fn refuse_phase(phase: Phase, id: &str, options: &RegisterOptions) {
    if let Some(chosen) = options.phase {
        panic!("{phase} hook `{id}` has the phase `{chosen}` of events; leave `phase` out");
    }
}

/// Logs the removal of a hook, if it was registered.
fn log_removal(found: bool, phase: Phase, id: &str) -> bool {
    if found {
        tracing::debug!(target: "hooks_runtime", %phase, hook = id, "hook deregistered");
    }
    found
}

/// Returns the options of the hook with this id.
fn conditions<H: ?Sized>(slot: &Slot<H>, id: &str) -> RegisterOptions {
    match slot.get(id) {
        None => RegisterOptions::new(),
        Some((_, entry)) => RegisterOptions {
            priority: Some(entry.priority()),
            name: entry.explicit_name().map(|name| name.to_owned().into()),
            timeout: entry.timeout(),
            on_failure: entry.on_failure(),
            trusted: Some(entry.is_trusted()),
            phase: None,
        },
    }
}

impl<Req: ?Sized + 'static, Res: ?Sized + 'static> Default for PhaseRegistry<Req, Res> {
    fn default() -> Self {
        PhaseRegistry::new()
    }
}

impl<Req: ?Sized, Res: ?Sized> Clone for PhaseRegistry<Req, Res> {
    fn clone(&self) -> Self {
        PhaseRegistry {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<Req: ?Sized + 'static, Res: ?Sized + 'static> fmt::Debug for PhaseRegistry<Req, Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = |phase| {
            let hooks = self.registered_hooks(phase).into_iter();
            hooks.map(|hook| hook.id).collect::<Vec<_>>()
        };
        f.debug_struct("PhaseRegistry")
            .field("pre", &ids(Phase::Pre))
            .field("post", &ids(Phase::Post))
            .finish()
    }
}

/// A handle of a [`PhaseRegistry`] that does not keep the registry alive, returned by
/// [`downgrade`](PhaseRegistry::downgrade).
///
/// A hook that uses its own registry stores this handle, because the registry owns the hook.
pub struct WeakPhaseRegistry<Req: ?Sized, Res: ?Sized> {
    inner: Weak<PhaseRegistryInner<Req, Res>>,
}

impl<Req: ?Sized, Res: ?Sized> WeakPhaseRegistry<Req, Res> {
    /// Returns the registry, or `None` if its last handle has been dropped.
    pub fn upgrade(&self) -> Option<PhaseRegistry<Req, Res>> {
        let inner = self.inner.upgrade()?;
        Some(PhaseRegistry { inner })
    }
}

impl<Req: ?Sized, Res: ?Sized> Clone for WeakPhaseRegistry<Req, Res> {
    fn clone(&self) -> Self {
        WeakPhaseRegistry {
            inner: Weak::clone(&self.inner),
        }
    }
}

impl<Req: ?Sized, Res: ?Sized> fmt::Debug for WeakPhaseRegistry<Req, Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakPhaseRegistry")
    }
}

/// One hook of a [`PhaseRegistry`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HookDescriptor {
    /// Id of the hook.
    pub id: String,
    /// Its phase.
    pub phase: Phase,
    /// Its priority; POST hooks have none.
    pub priority: Option<i32>,
    /// Timeout of a call.
    pub timeout: Option<Duration>,
    /// Failure policy.
    pub on_failure: FailurePolicy,
}

/// Unregisters a hook of a phase.
struct PhaseUnregister<Req: ?Sized, Res: ?Sized> {
    registry: Weak<PhaseRegistryInner<Req, Res>>,
    phase: Phase,
    key: String,
}

impl<Req: ?Sized, Res: ?Sized> Unregister for PhaseUnregister<Req, Res> {
    fn unregister(&self, id: EntryId) -> bool {
        let Some(registry) = self.registry.upgrade() else {
            return false;
        };
        let found = match self.phase {
            Phase::Pre => registry.pre.update(|slot| slot.remove_entry(id)),
            Phase::Post => registry.post.update(|slot| slot.remove_entry(id)),
        };
        log_removal(found, self.phase, &self.key)
    }
}
