//! Runs the example and parses its output.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program;

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Returns the report of a run with `--json`.
    pub(crate) fn report(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the records of the calls.
    pub(crate) fn calls(&self) -> Vec<Value> {
        self.report()["calls"].as_array().expect("calls").clone()
    }

    /// Returns the record of the last call.
    pub(crate) fn last(&self) -> Value {
        self.calls().pop().expect("at least one call")
    }
}

/// Returns the example as a command without arguments.
pub(crate) fn example() -> Command {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let mut command = Command::new(PROGRAM.get_or_init(|| program::find("guarded_session")));
    command.env("LANG", "C.UTF-8").env_remove("COLUMNS");
    command
}

/// Runs the example on `session`, passed in a file.
pub(crate) fn run(session: impl AsRef<[u8]>, arguments: &[&str]) -> Run {
    let folder = folder();
    let file = folder.path().join("session.jsonl");
    fs::write(&file, session).expect("a session file");
    finish(example().arg(file).args(arguments), b"")
}

/// Runs a command to its end with `input` on its standard input. Removes files that it keeps, such
/// as its audit trail, unless the command sets their folder.
pub(crate) fn finish(command: &mut Command, input: &[u8]) -> Run {
    let left = folder();
    if command.get_envs().all(|(name, _)| name != "TMPDIR") {
        command.env("TMPDIR", left.path());
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example starts");
    // The program may end before it has read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output = child.wait_with_output().expect("the example ends");
    Run {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Returns a session of these calls.
pub(crate) fn session(calls: &[Value]) -> String {
    calls.iter().map(|call| format!("{call}\n")).collect()
}

pub(crate) fn bash(command: &str) -> Value {
    json!({"tool": "bash", "command": command})
}

/// Returns calls that write and run a script, whose contents no policy reads.
pub(crate) fn script(text: &str) -> [Value; 2] {
    [
        json!({"tool": "write", "path": "script.sh", "text": text}),
        bash("bash script.sh"),
    ]
}

/// Creates a world-writable folder outside of every scratch copy.
pub(crate) fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    open_to_all_users(folder.path(), 0o777);
    folder
}

/// Opens a file or folder to every user, so that only the confinement protects it.
pub(crate) fn open_to_all_users(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a changed mode");
}

/// Returns the kinds of confinement that work on this machine, strongest first. If there is none,
/// prints that, and fails if everything is required.
pub(crate) fn confinements() -> &'static [&'static str] {
    static WORKING: OnceLock<Vec<&str>> = OnceLock::new();
    let all = [
        "root-namespaces-landlock",
        "user-namespaces-landlock",
        "stranger-landlock",
        "landlock",
        "root-namespaces",
        "user-namespaces",
    ];
    let working = WORKING.get_or_init(|| {
        let works =
            |plan: &&str| run(session(&[bash("ls")]), &["--confinement", plan]).status == Some(0);
        all.into_iter().filter(works).collect()
    });
    if working.is_empty() {
        cannot_run("this machine offers no confinement: neither Landlock nor namespaces");
    }
    working
}

/// Returns the arguments for each of [`confinements`], and for none.
pub(crate) fn with_and_without_confinement() -> Vec<Vec<&'static str>> {
    let confined = confinements()
        .iter()
        .map(|plan| vec!["--confinement", plan]);
    confined.chain([vec!["--no-sandbox"]]).collect()
}

/// Returns `true` if a program is installed. Otherwise prints which test is left out.
pub(crate) fn has_program(name: &str, tested: &str) -> bool {
    let has = Path::new("/usr/bin").join(name).exists() || Path::new("/bin").join(name).exists();
    if !has {
        cannot_run(&format!(
            "`{name}` is missing, so this is not tested: {tested}"
        ));
    }
    has
}

/// Returns `true` if this user is root, to whom some kernel limits do not apply.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn cannot_run(why: &str) {
    assert!(
        std::env::var_os("HOOKS_REQUIRE_ALL").is_none_or(|value| value != *"1"),
        "{why}"
    );
    eprintln!("not run: {why}");
}
