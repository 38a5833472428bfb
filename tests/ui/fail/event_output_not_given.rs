//! E-23: a result that a hook does not return denies nothing.
#![deny(unused_must_use)]

use hooks_runtime::{Event, HookResult};

fn no_system_files(event: Event<'_>) -> HookResult {
    if event.str("path") == Some("/etc/passwd") {
        HookResult::deny("a system file");
    }
    HookResult::proceed()
}

fn main() {}
