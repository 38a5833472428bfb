//! Consent store in memory: keeps every change until the process ends.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::request::{ConsentChange, ConsentRequest};
use super::rule::{self, ConsentState};

#[derive(Default)]
pub(super) struct ConsentTable {
    changes: Mutex<Vec<ConsentChange>>,
}

impl ConsentTable {
    pub(super) fn append(&self, mut change: ConsentChange) -> ConsentChange {
        let mut changes = self.lock();
        change.id = changes.len() as u64 + 1;
        changes.push(change.clone());
        change
    }

    pub(super) fn standing(&self, request: &ConsentRequest) -> ConsentState {
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

    // No holder of the lock can panic in the middle of a change, so a poisoned lock is safe to use.
    fn lock(&self) -> MutexGuard<'_, Vec<ConsentChange>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
