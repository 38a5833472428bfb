//! Runs programs in the installed shells, each in a folder that holds one file.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{
    Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid,
};
use tempfile::TempDir;

use crate::support::process::installed;
use crate::support::required;

/// A shell by its program, and the options before those of the text.
#[derive(Clone, Copy)]
pub(super) struct InstalledShell {
    pub(super) name: &'static str,
    options: &'static [&'static str],
    /// `true` if Debian has no such program: it runs where it is installed.
    optional: bool,
}

const SHELLS: &[InstalledShell] = &[
    shell("bash", &[]),
    shell("dash", &[]),
    // The files of the system that zsh reads first take longer than most programs.
    shell("zsh", &["-f"]),
    shell("busybox", &["sh"]),
    shell("ksh93", &[]),
    shell("mksh", &[]),
    shell("yash", &[]),
    shell("posh", &[]),
    // The next version of bash, under a name beside the one of the system.
    InstalledShell {
        optional: true,
        ..shell("bash5.3", &[])
    },
];

/// A file that programs read.
const FILE: (&str, &str) = ("f", "touch M\n");

/// Nothing that a program runs takes long, but for endless loops.
const TIMEOUT: Duration = Duration::from_secs(3);

const fn shell(name: &'static str, options: &'static [&'static str]) -> InstalledShell {
    InstalledShell {
        name,
        options,
        optional: false,
    }
}

/// Returns the installed shells, or those of them that `HOOKS_SHELLS` names.
pub(super) fn installed_shells() -> Vec<InstalledShell> {
    let wanted = std::env::var("HOOKS_SHELLS").ok();
    let is_wanted = |name: &str| {
        let wanted = wanted.as_deref();
        wanted.is_none_or(|wanted| wanted.split([' ', ',']).any(|wanted| wanted == name))
    };
    let wanted = SHELLS.iter().filter(|shell| is_wanted(shell.name));
    wanted
        .filter(|shell| match shell.optional {
            true if required::find(shell.name).is_none() => {
                println!("left out: `{}` is not installed", shell.name);
                false
            }
            true => true,
            false => required::has(shell.name),
        })
        .copied()
        .collect()
}

/// How a shell gets a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given {
    /// With `-c`.
    Text,
    File,
}

/// A folder in which programs run, one after the other.
pub(super) struct Sandbox {
    folder: TempDir,
    /// Beside the folder: the file of the program.
    script: TempDir,
    written: SystemTime,
}

impl Sandbox {
    pub(super) fn new() -> Self {
        adopt_orphans();
        let mut sandbox = Self {
            folder: tempfile::tempdir().expect("a folder"),
            script: tempfile::tempdir().expect("a folder"),
            written: SystemTime::UNIX_EPOCH,
        };
        sandbox.clear();
        sandbox
    }

    /// Runs a program. Returns what it changed in the folder.
    pub(super) fn changes(
        &mut self,
        shell: InstalledShell,
        given: Given,
        program: &str,
    ) -> Option<String> {
        let mut command = self.command(shell, given, program);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        end(child.expect("the shell runs"));
        self.changed()
    }

    fn command(&self, shell: InstalledShell, given: Given, program: &str) -> Command {
        let mut command = installed(shell.name);
        command.args(shell.options);
        match given {
            Given::Text => command.args(["-c", program]),
            Given::File => {
                let file = self.script.path().join("program");
                fs::write(&file, program).expect("a file");
                command.arg(file)
            }
        };
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .process_group(0);
        command
    }

    fn changed(&mut self) -> Option<String> {
        let (name, text) = FILE;
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        let file = fs::metadata(self.folder.path().join(name)).ok();
        let is_same = file.is_some_and(|file| {
            file.len() == text.len() as u64 && file.modified().ok() == Some(self.written)
        });
        if is_same && names == [name] {
            return None;
        }
        self.clear();
        names.retain(|made| made != name);
        Some(match is_same {
            true => format!("made {names:?}"),
            false => format!("made {names:?}, changed `{name}`"),
        })
    }

    fn clear(&mut self) {
        for entry in fs::read_dir(self.folder.path()).expect("a folder") {
            let path = entry.expect("an entry").path();
            let is_folder = path.is_dir();
            if is_folder {
                fs::remove_dir_all(path).expect("a folder");
            } else {
                fs::remove_file(path).expect("a file");
            }
        }
        let file = self.folder.path().join(FILE.0);
        fs::write(&file, FILE.1).expect("a file");
        self.written = modified(&file);
    }
}

fn modified(file: &Path) -> SystemTime {
    let metadata = fs::metadata(file).expect("a file");
    metadata.modified().expect("a time")
}

/// Lets this process be the parent of what a shell leaves behind, which therefore ends at once. The first
/// process of a container may take seconds to wait for its children.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .expect("a parent of orphans");
}

/// Waits for a shell and what it started in the background, and kills them if they take too long.
fn end(mut child: Child) {
    let group = Pid::from_child(&child);
    let until = Instant::now() + TIMEOUT;
    let mut pause = Duration::from_micros(300);
    let mut has_ended = false;
    loop {
        has_ended = has_ended || child.try_wait().expect("a child").is_some();
        while has_ended && matches!(waitpgid(group, WaitOptions::NOHANG), Ok(Some(_))) {}
        if has_ended && test_kill_process_group(group).is_err() {
            return;
        }
        if Instant::now() > until {
            let _ = kill_process_group(group, Signal::KILL);
            let _ = child.wait();
            return;
        }
        sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(20));
    }
}
