//! The reader of command lines is held against the programs themselves: random command lines are
//! read by it and by `getopt`, by shells, Python, git and the programs that they are lines of.
//!
//! `HOOKS_SEED` is the seed, and `HOOKS_COMMANDS` the number of lines for each program that reads.

#![cfg(unix)]

mod harmless;
mod help;
mod lines;
mod parsers;
#[path = "../support/random.rs"]
mod random;
#[path = "../support/required.rs"]
mod required;

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
