//! The conditions under which a hook is registered.

use std::borrow::Cow;
use std::time::Duration;

use hooks_core::{Entry, FailurePolicy};

/// The conditions under which a hook is registered; each has a default of the registry's.
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
}

impl RegisterOptions {
    /// The defaults of the registry.
    pub fn new() -> Self {
        RegisterOptions::default()
    }

    /// Orders the hook: lower runs first, equals in the order of their registration. 0 for
    /// events, 100 for PRE hooks, without effect on POST hooks.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Names the hook for people; names need not be unique. Without one, an event
    /// hook has the name of its function or type, and a PRE or POST hook its id.
    #[must_use]
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Limits the time of one call of the hook, from its first wait on. Unlimited unless set.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Says what a failure of the hook does, in place of what the registry does by itself.
    #[must_use]
    pub fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.on_failure = Some(policy);
        self
    }

    /// Says whether the host vouches for what the hook says: of one that is not trusted, an
    /// option of a question is a yes only where its label says so by itself. Hooks
    /// in this program are trusted unless this says otherwise, programs are not.
    #[must_use]
    pub fn trusted(mut self, is_trusted: bool) -> Self {
        self.trusted = Some(is_trusted);
        self
    }

    /// The hook, which people know by a type, as an entry under these conditions.
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
