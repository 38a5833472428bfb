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
    Bound { slot: "always", hooks: 0, instructions: 55, allocations: 0 },
    Bound { slot: "fallback", hooks: 0, instructions: 55, allocations: 0 },
    Bound { slot: "chain", hooks: 0, instructions: 65, allocations: 0 },
    Bound { slot: "own_chain", hooks: 0, instructions: 68, allocations: 0 },
    Bound { slot: "aggregate", hooks: 0, instructions: 84, allocations: 1 },
    Bound { slot: "singleton", hooks: 0, instructions: 50, allocations: 0 },
    Bound { slot: "always", hooks: 1, instructions: 77, allocations: 0 },
    Bound { slot: "fallback", hooks: 1, instructions: 102, allocations: 0 },
    Bound { slot: "chain", hooks: 1, instructions: 95, allocations: 0 },
    Bound { slot: "own_chain", hooks: 1, instructions: 186, allocations: 0 },
    Bound { slot: "aggregate", hooks: 1, instructions: 171, allocations: 1 },
    Bound { slot: "singleton", hooks: 1, instructions: 81, allocations: 0 },
    Bound { slot: "always_awaiting", hooks: 1, instructions: 8, allocations: 1 },
    Bound { slot: "chain_awaiting", hooks: 1, instructions: 48, allocations: 1 },
    Bound { slot: "function", hooks: 1, instructions: 69, allocations: 0 },
    Bound { slot: "owned_function", hooks: 1, instructions: 127, allocations: 2 },
    Bound { slot: "owned_closure", hooks: 1, instructions: 320, allocations: 3 },
    Bound { slot: "for_call", hooks: 1, instructions: 1422, allocations: 3 },
    Bound { slot: "around", hooks: 1, instructions: 889, allocations: 2 },
    Bound { slot: "around_unused", hooks: 1, instructions: 101, allocations: 0 },
    Bound { slot: "concurrent", hooks: 1, instructions: 497, allocations: 1 },
    Bound { slot: "relative_order", hooks: 1, instructions: 89, allocations: 0 },
    Bound { slot: "disabled", hooks: 1, instructions: 89, allocations: 0 },
    Bound { slot: "conditional", hooks: 1, instructions: 505, allocations: 1 },
    Bound { slot: "always", hooks: 4, instructions: 252, allocations: 0 },
    Bound { slot: "fallback", hooks: 4, instructions: 244, allocations: 0 },
    Bound { slot: "chain", hooks: 4, instructions: 292, allocations: 0 },
    Bound { slot: "own_chain", hooks: 4, instructions: 540, allocations: 0 },
    Bound { slot: "aggregate", hooks: 4, instructions: 340, allocations: 1 },
    Bound { slot: "always_awaiting", hooks: 4, instructions: 116, allocations: 4 },
    Bound { slot: "chain_awaiting", hooks: 4, instructions: 217, allocations: 4 },
    Bound { slot: "function", hooks: 4, instructions: 220, allocations: 0 },
    Bound { slot: "owned_function", hooks: 4, instructions: 425, allocations: 5 },
    Bound { slot: "owned_closure", hooks: 4, instructions: 1202, allocations: 9 },
    Bound { slot: "for_call", hooks: 4, instructions: 2422, allocations: 5 },
    Bound { slot: "around", hooks: 4, instructions: 2190, allocations: 5 },
    Bound { slot: "around_unused", hooks: 4, instructions: 251, allocations: 0 },
    Bound { slot: "concurrent", hooks: 4, instructions: 763, allocations: 1 },
    Bound { slot: "relative_order", hooks: 4, instructions: 260, allocations: 0 },
    Bound { slot: "disabled", hooks: 4, instructions: 260, allocations: 0 },
    Bound { slot: "conditional", hooks: 4, instructions: 872, allocations: 1 },
    Bound { slot: "event_without_hooks", hooks: 0, instructions: 114, allocations: 0 },
    Bound { slot: "event_continue_12_fields", hooks: 1, instructions: 593, allocations: 0 },
    Bound { slot: "event_continue_12_fields", hooks: 4, instructions: 896, allocations: 0 },
    Bound { slot: "event_filter", hooks: 1, instructions: 707, allocations: 1 },
    Bound { slot: "event_decide", hooks: 1, instructions: 1547, allocations: 1 },
    Bound { slot: "event_observer", hooks: 1, instructions: 3480, allocations: 5 },
    Bound { slot: "event_around", hooks: 1, instructions: 2688, allocations: 3 },
    Bound { slot: "event_schema", hooks: 1, instructions: 5362, allocations: 1 },
    Bound { slot: "tool_result", hooks: 1, instructions: 700, allocations: 1 },
    Bound { slot: "event_filter", hooks: 4, instructions: 339, allocations: 1 },
    Bound { slot: "event_decide", hooks: 4, instructions: 172, allocations: 1 },
    Bound { slot: "event_observer", hooks: 4, instructions: 2119, allocations: 5 },
    Bound { slot: "event_around", hooks: 4, instructions: 1331, allocations: 3 },
    Bound { slot: "event_schema", hooks: 4, instructions: 3974, allocations: 1 },
    Bound { slot: "tool_result", hooks: 4, instructions: 1010, allocations: 1 },
    Bound { slot: "event_continue", hooks: 1, instructions: 17, allocations: 0 },
    Bound { slot: "event_modify", hooks: 1, instructions: -112, allocations: 0 },
    Bound { slot: "event_shared", hooks: 1, instructions: 647, allocations: 0 },
    Bound { slot: "event_continue", hooks: 4, instructions: -1266, allocations: 0 },
    Bound { slot: "event_modify", hooks: 4, instructions: -1861, allocations: 0 },
    Bound { slot: "event_shared", hooks: 4, instructions: 1070, allocations: 0 },
    Bound { slot: "event_continue_8_KiB", hooks: 1, instructions: 17, allocations: 0 },
    Bound { slot: "event_modify_8_KiB", hooks: 1, instructions: -116, allocations: 0 },
    Bound { slot: "event_shared_8_KiB", hooks: 1, instructions: 642, allocations: 0 },
    Bound { slot: "event_continue_8_KiB", hooks: 4, instructions: -1265, allocations: 0 },
    Bound { slot: "event_modify_8_KiB", hooks: 4, instructions: -1861, allocations: 0 },
    Bound { slot: "event_shared_8_KiB", hooks: 4, instructions: 1086, allocations: 0 },
];
