//! The permission service from outside: the binary, called over sockets.
//!
//! Test names begin with the rule that they test (`p_11_…`), or with their subject.

mod agent_hook;
mod approval;
mod bad_input;
mod blocked;
mod bound;
mod changes;
mod cleanup;
mod clock;
mod decisions;
mod delayed;
mod detours;
mod disk;
mod events;
mod flood;
mod general;
mod identity;
mod incomplete;
mod instances;
mod load;
mod masked;
mod once;
mod openapi;
mod operation;
mod own;
mod rate;
mod read_only;
mod remembered;
mod replaced;
mod request;
mod seed_clients;
mod semantic;
mod slow;
mod start;
mod stats;
mod storage;
mod threats;
mod times;
mod wire;
