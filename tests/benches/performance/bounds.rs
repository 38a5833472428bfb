//! Bounds that `counts` checks: the current cost of a dispatch, with a margin of a twelfth, and at
//! least a fiftieth of the total.
//!
//! The targets, which `counts` also checks, are in `cases.rs`
//! ([`Case::ratio_target`](crate::cases::Case::ratio_target)); a bound prevents regressions. Counts
//! differ by a few instructions with the path of the repository, and may differ more with another
//! compiler: `-- bounds` prints the new table.

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
    Bound { slot: "always", hooks: 0, instructions: 54, allocations: 0 },
    Bound { slot: "fallback", hooks: 0, instructions: 55, allocations: 0 },
    Bound { slot: "chain", hooks: 0, instructions: 69, allocations: 0 },
    Bound { slot: "own_chain", hooks: 0, instructions: 71, allocations: 0 },
    Bound { slot: "aggregate", hooks: 0, instructions: 84, allocations: 1 },
    Bound { slot: "singleton", hooks: 0, instructions: 51, allocations: 0 },
    Bound { slot: "always", hooks: 1, instructions: 77, allocations: 0 },
    Bound { slot: "fallback", hooks: 1, instructions: 101, allocations: 0 },
    Bound { slot: "chain", hooks: 1, instructions: 97, allocations: 0 },
    Bound { slot: "own_chain", hooks: 1, instructions: 186, allocations: 0 },
    Bound { slot: "aggregate", hooks: 1, instructions: 171, allocations: 1 },
    Bound { slot: "singleton", hooks: 1, instructions: 80, allocations: 0 },
    Bound { slot: "always_awaiting", hooks: 1, instructions: 8, allocations: 1 },
    Bound { slot: "chain_awaiting", hooks: 1, instructions: 49, allocations: 1 },
    Bound { slot: "function", hooks: 1, instructions: 70, allocations: 0 },
    Bound { slot: "owned_function", hooks: 1, instructions: 126, allocations: 2 },
    Bound { slot: "owned_closure", hooks: 1, instructions: 320, allocations: 3 },
    Bound { slot: "around", hooks: 1, instructions: 899, allocations: 2 },
    Bound { slot: "around_unused", hooks: 1, instructions: 105, allocations: 0 },
    Bound { slot: "concurrent", hooks: 1, instructions: 498, allocations: 1 },
    Bound { slot: "relative_order", hooks: 1, instructions: 93, allocations: 0 },
    Bound { slot: "disabled", hooks: 1, instructions: 92, allocations: 0 },
    Bound { slot: "conditional", hooks: 1, instructions: 616, allocations: 1 },
    Bound { slot: "always", hooks: 4, instructions: 251, allocations: 0 },
    Bound { slot: "fallback", hooks: 4, instructions: 244, allocations: 0 },
    Bound { slot: "chain", hooks: 4, instructions: 292, allocations: 0 },
    Bound { slot: "own_chain", hooks: 4, instructions: 542, allocations: 0 },
    Bound { slot: "aggregate", hooks: 4, instructions: 341, allocations: 1 },
    Bound { slot: "always_awaiting", hooks: 4, instructions: 115, allocations: 4 },
    Bound { slot: "chain_awaiting", hooks: 4, instructions: 218, allocations: 4 },
    Bound { slot: "function", hooks: 4, instructions: 220, allocations: 0 },
    Bound { slot: "owned_function", hooks: 4, instructions: 425, allocations: 5 },
    Bound { slot: "owned_closure", hooks: 4, instructions: 1203, allocations: 9 },
    Bound { slot: "around", hooks: 4, instructions: 2198, allocations: 5 },
    Bound { slot: "around_unused", hooks: 4, instructions: 257, allocations: 0 },
    Bound { slot: "concurrent", hooks: 4, instructions: 763, allocations: 1 },
    Bound { slot: "relative_order", hooks: 4, instructions: 265, allocations: 0 },
    Bound { slot: "disabled", hooks: 4, instructions: 264, allocations: 0 },
    Bound { slot: "conditional", hooks: 4, instructions: 980, allocations: 1 },
    Bound { slot: "event_without_hooks", hooks: 0, instructions: 115, allocations: 0 },
    Bound { slot: "event_continue_12_fields", hooks: 1, instructions: 606, allocations: 0 },
    Bound { slot: "event_continue_12_fields", hooks: 4, instructions: 903, allocations: 0 },
    Bound { slot: "event_filter", hooks: 1, instructions: 903, allocations: 1 },
    Bound { slot: "event_decide", hooks: 1, instructions: 1540, allocations: 1 },
    Bound { slot: "event_observer", hooks: 1, instructions: 3500, allocations: 5 },
    Bound { slot: "event_around", hooks: 1, instructions: 2650, allocations: 3 },
    Bound { slot: "event_schema", hooks: 1, instructions: 5358, allocations: 1 },
    Bound { slot: "tool_result", hooks: 1, instructions: 698, allocations: 1 },
    Bound { slot: "event_filter", hooks: 4, instructions: 453, allocations: 1 },
    Bound { slot: "event_decide", hooks: 4, instructions: 195, allocations: 1 },
    Bound { slot: "event_observer", hooks: 4, instructions: 2139, allocations: 5 },
    Bound { slot: "event_around", hooks: 4, instructions: 1279, allocations: 3 },
    Bound { slot: "event_schema", hooks: 4, instructions: 4005, allocations: 1 },
    Bound { slot: "tool_result", hooks: 4, instructions: 1022, allocations: 1 },
    Bound { slot: "event_continue", hooks: 1, instructions: 25, allocations: 0 },
    Bound { slot: "event_modify", hooks: 1, instructions: -113, allocations: 0 },
    Bound { slot: "event_shared", hooks: 1, instructions: 655, allocations: 0 },
    Bound { slot: "event_continue", hooks: 4, instructions: -1260, allocations: 0 },
    Bound { slot: "event_modify", hooks: 4, instructions: -1864, allocations: 0 },
    Bound { slot: "event_shared", hooks: 4, instructions: 1076, allocations: 0 },
    Bound { slot: "event_continue_8_KiB", hooks: 1, instructions: 22, allocations: 0 },
    Bound { slot: "event_modify_8_KiB", hooks: 1, instructions: -114, allocations: 0 },
    Bound { slot: "event_shared_8_KiB", hooks: 1, instructions: 656, allocations: 0 },
    Bound { slot: "event_continue_8_KiB", hooks: 4, instructions: -1276, allocations: 0 },
    Bound { slot: "event_modify_8_KiB", hooks: 4, instructions: -1862, allocations: 0 },
    Bound { slot: "event_shared_8_KiB", hooks: 4, instructions: 1110, allocations: 0 },
];
