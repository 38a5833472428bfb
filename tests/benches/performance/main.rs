//! Measures the targets of the framework.
//!
//! | `cargo bench -p hooks-tests --bench performance` | Effect |
//! |---|---|
//! | | prints the tables, without compile time, which takes minutes |
//! | `-- write` | writes all of them into `docs/performance.md` |
//! | `-- times [slot]` | prints times and ratios alone |
//! | `-- counts` | fails if a count of instructions or allocations exceeds its bound |
//! | `-- compile` | prints compile times and the size of the expansion alone |
//! | `-- registration [write]` | prints the times of registrations, or writes them and their instructions |
//! | `-- amplifier [write]` | prints the processor times of `amplifier-core`, or writes them; installs it from PyPI |
//! | `-- bounds` | prints the bounds for the current measurements |
//!
//! A machine's times drift, so contenders are timed in turns and only their ratios are compared
//! with targets. Instructions and allocations do not drift; `.ci/run` checks them.

mod allocations;
mod amplifier;
mod bounds;
mod cases;
mod compile;
mod contenders;
mod counts;
mod events;
#[path = "../page.rs"]
mod page;
#[path = "../processor.rs"]
mod processor;
mod registration;
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
        [] => report::page(false).map(|page| print!("{page}")),
        ["write"] => report::page(true).and_then(|text| page::write(None, &text)),
        ["times", slot @ ..] => {
            report::times(slot.first().copied());
            Ok(())
        }
        ["compile"] => report::compile().map(|page| print!("{page}")),
        ["registration"] => {
            registration::times();
            Ok(())
        }
        ["registration", "write"] => {
            registration::section().and_then(|text| page::write(Some(registration::MARK), &text))
        }
        ["amplifier"] => amplifier::section().map(|section| print!("{section}")),
        ["amplifier", "write"] => {
            amplifier::section().and_then(|text| page::write(Some(amplifier::MARK), &text))
        }
        ["counts"] => counts::check(),
        ["bounds"] => counts::suggest(),
        // The command that `counts` starts under callgrind.
        [counts::RUN, slot, hooks, contender, repeats] => {
            counts::run(slot, hooks, contender, repeats)
        }
        [registration::RUN, case, hooks] => registration::run(case, hooks),
        other => Err(format!(
            "unknown command `{}`; use `write`, `times`, `counts`, `compile`, `registration`, `amplifier`, `bounds`, or nothing",
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
