//! Deadlines of open questions by a monotonic clock. Takes questions with their deadlines; returns
//! the questions whose deadline has passed, whatever happens to the system clock.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::record::DecisionRow;

/// Maximum distance into the future, in microseconds, of the time of a question: the clocks of
/// instances differ, and clocks are corrected. A question further in the future has expired,
/// because the clock was set back since.
pub(super) const TOLERANCE_US: i64 = 60_000_000;

/// Retention of a deadline after it has passed: its approval may still be redeemed then.
const DEADLINE_RETENTION: Duration = Duration::from_secs(24 * 3600);

/// Maximum number of retained deadlines, not counting those of open questions.
const MAX_DEADLINES: usize = 100_000;

/// Deadlines of the questions that this process has recorded or read.
///
/// A question expires when its time has passed by the monotonic clock of this process, whatever the
/// system time is by then.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<i64, Deadline>,
    /// Id of the last question that was read.
    last: i64,
}

#[derive(Clone, Copy, Debug)]
struct Deadline {
    at: Instant,
    is_closed: bool,
}

impl Deadlines {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a question that is being recorded.
    pub(super) fn add_new(&self, row: &DecisionRow) {
        if let Some(deadline) = row.deadline {
            self.insert(row.id, deadline - row.at);
        }
    }

    /// Adds a question that another process, or this process before a restart, has recorded. It
    /// stays open no longer than a question asked now.
    pub(super) fn add_existing(&self, id: i64, asked_at: i64, deadline: i64, now: i64) {
        let state = self.state();
        let is_known = state.open.contains_key(&id);
        drop(state);
        if !is_known {
            self.insert(id, (deadline - now).min(deadline - asked_at));
        }
        let mut state = self.state();
        state.last = state.last.max(id);
    }

    /// Returns the id of the last question that was read.
    pub(super) fn last_seen(&self) -> i64 {
        self.state().last
    }

    fn insert(&self, id: i64, left_us: i64) {
        let now = Instant::now();
        let left = Duration::from_micros(left_us.max(0).unsigned_abs());
        let mut state = self.state();
        if state.open.len() >= MAX_DEADLINES {
            state.open.retain(|_, it| !it.is_closed);
        }
        let deadline = Deadline {
            at: now.checked_add(left).unwrap_or(now),
            is_closed: false,
        };
        state.open.insert(id, deadline);
    }

    /// Returns `true` if a question has expired by the monotonic clock; `false` for an unknown
    /// question.
    pub(super) fn is_expired(&self, id: i64) -> bool {
        let now = Instant::now();
        self.state().open.get(&id).is_some_and(|it| it.at <= now)
    }

    /// Returns the expired questions that were not closed yet.
    pub(super) fn expired(&self) -> Vec<i64> {
        let now = Instant::now();
        let mut state = self.state();
        state.open.retain(|_, it| now < it.at + DEADLINE_RETENTION);
        let over = state.open.iter();
        let over = over.filter(|(_, it)| it.at <= now && !it.is_closed);
        over.map(|(&id, _)| id).collect()
    }

    pub(super) fn close(&self, ids: &[i64]) {
        let mut state = self.state();
        for id in ids {
            if let Some(deadline) = state.open.get_mut(id) {
                deadline.is_closed = true;
            }
        }
    }
}
