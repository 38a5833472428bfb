//! Instruction counts of an agent's hook. Takes commands; returns the instructions of the process
//! as counted by callgrind.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::page::{judged, missed};
use crate::process;

/// Start of the section in the page.
pub(crate) const MARK: &str = "<!-- the start of a hook -->";

/// Commands, with the instruction counts of the last version that parsed its tables as TOML in
/// every process, counted with the current method on the current machine.
const COMMANDS: [(&str, u64); 3] = [
    ("ls -la", 18_800_000),
    ("git status", 40_600_000),
    ("docker ps", 29_700_000),
];

/// Maximum number of attempts: under valgrind, a hook may time out while it waits for the trail.
const TRIES: usize = 5;

/// Counts instructions and returns the section of the page.
pub(crate) fn section() -> Result<String, String> {
    let folder = process::folder()?;
    // A port without a service.
    let config = folder.path().join("config.toml");
    fs::write(&config, "listen = \"127.0.0.1:9\"\n").map_err(|error| error.to_string())?;
    run(&[], folder.path(), &config, "true", 0)?;
    let mut text = format!(
        "{MARK}\n\n## The start of a hook\n\n\
         Written by `cargo bench -p hooks-guard --bench http -- instructions write`. Millions of instructions of \
         `hooks-guard hook claude-code` for one command, from the start of the process to its end, with a trail in SQLite \
         and without a service, counted by callgrind. *Before* is the last version that parsed the tables of programs in \
         every process.\n\n\
         | Command | before | now | ratio | target |\n|---|---:|---:|---:|---:|\n"
    );
    let millions = |count: u64| count as f64 / 1e6;
    let (mut number, mut misses) = (0, Vec::new());
    for (command, before) in COMMANDS {
        let now = (0..TRIES).find_map(|_| {
            number += 1;
            counted(folder.path(), &config, command, number).ok()
        });
        let now = now.ok_or(
            "no hook decided in time under valgrind; check that it is installed and the machine is idle",
        )?;
        let ratio = now as f64 / before as f64;
        let _ = writeln!(
            text,
            "| `{command}` | {:.1} | {:.1} | {} | < 0.50 |",
            millions(before),
            millions(now),
            judged(format!("{ratio:.2}"), ratio < 0.5),
        );
        if ratio >= 0.5 {
            misses.push(format!(
                "`{command}`: {:.1} of {:.1} million instructions; the rest starts the process, opens SQLite, loads \
                 rules and masks secrets",
                millions(now),
                millions(before),
            ));
        }
    }
    text += &missed(&misses);
    Ok(text)
}

/// Returns the instruction count of a hook that allows a command.
fn counted(folder: &Path, config: &Path, command: &str, number: usize) -> Result<u64, String> {
    let valgrind = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
    ];
    let log = run(&valgrind, folder, config, command, number)?;
    let count = log.lines().find_map(|line| line.split_once("Collected :"));
    let count = count.and_then(|(_, count)| count.trim().parse().ok());
    count.ok_or_else(|| format!("valgrind counted nothing: {log}"))
}

/// Runs a hook, optionally under another program. Returns its standard error if the hook allows the
/// command.
fn run(
    by: &[&str],
    folder: &Path,
    config: &Path,
    command: &str,
    number: usize,
) -> Result<String, String> {
    let input = serde_json::json!({
        "session_id": "7d1f4c52-0c0a-4b0e-9c3e-2f7a7f1f5a10",
        "transcript_path": "/srv/ada/transcript.jsonl",
        "cwd": "/srv/ada/projects/app",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": command },
        "tool_use_id": format!("toolu_01A09q90qw90lq917835lq{number}"),
    });
    let input_file = folder.join("input.json");
    fs::write(&input_file, input.to_string()).map_err(|error| error.to_string())?;
    let guard = process::guard(folder);
    let mut words = by.iter().map(OsStr::new).chain([guard.get_program()]);
    let mut whole = Command::new(words.next().ok_or("no program")?);
    whole.args(words);
    for (name, value) in guard.get_envs() {
        match value {
            Some(value) => whole.env(name, value),
            None => whole.env_remove(name),
        };
    }
    let output = whole
        .args(["hook", "claude-code", "--config"])
        .arg(config)
        .arg("--database")
        .arg(process::trail(folder))
        .stdin(fs::File::open(&input_file).map_err(|error| error.to_string())?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.contains("\"allow\"") {
        true => Ok(String::from_utf8_lossy(&output.stderr).into_owned()),
        false => Err(said.into_owned()),
    }
}
