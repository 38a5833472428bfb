//! Tests `approve` and `watch` in a real terminal, with a running service.
#![cfg(target_os = "linux")]

mod approvals;
mod approve;
mod changes;
#[path = "../http/client.rs"]
#[expect(dead_code, reason = "the tests over HTTP use all of it")]
mod client;
#[path = "../http/daemon.rs"]
#[expect(dead_code, reason = "the tests over HTTP use all of it")]
mod daemon;
mod flood;
mod presets;
#[path = "../support/questions.rs"]
mod questions;
mod suggest;
#[path = "../http/support.rs"]
#[expect(dead_code, reason = "the tests over HTTP use all of it")]
mod support;
mod tables;
mod terminal;
mod token;
mod watch;
