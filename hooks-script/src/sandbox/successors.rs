//! Predicts which hook a worker runs next, from the order of past runs: a stack runs its hooks
//! repeatedly in one order. A wrong prediction costs one reset.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use crate::sandbox::snapshot::Snapshot;

/// Maximum number of remembered pairs; more than a stack has hooks.
const MAX_PAIRS: usize = 64;

#[derive(Default)]
pub(super) struct LikelySuccessors {
    last: Weak<Snapshot>,
    /// Pairs of a hook and its last successor, oldest first.
    pairs: VecDeque<(Weak<Snapshot>, Weak<Snapshot>)>,
}

impl LikelySuccessors {
    /// Records that this hook runs, and returns its likely successor: by default, the hook itself.
    pub(super) fn record(&mut self, hook: &Arc<Snapshot>) -> Arc<Snapshot> {
        let this = Arc::downgrade(hook);
        let last = std::mem::replace(&mut self.last, this.clone());
        self.pairs.retain(|(first, _)| !first.ptr_eq(&last));
        self.pairs.push_back((last, this.clone()));
        if self.pairs.len() > MAX_PAIRS {
            self.pairs.pop_front();
        }
        let known = self.pairs.iter().find(|(first, _)| first.ptr_eq(&this));
        known
            .and_then(|(_, next)| next.upgrade())
            .unwrap_or_else(|| Arc::clone(hook))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{LikelySuccessors, MAX_PAIRS};
    use crate::sandbox::snapshot::Snapshot;

    fn hook() -> Arc<Snapshot> {
        Arc::new(Snapshot::take(&[], 0, None))
    }

    #[test]
    fn the_last_successor_of_a_hook_is_predicted() {
        let (one, two, three) = (hook(), hook(), hook());
        let mut follows = LikelySuccessors::default();
        for hook in [&one, &two, &three] {
            assert!(Arc::ptr_eq(&follows.record(hook), hook));
        }
        for _ in 0..3 {
            for (hook, next) in [(&one, &two), (&two, &three), (&three, &one)] {
                assert!(Arc::ptr_eq(&follows.record(hook), next));
            }
        }
        // A new order replaces the previous one.
        follows.record(&two);
        follows.record(&one);
        assert!(Arc::ptr_eq(&follows.record(&two), &one));
    }

    #[test]
    fn dropped_hooks_are_not_kept_alive() {
        let (one, two) = (hook(), hook());
        let mut follows = LikelySuccessors::default();
        for hook in [&one, &two, &one, &two] {
            follows.record(hook);
        }
        assert_eq!((Arc::strong_count(&one), Arc::strong_count(&two)), (1, 1));
        drop(two);
        assert!(Arc::ptr_eq(&follows.record(&one), &one));
        for _ in 0..2 * MAX_PAIRS {
            follows.record(&hook());
        }
        assert_eq!(follows.pairs.len(), MAX_PAIRS);
    }
}
