//! An agent's hook without a daemon: a process that reads, decides, records and answers.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use crate::process;

const CALLS: usize = 300;

/// Durations in milliseconds, in ascending order.
pub(crate) struct Times {
    /// Durations of the hook, with an existing trail.
    pub(crate) hook: Vec<f64>,
    /// Durations of a program that does nothing.
    pub(crate) nothing: Vec<f64>,
}

pub(crate) fn share(times: &[f64], share: f64) -> f64 {
    times[((times.len() - 1) as f64 * share).round() as usize]
}

pub(crate) fn times() -> Result<Times, String> {
    let folder = process::folder()?;
    // A port without a listener.
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "listen = \"127.0.0.1:9\"\n").map_err(|error| error.to_string())?;
    once(folder.path(), &config, 0)?;
    let (mut hook, mut nothing) = (Vec::new(), Vec::new());
    for number in 1..=CALLS {
        hook.push(once(folder.path(), &config, number)?);
        nothing.push(ended(Command::new("/bin/true"), None)?);
    }
    hook.sort_by(f64::total_cmp);
    nothing.sort_by(f64::total_cmp);
    Ok(Times { hook, nothing })
}

/// Number of hooks at once.
pub(crate) const AT_ONCE: usize = 64;

/// Duration of the slowest of [`AT_ONCE`] hooks that must not be reached, in milliseconds.
const MAX_SLOWEST: f64 = 2_000.0;

/// Runs hooks at once, on a new trail and then on the same trail; returns the duration of the
/// slowest hook of each round in milliseconds.
fn at_once(hooks: usize) -> Result<[f64; 2], String> {
    let folder = process::folder()?;
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "listen = \"127.0.0.1:9\"\n").map_err(|error| error.to_string())?;
    let round = |round: usize| {
        let numbers = round * hooks..(round + 1) * hooks;
        let times: Result<Vec<f64>, String> = thread::scope(|scope| {
            let (folder, config) = (folder.path(), config.as_path());
            let run = |number| scope.spawn(move || once(folder, config, number));
            let running: Vec<_> = numbers.map(run).collect();
            let ends = running.into_iter().map(|hook| hook.join());
            ends.map(|time| time.unwrap_or_else(|_| Err("a thread panicked".to_owned())))
                .collect()
        });
        Ok::<f64, String>(times?.into_iter().fold(0.0, f64::max))
    };
    Ok([round(0)?, round(1)?])
}

/// Prints the durations of the slowest of several hooks at once.
pub(crate) fn shown_at_once(hooks: usize) -> Result<(), String> {
    let [new, existing] = at_once(hooks)?;
    println!(
        "slowest of {hooks} hooks at once: {new:.0} ms with a new trail, {existing:.0} ms with an existing trail"
    );
    match new.max(existing) < MAX_SLOWEST {
        true => Ok(()),
        false => Err(format!("the slowest hook took {MAX_SLOWEST} ms or more")),
    }
}

fn once(folder: &Path, config: &Path, number: usize) -> Result<f64, String> {
    let input = serde_json::json!({
        "session_id": "bench",
        "transcript_path": "/srv/ada/transcript.jsonl",
        "cwd": "/srv/ada/projects/app",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": format!("git commit -am 'change number {number}'") },
        "tool_use_id": format!("toolu_{number}"),
    });
    let mut command = process::guard(folder);
    command
        .args(["hook", "claude-code", "--config"])
        .arg(config)
        .arg("--database")
        .arg(process::trail(folder));
    ended(command, Some(&input.to_string()))
}

/// Returns the duration of a process including its start, or an error if it does not decide.
fn ended(mut command: Command, input: Option<&str>) -> Result<f64, String> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let began = Instant::now();
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
        stdin
            .write_all(input.as_bytes())
            .map_err(|error| error.to_string())?;
    }
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    let said = String::from_utf8_lossy(&output.stdout);
    let decided = input.is_none() || said.contains("permissionDecision") && said.contains("UPDATE");
    match output.status.success() && decided {
        true => Ok(took),
        false => Err(format!(
            "{}: {said}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

pub(crate) fn shown() -> Result<(), String> {
    let times = times()?;
    for (what, times) in [("hook", &times.hook), ("/bin/true", &times.nothing)] {
        println!(
            "{what:<10} median {:.2} ms, p99 {:.2} ms",
            share(times, 0.5),
            share(times, 0.99)
        );
    }
    Ok(())
}
