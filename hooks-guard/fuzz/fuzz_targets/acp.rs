//! Any bytes of a client and an agent through the proxy of the Agent Client Protocol, with a gate
//! that denies every request: no panic, no request that needs a decision reaches the client, and all
//! other messages pass byte for byte.
#![no_main]

use hooks_guard::acp::fuzz_proxy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fuzz_proxy(data));
