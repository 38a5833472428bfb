//! Self-test of a plan: tries to break out from inside. The plan is used only if every attempt
//! fails.

use std::fs::{self, OpenOptions, Permissions};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::confine::stage::Held;
use crate::job::Shell;

/// Targets of the attempts.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct SelfTest {
    /// A folder outside. The folder and its file `canary` belong to the user that the calls run as,
    /// its file `kept` to the user who started the example.
    pub(crate) outside: PathBuf,
    /// Process that started this one.
    pub(crate) launcher: u32,
}

/// Result of the attempts.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Findings {
    /// Attempts that succeeded but must not, or the reverse.
    pub(crate) wrong: Vec<String>,
    pub(crate) landlock: Option<i32>,
}

/// Makes all attempts and prints [`Findings`] for the launcher.
pub(crate) fn run(test: &SelfTest, held: Held) -> u8 {
    let failed = attempts(test)
        .into_iter()
        .filter(|it| it.works != it.should_work);
    let wrong = failed.map(|it| it.name.to_owned()).collect();
    let findings = Findings {
        wrong,
        landlock: held.landlock,
    };
    match serde_json::to_writer(std::io::stdout(), &findings) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

struct Attempt {
    name: &'static str,
    works: bool,
    should_work: bool,
}

fn attempts(test: &SelfTest) -> Vec<Attempt> {
    let canary = test.outside.join("canary");
    // The return value is not conclusive, because some plans report success without an effect. The
    // launcher checks the file.
    let _ = fs::set_permissions(test.outside.join("kept"), Permissions::from_mode(0o600));
    let launcher = i32::try_from(test.launcher).ok().and_then(Pid::from_raw);
    let needed = [
        ("write in the scratch copy", fs::write("trial", "x").is_ok()),
        (
            "run a shell and a program",
            runs("cat < trial > /dev/null && rm trial"),
        ),
    ];
    let forbidden = [
        ("read outside", fs::read(&canary).is_ok()),
        ("write outside", fs::write(&canary, "changed").is_ok()),
        (
            "append outside",
            OpenOptions::new().append(true).open(&canary).is_ok(),
        ),
        (
            "create outside",
            fs::write(test.outside.join("made"), "").is_ok(),
        ),
        ("remove outside", fs::remove_file(&canary).is_ok()),
        (
            "signal a process outside",
            launcher.is_none_or(|pid| test_kill_process(pid).is_ok()),
        ),
        ("connect", TcpStream::connect("127.0.0.1:9").is_ok()),
        (
            "open an internet socket",
            UdpSocket::bind("127.0.0.1:0").is_ok(),
        ),
        ("open a local socket", UnixDatagram::unbound().is_ok()),
    ];
    let needed = needed.map(|(name, works)| Attempt {
        name,
        works,
        should_work: true,
    });
    let forbidden = forbidden.map(|(name, works)| Attempt {
        name,
        works,
        should_work: false,
    });
    needed.into_iter().chain(forbidden).collect()
}

fn runs(command: &str) -> bool {
    Command::new(Shell::Sh.program())
        .args(["-c", command])
        .status()
        .is_ok_and(|it| it.success())
}
