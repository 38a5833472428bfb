//! What the hooks of one run of a stack may use together.

use std::time::{Duration, Instant};

use crate::sandbox::Allowance;

/// What the sandbox has to end a run and to say so, before the stack does.
const GRACE: Duration = Duration::from_millis(100);

/// Fuel and time, shared out so that no hook can take what is another's.
#[derive(Debug)]
pub(super) struct Budget {
    fuel: u64,
    wall: Duration,
    /// `None` for no end: no clock goes that far.
    until: Option<Instant>,
    /// All hooks.
    hooks: u32,
    /// Those that have not run, with the one whose turn it is.
    left: u32,
}

impl Budget {
    pub(super) fn new(fuel: u64, wall: Duration) -> Self {
        Budget {
            fuel,
            wall,
            until: Instant::now().checked_add(wall),
            hooks: 0,
            left: 0,
        }
    }

    /// Says how many hooks share it.
    pub(super) fn share_among(&mut self, hooks: usize) {
        self.hooks = u32::try_from(hooks).unwrap_or(u32::MAX);
        self.left = self.hooks;
    }

    /// The share of the next hook: an equal part of what is left.
    pub(super) fn share(&mut self) -> Allowance {
        let hooks = self.left.max(1);
        self.left = hooks - 1;
        Allowance {
            fuel: Some(self.fuel / u64::from(hooks)),
            wall: Some(self.time_left() / hooks),
            until: self.until,
            http: false,
        }
    }

    /// Takes what a hook has used.
    pub(super) fn spend(&mut self, fuel: u64) {
        self.fuel = self.fuel.saturating_sub(fuel);
    }

    /// How long the hook whose turn it is may take, with what it waits for a worker.
    pub(super) fn patience(&self) -> Duration {
        let end = self.until.and_then(|until| until.checked_add(GRACE));
        end.map_or(Duration::MAX, |end| {
            end.saturating_duration_since(Instant::now())
        })
    }

    /// Whether a hook that had so much time had about its part, if none may have more than
    /// `most`: where others waited long for a worker, nothing is left for it.
    pub(super) fn is_fair(&self, had: Duration, most: Duration) -> bool {
        had >= (self.wall / self.hooks.max(1)).min(most) / 2
    }

    fn time_left(&self) -> Duration {
        self.until.map_or(Duration::MAX, |until| {
            until.saturating_duration_since(Instant::now())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_22_what_a_hook_leaves_goes_to_those_behind_it_and_what_it_takes_is_its_own() {
        let mut budget = Budget::new(90, Duration::from_secs(60));
        budget.share_among(3);
        assert_eq!(budget.share().fuel, Some(30));
        budget.spend(30);
        assert_eq!(budget.share().fuel, Some(30));
        budget.spend(10);
        assert_eq!(budget.share().fuel, Some(50));
    }

    #[test]
    fn s_22_a_part_of_the_time_is_fair_if_it_is_about_an_equal_one() {
        let second = Duration::from_secs(1);
        let mut budget = Budget::new(90, 10 * second);
        budget.share_among(5);
        assert!(budget.is_fair(second, 60 * second));
        assert!(!budget.is_fair(second - Duration::from_millis(1), 60 * second));
        assert!(
            budget.is_fair(second / 2, second),
            "no hook has more than that"
        );
    }
}
