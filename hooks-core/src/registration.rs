//! The way back from a registration.

use std::fmt;
use std::sync::Arc;

use crate::bounds::{MaybeSend, MaybeSync};
use crate::entry::EntryId;

/// Unregisters one entry of a registry that is shared, and no other (`E-07`).
///
/// Dropping it changes nothing: a hook stays until it is unregistered. Where it is to go
/// with its owner, use [`unregister_on_drop`](Self::unregister_on_drop).
#[derive(Clone)]
pub struct Registration {
    id: EntryId,
    from: Arc<dyn Unregister>,
}

/// A registry that entries can be taken out of. What is behind a [`Registration`]; it does
/// not keep the registry alive (`E-07`).
pub trait Unregister: MaybeSend + MaybeSync {
    /// Removes this entry, and says whether it was there.
    fn unregister(&self, id: EntryId) -> bool;
}

impl Registration {
    /// The way back for an entry that has been registered.
    pub fn new(id: EntryId, from: impl Unregister + 'static) -> Self {
        Registration {
            id,
            from: Arc::new(from),
        }
    }

    /// The entry.
    pub fn id(&self) -> EntryId {
        self.id
    }

    /// Removes the entry, and says whether it was there. A second call, or one after the
    /// registry is gone, or after the entry was replaced, does nothing and says `false`
    /// (`E-07`). What is being dispatched already still runs the hook (`E-08`).
    pub fn unregister(&self) -> bool {
        self.from.unregister(self.id)
    }

    /// The same registration, which ends with what owns it.
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

/// A [`Registration`] that unregisters its entry when it is dropped (`E-07`).
#[derive(Debug)]
#[must_use = "dropping it unregisters the hook"]
pub struct RegistrationGuard(Registration);

impl RegistrationGuard {
    /// The entry.
    pub fn id(&self) -> EntryId {
        self.0.id
    }
}

impl Drop for RegistrationGuard {
    fn drop(&mut self) {
        self.0.unregister();
    }
}
