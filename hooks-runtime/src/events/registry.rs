//! The registry of event hooks: its public methods.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use hooks_core::__private::{drop_catching_panic, registered};
use hooks_core::around::DynAround;
use hooks_core::{
    Entry, EntryId, EntryMeta, FailurePolicy, IntoAround, Refused, Registration, RegistrationError,
    Timer,
};

use super::call::EventCall;
use super::collect::Collected;
use super::data::{DefaultFields, EmitError, IntoEventData};
use super::emission::Emission;
use super::emit::policy;
use super::emit_future::Emit;
use super::emit_options::EmitOptions;
use super::event_slots::EventPlace;
use super::handler::{Handler, HookReturn, IntoHandler, conditional, handler, name_of};
use super::names::EventNames;
use super::phase::EventPhase;
use super::run::{collect, emit_to, emit_with};
use super::state::HookRegistryInner;
use super::table::{EventDescriptor, TableWriter};
use crate::Map;
use crate::around_registry::checked;
use crate::lock::lock;
use crate::registry::failure_counts::{DisabledHook, Origin};
use crate::registry::layer::Layer;
use crate::registry::options::{Inserted, RegisterOptions, RegistryOptions, check_disabling};

/// Event hooks by the name of their event. Clones share one registry.
///
/// Every method takes `&self`, on any thread. If a hook is registered or removed during an
/// emission, the change affects later emissions. No emission waits for a registration, except the first one
/// of a [child](Self::child) after a change of its parent.
#[derive(Clone)]
pub struct HookRegistry {
    pub(super) inner: Arc<HookRegistryInner>,
}

impl HookRegistry {
    /// Default timeout of [`emit_and_collect`](Self::emit_and_collect): one second.
    pub const COLLECT_TIMEOUT: Duration = Duration::from_secs(1);

    /// Creates a registry without hooks, with [`HostTimer`](crate::HostTimer) as its timer.
    pub fn new() -> Self {
        HookRegistry::with_options(RegistryOptions::new())
    }

    /// Creates a registry without hooks, with this timer.
    pub fn with_timer(timer: Arc<dyn Timer>) -> Self {
        HookRegistry::with_options(RegistryOptions::new().timer(timer))
    }

    /// Creates a registry without hooks, with these options: defaults of registrations, and a deadline of
    /// emissions.
    pub fn with_options(options: RegistryOptions) -> Self {
        let writer = TableWriter::new(Arc::clone(&options.timer), options.deadline);
        let inner = HookRegistryInner {
            table: Layer::new(writer),
            names: Mutex::new(EventNames::new(HookRegistry::STANDARD_EVENTS)),
            counts: Arc::default(),
            timer: options.timer,
            origin: Origin::NONE,
            defaults: options.defaults,
        };
        HookRegistry {
            inner: Arc::new(inner),
        }
    }

    /// Returns a registry that follows this one, for a session for example: it has the hooks, the default
    /// fields and the schemas of this one, as they are at each emission, and its own. Changes of the
    /// child do not affect this registry, and those of this registry are in the child from its next use on,
    /// which copies this registry.
    ///
    /// - The options are those of this registry. The child keeps the registry alive.
    /// - Among equal priorities, the hooks of this registry run first.
    /// - A hook of the child replaces the hook of this registry with its key, in the child. If the hook of the
    ///   child is removed, the hook of this registry runs again.
    /// - A hook of this registry that the child disables or removes does not run in the child. A hook that
    ///   fails too often ([`RegisterOptions::disable_after`]) is disabled in the registry that registered it.
    /// - If `before` and `after` of both would be a cycle, the constraints between a hook of the child and
    ///   others have no effect in the child, and a warning is logged.
    ///
    /// ```
    /// use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
    ///
    /// let hooks = HookRegistry::new();
    /// let session = hooks.child();
    /// session.register("door:open", |_: Event<'_>| HookResult::set("by", "ada"), RegisterOptions::new());
    /// hooks.register("door:open", |_: Event<'_>| HookResult::deny("closed"), RegisterOptions::new());
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert!(session.emit("door:open", ()).await?.is_denied());
    /// assert!(!hooks.emit("door:open", ()).await?.data.contains_key("by"));
    /// # Ok::<_, hooks_runtime::EmitError>(())
    /// # }).unwrap();
    /// ```
    #[must_use = "this registry itself stays unchanged"]
    pub fn child(&self) -> HookRegistry {
        let inner = Arc::new(HookRegistryInner {
            table: Layer::following(&self.inner),
            names: Mutex::new(lock(&self.inner.names).copied()),
            counts: Arc::new(self.inner.counts.child()),
            timer: Arc::clone(&self.inner.timer),
            origin: Origin::NONE,
            defaults: self.inner.defaults,
        });
        Layer::follow(&inner);
        HookRegistry { inner }
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
    /// - If [`if_absent`](RegisterOptions::if_absent) finds a hook with the key, or if a hook for
    ///   [every event](Self::register_any) has it.
    pub fn try_register<H, Form: 'static, Time: 'static>(
        &self,
        event: impl Into<Arc<str>>,
        hook: H,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError>
    where
        H: IntoHandler<Form, Return: HookReturn<Time, Waits: Send>>,
    {
        self.register_at(EventPlace::Event(event.into()), hook, options)
    }

    fn register_at<H, Form: 'static, Time: 'static>(
        &self,
        place: EventPlace,
        hook: H,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError>
    where
        H: IntoHandler<Form, Return: HookReturn<Time, Waits: Send>>,
    {
        let name = hook.name();
        let hook = handler::<H, Form, Time>(hook);
        let hook_type = std::any::type_name::<H>();
        self.insert(place, hook, name, H::TRUSTED, hook_type, options)
    }

    /// Registers a hook for every event, also for events without other hooks, as a log or an audit trail
    /// needs it. It runs among the hooks of the event, in the order of their priorities;
    /// [`Event::name`](super::Event::name) is the name of the event. `emit_and_collect` runs it, too.
    ///
    /// Within a phase, a hook for every event and a hook of one event cannot have the same key: the later
    /// registration is refused. [`before`](RegisterOptions::before) names hooks for every event, and
    /// [`before_if_present`](RegisterOptions::before_if_present) also hooks of single events. A hook for every
    /// event is enabled, disabled and removed for all events.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
    ///
    /// let hooks = HookRegistry::new();
    /// let (events, seen) = mpsc::channel();
    /// let log = move |event: Event<'_>| {
    ///     _ = events.send(event.name().to_owned());
    ///     HookResult::proceed()
    /// };
    /// hooks.register_any(log, RegisterOptions::new().name("log"));
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// hooks.emit("door:open", ()).await?;
    /// assert_eq!(seen.recv().unwrap(), "door:open");
    /// # Ok::<_, hooks_runtime::EmitError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Panics
    /// If [`try_register_any`](Self::try_register_any) returns an error.
    #[track_caller]
    pub fn register_any<H, Form: 'static, Time: 'static>(
        &self,
        hook: H,
        options: RegisterOptions,
    ) -> Registration
    where
        H: IntoHandler<Form, Return: HookReturn<Time, Waits: Send>>,
    {
        registered(self.try_register_any(hook, options))
    }

    /// Like [`register_any`](Self::register_any), and returns an error if the hook is refused. The hook is
    /// then dropped, and the registry is unchanged.
    ///
    /// # Errors
    /// As [`try_register`](Self::try_register), if a hook of one of the events has the key, and if the order
    /// of the hooks of one of the events would be a cycle.
    pub fn try_register_any<H, Form: 'static, Time: 'static>(
        &self,
        hook: H,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError>
    where
        H: IntoHandler<Form, Return: HookReturn<Time, Waits: Send>>,
    {
        self.register_at(EventPlace::EveryEvent, hook, options)
    }

    /// Registers a hook whose type is erased. Not generic, so that it is compiled once.
    #[inline(never)]
    fn insert(
        &self,
        place: EventPlace,
        hook: Arc<dyn Handler>,
        name: Option<String>,
        is_trusted: bool,
        hook_type: &'static str,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError> {
        let event = Arc::clone(place.name());
        let phase = options.phase.unwrap_or_default();
        let options = options.with_defaults(match phase {
            EventPhase::Observe => self.inner.defaults.of_observers(),
            _ => self.inner.defaults,
        });
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
        let inserted = self.inner.table.update(|table, record| {
            let inserted = table.insert(&place, entry, phase, disable_after.is_some())?;
            // A replaced hook of the parent is still counted there.
            let forgotten = inserted.replaced.filter(|id| record.owns(*id));
            record.inserted(
                || place.clone(),
                inserted,
                || table.own_hook(&place, inserted.id),
            );
            Ok((inserted.id, forgotten))
        });
        let (id, forgotten) = inserted.map_err(Refused::into_error)?;
        self.inner.counts.register(id, disable_after, forgotten);
        tracing::debug!(
            target: "hooks_runtime",
            event = &*event, hook = &*name, priority, "event hook registered"
        );
        Ok(self.registered(place, id, name, priority))
    }

    /// Completes a registration: checks the name of the event, and returns the handle.
    fn registered(
        &self,
        place: EventPlace,
        id: EntryId,
        name: Arc<str>,
        priority: i32,
    ) -> Registration {
        if let EventPlace::Event(event) = &place {
            self.inner.check_registration(event);
        }
        let registry = Arc::downgrade(&self.inner);
        Registration::new(id, move |id| {
            registry
                .upgrade()
                .is_some_and(|registry| registry.unregister(&place, id, &name, priority))
        })
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
    /// Use an [`Entry`] to set a key, a priority or a condition. With a deadline,
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
    /// makes the order a cycle, or has the key of an around hook for [every event](Self::around_any).
    pub fn try_around<M>(
        &self,
        event: impl Into<Arc<str>>,
        hook: impl IntoAround<EventCall, M> + 'static,
    ) -> Result<Registration, RegistrationError> {
        self.insert_around(EventPlace::Event(event.into()), hook.__hooks_into_entry())
    }

    /// Registers an around hook for every event, also for events without other hooks. Otherwise as
    /// [`around`](Self::around) and [`register_any`](Self::register_any).
    ///
    /// # Panics
    /// If [`try_around_any`](Self::try_around_any) returns an error.
    #[track_caller]
    pub fn around_any<M>(&self, hook: impl IntoAround<EventCall, M> + 'static) -> Registration {
        registered(self.try_around_any(hook))
    }

    /// Like [`around_any`](Self::around_any), and returns an error if the hook is refused. The hook is then
    /// dropped, and the registry is unchanged.
    ///
    /// # Errors
    /// As [`try_around`](Self::try_around), and if an around hook of one of the events has the key.
    pub fn try_around_any<M>(
        &self,
        hook: impl IntoAround<EventCall, M> + 'static,
    ) -> Result<Registration, RegistrationError> {
        self.insert_around(EventPlace::EveryEvent, hook.__hooks_into_entry())
    }

    fn insert_around(
        &self,
        place: EventPlace,
        entry: Entry<Arc<dyn DynAround<EventCall>>>,
    ) -> Result<Registration, RegistrationError> {
        let entry = checked(entry)?;
        let (name, priority) = (entry.meta().name_arc(), entry.meta().priority());
        let inserted = self.inner.table.update(|table, record| {
            let inserted = table.insert_around(&place, entry)?;
            record.inserted(
                || place.clone(),
                inserted,
                || table.own_hook(&place, inserted.id),
            );
            Ok(inserted)
        });
        let inserted: Inserted = inserted.map_err(Refused::into_error)?;
        tracing::debug!(
            target: "hooks_runtime",
            event = &**place.name(), hook = &*name, priority, "around hook registered"
        );
        Ok(self.registered(place, inserted.id, name, priority))
    }

    /// Enables or disables the around hook of this event with this key; for all events if it is one for
    /// [every event](Self::around_any). Returns `false` if there is none.
    pub fn set_around_enabled(&self, event: &str, key: &str, is_enabled: bool) -> bool {
        self.inner.table.update(|table, record| {
            let Some(id) = table.find_around(event, key) else {
                return false;
            };
            let place = table.place(event, id);
            record.switched(|| place.clone(), id, is_enabled);
            table.set_entry_enabled(&place, id, is_enabled)
        })
    }

    /// Returns the around hooks of an event, the outermost hook first.
    pub fn around_hooks(&self, event: &str) -> Vec<EntryMeta> {
        self.inner.table.load().around(event)
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
    /// If `data` is not an object or does not match the [schema](Self::declare) of the event, if a hook
    /// fails that has the policy [`FailurePolicy::Propagate`], or if a hook is pending at the
    /// [deadline](RegistryOptions::deadline) of the registry. Failures of other hooks
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
    /// If there is a deadline and the timer panics: [`HostTimer`](crate::HostTimer) panics in a tokio runtime
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
    /// each hook, unless its registration or the registry has a shorter limit. If a hook exceeds the timeout,
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
        let map = data.into_event_data().into_map()?;
        collect(&self.inner, event, map, timeout).await
    }

    /// Sets default fields: each is added to the data of every later emission that does not have the
    /// field. Replaces earlier default fields; `()` removes them.
    pub fn set_default_fields(&self, fields: impl Into<DefaultFields>) {
        let defaults = fields.into().into_map();
        self.inner.table.update(|table, record| {
            record.set(|settings| settings.set_defaults(defaults.clone()));
            table.set_defaults(defaults);
        });
    }

    /// Sets a callback for hooks that the registry disables after failures
    /// ([`RegisterOptions::disable_after`](crate::RegisterOptions::disable_after)). It replaces the callback before.
    ///
    /// The callback runs in the task of the run in which the hook failed last, after the hook is disabled
    /// and without a lock: it may use the registry. A panic is caught and logged. Copies of the registry
    /// have the callback, too. It is also called for runs of a [child](Self::child), after the callback of
    /// the child.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
    ///
    /// let hooks = HookRegistry::new();
    /// let (disabled, receiver) = mpsc::channel();
    /// hooks.set_on_disabled(move |hook| _ = disabled.send(hook.clone()));
    /// let flaky = |_: Event<'_>| Err::<HookResult, _>("no connection");
    /// hooks.register("tool:pre", flaky, RegisterOptions::new().name("flaky").disable_after(1));
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// hooks.emit("tool:pre", ()).await?;
    /// let hook = receiver.recv().unwrap();
    /// assert_eq!((&*hook.name, &*hook.place, hook.failures), ("flaky", "tool:pre", 1));
    /// # Ok::<_, hooks_runtime::EmitError>(())
    /// # }).unwrap();
    /// ```
    pub fn set_on_disabled(&self, callback: impl Fn(&DisabledHook) + Send + Sync + 'static) {
        self.inner.counts.set_on_disabled(Arc::new(callback));
    }

    /// Sets whether later emissions get a `timestamp` in UTC in their data, unless the data or the
    /// default fields have a `timestamp`. Off by default.
    pub fn set_timestamps(&self, stamps: bool) {
        self.inner.table.update(|table, record| {
            record.set(|settings| settings.set_stamps(stamps));
            table.set_stamps(stamps);
        });
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
        self.enable(is_enabled, false, |entry| {
            entry.explicit_name() == Some(name)
        })
    }

    /// Enables or disables one registration, by the id in its
    /// [descriptor](EventDescriptor::id). Returns `false` if there is none.
    pub fn set_entry_enabled(&self, id: EntryId, is_enabled: bool) -> bool {
        self.enable(is_enabled, false, |entry| entry.id() == id) > 0
    }

    /// Enables or disables everything of an owner ([`RegisterOptions::owner`]) at once, around hooks
    /// included, and returns the number of hooks. Enabling hooks resets their failures. Later registrations
    /// of the owner are enabled.
    ///
    /// ```
    /// use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
    ///
    /// let hooks = HookRegistry::new();
    /// let deny = |_: Event<'_>| HookResult::deny("closed");
    /// let plugin = || RegisterOptions::new().owner("night_watch");
    /// hooks.register("door:open", deny, plugin());
    /// hooks.register("gate:open", deny, plugin());
    ///
    /// assert_eq!(hooks.set_owner_enabled("night_watch", false), 2);
    /// assert_eq!(hooks.remove_owner("night_watch"), 2);
    /// assert!(hooks.descriptors().is_empty());
    /// ```
    pub fn set_owner_enabled(&self, owner: &str, is_enabled: bool) -> usize {
        self.enable(is_enabled, true, |entry| entry.owner() == Some(owner))
    }

    /// Removes everything of an owner ([`RegisterOptions::owner`]) at once, around hooks included, and
    /// returns the number of hooks.
    pub fn remove_owner(&self, owner: &str) -> usize {
        let found = self.inner.table.update(|table, record| {
            let found = table.find(true, |entry| entry.owner() == Some(owner));
            let mut own = Vec::new();
            for (place, id) in &found {
                table.remove(place, *id);
                own.extend(record.removed(|| place.clone(), *id).then_some(*id));
            }
            (found, own)
        });
        let (found, own) = found;
        for id in own {
            self.inner.counts.forget(id);
        }
        tracing::debug!(
            target: "hooks_runtime",
            owner, hooks = found.len(), "hooks of an owner removed"
        );
        found.len()
    }

    fn enable(
        &self,
        is_enabled: bool,
        has_around: bool,
        test: impl Fn(&EntryMeta) -> bool,
    ) -> usize {
        let found = self.inner.table.update(|table, record| {
            let found = table.find(has_around, test);
            let mut own = Vec::new();
            for (place, id) in &found {
                table.set_entry_enabled(place, *id, is_enabled);
                record.switched(|| place.clone(), *id, is_enabled);
                own.extend(record.owns(*id).then_some(*id));
            }
            (found.len(), own)
        });
        let (found, own) = found;
        // Failures of a hook of the parent are reset there.
        if is_enabled {
            for id in own {
                self.inner.counts.restart(id);
            }
        }
        found
    }

    /// Returns a copy of the registry with changes, for one emission or for some. The copy shares
    /// the hooks, and the registry stays unchanged.
    ///
    /// Registrations of the registry do not unregister the hooks of the copy. Failures in the copy
    /// count for the registry, too: [`disable_after`](crate::RegisterOptions::disable_after)
    /// disables a shared hook in both. Events that a copy [declares](Self::declare_events) are
    /// declared in the copy only. A warning about a [name](Self::event_name_warnings) is logged once
    /// for both. The time to copy depends on the number of events with hooks, and hardly on the number
    /// of hooks.
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
            table: Layer::new(self.inner.table.writer()),
            names: Mutex::new(lock(&self.inner.names).copied()),
            counts: Arc::new(self.inner.counts.copied()),
            timer: Arc::clone(&self.inner.timer),
            origin: Origin::of_copy(&self.inner, &self.inner.origin),
            defaults: self.inner.defaults,
        };
        let copy = HookRegistry {
            inner: Arc::new(inner),
        };
        change(&copy);
        copy
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
