//! The registry of transforms.

use std::any::type_name;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_core::__private::{drop_catching_panic, registered};
use hooks_core::{Registration, RegistrationError, Slot, Timer};

use super::descriptor::TransformDescriptor;
use super::hook::TransformHook;
use super::outcome::{TransformError, TransformOutcome};
use super::run::{TransformCall, TransformPolicy, policy};
use crate::HookError;
use crate::error::DeadlineExceeded;
use crate::lock::lock;
use crate::registry::call::{Call, DynCall, PlainHook};
use crate::registry::deadline::Deadline;
use crate::registry::failure_counts::{DisabledHook, OnDisabled};
use crate::registry::filter::ToolName;
use crate::registry::options::{RegisterOptions, RegistryOptions};
use crate::registry::slot::{Registered, SharedSlot};

/// Transforms of values of type `T`, in execution order. Clones share one registry.
///
/// Every method takes `&self`, on any thread. A hook that is registered or removed during a run
/// affects later runs only.
pub struct TransformRegistry<T: ?Sized + 'static> {
    hooks: SharedSlot<dyn DynCall<TransformCall<T>>>,
    tool_name: Arc<Mutex<Option<ToolName<T>>>>,
    timer: Arc<dyn Timer>,
    deadline: Option<Duration>,
}

impl<T: ?Sized + 'static> TransformRegistry<T> {
    /// Creates a registry without hooks, with [`HostTimer`](crate::HostTimer) as its timer.
    pub fn new() -> Self {
        TransformRegistry::with_options(RegistryOptions::new())
    }

    /// Creates a registry without hooks, with this timer.
    pub fn with_timer(timer: Arc<dyn Timer>) -> Self {
        TransformRegistry::with_options(RegistryOptions::new().timer(timer))
    }

    /// Creates a registry without hooks, with these options.
    pub fn with_options(options: RegistryOptions) -> Self {
        let slot = Slot::with_timer(Arc::clone(&options.timer));
        TransformRegistry {
            hooks: SharedSlot::new(TransformCall::<T>::SLOT, slot, options.defaults),
            tool_name: Arc::default(),
            timer: options.timer,
            deadline: options.deadline,
        }
    }

    /// Returns a registry that follows this one: it has the transforms of this one, as they are at each
    /// use, and its own. Otherwise as [`HookRegistry::child`](crate::HookRegistry::child).
    #[must_use = "this registry itself stays unchanged"]
    pub fn child(&self) -> Self {
        TransformRegistry {
            hooks: self.hooks.child(),
            tool_name: Arc::new(Mutex::new(self.tool_name())),
            timer: Arc::clone(&self.timer),
            deadline: self.deadline,
        }
    }

    /// Returns a copy of the registry. The copy shares the hooks and the counts of their failures;
    /// later changes of one do not affect the other.
    pub(crate) fn copied(&self) -> Self {
        TransformRegistry {
            hooks: self.hooks.copied(),
            tool_name: Arc::new(Mutex::new(self.tool_name())),
            timer: Arc::clone(&self.timer),
            deadline: self.deadline,
        }
    }

    /// Returns the function that returns the name of the tool in a value, if there is one.
    pub(crate) fn tool_name(&self) -> Option<ToolName<T>> {
        *lock(&self.tool_name)
    }

    /// Sets the function that returns the name of the tool in a value, for later registrations with
    /// [`tools`](RegisterOptions::tools). If the function returns `None` or panics, the hook runs.
    pub fn set_tool_name(&self, tool_name: fn(&T) -> Option<&str>) {
        *lock(&self.tool_name) = Some(tool_name);
    }

    /// Returns `true` if no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Returns the hooks in execution order.
    pub fn hooks(&self) -> Vec<TransformDescriptor> {
        self.hooks.describe(TransformDescriptor::new)
    }

    /// Removes the hook with this id, and returns `true` if it existed.
    #[must_use]
    pub fn deregister(&self, id: &str) -> bool {
        self.hooks.remove(id)
    }

    /// Removes the hooks of an owner ([`RegisterOptions::owner`]), and returns their number.
    pub fn remove_owner(&self, owner: &str) -> usize {
        self.hooks.remove_owner(owner)
    }

    /// Enables or disables the hooks of an owner ([`RegisterOptions::owner`]), and returns their number.
    /// Enabling hooks resets their failures.
    pub fn set_owner_enabled(&self, owner: &str, is_enabled: bool) -> usize {
        self.hooks.set_owner_enabled(owner, is_enabled)
    }

    /// Sets a callback for hooks that the registry disables after failures
    /// ([`RegisterOptions::disable_after`]). It replaces the callback before.
    ///
    /// The callback runs in the task of the run in which the hook failed last, after the hook is disabled
    /// and without a lock: it may use the registry. A panic is caught and logged. Copies of the registry
    /// have the callback, too.
    pub fn set_on_disabled(&self, callback: impl Fn(&DisabledHook) + Send + Sync + 'static) {
        self.share_on_disabled(Arc::new(callback));
    }

    pub(crate) fn share_on_disabled(&self, callback: OnDisabled) {
        self.hooks.set_on_disabled(callback);
    }

    /// Enables or disables the hook with this id, and returns `true` if it exists. A disabled hook
    /// keeps its place, and does not run. Enabling a hook resets its failures: see
    /// [`RegisterOptions::disable_after`].
    #[must_use]
    pub fn set_enabled(&self, id: &str, is_enabled: bool) -> bool {
        self.hooks.set_enabled(id, is_enabled)
    }
}

impl<T: ?Sized + Send + Sync + 'static> TransformRegistry<T> {
    /// Returns a copy of the registry with changes, for one run or for some. The copy shares the
    /// hooks, and the registry stays unchanged.
    #[must_use]
    pub fn for_call(&self, change: impl FnOnce(&Self)) -> Self {
        let copy = self.copied();
        change(&copy);
        copy
    }

    /// Registers a hook; replaces a hook with an equal id. Priority 0 by default.
    ///
    /// # Panics
    /// If [`try_register`](Self::try_register) returns an error.
    #[track_caller]
    pub fn register<H>(&self, hook: H, options: RegisterOptions) -> Registration
    where
        H: TransformHook<T> + 'static,
    {
        registered(self.try_register(hook, options))
    }

    /// Like [`register`](Self::register), and returns an error if the hook is refused. The hook is
    /// then dropped, and the registry is unchanged.
    ///
    /// # Errors
    /// If the options are for events only ([`key`](RegisterOptions::key),
    /// [`phase`](RegisterOptions::phase), [`when`](RegisterOptions::when)), name an unknown id,
    /// filter inputs of another type, match [tools](RegisterOptions::tools) without
    /// [their names](Self::set_tool_name), make the order a cycle, or disable a hook
    /// whose failures are not isolated.
    pub fn try_register<H>(
        &self,
        hook: H,
        options: RegisterOptions,
    ) -> Result<Registration, RegistrationError>
    where
        H: TransformHook<T> + 'static,
    {
        let registered = Registered {
            id: hook.id().to_owned(),
            hook_type: type_name::<H>(),
            policy,
            priority: 0,
            tool_name: self.tool_name(),
        };
        let hook = Arc::new(PlainHook(hook));
        self.hooks.register(hook, registered, options)
    }

    /// Runs the hooks on a value.
    ///
    /// Dropping the future cancels the running hook, and starts no further ones.
    ///
    /// # Errors
    /// If a hook denies or fails, or if a hook is pending at the deadline of the registry. The caller must
    /// not use the raw value instead of the result.
    pub async fn apply(
        &self,
        value: impl Into<Arc<T>>,
    ) -> Result<TransformOutcome<T>, TransformError> {
        let raw = value.into();
        if self.deadline.is_some() {
            let mut deadline = Deadline::new(&*self.timer, self.deadline);
            // Boxed, so that the futures of other runs are smaller.
            return Box::pin(self.apply_within(raw, &mut deadline)).await;
        }
        let hooks = self.hooks.load();
        let run = self.hooks.run(&hooks, TransformPolicy::new(raw), None);
        let outcome = run.await;
        drop_catching_panic(hooks);
        outcome
    }

    /// Runs the hooks on a value, until the deadline.
    pub(crate) async fn apply_within(
        &self,
        raw: Arc<T>,
        deadline: &mut Deadline<'_>,
    ) -> Result<TransformOutcome<T>, TransformError> {
        let hooks = self.hooks.load();
        let policy = TransformPolicy::new(raw);
        let run = self.hooks.run_within(&hooks, policy, None, Some(deadline));
        let outcome = run.await;
        drop_catching_panic(hooks);
        match deadline.passed() {
            None => outcome,
            Some(after) => {
                let error = HookError::new(DeadlineExceeded::new(after));
                Err(TransformError::Failed(error))
            }
        }
    }
}

impl<T: ?Sized + 'static> Default for TransformRegistry<T> {
    fn default() -> Self {
        TransformRegistry::new()
    }
}

impl<T: ?Sized + 'static> Clone for TransformRegistry<T> {
    fn clone(&self) -> Self {
        TransformRegistry {
            hooks: self.hooks.clone(),
            tool_name: Arc::clone(&self.tool_name),
            timer: Arc::clone(&self.timer),
            deadline: self.deadline,
        }
    }
}

impl<T: ?Sized + 'static> fmt::Debug for TransformRegistry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self
            .hooks
            .describe(|entry, _| entry.key().map(str::to_owned));
        f.debug_tuple("TransformRegistry").field(&ids).finish()
    }
}
