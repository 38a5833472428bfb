//! Tests JavaScript hooks in the gate, in the service, and on the console's page.
//!
//! Requires the feature `script`, whose engine takes long to build.

#[path = "../console/browser.rs"]
#[allow(
    dead_code,
    reason = "shared with the tests of the console, which use all of it"
)]
mod browser;
#[path = "../http/client.rs"]
#[allow(
    dead_code,
    reason = "shared with the tests over HTTP, which use all of it"
)]
mod client;
#[path = "../http/daemon.rs"]
#[allow(
    dead_code,
    reason = "shared with the tests over HTTP, which use all of it"
)]
mod daemon;
#[path = "../http/support.rs"]
#[allow(
    dead_code,
    reason = "shared with the tests over HTTP, which use all of it"
)]
mod support;

mod gate;
mod served;
