//! Instruction counts of the classifier: exact and reproducible, unlike times.
//!
//! The program runs itself under callgrind.

use std::fmt::Write as _;
use std::process::Command;

use crate::page::judged;
use crate::workload;

/// Number of everyday commands that are classified.
pub(crate) const COMMANDS: usize = 400;
/// Command that a new process classifies.
pub(crate) const FIRST: &str = "ls -la";
/// Name of a shape of long commands, whose characters are counted.
pub(crate) const SHAPE: &str = "many options";
/// Length of this shape, in characters.
pub(crate) const LONG: usize = 10_000;

/// A figure: thousands of instructions.
struct Figure {
    name: &'static str,
    /// As counted before the patterns of secret paths were compiled into one automaton.
    before: f64,
    /// Maximum that the check accepts: the last count and a twentieth.
    bound: f64,
    /// Maximum ratio to `before`.
    target: f64,
}

const EVERYDAY: Figure = Figure {
    name: "an everyday command, one of 400 in a process",
    before: 1_516.9,
    bound: 287.0,
    target: 0.3,
};
const PROCESS: Figure = Figure {
    name: "a process that classifies `ls -la`",
    before: 1_153.8,
    bound: 887.0,
    target: 0.8,
};
const CHARACTER: Figure = Figure {
    name: "a character of *many options*, 10 000 characters",
    before: 96.1,
    bound: 18.1,
    target: 0.25,
};

/// Returns the counts, or `None` if valgrind is not installed.
fn figures() -> Result<Option<[(&'static Figure, f64); 3]>, String> {
    let installed = Command::new("valgrind").arg("--version").output();
    if !installed.is_ok_and(|output| output.status.success()) {
        return Ok(None);
    }
    let nothing = instructions(&[workload::NOTHING])?;
    let everyday = instructions(&[workload::EVERYDAY])? - nothing;
    let long = instructions(&[workload::LONG])? - nothing;
    let process = instructions(&[workload::ONCE])?;
    let length = workload::long().len() as f64;
    Ok(Some([
        (&EVERYDAY, everyday / COMMANDS as f64 / 1e3),
        (&PROCESS, process / 1e3),
        (&CHARACTER, long / length / 1e3),
    ]))
}

/// Returns the instructions of this program with these arguments.
fn instructions(arguments: &[&str]) -> Result<f64, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(own)
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run `valgrind`: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let count = report
        .lines()
        .find_map(|line| line.split_once("Collected :"));
    let count = count.and_then(|(_, count)| count.trim().parse().ok());
    count.ok_or_else(|| format!("callgrind counted nothing:\n{report}"))
}

/// Fails if a count exceeds its bound.
pub(crate) fn check() -> Result<(), String> {
    let Some(figures) = figures()? else {
        return match std::env::var_os("HOOKS_REQUIRE_ALL") {
            Some(_) => Err("cannot run `valgrind`; install it to count instructions".to_owned()),
            None => {
                println!("NOT COUNTED: instructions; install valgrind");
                Ok(())
            }
        };
    };
    let mut exceeded = Vec::new();
    for (figure, count) in figures {
        let line = format!(
            "{}: {count:.1} thousand instructions (at most {:.1})",
            figure.name, figure.bound
        );
        println!("{line}");
        if count > figure.bound {
            exceeded.push(line);
        }
    }
    match exceeded.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "more instructions than the bounds:\n{}",
            exceeded.join("\n")
        )),
    }
}

/// Adds the table of the counts to the section, and the misses.
pub(crate) fn table(text: &mut String, misses: &mut Vec<String>) -> Result<(), String> {
    let figures = figures()?.ok_or("cannot run `valgrind`; install it to count instructions")?;
    text.push_str(
        "\nThousands of instructions, counted by callgrind. *Before* is the last version that compared each path \
         with each pattern of secrets; `cargo bench -p hooks-classify --bench classify -- counts` holds the counts to \
         the bounds.\n\n\
         | | before | now | ratio | target | bound |\n|---|---:|---:|---:|---:|---:|\n",
    );
    for (figure, count) in figures {
        let ratio = count / figure.before;
        let reached = ratio <= figure.target;
        let _ = writeln!(
            text,
            "| {} | {:.1} | {count:.1} | {} | ≤ {} | {:.1} |",
            figure.name,
            figure.before,
            judged(format!("{ratio:.2}"), reached),
            figure.target,
            figure.bound,
        );
        if !reached {
            misses.push(format!(
                "{}: {ratio:.2} ×, not {} ×",
                figure.name, figure.target
            ));
        }
    }
    Ok(())
}
