//! `hooks-guard`: what would a shell command do, and may it?

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
