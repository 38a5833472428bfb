//! The audit trail, by rule. What both databases promise is tested with both.
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
