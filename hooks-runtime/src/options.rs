//! Options of a registration.

use std::borrow::Cow;
use std::time::Duration;

use hooks_core::{Entry, FailurePolicy};

use crate::events::EventPhase;

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
}

impl RegisterOptions {
    /// Creates options with the registry's defaults.
    pub fn new() -> Self {
        RegisterOptions::default()
    }

    /// Sets the priority: lower runs first, equal priorities in order of registration. The default
    /// is 0 for events, 100 for PRE hooks; POST hooks ignore it.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Sets the displayed name; names need not be unique. By default, an event hook has the name of
    /// its function or type, and a PRE or POST hook its id.
    #[must_use]
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the timeout of a call, which starts at its first wait. Unlimited by default.
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

    /// Sets whether the host trusts the hook's output. An option of an untrusted hook's question
    /// allows the action only if its label clearly does. By default, hooks in this program are
    /// trusted, and programs are not.
    #[must_use]
    pub fn trusted(mut self, is_trusted: bool) -> Self {
        self.trusted = Some(is_trusted);
        self
    }

    /// Sets the [phase](EventPhase) of an event hook; [`Transform`](EventPhase::Transform) by
    /// default. PRE and POST hooks have no phases within their run: their registration panics.
    #[must_use]
    pub fn phase(mut self, phase: EventPhase) -> Self {
        self.phase = Some(phase);
        self
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
        entry
    }
}
