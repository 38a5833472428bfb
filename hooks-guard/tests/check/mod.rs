//! Tests the program `hooks-guard` as a shell would start it.

mod endpoint;
mod errors;
mod rules;
mod second_stage;
mod shown;
mod suggest;

use std::process::{Command, Output};

/// Returns the program without variables of the test's environment, for a user with neither a
/// configuration nor rules.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hooks-guard"));
    for (variable, _) in std::env::vars_os() {
        let name = variable.to_string_lossy();
        if name.starts_with("HOOKS_GUARD_") || name.starts_with("XDG_") {
            command.env_remove(&variable);
        }
    }
    command.env("HOME", "/nonexistent").current_dir("/");
    command
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}
