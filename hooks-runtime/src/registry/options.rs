//! Options of a registry, and of a registration.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use hooks_core::{
    Entry, EntryId, EntryMeta, FailurePolicy, HookObject, Refused, RegistrationError, Slot, Timer,
};

use crate::events::condition::Conditions;
use crate::events::{Event, EventPhase};
use crate::registry::filter::InputFilter;
use crate::timer::HostTimer;

/// Options of a registry: the defaults of its registrations, and the deadline of a run.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_runtime::{FailurePolicy, HookRegistry, RegistryOptions};
///
/// let options = RegistryOptions::new()
///     .timeout(Duration::from_secs(2))
///     .on_failure(FailurePolicy::FailClosed)
///     .deadline(Duration::from_secs(5));
/// let hooks = HookRegistry::with_options(options);
/// ```
#[derive(Clone)]
pub struct RegistryOptions {
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) defaults: Defaults,
    pub(crate) deadline: Option<Duration>,
}

impl RegistryOptions {
    /// Creates options without defaults and deadline, with [`HostTimer`] as the timer.
    pub fn new() -> Self {
        RegistryOptions {
            timer: Arc::new(HostTimer),
            defaults: Defaults::default(),
            deadline: None,
        }
    }

    /// Sets the timer of timeouts and deadlines.
    #[must_use]
    pub fn timer(mut self, timer: Arc<dyn Timer>) -> Self {
        self.timer = timer;
        self
    }

    /// Sets the timeout of registrations that set none, except around hooks. To give one hook
    /// unlimited time, register it with the timeout [`Duration::MAX`].
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.defaults.timeout = Some(timeout);
        self
    }

    /// Sets the failure policy of registrations that set none: of hooks whose result can have an effect.
    /// Failures of POST hooks and observers are isolated in any case.
    ///
    /// [`FailurePolicy::Isolate`] applies to checks, too, also in the phase
    /// [`Decide`](crate::events::EventPhase::Decide): a check that fails denies nothing.
    #[must_use]
    pub fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.defaults.on_failure = Some(policy);
        self
    }

    /// Sets the time in which all hooks of a run have to complete, around hooks and observers included. If a
    /// hook that can decide is pending at the deadline, the run returns an error, whatever the failure
    /// policies are. Pending observers are cancelled, and the result stays. Hooks that block cannot be
    /// cancelled. Unlimited by default.
    ///
    /// Each run creates a timer: [`HostTimer`] panics in a tokio runtime without its time driver.
    ///
    /// | Run | Result at the deadline |
    /// |---|---|
    /// | [`emit`](crate::HookRegistry::emit) | [`EmitError::Deadline`](crate::EmitError::Deadline); a deadline in its [options](crate::EmitOptions::deadline) replaces this one |
    /// | [`execute_pre`](crate::PhaseRegistry::execute_pre), [`run_pre`](crate::PhaseRegistry::run_pre) | an error with [`DeadlineExceeded`](crate::DeadlineExceeded) |
    /// | [`execute_post`](crate::PhaseRegistry::execute_post) | the pending hook is cancelled, no other starts, and a warning is logged |
    /// | [`apply`](crate::transform::TransformRegistry::apply) | an error with [`DeadlineExceeded`](crate::DeadlineExceeded) |
    /// | [`collect`](crate::HookRegistry::collect) | each pending hook has failed |
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }
}

impl Default for RegistryOptions {
    fn default() -> Self {
        RegistryOptions::new()
    }
}

impl fmt::Debug for RegistryOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryOptions")
            .field("timeout", &self.defaults.timeout)
            .field("on_failure", &self.defaults.on_failure)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// Options of registrations that set none.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Defaults {
    pub(crate) timeout: Option<Duration>,
    pub(crate) on_failure: Option<FailurePolicy>,
}

impl Defaults {
    /// Returns the defaults of hooks whose failures are isolated.
    pub(crate) fn of_observers(self) -> Self {
        Defaults {
            on_failure: None,
            ..self
        }
    }
}

/// Options of a registration; each has a default of the registry.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_runtime::{FailurePolicy, RegisterOptions};
///
/// let options = RegisterOptions::new()
///     .priority(5)
///     .name("secrets")
///     .timeout(Duration::from_secs(2))
///     .on_failure(FailurePolicy::FailClosed);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegisterOptions {
    pub(crate) priority: Option<i32>,
    pub(crate) name: Option<Cow<'static, str>>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) on_failure: Option<FailurePolicy>,
    pub(crate) trusted: Option<bool>,
    pub(crate) phase: Option<EventPhase>,
    pub(crate) key: Option<Cow<'static, str>>,
    pub(crate) before: Vec<Cow<'static, str>>,
    pub(crate) after: Vec<Cow<'static, str>>,
    pub(crate) before_if_present: Vec<Cow<'static, str>>,
    pub(crate) after_if_present: Vec<Cow<'static, str>>,
    pub(crate) if_absent: bool,
    pub(crate) owner: Option<Cow<'static, str>>,
    pub(crate) disabled: bool,
    pub(crate) conditions: Conditions,
    pub(crate) disable_after: Option<NonZeroU32>,
}

impl RegisterOptions {
    /// Creates options with the registry's defaults.
    pub fn new() -> Self {
        RegisterOptions::default()
    }

    /// Sets the priority: lower runs first, equal priorities in order of registration. The default
    /// is 0 for events and transforms, 100 for PRE hooks; POST hooks and observers of PRE ignore it.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Sets the displayed name; names need not be unique. By default, an event hook has the name of
    /// its function or type, and any other hook has its id.
    #[must_use]
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the timeout of a call, which starts at its first wait. By default, the timeout of the
    /// [registry](RegistryOptions::timeout); unlimited without one.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the failure policy, in place of the registry's default.
    #[must_use]
    pub fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.on_failure = Some(policy);
        self
    }

    /// Sets whether the host trusts the hook's output. An untrusted hook's question offers only
    /// labels that clearly allow or deny ([`ApprovalRequest::unclear`]), and its timeout denies. By
    /// default, hooks in this program are trusted, and programs are not.
    ///
    /// [`ApprovalRequest::unclear`]: crate::approval::ApprovalRequest::unclear
    #[must_use]
    pub fn trusted(mut self, is_trusted: bool) -> Self {
        self.trusted = Some(is_trusted);
        self
    }

    /// Sets the [phase](EventPhase) of an event hook; [`Transform`](EventPhase::Transform) by
    /// default. The registration of any other hook panics.
    #[must_use]
    pub fn phase(mut self, phase: EventPhase) -> Self {
        self.phase = Some(phase);
        self
    }

    /// Sets the key of an event hook, unique among the hooks of its event and phase: registering
    /// another hook with this key replaces the hook, in its place. The key of any other hook is its
    /// id, and its registration panics.
    #[must_use]
    pub fn key(mut self, key: impl Into<Cow<'static, str>>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Runs the hook before the hook with this key of the same event and phase, or with this id,
    /// whatever their priorities. See [`Entry::before`].
    #[must_use]
    pub fn before(mut self, key: impl Into<Cow<'static, str>>) -> Self {
        self.before.push(key.into());
        self
    }

    /// Runs the hook after the hook with this key of the same event and phase, or with this id,
    /// whatever their priorities. See [`Entry::after`].
    #[must_use]
    pub fn after(mut self, key: impl Into<Cow<'static, str>>) -> Self {
        self.after.push(key.into());
        self
    }

    /// Like [`before`](Self::before), for a hook that may be registered later, or never. See
    /// [`Entry::before_if_present`].
    #[must_use]
    pub fn before_if_present(mut self, key: impl Into<Cow<'static, str>>) -> Self {
        self.before_if_present.push(key.into());
        self
    }

    /// Like [`after`](Self::after), for a hook that may be registered later, or never. See
    /// [`Entry::after_if_present`].
    #[must_use]
    pub fn after_if_present(mut self, key: impl Into<Cow<'static, str>>) -> Self {
        self.after_if_present.push(key.into());
        self
    }

    /// Registers the hook only if its key or id is free: instead of replacing the other hook, the
    /// registration is refused. See [`Entry::if_absent`].
    #[must_use]
    pub fn if_absent(mut self) -> Self {
        self.if_absent = true;
        self
    }

    /// Sets the owner: the name of the plugin that registers the hook. `remove_owner` and
    /// `set_owner_enabled` of the registries remove and switch all hooks of an owner. No owner by default.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<Cow<'static, str>>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// Sets whether the hook runs; `true` by default. A disabled hook keeps its place until
    /// `set_enabled` of its registry enables it.
    #[must_use]
    pub fn enabled(mut self, is_enabled: bool) -> Self {
        self.disabled = !is_enabled;
        self
    }

    /// Runs the event hook only for events for which this filter returns `true`; further filters
    /// and [`tools`](Self::tools) have to hold, too. The registration of any other hook panics: use
    /// [`when_input`](Self::when_input).
    ///
    /// The filter is called once for each emission, before the first hook of the phase: it does not
    /// see the changes by hooks of the same phase. If it panics, the hook runs.
    ///
    /// ```
    /// use hooks_runtime::RegisterOptions;
    ///
    /// let production = RegisterOptions::new()
    ///     .when(|event| event.str("target") == Some("production"));
    /// ```
    #[must_use]
    pub fn when<F>(mut self, filter: F) -> Self
    where
        F: Fn(Event<'_>) -> bool + HookObject + 'static,
    {
        self.conditions.add_closure(Arc::new(filter));
        self
    }

    /// Runs a PRE hook, a POST hook, an observer or a transform only for inputs for which this
    /// filter returns `true`: requests, results, or values. Further filters and
    /// [`tools`](Self::tools) have to hold, too. The registration panics if the hook has another
    /// type of input, or if it is an event hook: use [`when`](Self::when).
    ///
    /// The filter is called once for each run, before its first hook. If it panics, the hook runs.
    ///
    /// ```
    /// use hooks_runtime::RegisterOptions;
    ///
    /// struct Call { cost: u32 }
    ///
    /// let expensive = RegisterOptions::new().when_input(|call: &Call| call.cost > 100);
    /// ```
    #[must_use]
    pub fn when_input<I: ?Sized + 'static>(
        mut self,
        filter: impl Fn(&I) -> bool + Send + Sync + 'static,
    ) -> Self {
        let filter = Arc::new(InputFilter::new(filter));
        self.conditions
            .add_input(filter, std::any::type_name::<I>());
        self
    }

    /// Runs the hook only for these tools: one of the patterns matches the whole name of the tool.
    /// `*` matches any characters, `?` one character. Otherwise as [`when`](Self::when).
    ///
    /// An empty list matches every tool, and the registration logs a warning: a check whose list is
    /// empty by mistake would otherwise never run. To switch the hook off, use
    /// [`enabled(false)`](Self::enabled).
    ///
    /// For an event, the name is the field `tool_name` of the data. The hook engine and the result
    /// hooks of a `ToolRunner` know the names; any other registry learns them by
    /// [`set_tool_names`](crate::PhaseRegistry::set_tool_names). If there is no name, the hook runs.
    ///
    /// ```
    /// use hooks_runtime::RegisterOptions;
    ///
    /// let writing = RegisterOptions::new().tools(["bash", "write_*"]);
    /// ```
    #[must_use]
    pub fn tools<I>(mut self, patterns: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        let patterns = patterns.into_iter().map(Into::into).collect();
        self.conditions.add_tools(patterns);
        self
    }

    /// Disables the hook after this number of consecutive failures, and logs a warning. Not
    /// disabled by default. Failures in copies of the registry for one call count, too.
    ///
    /// A registration whose failures are not [isolated](FailurePolicy::Isolate) panics: without the
    /// hook, everything that it has to deny would pass.
    ///
    /// # Panics
    /// If the number is 0.
    #[must_use]
    #[track_caller]
    pub fn disable_after(mut self, failures: u32) -> Self {
        let failures = NonZeroU32::new(failures);
        assert!(
            failures.is_some(),
            "a hook cannot be disabled after 0 failures; leave `disable_after` out, or register it with `enabled(false)`"
        );
        self.disable_after = failures;
        self
    }

    /// Returns the options in an entry, for a hook that replaces it.
    pub(crate) fn of(entry: &EntryMeta) -> Self {
        fn owned<'k>(keys: impl Iterator<Item = &'k str>) -> Vec<Cow<'static, str>> {
            keys.map(|key| key.to_owned().into()).collect()
        }
        RegisterOptions {
            priority: Some(entry.priority()),
            name: entry.explicit_name().map(|name| name.to_owned().into()),
            timeout: entry.timeout(),
            on_failure: entry.on_failure(),
            trusted: Some(entry.is_trusted()),
            before: owned(entry.before()),
            after: owned(entry.after()),
            before_if_present: owned(entry.before_if_present()),
            after_if_present: owned(entry.after_if_present()),
            owner: entry.owner().map(|owner| owner.to_owned().into()),
            disabled: !entry.is_enabled(),
            ..RegisterOptions::new()
        }
    }

    /// Returns the options, with these defaults for unset options.
    pub(crate) fn with_defaults(self, defaults: Defaults) -> Self {
        RegisterOptions {
            timeout: self.timeout.or(defaults.timeout),
            on_failure: self.on_failure.or(defaults.on_failure),
            ..self
        }
    }

    /// Checks that no option for events alone is set. `hook` describes the hook.
    pub(crate) fn check_no_event_options(&self, hook: &str) -> Result<(), RegistrationError> {
        let option = if self.phase.is_some() {
            "phase"
        } else if self.key.is_some() {
            "key"
        } else {
            return Ok(());
        };
        Err(RegistrationError::invalid_option(format!(
            "{hook} has the option `{option}`, which is for hooks of events; leave it out"
        )))
    }

    /// Returns an entry for the hook with these options, displayed under a type name.
    pub(crate) fn entry<H>(self, hook: H, hook_type: &'static str, priority: i32) -> Entry<H> {
        let mut entry =
            Entry::with_type_name(hook, hook_type).priority(self.priority.unwrap_or(priority));
        if let Some(name) = self.name {
            entry = entry.name(name);
        }
        if let Some(timeout) = self.timeout {
            entry = entry.timeout(timeout);
        }
        if let Some(policy) = self.on_failure {
            entry = entry.on_failure(policy);
        }
        if let Some(is_trusted) = self.trusted {
            entry = entry.trusted(is_trusted);
        }
        if let Some(key) = self.key {
            entry = entry.key(key);
        }
        if let Some(owner) = self.owner {
            entry = entry.owner(owner);
        }
        entry = self.before.into_iter().fold(entry, Entry::before);
        entry = self.after.into_iter().fold(entry, Entry::after);
        if self.if_absent {
            entry = entry.if_absent();
        }
        let before = self.before_if_present.into_iter();
        entry = before.fold(entry, Entry::before_if_present);
        let after = self.after_if_present.into_iter();
        entry = after.fold(entry, Entry::after_if_present);
        entry.enabled(!self.disabled)
    }
}

/// Inserts a hook under its id, which is also its displayed name by default. Returns the new
/// registration, and the registration that it replaces.
pub(crate) fn insert_with_id<H: ?Sized>(
    slot: &mut Slot<H>,
    entry: Entry<Arc<H>>,
    id: &str,
) -> Result<Inserted, Refused<Entry<Arc<H>>>> {
    let entry = match entry.meta().explicit_name() {
        Some(_) => entry,
        None => entry.name(id.to_owned()),
    };
    insert(slot, entry.key(id.to_owned()))
}

/// Inserts a hook. Returns the new registration, and the registration that it replaces.
pub(crate) fn insert<H: ?Sized>(
    slot: &mut Slot<H>,
    entry: Entry<Arc<H>>,
) -> Result<Inserted, Refused<Entry<Arc<H>>>> {
    let replaced = entry.meta().key().and_then(|key| slot.get(key));
    let replaced = replaced.map(|(_, entry)| entry.id());
    let id = slot.try_insert(entry)?;
    Ok(Inserted { id, replaced })
}

/// A new registration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inserted {
    pub(crate) id: EntryId,
    /// The registration that it replaces by its key.
    pub(crate) replaced: Option<EntryId>,
}

/// Checks that a hook with this failure policy may be disabled after failures. `hook` describes the
/// hook.
pub(crate) fn check_disabling(
    hook: &str,
    disable_after: Option<NonZeroU32>,
    policy: FailurePolicy,
) -> Result<(), RegistrationError> {
    if disable_after.is_none() || policy == FailurePolicy::Isolate {
        return Ok(());
    }
    Err(RegistrationError::invalid_option(format!(
        "{hook} is to be disabled after failures, and its failures {policy}; leave `disable_after` out, or isolate its failures"
    )))
}
