//! Measures how fast commands are judged.
//!
//! | `cargo bench -p hooks-classify --bench classify` | Does |
//! |---|---|
//! | | prints the tables, within a minute |
//! | `-- write` | writes them into `docs/performance.md`, and leaves its other sections as they are |
//! | `-- repeat TIMES` | judges the everyday commands so often, for a profiler |
//!
//! The limit is what the two parsers take alone: every command is given to both.

#[path = "../../../tests/benches/page.rs"]
mod page;
mod report;
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
        [workload::START] => {
            workload::start();
            Ok(())
        }
        ["repeat", times] => times
            .parse()
            .map_err(|error| format!("{times}: {error}"))
            .map(workload::repeat),
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
