//! Measures the targets of hooks in scripts.
//!
//! | `cargo bench -p hooks-script --bench script` | Does |
//! |---|---|
//! | | prints the tables |
//! | `-- write` | writes them into `docs/performance.md`, and leaves its other sections as they are |
//!
//! A machine's times drift, so contenders are timed in turns in one process, and only their
//! ratios are judged. What is not on this machine, such as node, is left out by name.

mod bare;
mod native;
mod node;
mod report;
mod threads;
mod time;
mod wasm;
mod workload;

// The crate once more, for what it does not make public: a run on this very thread, and the
// engine without its reset, which no program is to have.
#[path = "../../src/error.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the bench uses the sandbox alone"
)]
mod error;
#[path = "../../src/fields.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the bench uses the sandbox alone"
)]
mod fields;
#[path = "../../src/limits.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the bench uses the sandbox alone"
)]
mod limits;
#[path = "../../src/manifest.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the bench uses the sandbox alone"
)]
mod manifest;
#[path = "../../src/run.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the bench uses the sandbox alone"
)]
mod run;
#[path = "../../src/sandbox"]
#[allow(dead_code, unused_imports, reason = "the bench uses the sandbox alone")]
mod sandbox {
    mod calls;
    mod config;
    mod image;
    pub(crate) mod instance;
    mod result;
    mod snapshot;
    mod watch;

    pub(crate) use calls::{Given, Sandbox};
    pub(crate) use image::module;
    pub(crate) use result::{Ended, Status};
    pub(crate) use snapshot::Snapshot;
}

use std::process::ExitCode;

fn main() -> ExitCode {
    // `cargo bench` adds `--bench`.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [] => report::section().map(|section| print!("{section}")),
        ["write"] => report::section().and_then(|section| report::write(&section)),
        // A process of its own, for the first start.
        [workload::START, contender] => {
            workload::start(contender);
            Ok(())
        }
        // `cargo test --benches` only asks whether it starts.
        ["--test", ..] => Ok(()),
        other => Err(format!(
            "unknown command `{}`; use `write`, or nothing",
            other.join(" ")
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
