//! The registry of PRE and POST hooks.

use std::fmt;
use std::num::NonZeroU32;
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use hooks_core::__private::{drop_catching_panic, registered};
use hooks_core::{
    BoxFuture, EntryId, EntryMeta, Failure, FailurePolicy, Never, Policy, Refused, Registration,
    RegistrationError, Report, SharedReport, Slot, Timer, Unregister,
};
use serde::Serialize;

use super::around::{EnclosePost, EnclosePre, PostCall, PreCall, RunPost, RunPre};
use super::bail::Bail;
use super::hook::{Post, PostHook, Pre, PreHook};
use super::observe::Observe;
use super::observer::{DynPreObserver, ObservingPre, PreObserver, PreResult};
use super::phase::Phase;
use super::response::{HookResponse, ResponseAction};
use crate::HookError;
use crate::around_registry::AroundRegistry;
use crate::catch::CatchPanic;
use crate::cow_cell::{CowCell, Writer};
use crate::health::{self, Counting, FailureCounts, Origin};
use crate::input_filter::{InputFilters, PlainHook, with_filters};
use crate::options::{Inserted, RegisterOptions, check_disabling, insert_with_id};
use crate::timer::HostTimer;
use crate::transform::{TransformError, TransformRegistry};

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
    pre: CowCell<PreSlots<Req>>,
    post: CowCell<Slot<dyn Post<Res>>>,
    requests: TransformRegistry<Req>,
    results: TransformRegistry<Res>,
    /// Created when the host registers the first around hook.
    around_pre: OnceLock<Arc<dyn EnclosePre<Req>>>,
    around_post: OnceLock<Arc<dyn EnclosePost<Res>>>,
    counts: FailureCounts,
    timer: Arc<dyn Timer>,
    origin: Origin<PhaseRegistryInner<Req, Res>>,
}

impl<Req: ?Sized, Res: ?Sized> PhaseRegistryInner<Req, Res> {
    fn around_pre(&self) -> Option<&dyn EnclosePre<Req>> {
        let around = self.around_pre.get().map(|around| &**around);
        around.filter(|around| !around.is_empty())
    }

    fn around_post(&self) -> Option<&dyn EnclosePost<Res>> {
        let around = self.around_post.get().map(|around| &**around);
        around.filter(|around| !around.is_empty())
    }

    /// Runs the hooks of a phase, and disables hooks that reach their limit of failures. Adds the
    /// hooks to `report`.
    async fn run<H, P>(
        &self,
        phase: Phase,
        slot: &Slot<H>,
        policy: P,
        report: Option<&SharedReport>,
    ) -> P::Output
    where
        H: ?Sized,
        P: Policy<H, Future = Never<()>>,
    {
        let policy = Counting::new(policy, self.counts.in_use());
        let (output, failed) = match report {
            None => slot.dispatch(policy).await,
            Some(report) => report.dispatch(slot, policy).await.0,
        };
        self.origin
            .disable(self, failed, phase.name(), |registry, id| {
                registry.change(phase, |slot| slot.disable_entry(id))
            });
        output
    }

    /// Changes the hooks of a phase. Returns the default of `R` if the phase has no slot.
    fn change<R: Default>(&self, phase: Phase, change: impl FnOnce(&mut dyn DynSlot) -> R) -> R {
        match phase {
            Phase::Pre => self.pre.update(|slots| change(&mut slots.hooks)),
            Phase::Post => self.post.update(|slot| change(slot)),
            Phase::Observe => self.pre.update(|slots| slots.change_observers(change)),
        }
    }
}

/// A slot without the type of its hooks.
trait DynSlot {
    fn id_of(&self, key: &str) -> Option<EntryId>;

    fn disable_entry(&mut self, id: EntryId) -> bool;

    fn set_entry_enabled(&mut self, id: EntryId, is_enabled: bool) -> bool;

    fn remove_entry(&mut self, id: EntryId) -> bool;
}

impl<H: ?Sized> DynSlot for Slot<H> {
    fn id_of(&self, key: &str) -> Option<EntryId> {
        self.get(key).map(|(_, entry)| entry.id())
    }

    fn disable_entry(&mut self, id: EntryId) -> bool {
        health::disable_entry(self, id)
    }

    fn set_entry_enabled(&mut self, id: EntryId, is_enabled: bool) -> bool {
        self.set_entry_enabled(id, is_enabled)
    }

    fn remove_entry(&mut self, id: EntryId) -> bool {
        self.remove_entry(id)
    }
}

/// The hooks that run before a call.
struct PreSlots<Req: ?Sized> {
    hooks: Slot<dyn Pre<Req>>,
    /// `None` if there are none.
    observers: Option<Slot<dyn DynPreObserver<Req>>>,
}

impl<Req: ?Sized> Clone for PreSlots<Req> {
    fn clone(&self) -> Self {
        PreSlots {
            hooks: self.hooks.clone(),
            observers: self.observers.clone(),
        }
    }
}

impl<Req: ?Sized> PreSlots<Req> {
    /// Changes the observers, if there are any. Forgets the slot of the last observer.
    fn change_observers<R: Default>(&mut self, change: impl FnOnce(&mut dyn DynSlot) -> R) -> R {
        let Some(observers) = &mut self.observers else {
            return R::default();
        };
        let output = change(observers);
        if observers.is_empty() {
            self.observers = None;
        }
        output
    }
}

impl<Req: ?Sized> Writer for PreSlots<Req> {
    type Snapshot = PreSlots<Req>;

    fn snapshot(&self) -> PreSlots<Req> {
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
        let pre = PreSlots {
            hooks: Slot::with_timer(Arc::clone(&timer)),
            observers: None,
        };
        PhaseRegistry {
            inner: Arc::new(PhaseRegistryInner {
                pre: CowCell::new(pre),
                post: CowCell::new(Slot::with_timer(Arc::clone(&timer))),
                requests: TransformRegistry::with_timer(Arc::clone(&timer)),
                results: TransformRegistry::with_timer(Arc::clone(&timer)),
                around_pre: OnceLock::new(),
                around_post: OnceLock::new(),
                counts: FailureCounts::default(),
                timer,
                origin: Origin::NONE,
            }),
        }
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
        let description = check(Phase::Pre, hook.id(), &options)?;
        let tool_name = self.inner.requests.tool_name();
        let filters = InputFilters::new(&options.conditions, &description, tool_name)?;
        self.insert_pre(hook, |_, _| (options, filters))
    }

    /// Registers a PRE hook with the options of the hook that it replaces by id, even if a hook that
    /// these options name in `before` or `after` has been removed; without such a hook, like
    /// [`register_pre`](Self::register_pre) with default options.
    pub fn replace_pre<H>(&self, hook: H) -> Registration
    where
        H: PreHook<Req> + 'static,
    {
        let inserted = self.insert_pre(hook, |slot, id| {
            let Some((hook, entry)) = slot.get(id) else {
                return (RegisterOptions::new(), None);
            };
            let options = RegisterOptions {
                disable_after: self.inner.counts.limit(entry.id()),
                ..options_of(entry)
            };
            (options, hook.filters().cloned())
        });
        inserted.expect("the replaced hook was accepted with these options")
    }

    /// Registers a hook with options that are computed from the existing hooks and its id.
    fn insert_pre<H>(
        &self,
        hook: H,
        options: impl FnOnce(&Slot<dyn Pre<Req>>, &str) -> (RegisterOptions, Option<InputFilters<Req>>),
    ) -> Result<Registration, RegistrationError>
    where
        H: PreHook<Req> + 'static,
    {
        let key = PreHook::id(&hook).to_owned();
        let priority = PreHook::priority(&hook).unwrap_or(PRIORITY);
        let hook: Arc<dyn Pre<Req>> = Arc::new(PlainHook(hook));
        let (inserted, limit) = self.inner.pre.update(|slots| {
            let (options, filters) = options(&slots.hooks, &key);
            let limit = options.disable_after;
            let entry = options.entry(hook, std::any::type_name::<H>(), priority);
            let entry = with_filters(entry, filters, |hook| hook);
            (insert_with_id(&mut slots.hooks, entry, &key), limit)
        });
        let inserted = inserted.map_err(Refused::into_error)?;
        Ok(self.registered(Phase::Pre, key, inserted, limit))
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
        let description = check(Phase::Observe, observer.id(), &options)?;
        let tool_name = self.inner.requests.tool_name();
        let filters = InputFilters::new(&options.conditions, &description, tool_name)?;
        let key = observer.id().to_owned();
        let limit = options.disable_after;
        let observer: Arc<dyn DynPreObserver<Req>> = Arc::new(PlainHook(observer));
        let entry = options
            .entry(observer, std::any::type_name::<H>(), 0)
            .priority(0);
        let entry = with_filters(entry, filters, |hook| hook);
        let timer = &self.inner.timer;
        let inserted = self.inner.pre.update(|slots| {
            let new = || Slot::with_timer(Arc::clone(timer));
            let observers = slots.observers.get_or_insert_with(new);
            let inserted = insert_with_id(observers, entry, &key);
            if observers.is_empty() {
                slots.observers = None;
            }
            inserted
        });
        let inserted = inserted.map_err(Refused::into_error)?;
        Ok(self.registered(Phase::Observe, key, inserted, limit))
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
        let description = check(Phase::Post, hook.id(), &options)?;
        let tool_name = self.inner.results.tool_name();
        let filters = InputFilters::new(&options.conditions, &description, tool_name)?;
        // The order of registration alone counts.
        let key = PostHook::id(&hook).to_owned();
        let limit = options.disable_after;
        let hook: Arc<dyn Post<Res>> = Arc::new(PlainHook(hook));
        let entry = options
            .entry(hook, std::any::type_name::<H>(), 0)
            .priority(0);
        let entry = with_filters(entry, filters, |hook| hook);
        let insert = |slot: &mut Slot<_>| insert_with_id(slot, entry, &key);
        let inserted = self.inner.post.update(insert);
        let inserted = inserted.map_err(Refused::into_error)?;
        Ok(self.registered(Phase::Post, key, inserted, limit))
    }

    /// Enables or disables the hook with this id, and returns `true` if it exists. A disabled hook
    /// keeps its place, and does not run. Enabling a hook resets its failures: see
    /// [`RegisterOptions::disable_after`].
    pub fn set_enabled(&self, phase: Phase, id: &str, is_enabled: bool) -> bool {
        let entry = self.inner.change(phase, |slot| {
            let entry = slot.id_of(id)?;
            slot.set_entry_enabled(entry, is_enabled).then_some(entry)
        });
        if let (Some(entry), true) = (entry, is_enabled) {
            self.inner.counts.restart(entry);
        }
        entry.is_some()
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
            requests: self.inner.requests.copied(),
            results: self.inner.results.copied(),
            around_pre: copied(&self.inner.around_pre, |around| around.copied()),
            around_post: copied(&self.inner.around_post, |around| around.copied()),
            counts: self.inner.counts.copied(),
            timer: Arc::clone(&self.inner.timer),
            origin: Origin::of_copy(&self.inner, &self.inner.origin),
        };
        let copy = PhaseRegistry {
            inner: Arc::new(inner),
        };
        change(&copy);
        copy
    }

    /// Removes the hook with this id, and returns `true` if it existed.
    pub fn deregister(&self, phase: Phase, id: &str) -> bool {
        let removed = self.inner.change(phase, |slot| {
            let entry = slot.id_of(id)?;
            slot.remove_entry(entry).then_some(entry)
        });
        if let Some(removed) = removed {
            self.inner.counts.forget(removed);
        }
        log_removal(removed.is_some(), phase, id)
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
        let slots = self.inner.pre.load();
        let policy = Bail::new(request);
        let around = self.inner.around_pre();
        if let (Some(around), Some(observers)) = (around, &slots.observers) {
            let run = self.run_observed(around, &slots, observers, request, false);
            let (response, _) = Box::pin(run).await;
            drop_catching_panic(slots);
            return response;
        }
        let response = if let Some(around) = around {
            let hooks = PreHooks {
                inner: &self.inner,
                slots: &slots,
                report: None,
            };
            around.run(&hooks, request, None).await
        } else if self.inner.counts.is_used() {
            // Boxed, so that the futures of other runs are smaller.
            let run = self.inner.run(Phase::Pre, &slots.hooks, policy, None);
            Box::pin(run).await
        } else {
            slots.hooks.dispatch(policy).await
        };
        if let Some(observers) = &slots.observers {
            Box::pin(self.observe(observers, request, response.as_ref(), None)).await;
        }
        drop_catching_panic(slots);
        response
    }

    /// Like [`execute_pre`](Self::execute_pre), with a report on each hook, around hooks and observers
    /// included.
    ///
    /// # Errors
    /// As [`execute_pre`](Self::execute_pre); the report is returned in any case.
    pub async fn execute_pre_reported(
        &self,
        request: &Req,
    ) -> (Result<HookResponse, HookError>, Report) {
        let slots = self.inner.pre.load();
        let (shared, around) = (SharedReport::new(), self.inner.around_pre());
        let (response, report) = match (around, &slots.observers) {
            (Some(around), Some(observers)) => {
                let run = self.run_observed(around, &slots, observers, request, true);
                Box::pin(run).await
            }
            (Some(around), None) => {
                let hooks = PreHooks {
                    inner: &self.inner,
                    slots: &slots,
                    report: Some(&shared),
                };
                let response = around.run(&hooks, request, Some(&shared)).await;
                let mut report = shared.take();
                report.add_skipped(&slots.hooks);
                (response, report)
            }
            (None, observers) => {
                let (hooks, policy) = (&slots.hooks, Bail::new(request));
                let run = self.inner.run(Phase::Pre, hooks, policy, Some(&shared));
                let response = run.await;
                if let Some(observers) = observers {
                    let response = response.as_ref();
                    let observe = self.observe(observers, request, response, Some(&shared));
                    observe.await;
                }
                (response, shared.take())
            }
        };
        drop_catching_panic(slots);
        (response, report)
    }

    /// Runs the PRE hooks within around hooks, then the observers, also if an around hook panics:
    /// they receive the panic as an error, and then the panic continues.
    async fn run_observed(
        &self,
        around: &dyn EnclosePre<Req>,
        slots: &PreSlots<Req>,
        observers: &Slot<dyn DynPreObserver<Req>>,
        request: &Req,
        is_reported: bool,
    ) -> (Result<HookResponse, HookError>, Report) {
        let shared = SharedReport::new();
        let reported = is_reported.then_some(&shared);
        let hooks = PreHooks {
            inner: &self.inner,
            slots,
            report: reported,
        };
        // The report knows which around hook panicked.
        let run = CatchPanic(around.run(&hooks, request, Some(&shared)));
        let (response, payload) = match run.await {
            Ok(response) => (response, None),
            Err(payload) => {
                let error = match shared.panicked() {
                    Some((hook, failure)) => HookError::of(hook, failure),
                    None => HookError::from_fault(Failure::of_payload(&*payload)),
                };
                (Err(error), Some(payload))
            }
        };
        let mut report = Report::default();
        if is_reported {
            report = shared.take();
            report.add_skipped(&slots.hooks);
        }
        let observe = self.observe(observers, request, response.as_ref(), reported);
        observe.await;
        if is_reported {
            report.entries.extend(shared.take().entries);
        }
        if let Some(payload) = payload {
            resume_unwind(payload);
        }
        (response, report)
    }

    /// Runs the observers.
    async fn observe(
        &self,
        observers: &Slot<dyn DynPreObserver<Req>>,
        request: &Req,
        response: PreResult<'_>,
        report: Option<&SharedReport>,
    ) {
        let policy = ObservingPre::new(request, response);
        let run = self.inner.run(Phase::Observe, observers, policy, report);
        run.await;
    }

    /// Runs all POST hooks, one after the other, and returns when the last has finished. Hooks that
    /// fail, panic or exceed their timeout are logged. Dropping the future cancels the running
    /// hook, and starts no further ones.
    pub async fn execute_post(&self, result: &Res, request_id: Option<&str>) {
        let slot = self.inner.post.load();
        let policy = Observe::new(result, request_id);
        if let Some(around) = self.inner.around_post() {
            let hooks = PostHooks {
                inner: &self.inner,
                slot: &slot,
                report: None,
            };
            around.run(&hooks, result, request_id, None).await;
        } else if self.inner.counts.is_used() {
            // Boxed, so that the futures of other runs are smaller.
            let run = self.inner.run(Phase::Post, &slot, policy, None);
            Box::pin(run).await;
        } else {
            slot.dispatch(policy).await;
        }
        drop_catching_panic(slot);
    }

    /// Like [`execute_post`](Self::execute_post), with a report on each hook, around hooks included.
    pub async fn execute_post_reported(&self, result: &Res, request_id: Option<&str>) -> Report {
        let slot = self.inner.post.load();
        let report = SharedReport::new();
        if let Some(around) = self.inner.around_post() {
            let hooks = PostHooks {
                inner: &self.inner,
                slot: &slot,
                report: Some(&report),
            };
            let run = around.run(&hooks, result, request_id, Some(&report));
            run.await;
        } else {
            let policy = Observe::new(result, request_id);
            let run = self.inner.run(Phase::Post, &slot, policy, Some(&report));
            run.await;
        }
        let mut report = report.take();
        report.add_skipped(&slot);
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
            before: entry.before().map(str::to_owned).collect(),
            after: entry.after().map(str::to_owned).collect(),
            timeout: entry.timeout(),
            on_failure: phase.policy(entry.on_failure()),
            enabled: entry.is_enabled(),
            conditional: entry.is_conditional(),
            failures: self.inner.counts.failures(entry.id()),
        };
        match phase {
            Phase::Pre => {
                let slots = self.inner.pre.load();
                let hooks = slots.hooks.iter();
                hooks.map(|(_, entry)| describe(entry)).collect()
            }
            Phase::Post => {
                let slot = self.inner.post.load();
                slot.iter().map(|(_, entry)| describe(entry)).collect()
            }
            Phase::Observe => {
                let slots = self.inner.pre.load();
                let hooks = slots.observers.iter().flat_map(Slot::iter);
                hooks.map(|(_, entry)| describe(entry)).collect()
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

    /// Completes a registration: counts failures up to the limit, and returns the handle.
    fn registered(
        &self,
        phase: Phase,
        key: String,
        Inserted { id, replaced }: Inserted,
        limit: Option<NonZeroU32>,
    ) -> Registration {
        self.inner.counts.register(id, limit, replaced);
        tracing::debug!(
            target: "hooks_runtime",
            %phase, hook = key, replaces = replaced.is_some(), "hook registered"
        );
        let registry = Arc::downgrade(&self.inner);
        let handle = PhaseUnregister {
            registry,
            phase,
            key,
        };
        Registration::new(id, handle)
    }
}

impl<Req: ?Sized + Sync + 'static, Res: ?Sized + 'static> PhaseRegistry<Req, Res> {
    /// Returns the around hooks that enclose the PRE hooks. Observers receive the response that the
    /// outermost around hook returns. If an around hook panics, observers receive the panic as an
    /// error that names the hook, and then it reaches the caller.
    ///
    /// An around hook that returns `CONTINUE` without calling `next` skips every check.
    pub fn around_pre(&self) -> &AroundRegistry<PreCall<Req>> {
        let new = || Arc::new(AroundRegistry::<PreCall<Req>>::new()) as _;
        let around = self.inner.around_pre.get_or_init(new).as_any();
        around.downcast_ref().expect("only this method creates it")
    }
}

impl<Req: ?Sized + 'static, Res: ?Sized + Sync + 'static> PhaseRegistry<Req, Res> {
    /// Returns the around hooks that enclose the POST hooks. If one of them panics, the panic reaches
    /// the caller, and the POST hooks that have not run do not run.
    pub fn around_post(&self) -> &AroundRegistry<PostCall<Res>> {
        let new = || Arc::new(AroundRegistry::<PostCall<Res>>::new()) as _;
        let around = self.inner.around_post.get_or_init(new).as_any();
        around.downcast_ref().expect("only this method creates it")
    }
}

/// Copies around hooks, if there are any.
fn copied<T: ?Sized>(
    around: &OnceLock<Arc<T>>,
    copy: impl FnOnce(&T) -> Arc<T>,
) -> OnceLock<Arc<T>> {
    match around.get() {
        None => OnceLock::new(),
        Some(around) => OnceLock::from(copy(around)),
    }
}

/// The PRE hooks within around hooks.
struct PreHooks<'r, Req: ?Sized, Res: ?Sized> {
    inner: &'r PhaseRegistryInner<Req, Res>,
    slots: &'r PreSlots<Req>,
    /// `None` if no report is requested.
    report: Option<&'r SharedReport>,
}

impl<Req: ?Sized, Res: ?Sized> RunPre<Req> for PreHooks<'_, Req, Res> {
    fn run<'a>(&'a self, request: &'a Req) -> BoxFuture<'a, Result<HookResponse, HookError>>
    where
        Req: Sync,
    {
        if let Some(report) = self.report {
            report.enter_innermost();
        }
        let (hooks, policy) = (&self.slots.hooks, Bail::new(request));
        Box::pin(self.inner.run(Phase::Pre, hooks, policy, self.report))
    }
}

/// The POST hooks within around hooks.
struct PostHooks<'r, Req: ?Sized, Res: ?Sized> {
    inner: &'r PhaseRegistryInner<Req, Res>,
    slot: &'r Slot<dyn Post<Res>>,
    /// `None` if no report is requested.
    report: Option<&'r SharedReport>,
}

impl<Req: ?Sized, Res: ?Sized> RunPost<Res> for PostHooks<'_, Req, Res> {
    fn run<'a>(&'a self, result: &'a Res, request_id: Option<&'a str>) -> BoxFuture<'a, ()>
    where
        Res: Sync,
    {
        if let Some(report) = self.report {
            report.enter_innermost();
        }
        let policy = Observe::new(result, request_id);
        let run = self.inner.run(Phase::Post, self.slot, policy, self.report);
        Box::pin(run)
    }
}

impl<Req: ?Sized + Send + Sync + 'static, Res: ?Sized + 'static> PhaseRegistry<Req, Res> {
    /// Runs the hooks that may [change the request](Self::requests), then the PRE hooks on the
    /// changed request, then the observers. Make the call with [`PreRun::request`].
    ///
    /// If a hook denies the request, the response is `DENY` with its reason; if a hook fails, the
    /// response is the error. The PRE hooks do not run then, and the observers receive the raw
    /// request.
    ///
    /// [`execute_pre`](Self::execute_pre) does not run these hooks.
    ///
    /// ```
    /// use hooks_runtime::phases::PreFn;
    /// use hooks_runtime::transform::{TransformFn, TransformInput, Transformed};
    /// use hooks_runtime::{HookResponse, PhaseRegistry, RegisterOptions, ResponseAction};
    ///
    /// let registry: PhaseRegistry<String, bool> = PhaseRegistry::new();
    /// registry.register_pre(
    ///     PreFn::new("no-sudo", |command: &String| match command.starts_with("sudo ") {
    ///         true => HookResponse::new(ResponseAction::Deny),
    ///         false => HookResponse::default(),
    ///     }),
    ///     RegisterOptions::new(),
    /// );
    /// registry.requests().register(
    ///     TransformFn::new("drop-sudo", |command: TransformInput<'_, String>| {
    ///         match command.current().strip_prefix("sudo ") {
    ///             Some(command) => Transformed::changed(command.to_owned()),
    ///             None => Transformed::Unchanged,
    ///         }
    ///     }),
    ///     RegisterOptions::new(),
    /// );
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let run = registry.run_pre("sudo ls".to_owned()).await;
    /// assert!(run.response?.is_continue());
    /// assert_eq!(*run.request, "ls");
    /// # Ok::<_, hooks_runtime::HookError>(())
    /// # }).unwrap();
    /// ```
    pub async fn run_pre(&self, request: impl Into<Arc<Req>>) -> PreRun<Req> {
        let raw = request.into();
        let refused = match self.inner.requests.apply(Arc::clone(&raw)).await {
            Ok(outcome) => {
                let response = self.execute_pre(&outcome.value).await;
                return PreRun {
                    request: outcome.value,
                    raw: outcome.raw,
                    changed_by: outcome.changed_by,
                    response,
                };
            }
            Err(TransformError::Failed(error)) => Err(error),
            Err(TransformError::Denied { hook, reason }) => {
                let response = HookResponse::new(ResponseAction::Deny).reason(reason);
                Ok(response.details(format!("denied by `{hook}`")))
            }
        };
        let slots = self.inner.pre.load();
        if let Some(observers) = &slots.observers {
            let observe = self.observe(observers, &raw, refused.as_ref(), None);
            Box::pin(observe).await;
        }
        drop_catching_panic(slots);
        PreRun {
            request: Arc::clone(&raw),
            raw,
            changed_by: Vec::new(),
            response: refused,
        }
    }
}

/// Result of [`PhaseRegistry::run_pre`].
#[derive(Debug)]
#[must_use = "the response may be a denial"]
#[non_exhaustive]
pub struct PreRun<Req: ?Sized> {
    /// The request after all changes, which the PRE hooks have checked.
    pub request: Arc<Req>,
    /// The request before all changes.
    pub raw: Arc<Req>,
    /// Names of the hooks that changed the request, in execution order.
    pub changed_by: Vec<Arc<str>>,
    /// The response of the PRE hooks, or the error of a hook.
    pub response: Result<HookResponse, HookError>,
}

/// Checks that a phase supports the options. Returns the description of the hook in messages.
fn check(phase: Phase, id: &str, options: &RegisterOptions) -> Result<String, RegistrationError> {
    let policy = phase.policy(options.on_failure);
    if phase != Phase::Pre && policy != FailurePolicy::Isolate {
        let state = match phase {
            Phase::Post => "over",
            _ => "decided",
        };
        return Err(RegistrationError::invalid_option(format!(
            "{phase} hook `{id}` cannot {policy}, because the call is {state} when it runs; leave `on_failure` out, or make it a PRE hook"
        )));
    }
    let hook = format!("{phase} hook `{id}`");
    options.check_no_event_options(&hook)?;
    check_disabling(&hook, options.disable_after, policy)?;
    Ok(hook)
}

/// Logs the removal of a hook, if it was registered.
fn log_removal(found: bool, phase: Phase, id: &str) -> bool {
    if found {
        tracing::debug!(target: "hooks_runtime", %phase, hook = id, "hook deregistered");
    }
    found
}

/// Returns the options in an entry.
fn options_of(entry: &EntryMeta) -> RegisterOptions {
    RegisterOptions {
        priority: Some(entry.priority()),
        name: entry.explicit_name().map(|name| name.to_owned().into()),
        timeout: entry.timeout(),
        on_failure: entry.on_failure(),
        trusted: Some(entry.is_trusted()),
        before: entry.before().map(|key| key.to_owned().into()).collect(),
        after: entry.after().map(|key| key.to_owned().into()).collect(),
        disabled: !entry.is_enabled(),
        ..RegisterOptions::new()
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
    /// Its priority; POST hooks and observers have none.
    pub priority: Option<i32>,
    /// The ids of the hooks before which this hook runs.
    pub before: Vec<String>,
    /// The ids of the hooks after which this hook runs.
    pub after: Vec<String>,
    /// Timeout of a call.
    pub timeout: Option<Duration>,
    /// Failure policy.
    pub on_failure: FailurePolicy,
    /// `false` if the hook is disabled.
    pub enabled: bool,
    /// `true` if the hook runs for some requests or results only.
    pub conditional: bool,
    /// Failures since the last success, if a number of them disables the hook; else 0.
    pub failures: u32,
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
        let found = registry.change(self.phase, |slot| slot.remove_entry(id));
        registry.counts.forget(id);
        log_removal(found, self.phase, &self.key)
    }
}
