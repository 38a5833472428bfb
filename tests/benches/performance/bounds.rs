//! What `counts` holds a dispatch to: what it costs now, and a margin of a twelfth.
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
    Bound { slot: "chain", hooks: 0, instructions: 79, allocations: 0 },
    Bound { slot: "own_chain", hooks: 0, instructions: 76, allocations: 0 },
    Bound { slot: "aggregate", hooks: 0, instructions: 133, allocations: 1 },
    Bound { slot: "singleton", hooks: 0, instructions: 58, allocations: 0 },
    Bound { slot: "always", hooks: 1, instructions: 73, allocations: 0 },
    Bound { slot: "fallback", hooks: 1, instructions: 104, allocations: 0 },
    Bound { slot: "chain", hooks: 1, instructions: 123, allocations: 0 },
    Bound { slot: "own_chain", hooks: 1, instructions: 692, allocations: 0 },
    Bound { slot: "aggregate", hooks: 1, instructions: 221, allocations: 1 },
    Bound { slot: "singleton", hooks: 1, instructions: 84, allocations: 0 },
    Bound { slot: "always_awaiting", hooks: 1, instructions: -6, allocations: 1 },
    Bound { slot: "chain_awaiting", hooks: 1, instructions: 71, allocations: 1 },
    Bound { slot: "function", hooks: 1, instructions: 66, allocations: 0 },
    Bound { slot: "owned_function", hooks: 1, instructions: 130, allocations: 2 },
    Bound { slot: "owned_closure", hooks: 1, instructions: 332, allocations: 3 },
    Bound { slot: "always", hooks: 4, instructions: 234, allocations: 0 },
    Bound { slot: "fallback", hooks: 4, instructions: 226, allocations: 0 },
    Bound { slot: "chain", hooks: 4, instructions: 318, allocations: 0 },
    Bound { slot: "own_chain", hooks: 4, instructions: 1426, allocations: 0 },
    Bound { slot: "aggregate", hooks: 4, instructions: 375, allocations: 1 },
    Bound { slot: "always_awaiting", hooks: 4, instructions: 34, allocations: 4 },
    Bound { slot: "chain_awaiting", hooks: 4, instructions: 214, allocations: 4 },
    Bound { slot: "function", hooks: 4, instructions: 203, allocations: 0 },
    Bound { slot: "owned_function", hooks: 4, instructions: 420, allocations: 5 },
    Bound { slot: "owned_closure", hooks: 4, instructions: 1237, allocations: 9 },
];
