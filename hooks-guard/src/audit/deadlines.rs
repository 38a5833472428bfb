//! The deadlines of open questions by a monotonic clock, which no change of the time of day moves.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::record::Stored;

/// How far in the future a question may have been asked, in microseconds: clocks of several
/// instances differ, and clocks are corrected. A question from further away is over, because the
/// clock was set back since.
pub(super) const TOLERANCE_US: i64 = 60_000_000;

/// How long a deadline is kept after it has passed: an approval may be tried then, too.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// How many deadlines are kept at most, beside those of open questions.
const MAX_KEPT: usize = 100_000;

/// The deadlines of the questions that this process has recorded or seen.
///
/// A question is over when its time has passed by the steady clock of this process, whatever the
/// date is by then.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<i64, Deadline>,
    /// The number of the last question that was looked for.
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

    /// Takes a question that is recorded now.
    pub(super) fn begin(&self, row: &Stored) {
        if let Some(deadline) = row.deadline {
            self.insert(row.id, deadline - row.at);
        }
    }

    /// Takes a question that another process has recorded, or this one before its start: it is open
    /// no longer than it would be if it had been asked now.
    pub(super) fn see(&self, id: i64, asked_at: i64, deadline: i64, now: i64) {
        let state = self.state();
        let is_known = state.open.contains_key(&id);
        drop(state);
        if !is_known {
            self.insert(id, (deadline - now).min(deadline - asked_at));
        }
        let mut state = self.state();
        state.last = state.last.max(id);
    }

    /// The number of the last question that was seen.
    pub(super) fn last_seen(&self) -> i64 {
        self.state().last
    }

    fn insert(&self, id: i64, left_us: i64) {
        let now = Instant::now();
        let left = Duration::from_micros(left_us.max(0).unsigned_abs());
        let mut state = self.state();
        if state.open.len() >= MAX_KEPT {
            state.open.retain(|_, it| !it.is_closed);
        }
        let deadline = Deadline {
            at: now.checked_add(left).unwrap_or(now),
            is_closed: false,
        };
        state.open.insert(id, deadline);
    }

    /// Whether the time of a question is over by the steady clock; false if it is not known.
    pub(super) fn is_over(&self, id: i64) -> bool {
        let now = Instant::now();
        self.state().open.get(&id).is_some_and(|it| it.at <= now)
    }

    /// The questions whose time is over and that were not looked at since.
    pub(super) fn over(&self) -> Vec<i64> {
        let now = Instant::now();
        let mut state = self.state();
        state.open.retain(|_, it| now < it.at + KEPT);
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
