//! Measures `amplifier-core` of PyPI beside the registry of events, by processor time.
//!
//! The package has a Rust core and an interface for Python only, so its handlers and its caller are
//! Python (`amplifier.py`), and ours are Rust.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::cases::{self, Case, Run, Subject};
use crate::processor;
use crate::workload::PROMPT;

/// The measured version.
const VERSION: &str = "2.0.2";

const SCRIPT: &str = include_str!("amplifier.py");

/// The numbers of handlers.
const SIZES: [usize; 3] = [0, 1, 4];

const ROUNDS: usize = 15;

/// Processor time of one contender in one round.
const ROUND_NANOS: f64 = 40_000_000.0;

pub(crate) const MARK: &str = "<!-- amplifier-core -->";

/// Measures, and returns the section of the page.
pub(crate) fn section() -> Result<String, String> {
    processor_time()?;
    let mut python = Python::start()?;
    let mut text = format!(
        "{MARK}\n\n## amplifier-core\n\n\
         Written by `cargo bench -p hooks-tests --bench performance -- amplifier write`, which \
         installs `amplifier-core=={VERSION}` from PyPI into a virtual environment. Processor time \
         of all threads of a process, in nanoseconds per emission, on {}, with Python {}: the median \
         of {ROUNDS} rounds, in which the contenders run in turns.\n\n\
         Every handler compares the tool's name, looks for a folder in a path and returns \
         `continue`; the data have five fields. `amplifier-core` is the published package, whose \
         registry is written in Rust: one coroutine in one event loop awaits \
         `HookRegistry.emit(…)` again and again, with `async def` handlers that return \
         `HookResult(action=\"continue\")`. *Python loop* awaits the same handlers in a `for` loop, \
         without a registry: what a caller in Python pays for the interpreter and for its \
         `HookResult`s. *This framework* is the row *hooks continue* of [Events](#events), without \
         handlers the emission without hooks, measured in this run. It has no interface for Python: a host in Python would pay the interpreter, \
         and a bridge, in addition.\n\n\
         | Handlers | `amplifier-core` | Python loop | this framework |\n|---:|---:|---:|---:|\n",
        processor::name(),
        python.version,
    );
    for size in SIZES {
        eprintln!("amplifier-core, {size} handlers");
        let mut case = ours(size)?;
        let [amplifier, plain, ours] = measure(&mut python, size, &mut case.ours)?;
        let _ = writeln!(text, "| {size} | {amplifier:.0} | {plain:.0} | {ours:.1} |");
    }
    python.stop()?;
    text += "\nThe figures compare two ways to run handlers, not two registries: the row without \
             handlers has no other work than the way from Python to Rust and back, with the \
             conversion of data and result to JSON, and the event loop.\n";
    Ok(text)
}

/// Returns the row of the events with this number of hooks.
fn ours(hooks: usize) -> Result<Case, String> {
    let is_row = |case: &Case| match case.subject {
        Subject::EventEmpty => hooks == 0,
        Subject::Event => case.slot == "event_continue" && case.hooks == hooks,
        _ => false,
    };
    let row = cases::all(PROMPT).into_iter().find(is_row);
    row.ok_or_else(|| format!("no row of events has {hooks} hooks"))
}

/// Returns the median processor times of `amplifier-core`, of the loop in Python, and of our run.
fn measure(python: &mut Python, handlers: usize, run: &mut Run) -> Result<[f64; 3], String> {
    let fitting = |once: f64| (ROUND_NANOS / once.max(1.0)) as u32 + 1;
    let repeats = [
        fitting(python.time("amplifier", handlers, 1000)?),
        fitting(python.time("loop", handlers, 1000)?),
        fitting(time(run, 100_000)?),
    ];
    let mut samples = [vec![], vec![], vec![]];
    for _ in 0..ROUNDS {
        samples[0].push(python.time("amplifier", handlers, repeats[0])?);
        samples[1].push(python.time("loop", handlers, repeats[1])?);
        samples[2].push(time(run, repeats[2])?);
    }
    Ok(samples.map(|mut samples| {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    }))
}

/// Returns the processor time of one of our runs, in nanoseconds.
fn time(run: &mut Run, repeats: u32) -> Result<f64, String> {
    let begin = processor_time()?;
    for _ in 0..repeats {
        run();
    }
    Ok((processor_time()? - begin).as_nanos() as f64 / f64::from(repeats))
}

#[cfg(unix)]
fn processor_time() -> Result<Duration, String> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let parts = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    match parts {
        (Ok(seconds), Ok(nanos)) => Ok(Duration::new(seconds, nanos)),
        _ => Err("the processor time is negative".to_owned()),
    }
}

#[cfg(not(unix))]
fn processor_time() -> Result<Duration, String> {
    Err("processor time is measured on Unix only".to_owned())
}

/// The process with the contenders in Python.
struct Python {
    version: String,
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    /// Installs the package into a virtual environment, and starts the script.
    fn start() -> Result<Self, String> {
        let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("amplifier-core");
        let interpreter = home.join("bin/python");
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        let package = format!("amplifier-core=={VERSION}");
        succeed(Command::new(&interpreter).args(["-m", "pip", "install", "--quiet", &package]))?;
        let script = home.join("amplifier.py");
        let cannot = |why| format!("cannot start the contenders in Python: {why}");
        fs::write(&script, SCRIPT).map_err(cannot)?;
        let mut child = Command::new(&interpreter)
            .arg(&script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(cannot)?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are piped")
        };
        let mut python = Python {
            version: String::new(),
            child,
            requests,
            answers: BufReader::new(answers),
        };
        python.version = python.line()?;
        Ok(python)
    }

    /// Returns the processor time of an emission, in nanoseconds.
    fn time(&mut self, contender: &str, handlers: usize, emissions: u32) -> Result<f64, String> {
        writeln!(self.requests, "{contender} {handlers} {emissions}")
            .map_err(|why| format!("the contenders in Python ended: {why}"))?;
        let line = self.line()?;
        let time = line.parse();
        time.map_err(|_| format!("the contenders in Python printed `{line}`, which is no number"))
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(1..) => Ok(line.trim().to_owned()),
            Ok(_) => Err("the contenders in Python ended".to_owned()),
            Err(why) => Err(format!("cannot read from the contenders in Python: {why}")),
        }
    }

    fn stop(mut self) -> Result<(), String> {
        drop(self.requests);
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("the contenders in Python ended with {status}")),
            Err(why) => Err(format!("cannot wait for the contenders in Python: {why}")),
        }
    }
}

fn succeed(command: &mut Command) -> Result<(), String> {
    match command.stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(why) => Err(format!("cannot run {command:?}: {why}")),
    }
}
