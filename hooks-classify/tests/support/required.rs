//! Requirements of tests on this machine.

use std::env;
use std::path::PathBuf;

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
    let found = find(program).is_some();
    if !found {
        left_out(&format!("`{program}` is missing"));
    }
    found
}

/// Returns the file of a program in `PATH`.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let mut files = env::split_paths(&paths).map(|path| path.join(program));
    files.find(|file| file.is_file())
}
