//! Handles that unregister an entry.

use std::fmt;
use std::sync::Arc;

use crate::bounds::{MaybeSend, MaybeSync};
use crate::entry::EntryId;

/// Unregisters one entry of a shared registry.
///
/// Dropping it has no effect: a hook stays until it is unregistered. To remove the hook together
/// with its owner, use [`unregister_on_drop`](Self::unregister_on_drop).
#[derive(Clone)]
pub struct Registration {
    id: EntryId,
    unregister: Arc<dyn Unregister>,
}

/// A closure that removes an entry.
trait Unregister: MaybeSend + MaybeSync {
    fn unregister(&self, id: EntryId) -> bool;
}

impl<F: Fn(EntryId) -> bool + MaybeSend + MaybeSync> Unregister for F {
    fn unregister(&self, id: EntryId) -> bool {
        self(id)
    }
}

impl Registration {
    /// Creates the handle of a registered entry. `unregister` removes the entry and returns `true` if it
    /// was registered; it must not keep the registry alive.
    pub fn new(
        id: EntryId,
        unregister: impl Fn(EntryId) -> bool + MaybeSend + MaybeSync + 'static,
    ) -> Self {
        Registration {
            id,
            unregister: Arc::new(unregister),
        }
    }

    /// Returns the id of the entry.
    pub fn id(&self) -> EntryId {
        self.id
    }

    /// Removes the entry, and returns `true` if it was registered. Returns `false` and does nothing
    /// if it was removed or replaced before, or if the registry is gone. A running dispatch still
    /// runs the hook.
    pub fn unregister(&self) -> bool {
        self.unregister.unregister(self.id)
    }

    /// Converts the handle into a guard that unregisters the entry on drop.
    #[must_use = "dropping it unregisters the hook"]
    pub fn unregister_on_drop(self) -> RegistrationGuard {
        RegistrationGuard(self)
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registration").field(&self.id).finish()
    }
}

/// A [`Registration`] that unregisters its entry when it is dropped.
#[derive(Debug)]
#[must_use = "dropping it unregisters the hook"]
pub struct RegistrationGuard(Registration);

impl RegistrationGuard {
    /// Returns the id of the entry.
    pub fn id(&self) -> EntryId {
        self.0.id
    }
}

impl Drop for RegistrationGuard {
    fn drop(&mut self) {
        self.0.unregister();
    }
}
