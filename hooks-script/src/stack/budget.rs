//! Shared fuel and time of the hooks in one run of a stack.

use std::time::{Duration, Instant};

use crate::sandbox::RunLimits;

/// Time for the sandbox to end a run and report it before the stack's own timeout.
const GRACE_PERIOD: Duration = Duration::from_millis(100);

/// Remaining fuel and time, divided so that no hook can use the share of another.
#[derive(Debug)]
pub(super) struct StackBudget {
    fuel: u64,
    wall: Duration,
    /// Deadline; `None` if it is beyond the range of the clock.
    deadline: Option<Instant>,
    /// Number of hooks.
    hooks: u32,
    /// Number of hooks that have not finished, including the current one.
    left: u32,
}

impl StackBudget {
    pub(super) fn new(fuel: u64, wall: Duration) -> Self {
        StackBudget {
            fuel,
            wall,
            deadline: Instant::now().checked_add(wall),
            hooks: 0,
            left: 0,
        }
    }

    /// Sets the number of hooks that share the budget.
    pub(super) fn share_among(&mut self, hooks: usize) {
        self.hooks = u32::try_from(hooks).unwrap_or(u32::MAX);
        self.left = self.hooks;
    }

    /// Returns the share of the next hook: an equal part of the rest.
    pub(super) fn share(&mut self) -> RunLimits {
        let hooks = self.left.max(1);
        self.left = hooks - 1;
        RunLimits {
            fuel: Some(self.fuel / u64::from(hooks)),
            wall: Some(self.time_left() / hooks),
            deadline: self.deadline,
            http: false,
        }
    }

    /// Subtracts the fuel that a hook used.
    pub(super) fn spend(&mut self, fuel: u64) {
        self.fuel = self.fuel.saturating_sub(fuel);
    }

    /// Returns the timeout of the current hook, including its wait for a worker.
    pub(super) fn patience(&self) -> Duration {
        let end = self
            .deadline
            .and_then(|until| until.checked_add(GRACE_PERIOD));
        end.map_or(Duration::MAX, |end| {
            end.saturating_duration_since(Instant::now())
        })
    }

    /// Returns `true` if a hook had at least half of its fair share of time, given the limit `most`
    /// of the engine. Long waits for a worker by other hooks can leave it less.
    pub(super) fn is_fair(&self, had: Duration, most: Duration) -> bool {
        had >= (self.wall / self.hooks.max(1)).min(most) / 2
    }

    fn time_left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |until| {
            until.saturating_duration_since(Instant::now())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_22_unused_fuel_is_shared_among_the_later_hooks() {
        let mut budget = StackBudget::new(90, Duration::from_secs(60));
        budget.share_among(3);
        assert_eq!(budget.share().fuel, Some(30));
        budget.spend(30);
        assert_eq!(budget.share().fuel, Some(30));
        budget.spend(10);
        assert_eq!(budget.share().fuel, Some(50));
    }

    #[test]
    fn s_22_half_of_an_equal_time_share_counts_as_fair() {
        let second = Duration::from_secs(1);
        let mut budget = StackBudget::new(90, 10 * second);
        budget.share_among(5);
        assert!(budget.is_fair(second, 60 * second));
        assert!(!budget.is_fair(second - Duration::from_millis(1), 60 * second));
        assert!(
            budget.is_fair(second / 2, second),
            "the limit of the hook is one second"
        );
    }
}
