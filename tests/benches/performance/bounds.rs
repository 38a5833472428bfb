//! What `counts` holds a dispatch to: what it costs now, and a margin: a twelfth,
//! and at least a fiftieth of all.
//!
//! The targets are elsewhere ([`Case::ratio_target`](crate::cases::Case::ratio_target)
//! and its neighbours); a bound keeps what has been reached. Another compiler may count
//! otherwise: `-- bounds` prints the table anew.

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
    Bound { slot: "always", hooks: 0, instructions: 60, allocations: 0 },
    Bound { slot: "fallback", hooks: 0, instructions: 60, allocations: 0 },
    Bound { slot: "chain", hooks: 0, instructions: 80, allocations: 0 },
    Bound { slot: "own_chain", hooks: 0, instructions: 83, allocations: 0 },
    Bound { slot: "aggregate", hooks: 0, instructions: 136, allocations: 1 },
    Bound { slot: "singleton", hooks: 0, instructions: 58, allocations: 0 },
    Bound { slot: "always", hooks: 1, instructions: 72, allocations: 0 },
    Bound { slot: "fallback", hooks: 1, instructions: 102, allocations: 0 },
    Bound { slot: "chain", hooks: 1, instructions: 157, allocations: 0 },
    Bound { slot: "own_chain", hooks: 1, instructions: 413, allocations: 0 },
    Bound { slot: "aggregate", hooks: 1, instructions: 222, allocations: 1 },
    Bound { slot: "singleton", hooks: 1, instructions: 84, allocations: 0 },
    Bound { slot: "always_awaiting", hooks: 1, instructions: -7, allocations: 1 },
    Bound { slot: "chain_awaiting", hooks: 1, instructions: 99, allocations: 1 },
    Bound { slot: "function", hooks: 1, instructions: 65, allocations: 0 },
    Bound { slot: "owned_function", hooks: 1, instructions: 128, allocations: 2 },
    Bound { slot: "owned_closure", hooks: 1, instructions: 332, allocations: 3 },
    Bound { slot: "always", hooks: 4, instructions: 231, allocations: 0 },
    Bound { slot: "fallback", hooks: 4, instructions: 225, allocations: 0 },
    Bound { slot: "chain", hooks: 4, instructions: 348, allocations: 0 },
    Bound { slot: "own_chain", hooks: 4, instructions: 1073, allocations: 0 },
    Bound { slot: "aggregate", hooks: 4, instructions: 374, allocations: 1 },
    Bound { slot: "always_awaiting", hooks: 4, instructions: 33, allocations: 4 },
    Bound { slot: "chain_awaiting", hooks: 4, instructions: 237, allocations: 4 },
    Bound { slot: "function", hooks: 4, instructions: 201, allocations: 0 },
    Bound { slot: "owned_function", hooks: 4, instructions: 419, allocations: 5 },
    Bound { slot: "owned_closure", hooks: 4, instructions: 1236, allocations: 9 },
    Bound { slot: "event_without_hooks", hooks: 0, instructions: 184, allocations: 0 },
    Bound { slot: "event_continue_12_fields", hooks: 1, instructions: 672, allocations: 0 },
    Bound { slot: "event_continue_12_fields", hooks: 4, instructions: 946, allocations: 0 },
    Bound { slot: "event_continue", hooks: 1, instructions: 90, allocations: 0 },
    Bound { slot: "event_modify", hooks: 1, instructions: -53, allocations: 0 },
    Bound { slot: "event_shared", hooks: 1, instructions: 767, allocations: 0 },
    Bound { slot: "event_continue", hooks: 4, instructions: -1211, allocations: 0 },
    Bound { slot: "event_modify", hooks: 4, instructions: -1836, allocations: 0 },
    Bound { slot: "event_shared", hooks: 4, instructions: 1302, allocations: 0 },
    Bound { slot: "event_continue_8_KiB", hooks: 1, instructions: 88, allocations: 0 },
    Bound { slot: "event_modify_8_KiB", hooks: 1, instructions: -49, allocations: 0 },
    Bound { slot: "event_shared_8_KiB", hooks: 1, instructions: 762, allocations: 0 },
    Bound { slot: "event_continue_8_KiB", hooks: 4, instructions: -1213, allocations: 0 },
    Bound { slot: "event_modify_8_KiB", hooks: 4, instructions: -1838, allocations: 0 },
    Bound { slot: "event_shared_8_KiB", hooks: 4, instructions: 1302, allocations: 0 },
];
