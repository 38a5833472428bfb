//! The program `hooks-guard`, as a shell would start it.

mod shown;

use std::process::{Command, Output};

/// The program.
fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}
