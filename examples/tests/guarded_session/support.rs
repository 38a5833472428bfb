//! Runs the example, and reads what it says.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program;

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The report of a run with `--json`.
    pub(crate) fn report(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The records of the calls.
    pub(crate) fn calls(&self) -> Vec<Value> {
        self.report()["calls"].as_array().expect("calls").clone()
    }

    /// The record of the last call.
    pub(crate) fn last(&self) -> Value {
        self.calls().pop().expect("at least one call")
    }
}

/// The example, ready to be given arguments.
pub(crate) fn example() -> Command {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let mut command = Command::new(PROGRAM.get_or_init(|| program::find("guarded_session")));
    command.env("LANG", "C.UTF-8");
    command
}

/// Runs the example on `session`, given through a file.
pub(crate) fn run(session: impl AsRef<[u8]>, arguments: &[&str]) -> Run {
    let folder = folder();
    let file = folder.path().join("session.jsonl");
    fs::write(&file, session).expect("a session file");
    finish(example().arg(file).args(arguments), b"")
}

/// Runs a command to its end, with `input` on its standard input. What it leaves for others,
/// as its audit trail, is gone afterwards, unless the command says where it belongs.
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
    // It may end before it has read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output = child.wait_with_output().expect("the example ends");
    Run {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// A session of these calls.
pub(crate) fn session(calls: &[Value]) -> String {
    calls.iter().map(|call| format!("{call}\n")).collect()
}

pub(crate) fn bash(command: &str) -> Value {
    json!({"tool": "bash", "command": command})
}

/// A script that the session writes and then runs: no policy reads what is in it.
pub(crate) fn script(text: &str) -> [Value; 2] {
    [
        json!({"tool": "write", "path": "script.sh", "text": text}),
        bash("bash script.sh"),
    ]
}

/// A folder that anybody may write, outside of every scratch copy.
pub(crate) fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    allow_everybody(folder.path(), 0o777);
    folder
}

/// Opens a file or folder to every user, so that only confinement protects it.
pub(crate) fn allow_everybody(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a changed mode");
}

/// The kinds of confinement that work on this machine, strongest first. Where
/// there is none, says so, and fails if everything is required.
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

/// The arguments for each of [`confinements`], and for none.
pub(crate) fn everywhere() -> Vec<Vec<&'static str>> {
    let confined = confinements()
        .iter()
        .map(|plan| vec!["--confinement", plan]);
    confined.chain([vec!["--no-sandbox"]]).collect()
}

/// Whether a program is installed; where it is not, says what is not tested.
pub(crate) fn has_program(name: &str, tested: &str) -> bool {
    let has = Path::new("/usr/bin").join(name).exists() || Path::new("/bin").join(name).exists();
    if !has {
        cannot_run(&format!(
            "`{name}` is missing, so this is not tested: {tested}"
        ));
    }
    has
}

/// Whether this user is root, whom the kernel treats as it does nobody else.
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
