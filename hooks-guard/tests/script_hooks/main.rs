//! Tests JavaScript hooks in the gate, in the service, and on the console's page.
//!
//! Requires the feature `script`, whose engine takes long to build.

#[path = "../console/browser.rs"]
#[allow(
    dead_code,
    reason = "shared with the tests of the console, which use all of it"
)]
mod browser;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "the tests over HTTP use all of it")]
mod support;

mod gate;
mod served;
