//! The unit tests of the example's modules.
#![cfg(target_os = "linux")]
#![allow(dead_code, reason = "wip")]
mod display;
mod judge;
mod session;
