//! What tests need of this machine.

use std::env;

/// Tells why a test could not run; fails where everything is required.
#[track_caller]
pub(crate) fn left_out(why: &str) {
    let required = env::var_os("HOOKS_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required, "{why}");
    eprintln!("left out: {why}");
}

/// `true` if a program is there; says so where it is not.
#[track_caller]
pub(crate) fn has(program: &str) -> bool {
    let paths = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&paths).any(|path| path.join(program).is_file());
    if !found {
        left_out(&format!("`{program}` is missing"));
    }
    found
}
