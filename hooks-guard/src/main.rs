//! The program `hooks-guard`: classifies shell commands and decides which need approval.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
