//! Measures script hooks against the targets for latency.
//!
//! | `cargo bench -p hooks-script-benches` | Effect |
//! |---|---|
//! | | prints the tables, within a minute |
//! | `-- write` | writes the tables to `docs/performance.md`; other sections are unchanged |
//! | `-- repeat PART TIMES` | repeats one part of a no-op, for a profiler: `isolated`, `worker`, `register` |
//!
//! Timings of a machine drift, so contenders are measured in turns in one process, and only their
//! ratios are compared. Contenders that are not installed, such as node, are listed as left out.

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
        // The first start is measured in a new process.
        [workload::START, contender] => {
            workload::start(contender);
            Ok(())
        }
        [workload::REPEAT, part, times] => times
            .parse()
            .map_err(|error| format!("{times}: {error}"))
            .and_then(|times| workload::repeat(part, times)),
        // `cargo test --benches` only checks that the bench starts.
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
