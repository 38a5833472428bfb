//! Around hooks of registries: hooks that enclose a call, also called middleware, wrappers or
//! layers.
//!
//! | Registered with | Encloses | Call |
//! |---|---|---|
//! | [`HookRegistry::around`](crate::HookRegistry::around) | the phases `Transform` and `Decide` of an event | [`EventCall`](crate::events::EventCall) |
//! | [`PhaseRegistry::around_pre`](crate::PhaseRegistry::around_pre) | the PRE hooks | [`PreCall`](crate::phases::PreCall) |
//! | [`PhaseRegistry::around_post`](crate::PhaseRegistry::around_post) | the POST hooks | [`PostCall`](crate::phases::PostCall) |
//! | [`ToolRunner::around`](crate::toolset::ToolRunner::around) | a call of a tool: its hooks, the tool, the hooks of its result | [`ToolCall`](crate::toolset::ToolCall) |
//!
//! An around hook receives the arguments of the call and [`Next`](hooks_core::Next), the rest of the call. It calls
//! `next` once, several times or not at all, and returns the result of the call. The hook with the
//! lowest priority is the outermost; among equal priorities, it is the hook that was registered
//! first. Errors of the call are part of its result. A panic of an around hook and a cancellation
//! pass through to the caller. Before a panic does, observers of an event and of PRE receive it as an
//! error that names the around hook: an audit trail has to contain such a run, too.
//!
//! In a [report](crate::Report), an around hook that did not call `next` is
//! [`Stopped`](crate::HookStatus::Stopped), and hooks that were not reached are `Skipped`. If an
//! around hook calls `next` twice, the hooks within it are in the report twice.
//!
//! An around hook that does not call `next` skips every check: register around hooks of trusted code
//! only.

use std::fmt;

use hooks_core::__private::registered;
use hooks_core::around::DynAround;
use hooks_core::{
    AroundCall, Entry, EntryMeta, FailurePolicy, IntoAround, Registration, RegistrationError, Slot,
};

use crate::registry::options::Defaults;
use crate::registry::slot::SharedSlot;

/// The around hooks of a call `C`. Clones share one registry.
///
/// Every method takes `&self`, on any thread. A hook that is registered or removed during a call
/// affects later calls only.
///
/// ```
/// use hooks_runtime::{AroundCall, AroundRegistry, BoxFuture, Entry, Innermost, Next};
///
/// /// A download.
/// enum Download {}
///
/// impl AroundCall for Download {
///     type Args<'a> = (&'a str,);
///     type Output = Result<String, u16>;
/// }
///
/// /// Downloads without hooks.
/// struct Client;
///
/// impl Innermost<Download> for Client {
///     fn call<'a>(&'a self, (url,): (&'a str,)) -> BoxFuture<'a, Result<String, u16>> {
///         Box::pin(async move { Ok(format!("the text of {url}")) })
///     }
/// }
///
/// let hooks: AroundRegistry<Download> = AroundRegistry::new();
/// hooks.register(Entry::new(async |url: &str, next: Next<'_, Download>| {
///     let text = next.call((url,)).await?;
///     Ok(text.to_uppercase())
/// }).key("shout"));
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let snapshot = hooks.snapshot();
/// let text = Next::new(&snapshot, &Client).call(("/",)).await;
/// assert_eq!(text.unwrap(), "THE TEXT OF /");
///
/// hooks.set_enabled("shout", false);
/// let snapshot = hooks.snapshot();
/// let text = Next::new(&snapshot, &Client).call(("/",)).await;
/// assert_eq!(text.unwrap(), "the text of /");
/// # });
/// ```
pub struct AroundRegistry<C: AroundCall + ?Sized + 'static> {
    hooks: SharedSlot<dyn DynAround<C>>,
}

/// Around hooks in execution order.
pub type AroundHooks<C> = Slot<dyn DynAround<C>>;

impl<C: AroundCall + ?Sized + 'static> AroundRegistry<C> {
    /// Creates a registry without hooks.
    pub fn new() -> Self {
        AroundRegistry {
            hooks: SharedSlot::new("around", Slot::new(), Defaults::default()),
        }
    }

    /// Returns a registry that follows this one: it has the around hooks of this one, as they are at each
    /// use, and its own. Otherwise as [`HookRegistry::child`](crate::HookRegistry::child).
    #[must_use = "this registry itself stays unchanged"]
    pub fn child(&self) -> Self {
        AroundRegistry {
            hooks: self.hooks.child(),
        }
    }

    /// Returns a copy of the registry. The copy shares the hooks; later changes of one do not
    /// affect the other.
    pub(crate) fn copied(&self) -> Self {
        AroundRegistry {
            hooks: self.hooks.copied(),
        }
    }

    /// Returns a copy of the registry with changes, for one call or for some. The copy shares the
    /// hooks, and the registry stays unchanged.
    #[must_use]
    pub fn for_call(&self, change: impl FnOnce(&Self)) -> Self {
        let copy = self.copied();
        change(&copy);
        copy
    }

    /// Registers an around hook: an [`Around`](hooks_core::Around), a function or a closure, or an
    /// [`Entry`] with a key, a priority or a condition.
    ///
    /// # Panics
    /// If [`try_register`](Self::try_register) returns an error.
    #[track_caller]
    pub fn register<M>(&self, hook: impl IntoAround<C, M> + 'static) -> Registration {
        registered(self.try_register(hook))
    }

    /// Like [`register`](Self::register), and returns an error if the hook is refused. The hook is
    /// then dropped, and the registry is unchanged.
    ///
    /// # Errors
    /// If the entry has a timeout or a failure policy, which around hooks do not support, names an
    /// unknown key in `before` or `after`, or makes the order a cycle.
    pub fn try_register<M>(
        &self,
        hook: impl IntoAround<C, M> + 'static,
    ) -> Result<Registration, RegistrationError> {
        self.hooks.insert(checked(hook.__hooks_into_entry())?)
    }

    /// Removes the hook with this key, and returns `true` if it existed.
    #[must_use]
    pub fn remove(&self, key: &str) -> bool {
        self.hooks.remove(key)
    }

    /// Enables or disables the hook with this key, and returns `true` if it exists.
    #[must_use]
    pub fn set_enabled(&self, key: &str, is_enabled: bool) -> bool {
        self.hooks.set_enabled(key, is_enabled)
    }

    /// Removes the hooks of an owner ([`Entry::owner`]), and returns their number.
    pub fn remove_owner(&self, owner: &str) -> usize {
        self.hooks.remove_owner(owner)
    }

    /// Enables or disables the hooks of an owner ([`Entry::owner`]), and returns their number.
    pub fn set_owner_enabled(&self, owner: &str, is_enabled: bool) -> usize {
        self.hooks.set_owner_enabled(owner, is_enabled)
    }

    /// Returns `true` if no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Returns the registrations, the outermost hook first.
    pub fn hooks(&self) -> Vec<EntryMeta> {
        self.hooks.describe(|entry, _| entry.clone())
    }

    /// Returns the hooks of one call, for [`Next::new`](hooks_core::Next::new). Takes constant time.
    pub fn snapshot(&self) -> AroundHooks<C> {
        Slot::clone(&self.hooks.load())
    }
}

/// Checks that around hooks support the options of an entry.
pub(crate) fn checked<H>(entry: Entry<H>) -> Result<Entry<H>, RegistrationError> {
    let meta = entry.meta();
    let option = if meta.timeout().is_some() {
        "a timeout"
    } else if meta
        .on_failure()
        .is_some_and(|policy| policy != FailurePolicy::Propagate)
    {
        "a failure policy"
    } else {
        return Ok(entry);
    };
    Err(RegistrationError::invalid_option(format!(
        "around hook `{}` has {option}, and the rest of the call runs within the hook; leave it out",
        meta.name()
    )))
}

impl<C: AroundCall + ?Sized + 'static> Default for AroundRegistry<C> {
    fn default() -> Self {
        AroundRegistry::new()
    }
}

impl<C: AroundCall + ?Sized + 'static> Clone for AroundRegistry<C> {
    fn clone(&self) -> Self {
        AroundRegistry {
            hooks: self.hooks.clone(),
        }
    }
}

impl<C: AroundCall + ?Sized + 'static> fmt::Debug for AroundRegistry<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slot = self.hooks.load();
        let names: Vec<_> = slot.iter().map(|(_, entry)| entry.name()).collect();
        f.debug_tuple("AroundRegistry").field(&names).finish()
    }
}
