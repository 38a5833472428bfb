//! The registry of event hooks.

use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Mutex, TryLockError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use hooks_core::__private::{ColdFuture, drop_catching_panic, registered};
use hooks_core::{
    BoxFuture, EntryId, EntryMeta, Failure, FailurePolicy, Innermost, IntoAround, Never, Next,
    Policy, Refused, Registration, RegistrationError, Report, SharedReport, Slot, Timer,
    Unregister,
};
use pin_project_lite::pin_project;

use super::call::EventCall;
use super::collect::{Collect, Collected};
use super::data::{DefaultFields, EmitError, IntoEventData};
use super::emission::{Emission, HandlerFailure};
use super::emit::{EmissionState, policy};
use super::handler::{Handler, HookReturn, IntoHandler, conditional, handler, name_of};
use super::names::{EventNameWarning, EventNames};
use super::observe::Observers;
use super::phase::EventPhase;
use super::record::{Background, Fields};
use super::schema::{DeclaredSchema, EventSchema};
use super::table::{EventDescriptor, EventSlots, EventTable, LaterSlots, TableWriter, filter_bit};
use crate::Map;
use crate::around_registry::checked;
use crate::catch::{CatchPanic, Payload};
use crate::cow_cell::CowCell;
use crate::health::{Counting, FailedHook, FailureCounts, Origin};
use crate::lock::lock;
use crate::options::{Inserted, RegisterOptions, check_disabling};
use crate::timer::HostTimer;
use crate::within::Deadline;

/// Event hooks by the name of their event. Clones share one registry.
///
/// Every method takes `&self`, on any thread. If a hook is registered or removed during an
/// emission, the change affects later emissions. No emission waits for a registration.
#[derive(Clone)]
pub struct HookRegistry {
    inner: Arc<HookRegistryInner>,
}

struct HookRegistryInner {
    table: CowCell<TableWriter>,
    names: Mutex<EventNames>,
    counts: FailureCounts,
    timer: Arc<dyn Timer>,
    origin: Origin<HookRegistryInner>,
}

impl HookRegistryInner {
    fn check_registration(&self, event: &Arc<str>) {
        let warning = lock(&self.names).on_registration(event);
        if let Some(warning) = warning {
            log(&warning);
        }
    }

    /// Checks the name of an emission that found no hooks in this table. Waits for no other thread:
    /// if one holds a lock, a later emission is checked.
    #[cold]
    fn check_emission(&self, event: &str, table: &EventTable) {
        let mut names = match self.names.try_lock() {
            Ok(names) => names,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let checked = names.on_emission(event, table);
        drop(names);
        if let Some(warning) = checked.warning {
            log(&warning);
        }
        if checked.settled != 0 {
            self.table.try_update(|table| table.settle(checked.settled));
        }
    }

    /// Disables hooks that have reached their limit of failures.
    fn disable(&self, event: &str, failed: Vec<FailedHook>) {
        self.origin.disable(self, failed, event, |registry, id| {
            registry.table.update(|table| {
                let is_enabled = |entry: &EntryMeta| entry.id() == id && entry.is_enabled();
                !table.find(is_enabled).is_empty() && table.set_entry_enabled(event, id, false)
            })
        });
    }
}

fn log(warning: &EventNameWarning) {
    tracing::warn!(target: "hooks_runtime", event = &*warning.event, "{warning}");
}

impl HookRegistry {
    /// Default timeout of [`emit_and_collect`](Self::emit_and_collect): one second.
    pub const COLLECT_TIMEOUT: Duration = Duration::from_secs(1);

    /// Creates a registry without hooks, with [`HostTimer`] as its timer.
    pub fn new() -> Self {
        HookRegistry::with_timer(Arc::new(HostTimer))
    }

    /// Creates a registry without hooks, with this timer.
    pub fn with_timer(timer: Arc<dyn Timer>) -> Self {
        let inner = HookRegistryInner {
            table: CowCell::new(TableWriter::new()),
            names: Mutex::new(EventNames::new(HookRegistry::STANDARD_EVENTS)),
            counts: FailureCounts::default(),
            timer,
            origin: Origin::NONE,
        };
        HookRegistry {
            inner: Arc::new(inner),
        }
    }

    /// Registers a hook for an event: see [the module](super::handler) for the forms of hooks. The
    /// event needs no declaration, and its name is matched exactly. If the name is probably a
    /// mistake, a [warning](Self::event_name_warnings) is logged.
    ///
    /// ```
    /// use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
    ///
    /// let hooks = HookRegistry::new();
    /// let registration = hooks.register(
    ///     "deploy:start",
    ///     |event: Event<'_>| match event.str("target") {
    ///         Some("production") => HookResult::ask_user("Deploy to production?"),
    ///         _ => HookResult::proceed(),
    ///     },
    ///     RegisterOptions::new().name("production_gate").priority(5),
    /// );
    /// assert_eq!(hooks.list_handlers(None)["deploy:start"], ["production_gate"]);
    /// assert!(registration.unregister());
    /// ```
    ///
    /// # Panics
    /// If [`try_register`](Self::try_register) returns an error.
    #[track_caller]
    pub fn register<H, Form: 'static, Time: 'static>(
        &self,
        event: impl Into<Arc<str>>,
        hook: H,
        options: RegisterOptions,
    ) -> Registration
    where
        H: IntoHandler<Form, Return: HookReturn<Time, Waits: Send>>,
    {
        registered(self.try_register(event, hook, options))
    }

    /// Like [`register`](Self::register), and returns an error if the hook is refused. The hook is
    /// then dropped, and the registry is unchanged. A host uses this method for hooks of plugins,
    /// whose mistakes must not end the process.
    ///
    /// ```
    /// use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions, RegistrationError};
    ///
    /// let hooks = HookRegistry::new();
    /// let options = RegisterOptions::new().before("formatter");
    /// let refused = hooks.try_register("tool:pre", |_: Event<'_>| HookResult::proceed(), options);
    /// match refused {
    ///     Err(RegistrationError::UnknownKey { key, .. }) => assert_eq!(key, "formatter"),
    ///     other => panic!("{other:?}"),
    /// }
    /// assert!(hooks.descriptors().is_empty());
    /// ```
    ///
    /// # Errors
    /// - If the hook has the phase [`Observe`](EventPhase::Observe) and a failure policy other than
    ///   [isolate](FailurePolicy::Isolate): the event is decided when it runs.
    /// - If a number of failures [disables](RegisterOptions::disable_after) the hook, and its
    ///   failures are not isolated.
    /// - If [`before`](RegisterOptions::before) or [`after`](RegisterOptions::after) names a key that
    ///   no hook of the event and phase has, or if the order would be a cycle.
    /// - If the hook has the option [`when_input`](RegisterOptions::when_input).
    pub fn try_register<H, Form: 'static, Time: 'static>(
        &self,
        event: impl Into<Arc<str>>,
        hook: H,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError>
    where
        H: IntoHandler<Form, Return: HookReturn<Time, Waits: Send>>,
    {
        let name = hook.name();
        let hook = handler::<H, Form, Time>(hook);
        self.insert(
            event.into(),
            hook,
            name,
            H::TRUSTED,
            std::any::type_name::<H>(),
            options,
        )
    }

    /// Registers a hook whose type is erased. Not generic, so that it is compiled once.
    #[inline(never)]
    fn insert(
        &self,
        event: Arc<str>,
        hook: Arc<dyn Handler>,
        name: Option<String>,
        is_trusted: bool,
        hook_type: &'static str,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError> {
        let phase = options.phase.unwrap_or_default();
        let disable_after = options.disable_after;
        let conditions = options.conditions.clone();
        let options = match options.trusted {
            Some(_) => options,
            None => options.trusted(is_trusted),
        };
        let mut entry = options.entry(hook, hook_type, 0);
        let described = |entry: &EntryMeta| format!("hook `{}` of event `{event}`", entry.name());
        if conditions.has_input_filter() {
            return Err(RegistrationError::invalid_option(format!(
                "{} has the option `when_input`, which is for PRE and POST hooks, observers and transforms; use `when`",
                described(entry.meta())
            )));
        }
        conditions.warn_of_empty_tools(|| described(entry.meta()));
        if !conditions.is_empty() {
            entry = entry.conditional(true);
            entry = entry.map(|hook| conditional(hook, conditions));
        }
        if entry.meta().explicit_name().is_none() {
            entry = match name.or_else(|| name_of(entry.meta().hook_type())) {
                Some(name) => entry.name(name),
                None => entry,
            };
        }
        let (name, priority) = (entry.meta().name_arc(), entry.meta().priority());
        match (phase, entry.meta().on_failure()) {
            (EventPhase::Decide, None) => entry = entry.on_failure(FailurePolicy::FailClosed),
            (EventPhase::Observe, Some(policy)) if policy != FailurePolicy::Isolate => {
                return Err(RegistrationError::invalid_option(format!(
                    "hook `{name}` of the phase `observe` cannot {policy}, because the event `{event}` is decided when it runs; leave `on_failure` out, or use the phase `decide`"
                )));
            }
            _ => {}
        }
        if disable_after.is_some() {
            let policy = policy(entry.meta());
            check_disabling(&described(entry.meta()), disable_after, policy)?;
        }
        let timer = &self.inner.timer;
        let inserted = self
            .inner
            .table
            .update(|table| table.insert(&event, entry, phase, disable_after.is_some(), timer));
        let Inserted { id, replaced } = inserted.map_err(Refused::into_error)?;
        self.inner.counts.register(id, disable_after, replaced);
        tracing::debug!(
            target: "hooks_runtime",
            event = &*event, hook = &*name, priority, "event hook registered"
        );
        Ok(self.registered(event, id, name, priority))
    }

    /// Completes a registration: checks the name of the event, and returns the handle.
    fn registered(
        &self,
        event: Arc<str>,
        id: EntryId,
        name: Arc<str>,
        priority: i32,
    ) -> Registration {
        self.inner.check_registration(&event);
        let handle = EventUnregister {
            registry: Arc::downgrade(&self.inner),
            event,
            name,
            priority,
        };
        Registration::new(id, handle)
    }

    /// Alias of [`register`](Self::register).
    ///
    /// # Panics
    /// As [`register`](Self::register).
    #[track_caller]
    pub fn on<H, Form: 'static, Time: 'static>(
        &self,
        event: impl Into<Arc<str>>,
        hook: H,
        options: RegisterOptions,
    ) -> Registration
    where
        H: IntoHandler<Form, Return: HookReturn<Time, Waits: Send>>,
    {
        self.register(event, hook, options)
    }

    /// Registers an around hook for an event. It encloses the phases
    /// [`Transform`](EventPhase::Transform) and [`Decide`](EventPhase::Decide); observers receive
    /// the emission that it returns. If it panics, observers receive the panic as
    /// [`EmitError::Hook`], and then it reaches the caller. `emit_and_collect` does not run it.
    ///
    /// Use an [`Entry`](hooks_core::Entry) to set a key, a priority or a condition. With a deadline,
    /// the whole call is cancelled at the deadline.
    ///
    /// ```
    /// use hooks_runtime::around::Next;
    /// use hooks_runtime::events::EventCall;
    /// use hooks_runtime::{Entry, HookRegistry};
    ///
    /// let hooks = HookRegistry::new();
    /// hooks.around(
    ///     "tool:pre",
    ///     Entry::new(async |call: EventCall, next: Next<'_, EventCall>| {
    ///         let start = std::time::Instant::now();
    ///         let outcome = next.call((call,)).await;
    ///         println!("decided in {:?}", start.elapsed());
    ///         outcome
    ///     }).key("timing"),
    /// );
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// hooks.emit("tool:pre", ()).await?;
    /// # Ok::<_, hooks_runtime::EmitError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Panics
    /// If [`try_around`](Self::try_around) returns an error.
    #[track_caller]
    pub fn around<M>(
        &self,
        event: impl Into<Arc<str>>,
        hook: impl IntoAround<EventCall, M> + 'static,
    ) -> Registration {
        registered(self.try_around(event, hook))
    }

    /// Like [`around`](Self::around), and returns an error if the hook is refused. The hook is then
    /// dropped, and the registry is unchanged.
    ///
    /// # Errors
    /// If the entry has a timeout or a failure policy, names an unknown key in `before` or `after`,
    /// or makes the order a cycle.
    pub fn try_around<M>(
        &self,
        event: impl Into<Arc<str>>,
        hook: impl IntoAround<EventCall, M> + 'static,
    ) -> Result<Registration, RegistrationError> {
        let event = event.into();
        let entry = checked(hook.__hooks_into_entry())?;
        let (name, priority) = (entry.meta().name_arc(), entry.meta().priority());
        let timer = &self.inner.timer;
        let inserted = self
            .inner
            .table
            .update(|table| table.insert_around(&event, entry, timer));
        let id = inserted.map_err(Refused::into_error)?;
        tracing::debug!(
            target: "hooks_runtime",
            event = &*event, hook = &*name, priority, "around hook registered"
        );
        Ok(self.registered(event, id, name, priority))
    }

    /// Enables or disables the around hook of this event with this key. Returns `false` if there is
    /// none.
    pub fn set_around_enabled(&self, event: &str, key: &str, is_enabled: bool) -> bool {
        self.inner.table.update(|table| {
            let found = table.find_around(event, key);
            found.is_some_and(|id| table.set_entry_enabled(event, id, is_enabled))
        })
    }

    /// Returns the around hooks of an event, the outermost hook first.
    pub fn around_hooks(&self, event: &str) -> Vec<EntryMeta> {
        let table = self.inner.table.load();
        let later = table
            .find_hooks(event)
            .and_then(|(_, hooks)| hooks.later.as_deref());
        let around = later.into_iter().flat_map(|later| later.around.iter());
        around.map(|(_, entry)| entry.clone()).collect()
    }

    /// Emits an event: its hooks run one after the other, by priority. Each hook receives the data
    /// with the changes of the previous hooks. See [the module](super) for the precedence of
    /// actions.
    ///
    /// `data` is an object: a map, a [`Value`](serde_json::Value), or `()`.
    ///
    /// Dropping the future cancels the pending hook, and no other hook starts. To run the emission
    /// independently of the caller, use [`emit_detached`](Self::emit_detached).
    ///
    /// # Errors
    /// If `data` is not an object or does not match the [schema](Self::declare) of the event, or if
    /// a hook fails that was registered with
    /// [`FailurePolicy::Propagate`]. Failures of other hooks
    /// are in the emission's [`failures`](Emission::failures).
    pub fn emit<'a, D: IntoEventData>(
        &'a self,
        event: &'a str,
        data: D,
    ) -> impl Future<Output = Result<Emission, EmitError>> + use<'a, D> {
        Emit::new(&self.inner, event, data, emit_to)
    }

    /// Like [`emit`](Self::emit), with a deadline for all hooks together, or with a report.
    ///
    /// Dropping the future has the effect described at [`emit`](Self::emit).
    ///
    /// # Errors
    /// As [`emit`](Self::emit), and if a hook is pending at the deadline.
    ///
    /// # Panics
    /// If there is a deadline and the timer panics: [`HostTimer`] panics in a tokio runtime
    /// without its time driver.
    pub async fn emit_with(
        &self,
        event: &str,
        data: impl IntoEventData,
        options: EmitOptions,
    ) -> Result<Emission, EmitError> {
        let map = data.into_event_data().into_map()?;
        let table = self.inner.table.load();
        let outcome = emit_with(&self.inner, &table, event, map, options).await;
        drop_catching_panic(table);
        outcome
    }

    /// Emits an event in a separate task, which continues if the caller drops the handle. Its
    /// output is the result of [`emit`](Self::emit).
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[track_caller]
    pub fn emit_detached(
        &self,
        event: impl Into<Arc<str>>,
        data: impl IntoEventData,
    ) -> tokio::task::JoinHandle<Result<Emission, EmitError>> {
        let (registry, event, data) = (self.clone(), event.into(), data.into_event_data());
        tokio::spawn(async move { registry.emit(&event, data).await })
    }

    /// Runs all hooks of an event concurrently, and returns the data in their results, in the order
    /// of the hooks' priorities. The actions of the results have no effect. The timeout applies to
    /// each hook, unless its registration has a shorter timeout. If a hook exceeds the timeout,
    /// fails or panics, the failure is logged and the hook's data are omitted.
    ///
    /// Dropping the future cancels the pending hooks, and no other hook starts.
    ///
    /// If `data` is not an object, or does not match the [schema](Self::declare) of the event, this
    /// method logs an error and runs no hook; [`collect`](Self::collect) returns the error.
    pub async fn emit_and_collect(
        &self,
        event: &str,
        data: impl IntoEventData,
        timeout: Duration,
    ) -> Vec<Map> {
        match self.collect(event, data, timeout).await {
            Ok(collected) => collected.into_data(),
            Err(error) => {
                tracing::error!(target: "hooks_runtime", event, "{error}");
                Vec::new()
            }
        }
    }

    /// Like [`emit_and_collect`](Self::emit_and_collect), but also returns the names of the hooks,
    /// the messages, the printed texts and the failures.
    ///
    /// Hooks of the phases [`Decide`](EventPhase::Decide) and [`Observe`](EventPhase::Observe) do
    /// not run, because there is no decision.
    ///
    /// # Errors
    /// If `data` is not an object, or does not match the [schema](Self::declare) of the event.
    pub async fn collect(
        &self,
        event: &str,
        data: impl IntoEventData,
        timeout: Duration,
    ) -> Result<Collected, EmitError> {
        let table = self.inner.table.load();
        let map = table.stamped(data.into_event_data().into_map()?);
        if let Some(schema) = table.schema(event) {
            admit(schema, &map, table.defaults())?;
        }
        let Some((name, hooks)) = table.find_hooks(event) else {
            if table.is_watched(event) {
                self.inner.check_emission(event, &table);
            }
            return Ok(Collected::default());
        };
        let fields = Fields::new(map, table.defaults());
        let policy = Collect::new(name, fields, timeout);
        let counts = hooks.counts_failures.then_some(&self.inner.counts);
        let policy = Counting::new(policy, counts);
        let (collected, failed) = hooks.transform.dispatch(policy).await;
        self.inner.disable(event, failed);
        drop_catching_panic(table);
        Ok(collected)
    }

    /// Sets default fields: each is added to the data of every later emission that does not have the
    /// field. Replaces earlier default fields; `()` removes them.
    pub fn set_default_fields(&self, fields: impl Into<DefaultFields>) {
        let defaults = fields.into().into_map();
        let update = |table: &mut TableWriter| table.set_defaults(defaults);
        self.inner.table.update(update);
    }

    /// Sets whether later emissions get a `timestamp` in UTC in their data, unless the data or the
    /// default fields have a `timestamp`. Off by default.
    pub fn set_timestamps(&self, stamps: bool) {
        self.inner.table.update(|table| table.set_stamps(stamps));
    }

    /// Returns the names of the hooks by event, in execution order. Hooks without a name are
    /// omitted, as are events without hooks, except the requested event.
    pub fn list_handlers(&self, event: Option<&str>) -> BTreeMap<String, Vec<String>> {
        self.inner.table.load().names(event)
    }

    /// Returns all registrations, by event and in execution order.
    pub fn descriptors(&self) -> Vec<EventDescriptor> {
        let mut descriptors = self.inner.table.load().descriptors();
        if self.inner.counts.is_used() {
            for hook in &mut descriptors {
                hook.failures = self.inner.counts.failures(hook.id);
            }
        }
        descriptors
    }

    /// Enables or disables the hooks with this name, of every event, and returns their number. A
    /// disabled hook keeps its place, and does not run. A closure without a name has none: use
    /// [`set_entry_enabled`](Self::set_entry_enabled).
    ///
    /// Enabling a hook resets its failures: see
    /// [`RegisterOptions::disable_after`](crate::RegisterOptions::disable_after).
    ///
    /// ```
    /// use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
    ///
    /// let hooks = HookRegistry::new();
    /// let deny = |_: Event<'_>| HookResult::deny("closed");
    /// hooks.register("door:open", deny, RegisterOptions::new().name("night_watch"));
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert_eq!(hooks.set_enabled("night_watch", false), 1);
    /// assert!(!hooks.emit("door:open", ()).await?.is_denied());
    /// hooks.set_enabled("night_watch", true);
    /// assert!(hooks.emit("door:open", ()).await?.is_denied());
    /// # Ok::<_, hooks_runtime::EmitError>(())
    /// # }).unwrap();
    /// ```
    pub fn set_enabled(&self, name: &str, is_enabled: bool) -> usize {
        self.enable(is_enabled, |entry| entry.explicit_name() == Some(name))
    }

    /// Enables or disables one registration, by the id in its
    /// [descriptor](EventDescriptor::id). Returns `false` if there is none.
    pub fn set_entry_enabled(&self, id: EntryId, is_enabled: bool) -> bool {
        self.enable(is_enabled, |entry| entry.id() == id) > 0
    }

    fn enable(&self, is_enabled: bool, test: impl Fn(&EntryMeta) -> bool) -> usize {
        let found = self.inner.table.update(|table| {
            let found = table.find(test);
            for (event, id) in &found {
                table.set_entry_enabled(event, *id, is_enabled);
            }
            found
        });
        if is_enabled {
            for (_, id) in &found {
                self.inner.counts.restart(*id);
            }
        }
        found.len()
    }

    /// Returns a copy of the registry with changes, for one emission or for some. The copy shares
    /// the hooks, and the registry stays unchanged.
    ///
    /// Registrations of the registry do not unregister the hooks of the copy. Failures in the copy
    /// count for the registry, too: [`disable_after`](crate::RegisterOptions::disable_after)
    /// disables a shared hook in both. Events that a copy [declares](Self::declare_events) are
    /// declared in the copy only. The [names](Self::event_name_warnings) that the copy emits count for
    /// the registry, too, and a warning about a name is logged once for both. The time to copy depends
    /// on the number of events with hooks, and hardly on the number of hooks.
    ///
    /// ```
    /// use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
    ///
    /// let hooks = HookRegistry::new();
    /// let deny = |_: Event<'_>| HookResult::deny("closed");
    /// hooks.register("door:open", deny, RegisterOptions::new().name("night_watch"));
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let call = hooks.for_call(|call| {
    ///     call.set_enabled("night_watch", false);
    ///     call.register("door:open", |_: Event<'_>| HookResult::set("by", "ada"), RegisterOptions::new());
    /// });
    /// assert_eq!(call.emit("door:open", ()).await?.data["by"], "ada");
    /// assert!(hooks.emit("door:open", ()).await?.is_denied());
    /// # Ok::<_, hooks_runtime::EmitError>(())
    /// # }).unwrap();
    /// ```
    #[must_use = "the registry itself stays unchanged"]
    pub fn for_call(&self, change: impl FnOnce(&HookRegistry)) -> HookRegistry {
        let inner = HookRegistryInner {
            table: self.inner.table.copied(),
            names: Mutex::new(lock(&self.inner.names).copied()),
            counts: self.inner.counts.copied(),
            timer: Arc::clone(&self.inner.timer),
            origin: Origin::of_copy(&self.inner, &self.inner.origin),
        };
        let copy = HookRegistry {
            inner: Arc::new(inner),
        };
        change(&copy);
        copy
    }

    /// Declares events, in addition to the standard events and to those that were declared earlier.
    ///
    /// An event needs no declaration: hooks for undeclared events are registered and run. But once
    /// events are declared, a hook for an undeclared event causes a
    /// [warning](Self::event_name_warnings), and so does the emission of an undeclared event that
    /// has no hooks. A declared event causes no warning.
    ///
    /// ```
    /// use hooks_runtime::events::EventNameProblem;
    /// use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
    ///
    /// let hooks = HookRegistry::new();
    /// hooks.declare_events(["deploy:start", "deploy:done"]);
    ///
    /// let hook = |_: Event<'_>| HookResult::proceed();
    /// hooks.register("deploy:strat", hook, RegisterOptions::new());
    ///
    /// let warnings = hooks.event_name_warnings();
    /// assert_eq!(warnings[0].problem, EventNameProblem::Undeclared);
    /// assert_eq!(warnings[0].similar.as_deref(), Some("deploy:start"));
    /// ```
    pub fn declare_events<I>(&self, events: I)
    where
        I: IntoIterator<Item: Into<Arc<str>>>,
    {
        // The caller's iterator may use the registry: it runs before the lock is taken.
        let events: Vec<Arc<str>> = events.into_iter().map(Into::into).collect();
        let table = self.inner.table.load();
        let warnings = lock(&self.inner.names).declare(events.into_iter(), &table);
        drop_catching_panic(table);
        for warning in warnings {
            log(&warning);
        }
    }

    /// Declares an event and the fields in its data, like [`declare_events`](Self::declare_events)
    /// declares its name. Replaces an earlier schema of the event.
    ///
    /// The data of each emission are compared with the schema, together with the default fields:
    /// before the first hook, and after the changes by hooks, unless the event is denied. A mismatch
    /// is the error [`EmitError::Schema`], or a warning in the log if the schema is
    /// [`warn_only`](EventSchema::warn_only).
    ///
    /// ```
    /// use hooks_runtime::events::{EventField, EventSchema};
    /// use hooks_runtime::HookRegistry;
    /// use serde_json::json;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let hooks = HookRegistry::new();
    /// hooks.declare(EventSchema::new("deploy:start").field(EventField::string("target")));
    ///
    /// assert!(hooks.emit("deploy:start", json!({"target": "staging"})).await.is_ok());
    /// let error = hooks.emit("deploy:start", json!({"tagret": "staging"})).await.unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the data of event `deploy:start` do not match its schema: field `target` is missing",
    /// );
    /// # });
    /// ```
    pub fn declare(&self, schema: EventSchema) {
        let event = Arc::clone(&schema.name);
        self.inner.table.update(|table| table.declare(schema));
        self.declare_events([event]);
    }

    /// Returns the schemas of the declared events, sorted by name. An event that is declared by
    /// its name only has no schema.
    pub fn schemas(&self) -> Vec<Arc<EventSchema>> {
        self.inner.table.load().schemas()
    }

    /// Returns warnings about names of events that are probably mistakes: of hooks that may never
    /// run, and of emissions that may miss their hooks. Sorted by name.
    ///
    /// Each warning was also logged with `tracing`, at the level `WARN` and once for its name, when
    /// the first hook was registered for the name, or at the first emission that found no hooks. The
    /// list has the warnings that apply at the moment. See
    /// [`EventNameProblem`](super::EventNameProblem) for the checks, and
    /// [`declare_events`](Self::declare_events) to make them stricter.
    ///
    /// The checks cost emissions with hooks nothing, and are therefore incomplete: an event that
    /// was only emitted while it had hooks is not known. Emissions without hooks are checked until
    /// names with the same hash (one of 64) occur 32 times in succession without a new name. After
    /// 1024 names, the registry checks no more names.
    pub fn event_name_warnings(&self) -> Vec<EventNameWarning> {
        let table = self.inner.table.load();
        let warnings = lock(&self.inner.names).warnings(&table);
        drop_catching_panic(table);
        warnings
    }

    /// Returns a weak handle of this registry, for hooks that emit events themselves.
    ///
    /// The registry owns its hooks. If a hook captures a clone of the registry, neither of them is
    /// ever dropped. A [`WeakHookRegistry`] does not keep the registry alive.
    ///
    /// ```
    /// use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
    ///
    /// let hooks = HookRegistry::new();
    /// let weak = hooks.downgrade();
    /// hooks.register(
    ///     "tool:post",
    ///     move |event: Event<'_>| {
    ///         if let Some(hooks) = weak.upgrade() {
    ///             // The task owns the registry until the emission is complete.
    ///             hooks.emit_detached("user:notification", event.data());
    ///         }
    ///         HookResult::proceed()
    ///     },
    ///     RegisterOptions::new(),
    /// );
    ///
    /// let weak = hooks.downgrade();
    /// drop(hooks);
    /// assert!(weak.upgrade().is_none());
    /// ```
    pub fn downgrade(&self) -> WeakHookRegistry {
        WeakHookRegistry {
            inner: Arc::downgrade(&self.inner),
        }
    }
}

/// A handle of a [`HookRegistry`] that does not keep the registry alive, returned by
/// [`downgrade`](HookRegistry::downgrade).
///
/// A hook that emits events captures this handle, because the registry owns the hook.
#[derive(Clone)]
pub struct WeakHookRegistry {
    inner: Weak<HookRegistryInner>,
}

impl WeakHookRegistry {
    /// Returns the registry, or `None` if its last handle has been dropped.
    pub fn upgrade(&self) -> Option<HookRegistry> {
        let inner = self.inner.upgrade()?;
        Some(HookRegistry { inner })
    }
}

impl fmt::Debug for WeakHookRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakHookRegistry")
    }
}

impl Default for HookRegistry {
    fn default() -> Self {
        HookRegistry::new()
    }
}

impl fmt::Debug for HookRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HookRegistry")
            .field(&self.list_handlers(None))
            .finish()
    }
}

/// Emits an event whose filter bit is set.
async fn emit_to(
    registry: &HookRegistryInner,
    event: &str,
    map: Arc<Map>,
) -> Result<Emission, EmitError> {
    let table = registry.table.load();
    let map = if table.is_plain() {
        map
    } else if table.has_extras(event) {
        let options = EmitOptions::new();
        let emitted = Box::pin(emit_with(registry, &table, event, map, options));
        let outcome = ColdFuture::new(emitted).await;
        drop_catching_panic(table);
        return outcome;
    } else {
        table.stamped(map)
    };
    let Some((name, hooks)) = table.hooks(event) else {
        if table.is_watched(event) {
            registry.check_emission(event, &table);
        }
        return Ok(Emission::of(table.completed(map)));
    };
    let fields = Fields::new(map, table.defaults());
    let mut gathered = EmissionState::new(name, fields);
    hooks.transform.dispatch(gathered.policy()).await;
    let concluded = gathered.conclude(&hooks.transform);
    drop_catching_panic(table);
    concluded.emission(None)
}

/// Emits an event with options, a schema, or hooks of all phases.
async fn emit_with(
    registry: &HookRegistryInner,
    table: &EventTable,
    event: &str,
    map: Arc<Map>,
    options: EmitOptions,
) -> Result<Emission, EmitError> {
    let original = options.original.then(|| Arc::clone(&map));
    let map = table.stamped(map);
    let schema = table.schema(event);
    if let Some(schema) = schema {
        admit(schema, &map, table.defaults())?;
    }
    let Some((name, hooks)) = table.find_hooks(event) else {
        if table.is_watched(event) {
            registry.check_emission(event, table);
        }
        let mut emission = Emission::of(table.completed(map));
        if options.report {
            emission.rare_fields.get_or_default().report = Some(Report::default());
        }
        return Ok(emission);
    };
    let later = hooks.later.as_deref();
    let background = Background {
        original,
        outcome: None,
    };
    let report = options.report.then(Report::default);
    let mut run = PhaseRun::new(registry, hooks, options.deadline, report);
    let emitted = EmittedEvent {
        registry,
        table,
        name,
        hooks,
        background: &background,
        report: None,
    };
    let mut panic = None;
    let outcome = match later {
        Some(later) if !later.around.is_empty() => {
            let before = Arc::clone(&map);
            let mut outcome = if options.report || !later.observe.is_empty() {
                let enclosed = enclosed(&mut run.deadline, later, emitted, map, options.report);
                let outcome;
                (outcome, panic) = Box::pin(enclosed).await;
                outcome
            } else {
                let data = Arc::clone(&map);
                let args = (EventCall::new(Arc::clone(name), map),);
                let call = Next::new(&later.around, &emitted).call(args);
                match run.deadline.race(call).await {
                    Ok(outcome) => outcome,
                    Err(after) => Err(emitted.deadline_error(after, data)),
                }
            };
            record_changes(&mut outcome, table, before);
            outcome
        }
        _ => emitted.decide(&mut run, map).await,
    };
    let outcome = match (outcome, schema) {
        (Ok(emission), Some(schema)) if !emission.is_denied() => admit_changes(schema, emission),
        (outcome, _) => outcome,
    };
    let outcome = match later {
        Some(later) if !later.observe.is_empty() => {
            observe(&mut run, later, name, outcome, background).await
        }
        _ => outcome,
    };
    registry.disable(event, run.failed);
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
    outcome
}

/// Runs the around hooks of an event, with a report if `is_reported`. If one of them panics, returns
/// the panic as an error, for the observers, and its payload.
async fn enclosed(
    deadline: &mut Deadline<'_>,
    later: &LaterSlots,
    emitted: EmittedEvent<'_>,
    map: Arc<Map>,
    is_reported: bool,
) -> (Result<Emission, EmitError>, Option<Payload>) {
    let shared = SharedReport::new();
    let emitted = EmittedEvent {
        report: is_reported.then_some(&shared),
        ..emitted
    };
    let data = Arc::clone(&map);
    let args = (EventCall::new(Arc::clone(emitted.name), map),);
    // The report knows which around hook panicked.
    let around = shared.record_around(&later.around);
    let call = CatchPanic(Next::new(&around, &emitted).call(args));
    let (mut outcome, payload) = match deadline.race(call).await {
        Ok(Ok(outcome)) => (outcome, None),
        Ok(Err(payload)) => {
            let (hook, failure) = shared
                .panicked()
                .unwrap_or_else(|| ("around hook".into(), Failure::of_payload(&*payload)));
            let error = EmitError::Hook {
                failure: HandlerFailure {
                    hook,
                    event: Arc::clone(emitted.name),
                    failure,
                },
                emission: Box::new(Emission::of(emitted.table.completed(data))),
            };
            (Err(error), Some(payload))
        }
        Err(after) => (Err(emitted.deadline_error(after, data)), None),
    };
    if let (true, Some(emission)) = (is_reported, emission_mut(&mut outcome)) {
        let mut report = shared.take();
        report.add_skipped(&emitted.hooks.transform);
        report.add_skipped(&later.decide);
        emission.rare_fields.get_or_default().report = Some(report);
    }
    (outcome, payload)
}

/// Records in the emission whether around hooks changed the data: they can pass other data to the
/// hooks, and replace those of the emission.
fn record_changes(outcome: &mut Result<Emission, EmitError>, table: &EventTable, before: Arc<Map>) {
    let Some(emission) = emission_mut(outcome) else {
        return;
    };
    if emission.data != before && emission.data != table.completed(before) {
        emission.rare_fields.get_or_default().has_modified = true;
    }
}

/// Returns the emission, whole or up to an error.
fn emission_mut(outcome: &mut Result<Emission, EmitError>) -> Option<&mut Emission> {
    match outcome {
        Ok(emission) => Some(emission),
        Err(error) => error.emission_mut(),
    }
}

/// An event, as the innermost call of around hooks.
struct EmittedEvent<'t> {
    registry: &'t HookRegistryInner,
    table: &'t EventTable,
    name: &'t Arc<str>,
    hooks: &'t EventSlots,
    background: &'t Background,
    /// The report of the around hooks; `None` if no report is requested.
    report: Option<&'t SharedReport>,
}

impl EmittedEvent<'_> {
    /// Runs the phases `Transform` and `Decide`.
    async fn decide(&self, run: &mut PhaseRun<'_>, map: Arc<Map>) -> Result<Emission, EmitError> {
        let hooks = self.hooks;
        let fields = Fields::new(map, self.table.defaults());
        let mut state = match self.background.original {
            None => EmissionState::new(self.name, fields),
            Some(_) => EmissionState::with_background(self.name, fields, self.background.clone()),
        };
        run.dispatch(&hooks.transform, state.policy()).await;
        let concluded = match hooks.later.as_deref() {
            None => state.conclude(&hooks.transform),
            Some(later) => {
                if run.deadline.passed().is_none() {
                    run.dispatch(&later.decide, state.deciding()).await;
                } else if let Some(report) = &mut run.report {
                    report.add_skipped(&later.decide);
                }
                state.conclude_phases(&hooks.transform, &later.decide)
            }
        };
        let emission = concluded.emission(run.take_report())?;
        match run.deadline.passed() {
            None => Ok(emission),
            Some(after) => Err(EmitError::Deadline {
                after,
                emission: Box::new(emission),
            }),
        }
    }
}

impl EmittedEvent<'_> {
    /// Returns the error of around hooks that were pending at the deadline.
    fn deadline_error(&self, after: Duration, data: Arc<Map>) -> EmitError {
        EmitError::Deadline {
            after,
            emission: Box::new(Emission::of(self.table.completed(data))),
        }
    }
}

impl Innermost<EventCall> for EmittedEvent<'_> {
    fn call<'a>(&'a self, (call,): (EventCall,)) -> BoxFuture<'a, Result<Emission, EmitError>> {
        if let Some(report) = self.report {
            report.enter_innermost();
        }
        Box::pin(async move {
            // The deadline limits the whole call.
            let report = self.report.map(|_| Report::default());
            let mut run = PhaseRun::new(self.registry, self.hooks, None, report);
            run.shared = self.report;
            let outcome = self.decide(&mut run, call.data).await;
            self.registry.disable(self.name, run.failed);
            outcome
        })
    }
}

/// Checks the data of an emission before the first hook.
fn admit(
    schema: &DeclaredSchema,
    data: &Map,
    defaults: Option<&Arc<Map>>,
) -> Result<(), EmitError> {
    let admitted = schema.admit(data, defaults.map(|defaults| &**defaults));
    admitted.map_err(|mismatch| EmitError::Schema {
        mismatch: Box::new(mismatch),
        emission: None,
    })
}

/// Checks the data of an emission after the last hook that may change them.
fn admit_changes(schema: &DeclaredSchema, emission: Emission) -> Result<Emission, EmitError> {
    match schema.admit(&emission.data, None) {
        Ok(()) => Ok(emission),
        Err(mismatch) => Err(EmitError::Schema {
            mismatch: Box::new(mismatch),
            emission: Some(Box::new(emission)),
        }),
    }
}

/// The phases of one emission, which share a deadline and a report.
struct PhaseRun<'t> {
    deadline: Deadline<'t>,
    /// `None` if no report is requested.
    report: Option<Report>,
    /// The report of the around hooks, if there are any.
    shared: Option<&'t SharedReport>,
    /// `None` if no failures are counted.
    counts: Option<&'t FailureCounts>,
    failed: Vec<FailedHook>,
}

impl<'t> PhaseRun<'t> {
    fn new(
        registry: &'t HookRegistryInner,
        hooks: &EventSlots,
        deadline: Option<Duration>,
        report: Option<Report>,
    ) -> Self {
        PhaseRun {
            deadline: Deadline::new(&*registry.timer, deadline),
            report,
            shared: None,
            counts: hooks.counts_failures.then_some(&registry.counts),
            failed: Vec::new(),
        }
    }

    /// Returns the report on the hooks since the last call.
    fn take_report(&mut self) -> Option<Report> {
        self.report.as_mut().map(mem::take)
    }

    /// Runs the hooks of a phase.
    async fn dispatch<'a, P>(&mut self, slot: &'a Slot<dyn Handler>, policy: P)
    where
        't: 'a,
        P: Policy<dyn Handler, Output = (), HookOutput: Send, Future = Never<()>> + Send + 'a,
    {
        let policy = Counting::new(policy, self.counts);
        let ((), failed) = match &mut self.report {
            None => self.deadline.run(slot.dispatch(policy)).await,
            Some(report) => {
                let dispatch = match self.shared {
                    None => slot.dispatch_reported(policy),
                    Some(shared) => shared.dispatch(slot, policy),
                };
                // Without its type, because the compiler cannot prove `Send` for the type within
                // another future.
                let run: BoxFuture<'_, _> = Box::pin(self.deadline.run(dispatch));
                let (output, phase) = run.await;
                report.entries.extend(phase.entries);
                output
            }
        };
        self.failed.extend(failed);
    }
}

/// Runs the observers of an emission, and returns the emission with what they add.
async fn observe(
    run: &mut PhaseRun<'_>,
    later: &LaterSlots,
    name: &Arc<str>,
    outcome: Result<Emission, EmitError>,
    background: Background,
) -> Result<Emission, EmitError> {
    let data = match &outcome {
        Ok(emission) => Some(emission),
        Err(error) => error.emission(),
    };
    let data = data.map(|emission| Arc::clone(&emission.data));
    let outcome = Arc::new(outcome);
    let background = Background {
        outcome: Some(Arc::clone(&outcome)),
        ..background
    };
    let mut observers = Observers::new(name, data.unwrap_or_default(), background);
    run.dispatch(&later.observe, observers.policy()).await;
    if let Some(after) = run.deadline.passed() {
        observers.cancel(&later.observe, after);
    }
    let observations = observers.finish();
    let mut outcome = Arc::try_unwrap(outcome).unwrap_or_else(|shared| (*shared).clone());
    if let Some(emission) = emission_mut(&mut outcome) {
        observations.add_to(emission);
        if let (Some(report), Some(all)) = (run.take_report(), emission.report_mut()) {
            all.entries.extend(report.entries);
        }
    }
    outcome
}

pin_project! {
    /// Future returned by `emit`. Completes immediately if the event's filter bit is not set;
    /// otherwise `reach` makes the future that runs the hooks. Written by hand so that an emission
    /// without hooks never reserves the space of the larger future: row `event_without_hooks` of the
    /// bench `performance`, at most 20 ns.
    #[project = Stage]
    enum Emit<'a, D, R, F> {
        Start {
            registry: &'a HookRegistryInner,
            event: &'a str,
            data: Option<D>,
            reach: R,
        },
        Reached { #[pin] future: F },
    }
}

impl<'a, D, R, F> Emit<'a, D, R, F>
where
    D: IntoEventData,
    R: Fn(&'a HookRegistryInner, &'a str, Arc<Map>) -> F,
    F: Future<Output = Result<Emission, EmitError>>,
{
    #[inline]
    fn new(registry: &'a HookRegistryInner, event: &'a str, data: D, reach: R) -> Self {
        Emit::Start {
            registry,
            event,
            data: Some(data),
            reach,
        }
    }

    /// Kept out of the path of emissions without hooks.
    #[inline(never)]
    fn go_on(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match self.project() {
            Stage::Reached { future } => future.poll(cx),
            Stage::Start { .. } => unreachable!("the stage was just set"),
        }
    }
}

impl<'a, D, R, F> Future for Emit<'a, D, R, F>
where
    D: IntoEventData,
    R: Fn(&'a HookRegistryInner, &'a str, Arc<Map>) -> F,
    F: Future<Output = Result<Emission, EmitError>>,
{
    type Output = F::Output;

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/1
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if let Stage::Start {
            registry,
            event,
            data,
            reach,
        } = self.as_mut().project()
        {
            let data = data
                .take()
                .expect("an emission was polled again after its end");
            let map = match data.into_event_data().into_map() {
                Ok(map) => map,
                Err(why) => return Poll::Ready(Err(why.into())),
            };
            if !registry.table.has_filter_bit(filter_bit(event)) {
                return Poll::Ready(Ok(Emission::of(map)));
            }
            let future = reach(registry, event, map);
            self.set(Emit::Reached { future });
        }
        self.go_on(cx)
    }
}

/// Options of an emission.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_runtime::EmitOptions;
///
/// let options = EmitOptions::new().deadline(Duration::from_secs(10)).report();
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmitOptions {
    deadline: Option<Duration>,
    report: bool,
    original: bool,
}

impl EmitOptions {
    /// Creates options without a deadline and without a report; the original data are not kept.
    pub fn new() -> Self {
        EmitOptions::default()
    }

    /// Ends the emission with an error if a hook is pending after this time. A hook that blocks its
    /// thread cannot be cancelled. After the deadline, hooks of the phase
    /// [`Observe`](EventPhase::Observe) are polled once; if they are pending, they are cancelled,
    /// and the emission has their failures.
    #[must_use]
    pub fn deadline(mut self, after: Duration) -> Self {
        self.deadline = Some(after);
        self
    }

    /// Keeps the data before the changes by hooks for [`Event::original`](super::Event::original),
    /// such as the raw result of a tool. Hooks that change the data then copy them.
    #[must_use]
    pub fn keep_original(mut self) -> Self {
        self.original = true;
        self
    }

    /// Adds a report on each hook to the emission, around hooks included.
    #[must_use]
    pub fn report(mut self) -> Self {
        self.report = true;
        self
    }
}

/// Unregisters a hook of an event.
struct EventUnregister {
    registry: Weak<HookRegistryInner>,
    event: Arc<str>,
    name: Arc<str>,
    priority: i32,
}

impl Unregister for EventUnregister {
    fn unregister(&self, id: EntryId) -> bool {
        let Some(registry) = self.registry.upgrade() else {
            return false;
        };
        let found = registry.table.update(|table| table.remove(&self.event, id));
        if found {
            registry.counts.forget(id);
            tracing::debug!(
                target: "hooks_runtime",
                event = &*self.event, hook = &*self.name, priority = self.priority,
                "event hook unregistered"
            );
        }
        found
    }
}
