//! The permission service from outside: the binary as it is started, spoken to over sockets.
//!
//! A test's name is the rule that it holds (`p_11_…`), or the subject where there is none.

mod approval;
mod bad_input;
mod cleanup;
mod client;
#[path = "../audit/cluster.rs"]
#[expect(dead_code, reason = "the tests of the trail use all of it")]
mod cluster;
mod daemon;
mod decisions;
mod events;
mod flood;
mod general;
mod instances;
mod load;
mod once;
mod openapi;
mod operation;
mod own;
#[path = "../support/questions.rs"]
mod questions;
mod rate;
mod replaced;
mod request;
mod seed_clients;
mod semantic;
mod slow;
mod start;
mod stats;
mod storage;
mod support;
mod threats;
mod wire;
