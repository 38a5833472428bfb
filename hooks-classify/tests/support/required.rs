//! Requirements of tests on this machine.

use std::env;

/// Prints why a test was left out; fails if everything is required.
#[track_caller]
pub(crate) fn left_out(why: &str) {
    let required = env::var_os("HOOKS_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required, "{why}");
    eprintln!("left out: {why}");
}

/// Returns `true` if a program is installed. Otherwise prints that a test is left out.
#[track_caller]
pub(crate) fn has(program: &str) -> bool {
    let paths = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&paths).any(|path| path.join(program).is_file());
    if !found {
        left_out(&format!("`{program}` is missing"));
    }
    found
}
