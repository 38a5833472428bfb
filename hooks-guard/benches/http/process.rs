//! Processes under measurement. Takes a folder; returns a running server, and its resource usage.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::shared::{LISTENS, SERVE_EMPTY, number};

/// Returns the folder for trails.
pub(crate) fn folder() -> Result<TempDir, String> {
    let folder = match std::env::var_os("HOOKS_AUDIT_DIR") {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    }
    .map_err(|error| error.to_string())?;
    fs::create_dir(project(folder.path())).map_err(|error| error.to_string())?;
    Ok(folder)
}

/// Returns the project in which [`guard`] runs: a hook refuses a configuration inside of it.
fn project(folder: &Path) -> PathBuf {
    folder.join("project")
}

/// A server process, killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts the daemon with a new trail in `folder`, without a rate limit.
    pub(crate) fn daemon(folder: &Path) -> Result<Self, String> {
        let token = folder.join("token");
        fs::write(&token, "operator-of-this-bench").map_err(|error| error.to_string())?;
        let mut command = guard(folder);
        command
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--rate-limit",
                "0",
                "--token-file",
            ])
            .arg(token);
        Self::start(command)
    }

    /// Starts the server with an empty handler.
    pub(crate) fn empty() -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(own);
        command.arg(SERVE_EMPTY);
        Self::start(command)
    }

    fn start(mut command: Command) -> Result<Self, String> {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let stderr = child.stderr.take().ok_or("no stderr")?;
        let mut lines = BufReader::new(stderr).lines();
        let mut said = String::new();
        let port = loop {
            let Some(Ok(line)) = lines.next() else {
                let _ = child.wait();
                return Err(format!("it does not listen: {said}"));
            };
            said += &line;
            let address = line.split_once(LISTENS);
            if let Some(port) = address.and_then(|(_, address)| address.rsplit(':').next()) {
                break number(port)?;
            }
        };
        // Later output must be read, so that it does not fill the pipe.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                eprintln!("{line}");
            }
        });
        Ok(Self { child, port })
    }

    /// Returns the CPU time of the process.
    pub(crate) fn used(&self) -> Result<Duration, String> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        // The program name precedes the fields and may contain blanks.
        let (_, rest) = text.rsplit_once(')').ok_or("no process")?;
        let ticks = rest.split_whitespace().skip(11).take(2);
        let ticks = ticks.map(number::<u64>);
        let ticks = ticks.sum::<Result<u64, String>>()?;
        // `USER_HZ` is 100 on every Linux.
        Ok(Duration::from_millis(10 * ticks))
    }

    /// Returns the resident memory of the process in KiB.
    pub(crate) fn memory(&self) -> Result<u64, String> {
        let path = format!("/proc/{}/status", self.child.id());
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let word = line.and_then(|line| line.split_whitespace().next());
        number(word.ok_or("no VmRSS")?)
    }

    /// Sets the maximum number of open files of the process.
    pub(crate) fn open_files(&self, files: usize) -> Result<(), String> {
        open_files(self.child.id(), files)
    }

    pub(crate) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

/// Sets the maximum number of open files of a process.
pub(crate) fn open_files(process: u32, files: usize) -> Result<(), String> {
    let status = Command::new("prlimit")
        .args(["--pid", &process.to_string()])
        .arg(format!("--nofile={files}:"))
        .status()
        .map_err(|error| format!("prlimit: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("process {process} may not have {files} files open")),
    }
}

/// Returns a command for the program, with a home in `folder`.
pub(crate) fn guard(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hooks-guard"));
    command
        .env_clear()
        .env("HOME", folder)
        .env("HOOKS_GUARD_DATABASE", trail(folder))
        .current_dir(project(folder));
    command
}

/// Returns the path of the trail of [`guard`].
pub(crate) fn trail(folder: &Path) -> PathBuf {
    folder.join("trail.db")
}
