//! History in memory: a ring that drops the oldest records and ends with the process.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::query::{RunPage, RunQuery};
use super::record::RunRecord;

pub(super) struct RunTable {
    capacity: usize,
    ring: Mutex<RunRing>,
}

#[derive(Default)]
struct RunRing {
    last_id: u64,
    /// Oldest first.
    records: VecDeque<RunRecord>,
}

impl RunTable {
    pub(super) fn new(capacity: NonZeroUsize) -> Self {
        RunTable {
            capacity: capacity.get(),
            ring: Mutex::default(),
        }
    }

    pub(super) fn append(&self, record: &RunRecord) -> u64 {
        let mut ring = self.lock();
        ring.last_id += 1;
        let id = ring.last_id;
        while ring.records.len() >= self.capacity {
            ring.records.pop_front();
        }
        ring.records.push_back(RunRecord {
            id,
            ..record.clone()
        });
        id
    }

    pub(super) fn query(&self, query: &RunQuery) -> RunPage {
        let ring = self.lock();
        let matching = ring
            .records
            .iter()
            .rev()
            .filter(|record| query.matches(record));
        RunPage::of(
            matching.take(query.limit + 1).cloned().collect(),
            query.limit,
        )
    }

    pub(super) fn forget_before(&self, time: Timestamp) -> u64 {
        let mut ring = self.lock();
        let before = ring.records.len();
        ring.records.retain(|record| record.time >= time);
        (before - ring.records.len()) as u64
    }

    // No holder of the lock can panic in the middle of a change, so a poisoned lock is safe to use.
    fn lock(&self) -> MutexGuard<'_, RunRing> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
