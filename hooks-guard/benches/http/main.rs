//! Benchmarks of a decision over HTTP, including its record on disk.
//!
//! | `cargo bench -p hooks-guard --bench http` | Description |
//! |---|---|
//! | | prints the tables, in about three minutes |
//! | `-- write` | runs everything, with a million decisions, and updates `docs/performance.md` |
//! | `-- load CONNECTIONS SECONDS` | runs a load, for a profiler |
//! | `-- million [DECISIONS]` | shows the memory of the daemon over many decisions |
//! | `-- pages [DECISIONS]` | reads a trail of a million decisions (or `DECISIONS`) page by page |
//! | `-- crowd [CONNECTIONS]` | opens 10 000 connections at once, with a request on each |
//! | `-- console [SECONDS]` | runs the fixed rate without and with the console open |
//! | `-- hook` | times an agent's hook without a daemon |
//! | `-- hooks [HOOKS]` | times 64 hooks at once (or `HOOKS`) without a daemon; fails from 2 s |
//! | `-- instructions [write]` | counts the instructions of such a hook; needs valgrind |
//!
//! One thread of this process generates the load. The daemon and the server with an empty handler
//! are separate processes. The trail is in `HOOKS_AUDIT_DIR` or a temporary folder; use a disk,
//! because a file system in memory needs no flushes.

mod console;
mod crowd;
mod empty;
#[path = "../audit/fill.rs"]
mod fill;
mod hook;
mod instructions;
mod load;
mod memory;
#[path = "../../../tests/benches/page.rs"]
mod page;
mod pages;
mod plain;
mod process;
mod report;
mod shared;

use std::process::ExitCode;
use std::time::Duration;

use shared::{SERVE_EMPTY, number};

fn main() -> ExitCode {
    // `cargo bench` adds `--bench`.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [] => report::section(None).map(|section| print!("{section}")),
        ["write"] => report::section(Some(memory::DECISIONS))
            .and_then(|section| page::write(Some(report::MARK), &section)),
        ["load", connections, seconds] => number(connections).and_then(|connections| {
            let time = Duration::from_secs(number(seconds)?);
            report::once(connections, time)
        }),
        ["million"] => memory::shown(memory::DECISIONS),
        ["million", decisions] => number(decisions).and_then(memory::shown),
        ["pages"] => pages::shown(pages::DECISIONS),
        ["pages", decisions] => number(decisions).and_then(pages::shown),
        ["crowd"] => crowd::shown(crowd::CONNECTIONS),
        ["crowd", connections] => number(connections).and_then(crowd::shown),
        ["console"] => report::watched(report::STEADY),
        ["console", seconds] => {
            number(seconds).and_then(|seconds| report::watched(Duration::from_secs(seconds)))
        }
        ["hook"] => hook::shown(),
        ["hooks"] => hook::shown_at_once(hook::AT_ONCE),
        ["hooks", hooks] => number(hooks).and_then(hook::shown_at_once),
        ["instructions"] => instructions::section().map(|section| print!("{section}")),
        ["instructions", "write"] => instructions::section()
            .and_then(|section| page::write(Some(instructions::MARK), &section)),
        // Run in a separate process.
        [SERVE_EMPTY] => empty::serve(),
        // `cargo test --benches` only checks that the bench starts.
        ["--test", ..] => Ok(()),
        other => Err(format!(
            "unknown command `{}`; see the module documentation",
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
