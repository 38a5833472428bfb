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
    Bound { slot: "always", hooks: 0, instructions: 65, allocations: 0 },
    Bound { slot: "fallback", hooks: 0, instructions: 65, allocations: 0 },
    Bound { slot: "chain", hooks: 0, instructions: 65, allocations: 0 },
    Bound { slot: "own_chain", hooks: 0, instructions: 63, allocations: 0 },
    Bound { slot: "aggregate", hooks: 0, instructions: 215, allocations: 1 },
    Bound { slot: "singleton", hooks: 0, instructions: 62, allocations: 0 },
    Bound { slot: "always", hooks: 1, instructions: 139, allocations: 0 },
    Bound { slot: "fallback", hooks: 1, instructions: 163, allocations: 0 },
    Bound { slot: "chain", hooks: 1, instructions: 204, allocations: 0 },
    Bound { slot: "own_chain", hooks: 1, instructions: 924, allocations: 0 },
    Bound { slot: "aggregate", hooks: 1, instructions: 416, allocations: 1 },
    Bound { slot: "singleton", hooks: 1, instructions: 150, allocations: 0 },
    Bound { slot: "always_awaiting", hooks: 1, instructions: 83, allocations: 1 },
    Bound { slot: "chain_awaiting", hooks: 1, instructions: 161, allocations: 1 },
    Bound { slot: "function", hooks: 1, instructions: 131, allocations: 0 },
    Bound { slot: "owned_function", hooks: 1, instructions: 405, allocations: 2 },
    Bound { slot: "owned_closure", hooks: 1, instructions: 629, allocations: 3 },
    Bound { slot: "always", hooks: 4, instructions: 308, allocations: 0 },
    Bound { slot: "fallback", hooks: 4, instructions: 335, allocations: 0 },
    Bound { slot: "chain", hooks: 4, instructions: 396, allocations: 0 },
    Bound { slot: "own_chain", hooks: 4, instructions: 2129, allocations: 0 },
    Bound { slot: "aggregate", hooks: 4, instructions: 665, allocations: 1 },
    Bound { slot: "always_awaiting", hooks: 4, instructions: 236, allocations: 4 },
    Bound { slot: "chain_awaiting", hooks: 4, instructions: 362, allocations: 4 },
    Bound { slot: "function", hooks: 4, instructions: 274, allocations: 0 },
    Bound { slot: "owned_function", hooks: 4, instructions: 666, allocations: 5 },
    Bound { slot: "owned_closure", hooks: 4, instructions: 1573, allocations: 9 },
];
