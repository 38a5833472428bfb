//! Any bytes as the input of every agent's hook: no panic, and malformed input is never allowed.
#![no_main]

#[path = "../../tests/protocol/holds.rs"]
mod holds;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| holds::assert_holds(data));
