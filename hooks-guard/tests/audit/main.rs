//! Tests of the audit trail, by rule. Guarantees of both databases are tested with both.
#![cfg(unix)]

mod chain;
mod cluster;
mod contract;
mod crash;
mod errors;
mod kit;
mod model;
mod rewritten;
mod server;
