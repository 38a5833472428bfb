//! Compares the reader of command lines with real programs: both parse random command lines. The
//! references are `getopt`, shells, Python, git and the programs of the lines.
//!
//! `HOOKS_SEED` is the seed, `HOOKS_COMMANDS` the number of lines for each reference.

mod harmless;
mod help;
mod lines;
mod parsers;

use std::env;

fn number(variable: &str, default: u64) -> u64 {
    let value = env::var(variable).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn seed() -> u64 {
    number("HOOKS_SEED", 1)
}

fn count(default: u64) -> u64 {
    number("HOOKS_COMMANDS", default)
}
