//! What the hooks of one run of a stack may use together.

use std::time::{Duration, Instant};

use crate::sandbox::Allowance;

/// Fuel and time, shared out so that no hook can take what is another's.
#[derive(Debug)]
pub(super) struct Budget {
    fuel: u64,
    /// `None` for no end: no clock goes that far.
    until: Option<Instant>,
    /// The hooks that have not run, with the one whose turn it is.
    hooks: u32,
}

impl Budget {
    pub(super) fn new(fuel: u64, wall: Duration) -> Self {
        Budget {
            fuel,
            until: Instant::now().checked_add(wall),
            hooks: 0,
        }
    }

    /// Says how many hooks share it.
    pub(super) fn share_among(&mut self, hooks: usize) {
        self.hooks = u32::try_from(hooks).unwrap_or(u32::MAX);
    }

    /// The share of the next hook: an equal part of what is left.
    pub(super) fn share(&mut self) -> Allowance {
        let hooks = self.hooks.max(1);
        self.hooks = hooks - 1;
        Allowance {
            fuel: Some(self.fuel / u64::from(hooks)),
            wall: Some(self.time_left() / hooks),
            http: false,
        }
    }

    /// Takes what a hook has used.
    pub(super) fn spend(&mut self, fuel: u64) {
        self.fuel = self.fuel.saturating_sub(fuel);
    }

    pub(super) fn time_left(&self) -> Duration {
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
}
