//! Measures the latency of classification.
//!
//! | `cargo bench -p hooks-classify --bench classify` | Effect |
//! |---|---|
//! | | prints the tables, within a minute |
//! | `-- write` | writes the tables to `docs/performance.md`; other sections are unchanged |
//! | `-- counts` | counts instructions; fails if they exceed their bounds |
//! | `-- repeat TIMES` | classifies the everyday commands this many times, for a profiler |
//!
//! The lower bound is the time of the two parsers alone: every command is parsed by both.

mod counts;
#[path = "../../../tests/benches/page.rs"]
mod page;
mod report;
mod workload;

use std::process::ExitCode;

use hooks_classify::Classifier;

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
        [workload::START] => {
            workload::start();
            Ok(())
        }
        ["counts"] => counts::check(),
        [workload::ONCE] => {
            workload::classify(&Classifier::new(), counts::FIRST);
            Ok(())
        }
        [argument @ (workload::NOTHING | workload::EVERYDAY | workload::LONG)] => {
            workload::counted(argument);
            Ok(())
        }
        ["repeat", times] => times
            .parse()
            .map_err(|error| format!("{times}: {error}"))
            .map(workload::repeat),
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
