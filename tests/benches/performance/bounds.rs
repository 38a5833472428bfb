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
    Bound { slot: "always", hooks: 0, instructions: 55, allocations: 0 },
    Bound { slot: "fallback", hooks: 0, instructions: 54, allocations: 0 },
    Bound { slot: "chain", hooks: 0, instructions: 54, allocations: 0 },
    Bound { slot: "own_chain", hooks: 0, instructions: 53, allocations: 0 },
    Bound { slot: "aggregate", hooks: 0, instructions: 191, allocations: 1 },
    Bound { slot: "singleton", hooks: 0, instructions: 54, allocations: 0 },
    Bound { slot: "always", hooks: 1, instructions: 132, allocations: 0 },
    Bound { slot: "fallback", hooks: 1, instructions: 150, allocations: 0 },
    Bound { slot: "chain", hooks: 1, instructions: 183, allocations: 0 },
    Bound { slot: "own_chain", hooks: 1, instructions: 654, allocations: 0 },
    Bound { slot: "aggregate", hooks: 1, instructions: 372, allocations: 1 },
    Bound { slot: "singleton", hooks: 1, instructions: 137, allocations: 0 },
    Bound { slot: "always_awaiting", hooks: 1, instructions: 101, allocations: 1 },
    Bound { slot: "chain_awaiting", hooks: 1, instructions: 167, allocations: 1 },
    Bound { slot: "function", hooks: 1, instructions: 123, allocations: 0 },
    Bound { slot: "owned_function", hooks: 1, instructions: 399, allocations: 2 },
    Bound { slot: "owned_closure", hooks: 1, instructions: 650, allocations: 3 },
    Bound { slot: "always", hooks: 4, instructions: 294, allocations: 0 },
    Bound { slot: "fallback", hooks: 4, instructions: 280, allocations: 0 },
    Bound { slot: "chain", hooks: 4, instructions: 371, allocations: 0 },
    Bound { slot: "own_chain", hooks: 4, instructions: 1281, allocations: 0 },
    Bound { slot: "aggregate", hooks: 4, instructions: 563, allocations: 1 },
    Bound { slot: "always_awaiting", hooks: 4, instructions: 313, allocations: 4 },
    Bound { slot: "chain_awaiting", hooks: 4, instructions: 450, allocations: 4 },
    Bound { slot: "function", hooks: 4, instructions: 260, allocations: 0 },
    Bound { slot: "owned_function", hooks: 4, instructions: 657, allocations: 5 },
    Bound { slot: "owned_closure", hooks: 4, instructions: 1671, allocations: 9 },
];
