//! The program `hooks-guard`, as a shell would start it.

mod endpoint;
mod second_stage;
mod shown;

use std::process::{Command, Output};

/// The program, without what the environment of the test may set.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hooks-guard"));
    for variable in ["URL", "MODEL", "KEY"] {
        command.env_remove(format!("HOOKS_GUARD_SEMANTIC_{variable}"));
    }
    command
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}
