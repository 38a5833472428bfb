//! Instructions and allocations of a dispatch: exact and reproducible.
//!
//! The program runs itself under callgrind for two numbers of repeats; the difference excludes the
//! cost of the start.

use std::process::Command;
use std::thread;

use crate::allocations;
use crate::bounds::{BOUNDS, Bound};
use crate::cases::{self, Case, EMPTY_TARGET, Subject};
use crate::registration;
use crate::workload::{PROMPT, long_prompt};

/// The hidden command for callgrind.
pub(crate) const RUN: &str = "run";

/// Many repeats, because maps with random hashes vary the start by some 300 instructions.
const REPEATS: [u64; 2] = [100, 4100];

/// Cost of one dispatch, beyond its baseline and in total.
#[derive(Clone, Copy)]
pub(crate) struct Count {
    pub(crate) ours: u64,
    pub(crate) baseline: u64,
}

impl Count {
    pub(crate) fn beyond(self) -> i64 {
        self.ours as i64 - self.baseline as i64
    }

    fn ratio(self) -> f64 {
        self.ours as f64 / self.baseline as f64
    }
}

/// Returns a line if the instructions of a case miss its target. The ratio of instructions has the
/// target of the ratio of times, which a machine under load does not reproduce.
fn missed_target(case: &Case, count: Count) -> Option<String> {
    let (measured, target) = match case.subject {
        Subject::Ready => {
            let target = case.ratio_target()?;
            if count.ratio() <= target {
                return None;
            }
            (format!("{:.2} ×", count.ratio()), format!("{target:.2} ×"))
        }
        Subject::Empty if count.beyond() > EMPTY_TARGET => (
            format!("{} beyond", count.beyond()),
            format!("{EMPTY_TARGET} beyond"),
        ),
        _ => return None,
    };
    let label = case.label();
    Some(format!(
        "{label}: instructions {measured} the baseline, target at most {target}"
    ))
}

/// Repeats one contender of one case.
pub(crate) fn run(slot: &str, hooks: &str, contender: &str, repeats: &str) -> Result<(), String> {
    let number = |text: &str| {
        text.parse::<usize>()
            .map_err(|why| format!("`{text}`: {why}"))
    };
    let (hooks, repeats) = (number(hooks)?, number(repeats)?);
    let case = cases::all(PROMPT)
        .into_iter()
        .find(|case| case.slot == slot && case.hooks == hooks)
        .ok_or_else(|| format!("there is no case `{slot}` with {hooks} hooks"))?;
    let mut run = match contender {
        "ours" => case.ours,
        "baseline" => case.baseline,
        other => return Err(format!("unknown contender `{other}`; `ours` or `baseline`")),
    };
    for _ in 0..repeats {
        run();
    }
    Ok(())
}

/// Returns the instructions of one dispatch.
pub(crate) fn instructions(case: &Case) -> Result<Count, String> {
    let program = std::env::current_exe().map_err(|why| why.to_string())?;
    let runs = ["ours", "baseline"].map(|contender| REPEATS.map(|repeats| (contender, repeats)));
    let commands = runs.as_flattened().iter().map(|(contender, repeats)| {
        let mut command = Command::new(&program);
        command.args([RUN, case.slot, &case.hooks.to_string(), contender]);
        command.arg(repeats.to_string());
        command
    });
    let counts = callgrind_all(&commands.collect::<Vec<_>>())?;
    let repeats = REPEATS[1] - REPEATS[0];
    let one = |at: usize| (counts[at + 1] - counts[at] + repeats / 2) / repeats;
    Ok(Count {
        ours: one(0),
        baseline: one(REPEATS.len()),
    })
}

/// Counts the instructions of several commands, which run at the same time: a count does not depend
/// on what else runs.
pub(crate) fn callgrind_all(commands: &[Command]) -> Result<Vec<u64>, String> {
    thread::scope(|scope| {
        let runs: Vec<_> = commands
            .iter()
            .map(|command| scope.spawn(|| callgrind(command)))
            .collect();
        let counts = runs.into_iter();
        counts.map(|run| run.join().expect("no panic")).collect()
    })
}

/// Counts the instructions of a command.
fn callgrind(command: &Command) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(command.get_program())
        .args(command.get_args())
        .output()
        .map_err(|why| format!("cannot run `valgrind`: {why}; install it to count instructions"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    report
        .lines()
        .find_map(|line| line.split_once("Collected :"))
        .and_then(|(_, count)| count.trim().parse().ok())
        .ok_or_else(|| format!("callgrind counted nothing:\n{report}"))
}

/// Why instructions cannot be counted here, if they cannot.
pub(crate) fn missing() -> Option<String> {
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("`valgrind --version` ended with {}", output.status)),
        Err(why) => Some(format!("cannot run `valgrind`: {why}")),
    }
}

/// Returns the allocations of one dispatch by the framework.
pub(crate) fn allocations(case: &mut Case) -> u64 {
    allocations::count(&mut case.ours)
}

/// Cases whose number of allocations depends on the length of the prompt.
pub(crate) fn growing() -> Vec<String> {
    cases::all(PROMPT)
        .iter_mut()
        .zip(&mut cases::all(long_prompt()))
        .filter_map(|(short, long)| {
            let [few, many] = [short, long].map(allocations);
            (few != many).then(|| format!("{}: {few}, long prompt {many}", long.label()))
        })
        .collect()
}

/// Fails if a case exceeds its bound or misses its target.
pub(crate) fn check() -> Result<(), String> {
    let counted = match missing() {
        None => true,
        Some(why) if std::env::var_os("HOOKS_REQUIRE_ALL").is_some() => {
            return Err(format!("{why}; install valgrind"));
        }
        Some(why) => {
            println!("NOT COUNTED: instructions, because {why}; install valgrind");
            false
        }
    };
    let mut exceeded = growing();
    for bound in BOUNDS {
        let mut case = cases::all(PROMPT)
            .into_iter()
            .find(|case| case.slot == bound.slot && case.hooks == bound.hooks)
            .ok_or_else(|| format!("there is a bound for `{}`, but no case", bound.slot))?;
        let made = allocations(&mut case);
        let mut line = format!(
            "{:24} allocations {made} (at most {})",
            case.label(),
            bound.allocations
        );
        let mut over = made > bound.allocations;
        if counted {
            let count = instructions(&case)?;
            exceeded.extend(missed_target(&case, count));
            let beyond = count.beyond();
            line += &format!(
                ", instructions {beyond:+} (at most {:+})",
                bound.instructions
            );
            over |= beyond > bound.instructions;
        }
        println!("{line}");
        if over {
            exceeded.push(line);
        }
    }
    if counted {
        exceeded.extend(registration::exceeded()?);
        let is_bounded = |case: &Case| {
            let mut bounds = BOUNDS.iter();
            bounds.any(|bound| case.slot == bound.slot && case.hooks == bound.hooks)
        };
        let cases = cases::all(PROMPT).into_iter();
        for case in cases.filter(|case| case.subject == Subject::Ready && !is_bounded(case)) {
            let count = instructions(&case)?;
            let label = case.label();
            println!("{label:24} instructions {:.2} × the limit", count.ratio());
            exceeded.extend(missed_target(&case, count));
        }
    }
    if exceeded.is_empty() {
        return Ok(());
    }
    Err(format!(
        "beyond the bounds of `bounds.rs`, or a target of `cases.rs`:\n{}",
        exceeded.join("\n")
    ))
}

/// Prints the table of bounds for the current measurements.
pub(crate) fn suggest() -> Result<(), String> {
    for mut case in cases::all(PROMPT) {
        if case.hooks > 4 || [Subject::Floor, Subject::EventCommon].contains(&case.subject) {
            // Every further hook costs as much as the fourth; the other two are not the
            // framework's.
            continue;
        }
        let count = instructions(&case)?;
        let beyond = count.beyond();
        // If both cost about as much, the baseline varies more than the difference.
        let margin = (beyond.abs() / 12).max(count.ours as i64 / 50).max(4);
        let bound = Bound {
            slot: case.slot,
            hooks: case.hooks,
            instructions: beyond + margin,
            allocations: allocations(&mut case),
        };
        println!("    {bound:?},");
    }
    Ok(())
}
