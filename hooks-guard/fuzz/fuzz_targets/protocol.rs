//! Any bytes as the input of every agent's hook: no panic, and malformed input is never allowed.
#![no_main]

use hooks_guard::protocol::fuzz_protocol;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fuzz_protocol(data));
