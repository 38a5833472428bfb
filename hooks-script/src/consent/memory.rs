//! Consents that are gone with the process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::rule::{self, Standing};
use super::{ConsentChange, ConsentRequest};

#[derive(Default)]
pub(super) struct Memory {
    changes: Mutex<Vec<ConsentChange>>,
}

impl Memory {
    pub(super) fn append(&self, mut change: ConsentChange) -> ConsentChange {
        let mut changes = self.lock();
        change.id = changes.len() as u64 + 1;
        changes.push(change.clone());
        change
    }

    pub(super) fn standing(&self, request: &ConsentRequest) -> Standing {
        let changes = self.lock();
        let about = changes.iter().filter(|change| {
            change.hook == request.hook && change.capability == request.capability
        });
        rule::standing(request, about)
    }

    pub(super) fn changes(&self, wanted: impl Fn(&ConsentChange) -> bool) -> Vec<ConsentChange> {
        self.lock()
            .iter()
            .filter(|change| wanted(change))
            .cloned()
            .collect()
    }

    // Nothing that holds the lock can panic halfway through a change.
    fn lock(&self) -> MutexGuard<'_, Vec<ConsentChange>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
