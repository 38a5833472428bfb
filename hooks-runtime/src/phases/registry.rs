//! The registry of PRE and POST hooks: registering and listing.

use std::any::type_name;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use hooks_core::__private::registered;
use hooks_core::{FailurePolicy, Registration, RegistrationError, Slot, Timer};

use super::around::{PostCall, PreCall};
use super::descriptor::HookDescriptor;
use super::hook::{PostHook, PreHook};
use super::observer::{ObserverCall, PreObserver};
use super::phase::Phase;
use crate::around_registry::AroundRegistry;
use crate::registry::call::{Call, DynCall, PlainHook};
use crate::registry::deadline::Deadline;
use crate::registry::failure_counts::{DisabledHook, OnDisabled};
use crate::registry::options::{RegisterOptions, RegistryOptions};
use crate::registry::slot::{Registered, SharedSlot};
use crate::transform::TransformRegistry;

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
pub struct PhaseRegistry<Req: ?Sized + Sync + 'static, Res: ?Sized + Sync + 'static> {
    pub(super) inner: Arc<PhaseRegistryInner<Req, Res>>,
}

pub(super) struct PhaseRegistryInner<Req: ?Sized + Sync + 'static, Res: ?Sized + Sync + 'static> {
    pub(super) pre: SharedSlot<dyn DynCall<PreCall<Req>>>,
    pub(super) post: SharedSlot<dyn DynCall<PostCall<Res>>>,
    pub(super) observers: SharedSlot<dyn DynCall<ObserverCall<Req>>>,
    pub(super) requests: TransformRegistry<Req>,
    pub(super) results: TransformRegistry<Res>,
    pub(super) around_pre: AroundRegistry<PreCall<Req>>,
    pub(super) around_post: AroundRegistry<PostCall<Res>>,
    pub(super) timer: Arc<dyn Timer>,
    pub(super) deadline: Option<Duration>,
}

/// Default priority of a PRE hook.
const PRIORITY: i32 = 100;

impl<Req: ?Sized + Sync + 'static, Res: ?Sized + Sync + 'static> PhaseRegistry<Req, Res> {
    /// Creates a registry without hooks, with [`HostTimer`](crate::HostTimer) as its timer.
    pub fn new() -> Self {
        PhaseRegistry::with_options(RegistryOptions::new())
    }

    /// Creates a registry without hooks, with this timer.
    pub fn with_timer(timer: Arc<dyn Timer>) -> Self {
        PhaseRegistry::with_options(RegistryOptions::new().timer(timer))
    }

    /// Creates a registry without hooks, with these options.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hooks_runtime::{PhaseRegistry, RegistryOptions};
    ///
    /// let options = RegistryOptions::new().timeout(Duration::from_secs(2));
    /// let registry: PhaseRegistry<str, bool> = PhaseRegistry::with_options(options);
    /// ```
    pub fn with_options(options: RegistryOptions) -> Self {
        let timer = || Arc::clone(&options.timer);
        let (checks, observers) = (options.defaults, options.defaults.of_observers());
        PhaseRegistry {
            inner: Arc::new(PhaseRegistryInner {
                pre: SharedSlot::new(Phase::Pre.name(), Slot::with_timer(timer()), checks),
                post: SharedSlot::new(Phase::Post.name(), Slot::with_timer(timer()), observers),
                observers: SharedSlot::new(
                    Phase::Observe.name(),
                    Slot::with_timer(timer()),
                    observers,
                ),
                requests: TransformRegistry::with_options(options.clone()),
                results: TransformRegistry::with_options(options.clone()),
                around_pre: AroundRegistry::new(),
                around_post: AroundRegistry::new(),
                timer: options.timer,
                deadline: options.deadline,
            }),
        }
    }

    /// Returns a registry that follows this one: it has the hooks of this one, as they are at each run, and
    /// its own. Otherwise as [`HookRegistry::child`](crate::HookRegistry::child).
    ///
    /// ```
    /// use hooks_runtime::phases::PreFn;
    /// use hooks_runtime::{HookResponse, PhaseRegistry, RegisterOptions, ResponseAction};
    ///
    /// let registry: PhaseRegistry<str, bool> = PhaseRegistry::new();
    /// let session = registry.child();
    /// registry.register_pre(
    ///     PreFn::new("closed", |_: &str| HookResponse::new(ResponseAction::Deny)),
    ///     RegisterOptions::new(),
    /// );
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert!(!session.execute_pre("open").await?.is_continue());
    /// # Ok::<_, hooks_runtime::HookError>(())
    /// # }).unwrap();
    /// ```
    #[must_use = "this registry itself stays unchanged"]
    pub fn child(&self) -> Self {
        let inner = PhaseRegistryInner {
            pre: self.inner.pre.child(),
            post: self.inner.post.child(),
            observers: self.inner.observers.child(),
            requests: self.inner.requests.child(),
            results: self.inner.results.child(),
            around_pre: self.inner.around_pre.child(),
            around_post: self.inner.around_post.child(),
            timer: Arc::clone(&self.inner.timer),
            deadline: self.inner.deadline,
        };
        PhaseRegistry {
            inner: Arc::new(inner),
        }
    }

    /// Removes everything of an owner ([`RegisterOptions::owner`]): PRE and POST hooks, observers, hooks
    /// that change requests and results, and around hooks. Returns their number.
    ///
    /// The phases change one after the other: a run at the same time may have the hooks of some of them.
    pub fn remove_owner(&self, owner: &str) -> usize {
        let inner = &self.inner;
        inner.requests.remove_owner(owner)
            + inner.around_pre.remove_owner(owner)
            + inner.pre.remove_owner(owner)
            + inner.observers.remove_owner(owner)
            + inner.around_post.remove_owner(owner)
            + inner.post.remove_owner(owner)
            + inner.results.remove_owner(owner)
    }

    /// Enables or disables everything of an owner ([`RegisterOptions::owner`]), as
    /// [`remove_owner`](Self::remove_owner) names it. Returns the number of hooks. Enabling hooks resets
    /// their failures. Later registrations of the owner are enabled.
    pub fn set_owner_enabled(&self, owner: &str, is_enabled: bool) -> usize {
        let inner = &self.inner;
        inner.requests.set_owner_enabled(owner, is_enabled)
            + inner.around_pre.set_owner_enabled(owner, is_enabled)
            + inner.pre.set_owner_enabled(owner, is_enabled)
            + inner.observers.set_owner_enabled(owner, is_enabled)
            + inner.around_post.set_owner_enabled(owner, is_enabled)
            + inner.post.set_owner_enabled(owner, is_enabled)
            + inner.results.set_owner_enabled(owner, is_enabled)
    }

    /// Returns the deadline of a run that starts now, if the registry has one.
    pub(super) fn start_deadline(&self) -> Option<Deadline<'_>> {
        let deadline = self.inner.deadline;
        deadline.map(|_| Deadline::new(&*self.inner.timer, deadline))
    }

    /// Returns the hooks that may change a request before the PRE hooks:
    /// [`run_pre`](Self::run_pre) runs them.
    pub fn requests(&self) -> &TransformRegistry<Req> {
        &self.inner.requests
    }

    /// Returns the hooks that may change the result of a call. The host
    /// [applies](TransformRegistry::apply) them after the call. Pass the raw result to
    /// [`execute_post`](Self::execute_post), unless POST hooks are to observe the changed result.
    pub fn results(&self) -> &TransformRegistry<Res> {
        &self.inner.results
    }

    /// Sets the functions that return the name of the tool in a request and in a result, for later
    /// registrations with [`tools`](RegisterOptions::tools): of PRE and POST hooks, of observers,
    /// and of the hooks in [`requests`](Self::requests) and [`results`](Self::results). The
    /// registry of a hook engine has these functions. If a function returns `None` or panics, the
    /// hook runs.
    ///
    /// ```
    /// use hooks_runtime::phases::PreFn;
    /// use hooks_runtime::{HookResponse, PhaseRegistry, RegisterOptions, ResponseAction};
    ///
    /// struct Call { tool: String }
    ///
    /// let registry: PhaseRegistry<Call, bool> = PhaseRegistry::new();
    /// registry.set_tool_names(|call| Some(&call.tool), |_| None);
    /// registry.register_pre(
    ///     PreFn::new("read-only", |_: &Call| HookResponse::new(ResponseAction::Deny)),
    ///     RegisterOptions::new().tools(["write_*"]),
    /// );
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert!(registry.execute_pre(&Call { tool: "read_file".into() }).await?.is_continue());
    /// # Ok::<_, hooks_runtime::HookError>(())
    /// # }).unwrap();
    /// ```
    pub fn set_tool_names(
        &self,
        request: fn(&Req) -> Option<&str>,
        result: fn(&Res) -> Option<&str>,
    ) {
        self.inner.requests.set_tool_name(request);
        self.inner.results.set_tool_name(result);
    }

    /// Returns the around hooks that enclose the PRE hooks. Observers receive the response that the
    /// outermost around hook returns. If an around hook panics, observers receive the panic as an
    /// error that names the hook, and then it reaches the caller.
    ///
    /// An around hook that returns `CONTINUE` without calling `next` skips every check.
    pub fn around_pre(&self) -> &AroundRegistry<PreCall<Req>> {
        &self.inner.around_pre
    }

    /// Returns the around hooks that enclose the POST hooks. If one of them panics, the panic reaches
    /// the caller, and the POST hooks that have not run do not run.
    pub fn around_post(&self) -> &AroundRegistry<PostCall<Res>> {
        &self.inner.around_post
    }

    /// Registers a PRE hook; replaces a hook with an equal id. Its priority is that of the options,
    /// else its own, else 100.
    ///
    /// # Panics
    /// If [`try_register_pre`](Self::try_register_pre) returns an error.
    #[track_caller]
    pub fn register_pre<H>(&self, hook: H, options: RegisterOptions) -> Registration
    where
        H: PreHook<Req> + 'static,
    {
        registered(self.try_register_pre(hook, options))
    }

    /// Like [`register_pre`](Self::register_pre), and returns an error if the hook is refused. The
    /// hook is then dropped, and the registry is unchanged.
    ///
    /// # Errors
    /// If the options are for events only, name an unknown id in `before` or `after`, make the order
    /// a cycle, filter inputs of another type, match tools without
    /// [their names](Self::set_tool_names), or disable a hook whose failures are not
    /// isolated.
    pub fn try_register_pre<H>(
        &self,
        hook: H,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError>
    where
        H: PreHook<Req> + 'static,
    {
        let registered = Registered {
            id: hook.id().to_owned(),
            hook_type: type_name::<H>(),
            policy: |chosen| Phase::Pre.policy(chosen),
            priority: hook.priority().unwrap_or(PRIORITY),
            tool_name: self.inner.requests.tool_name(),
        };
        let hook = Arc::new(PlainHook(hook));
        self.inner.pre.register(hook, registered, options)
    }

    /// Registers a PRE hook with the options of the hook that it replaces by id, even if a hook that
    /// these options name in `before` or `after` has been removed; without such a hook, like
    /// [`register_pre`](Self::register_pre) with default options.
    pub fn replace_pre<H>(&self, hook: H) -> Registration
    where
        H: PreHook<Req> + 'static,
    {
        let id = hook.id().to_owned();
        let priority = hook.priority().unwrap_or(PRIORITY);
        let hook = Arc::new(PlainHook(hook));
        self.inner
            .pre
            .replace(hook, &id, type_name::<H>(), priority)
    }

    /// Registers an observer, which receives each request with the response to it, also after a
    /// denial or an error; replaces an observer with an equal id. Observers run concurrently, and
    /// the run ends when the last has finished. A priority has no effect.
    ///
    /// # Panics
    /// If [`try_register_observer`](Self::try_register_observer) returns an error.
    #[track_caller]
    pub fn register_observer<H>(&self, observer: H, options: RegisterOptions) -> Registration
    where
        H: PreObserver<Req> + 'static,
    {
        registered(self.try_register_observer(observer, options))
    }

    /// Like [`register_observer`](Self::register_observer), and returns an error if the observer is
    /// refused. The observer is then dropped, and the registry is unchanged.
    ///
    /// # Errors
    /// As [`try_register_post`](Self::try_register_post).
    pub fn try_register_observer<H>(
        &self,
        observer: H,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError>
    where
        H: PreObserver<Req> + 'static,
    {
        check_isolated::<ObserverCall<Req>>(Phase::Observe, observer.id(), &options)?;
        let registered = Registered {
            id: observer.id().to_owned(),
            hook_type: type_name::<H>(),
            policy: |chosen| Phase::Observe.policy(chosen),
            priority: 0,
            tool_name: self.inner.requests.tool_name(),
        };
        let options = unordered(options);
        let observer = Arc::new(PlainHook(observer));
        self.inner.observers.register(observer, registered, options)
    }

    /// Registers a POST hook; replaces a hook with an equal id. A priority has no effect.
    ///
    /// # Panics
    /// If [`try_register_post`](Self::try_register_post) returns an error.
    #[track_caller]
    pub fn register_post<H>(&self, hook: H, options: RegisterOptions) -> Registration
    where
        H: PostHook<Res> + 'static,
    {
        registered(self.try_register_post(hook, options))
    }

    /// Like [`register_post`](Self::register_post), and returns an error if the hook is refused. The
    /// hook is then dropped, and the registry is unchanged.
    ///
    /// # Errors
    /// If the options set a failure policy other than [isolate](FailurePolicy::Isolate): the call
    /// is over when POST hooks run. If the options are for events only, name an unknown id in `before`
    /// or `after`, make the order a cycle, filter inputs of another type, or match tools without
    /// [their names](Self::set_tool_names).
    pub fn try_register_post<H>(
        &self,
        hook: H,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError>
    where
        H: PostHook<Res> + 'static,
    {
        check_isolated::<PostCall<Res>>(Phase::Post, hook.id(), &options)?;
        let registered = Registered {
            id: hook.id().to_owned(),
            hook_type: type_name::<H>(),
            policy: |chosen| Phase::Post.policy(chosen),
            priority: 0,
            tool_name: self.inner.results.tool_name(),
        };
        let options = unordered(options);
        let hook = Arc::new(PlainHook(hook));
        self.inner.post.register(hook, registered, options)
    }

    /// Sets a callback for hooks that the registry disables after failures
    /// ([`RegisterOptions::disable_after`]). It replaces the callback before.
    ///
    /// The callback runs in the task of the run in which the hook failed last, after the hook is disabled
    /// and without a lock: it may use the registry. A panic is caught and logged. Copies of the registry
    /// have the callback, too.
    ///
    /// It is called for PRE hooks, POST hooks, observers, and transforms of requests and results.
    pub fn set_on_disabled(&self, callback: impl Fn(&DisabledHook) + Send + Sync + 'static) {
        let callback: OnDisabled = Arc::new(callback);
        self.inner.pre.set_on_disabled(Arc::clone(&callback));
        self.inner.post.set_on_disabled(Arc::clone(&callback));
        self.inner.observers.set_on_disabled(Arc::clone(&callback));
        self.inner.requests.share_on_disabled(Arc::clone(&callback));
        self.inner.results.share_on_disabled(callback);
    }

    /// Enables or disables the hook with this id, and returns `true` if it exists. A disabled hook
    /// keeps its place, and does not run. Enabling a hook resets its failures: see
    /// [`RegisterOptions::disable_after`].
    #[must_use]
    pub fn set_enabled(&self, phase: Phase, id: &str, is_enabled: bool) -> bool {
        match phase {
            Phase::Pre => self.inner.pre.set_enabled(id, is_enabled),
            Phase::Post => self.inner.post.set_enabled(id, is_enabled),
            Phase::Observe => self.inner.observers.set_enabled(id, is_enabled),
        }
    }

    /// Removes the hook with this id, and returns `true` if it existed.
    #[must_use]
    pub fn deregister(&self, phase: Phase, id: &str) -> bool {
        match phase {
            Phase::Pre => self.inner.pre.remove(id),
            Phase::Post => self.inner.post.remove(id),
            Phase::Observe => self.inner.observers.remove(id),
        }
    }

    /// Returns the hooks of a phase, in execution order.
    pub fn registered_hooks(&self, phase: Phase) -> Vec<HookDescriptor> {
        let describe = |entry: &_, failures| HookDescriptor::new(phase, entry, failures);
        match phase {
            Phase::Pre => self.inner.pre.describe(describe),
            Phase::Post => self.inner.post.describe(describe),
            Phase::Observe => self.inner.observers.describe(describe),
        }
    }

    /// Returns a copy of the registry with changes, for one call or for some. The copy shares the
    /// hooks, and the registry stays unchanged.
    ///
    /// Registrations of the registry do not unregister the hooks of the copy. Failures in the copy
    /// count for the registry, too: [`disable_after`](RegisterOptions::disable_after) disables a
    /// shared hook in both.
    ///
    /// ```
    /// use hooks_runtime::phases::PreFn;
    /// use hooks_runtime::{HookResponse, Phase, PhaseRegistry, RegisterOptions, ResponseAction};
    ///
    /// let registry: PhaseRegistry<str, bool> = PhaseRegistry::new();
    /// registry.register_pre(
    ///     PreFn::new("closed", |_: &str| HookResponse::new(ResponseAction::Deny)),
    ///     RegisterOptions::new(),
    /// );
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let call = registry.for_call(|call| _ = call.set_enabled(Phase::Pre, "closed", false));
    /// assert!(call.execute_pre("open").await?.is_continue());
    /// assert!(!registry.execute_pre("open").await?.is_continue());
    /// # Ok::<_, hooks_runtime::HookError>(())
    /// # }).unwrap();
    /// ```
    #[must_use = "the registry itself stays unchanged"]
    pub fn for_call(&self, change: impl FnOnce(&Self)) -> Self {
        let inner = PhaseRegistryInner {
            pre: self.inner.pre.copied(),
            post: self.inner.post.copied(),
            observers: self.inner.observers.copied(),
            requests: self.inner.requests.copied(),
            results: self.inner.results.copied(),
            around_pre: self.inner.around_pre.copied(),
            around_post: self.inner.around_post.copied(),
            timer: Arc::clone(&self.inner.timer),
            deadline: self.inner.deadline,
        };
        let copy = PhaseRegistry {
            inner: Arc::new(inner),
        };
        change(&copy);
        copy
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
    ///     PreFn::new("first", move |request: &str| {
    ///         // Concurrent runs may all call the hook. One of them removes it.
    ///         let registry = weak.upgrade();
    ///         if registry.is_some_and(|registry| registry.deregister(Phase::Pre, "first")) {
    ///             println!("the first request: {request}");
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
}

/// Checks that a hook that runs when its call is decided isolates its failures.
fn check_isolated<C: Call>(
    phase: Phase,
    id: &str,
    options: &RegisterOptions,
) -> Result<(), RegistrationError> {
    let policy = phase.policy(options.on_failure);
    if policy == FailurePolicy::Isolate {
        return Ok(());
    }
    let state = match phase {
        Phase::Post => "over",
        _ => "decided",
    };
    Err(RegistrationError::invalid_option(format!(
        "{} `{id}` cannot {policy}, because the call is {state} when it runs; leave `on_failure` out, or make it a PRE hook",
        C::HOOK
    )))
}

/// Returns the options without a priority: the order of registration alone counts.
fn unordered(options: RegisterOptions) -> RegisterOptions {
    RegisterOptions {
        priority: None,
        ..options
    }
}

impl<Req: ?Sized + Sync + 'static, Res: ?Sized + Sync + 'static> Default
    for PhaseRegistry<Req, Res>
{
    fn default() -> Self {
        PhaseRegistry::new()
    }
}

impl<Req: ?Sized + Sync + 'static, Res: ?Sized + Sync + 'static> Clone for PhaseRegistry<Req, Res> {
    fn clone(&self) -> Self {
        PhaseRegistry {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<Req: ?Sized + Sync + 'static, Res: ?Sized + Sync + 'static> fmt::Debug
    for PhaseRegistry<Req, Res>
{
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
pub struct WeakPhaseRegistry<Req: ?Sized + Sync + 'static, Res: ?Sized + Sync + 'static> {
    inner: Weak<PhaseRegistryInner<Req, Res>>,
}

impl<Req: ?Sized + Sync + 'static, Res: ?Sized + Sync + 'static> WeakPhaseRegistry<Req, Res> {
    /// Returns the registry, or `None` if its last handle has been dropped.
    pub fn upgrade(&self) -> Option<PhaseRegistry<Req, Res>> {
        let inner = self.inner.upgrade()?;
        Some(PhaseRegistry { inner })
    }
}

impl<Req: ?Sized + Sync + 'static, Res: ?Sized + Sync + 'static> Clone
    for WeakPhaseRegistry<Req, Res>
{
    fn clone(&self) -> Self {
        WeakPhaseRegistry {
            inner: Weak::clone(&self.inner),
        }
    }
}

impl<Req: ?Sized + Sync + 'static, Res: ?Sized + Sync + 'static> fmt::Debug
    for WeakPhaseRegistry<Req, Res>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakPhaseRegistry")
    }
}
