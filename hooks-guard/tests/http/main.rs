//! The permission service from outside: the binary as it is started, spoken to over sockets.
//!
//! A test's name is the rule that it holds (`p_11_…`), or the subject where the seed has none.

mod approval;
mod bad_input;
mod cleanup;
mod client;
mod daemon;
mod decisions;
mod events;
mod general;
mod load;
mod once;
mod openapi;
mod own;
mod rate;
mod request;
mod seed_clients;
mod semantic;
mod start;
mod stats;
mod storage;
mod support;
mod threats;
mod wire;
