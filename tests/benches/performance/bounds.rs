//! Bounds that `counts` checks: the current cost of a dispatch, with a margin of a twelfth, and at
//! least a fiftieth of the total.
//!
//! The targets, which `counts` also checks, are in `cases.rs`
//! ([`Case::ratio_target`](crate::cases::Case::ratio_target)); a bound prevents regressions. Counts
//! may differ with another compiler: `-- bounds` prints the new table.

/// The bound of one case.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) slot: &'static str,
    pub(crate) hooks: usize,
    /// Instructions beyond the baseline.
    pub(crate) instructions: i64,
    pub(crate) allocations: u64,
}

#[rustfmt::skip]
pub(crate) const BOUNDS: &[Bound] = &[
    Bound { slot: "always", hooks: 0, instructions: 52, allocations: 0 },
    Bound { slot: "fallback", hooks: 0, instructions: 52, allocations: 0 },
    Bound { slot: "chain", hooks: 0, instructions: 65, allocations: 0 },
    Bound { slot: "own_chain", hooks: 0, instructions: 68, allocations: 0 },
    Bound { slot: "aggregate", hooks: 0, instructions: 82, allocations: 1 },
    Bound { slot: "singleton", hooks: 0, instructions: 50, allocations: 0 },
    Bound { slot: "always", hooks: 1, instructions: 68, allocations: 0 },
    Bound { slot: "fallback", hooks: 1, instructions: 95, allocations: 0 },
    Bound { slot: "chain", hooks: 1, instructions: 117, allocations: 0 },
    Bound { slot: "own_chain", hooks: 1, instructions: 174, allocations: 0 },
    Bound { slot: "aggregate", hooks: 1, instructions: 162, allocations: 1 },
    Bound { slot: "singleton", hooks: 1, instructions: 79, allocations: 0 },
    Bound { slot: "always_awaiting", hooks: 1, instructions: -4, allocations: 1 },
    Bound { slot: "chain_awaiting", hooks: 1, instructions: 63, allocations: 1 },
    Bound { slot: "function", hooks: 1, instructions: 60, allocations: 0 },
    Bound { slot: "owned_function", hooks: 1, instructions: 128, allocations: 2 },
    Bound { slot: "owned_closure", hooks: 1, instructions: 327, allocations: 3 },
    Bound { slot: "always", hooks: 4, instructions: 242, allocations: 0 },
    Bound { slot: "fallback", hooks: 4, instructions: 236, allocations: 0 },
    Bound { slot: "chain", hooks: 4, instructions: 283, allocations: 0 },
    Bound { slot: "own_chain", hooks: 4, instructions: 500, allocations: 0 },
    Bound { slot: "aggregate", hooks: 4, instructions: 316, allocations: 1 },
    Bound { slot: "always_awaiting", hooks: 4, instructions: 72, allocations: 4 },
    Bound { slot: "chain_awaiting", hooks: 4, instructions: 193, allocations: 4 },
    Bound { slot: "function", hooks: 4, instructions: 210, allocations: 0 },
    Bound { slot: "owned_function", hooks: 4, instructions: 438, allocations: 5 },
    Bound { slot: "owned_closure", hooks: 4, instructions: 1230, allocations: 9 },
    Bound { slot: "event_without_hooks", hooks: 0, instructions: 121, allocations: 0 },
    Bound { slot: "event_continue_12_fields", hooks: 1, instructions: 600, allocations: 0 },
    Bound { slot: "event_continue_12_fields", hooks: 4, instructions: 882, allocations: 0 },
    Bound { slot: "event_continue", hooks: 1, instructions: 21, allocations: 0 },
    Bound { slot: "event_modify", hooks: 1, instructions: -122, allocations: 0 },
    Bound { slot: "event_shared", hooks: 1, instructions: 693, allocations: 0 },
    Bound { slot: "event_continue", hooks: 4, instructions: -1305, allocations: 0 },
    Bound { slot: "event_modify", hooks: 4, instructions: -1898, allocations: 0 },
    Bound { slot: "event_shared", hooks: 4, instructions: 1227, allocations: 0 },
    Bound { slot: "event_continue_8_KiB", hooks: 1, instructions: 25, allocations: 0 },
    Bound { slot: "event_modify_8_KiB", hooks: 1, instructions: -122, allocations: 0 },
    Bound { slot: "event_shared_8_KiB", hooks: 1, instructions: 689, allocations: 0 },
    Bound { slot: "event_continue_8_KiB", hooks: 4, instructions: -1277, allocations: 0 },
    Bound { slot: "event_modify_8_KiB", hooks: 4, instructions: -1895, allocations: 0 },
    Bound { slot: "event_shared_8_KiB", hooks: 4, instructions: 1245, allocations: 0 },
];
