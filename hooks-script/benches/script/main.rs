//! Measures the targets of hooks in scripts.
//!
//! | `cargo bench -p hooks-script --bench script` | Does |
//! |---|---|
//! | | prints the tables, within a minute |
//! | `-- write` | writes them into `docs/performance.md`, and leaves its other sections as they are |
//! | `-- repeat PART TIMES` | does one part of a no-op so often, for a profiler: `isolated`, `worker`, `register` |
//!
//! A machine's times drift, so contenders are timed in turns in one process, and only their
//! ratios are judged. What is not on this machine, such as node, is left out by name.

mod bare;
mod native;
mod node;
#[path = "../../../tests/benches/page.rs"]
mod page;
#[path = "../../../tests/benches/processor.rs"]
mod processor;
mod report;
mod threads;
mod time;
mod workload;

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
        ["write"] => {
            report::section().and_then(|section| page::write(Some(report::MARK), &section))
        }
        // A process of its own, for the first start.
        [workload::START, contender] => {
            workload::start(contender);
            Ok(())
        }
        [workload::REPEAT, part, times] => times
            .parse()
            .map_err(|error| format!("{times}: {error}"))
            .and_then(|times| workload::repeat(part, times)),
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
