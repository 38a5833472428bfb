//! Stage: a copy of the example that confines itself and runs one job.
//!
//! Without namespaces, the stage is one process. With namespaces, there are two: the first leaves
//! the system's namespaces; the second is the first process of the new ones, builds their file
//! system, and kills all its children when it ends.

use std::env;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use serde::{Deserialize, Serialize};

use super::plan::Namespaces;
use super::{ConfineError, Limits, Plan, Step};
use super::{filesystem, identity, namespaces, syscalls};
use crate::job::Job;

/// Internal arguments that start a stage.
pub(crate) const ENTER: &str = "--confined-stage";
const INSIDE: &str = "--confined-stage-inside";

/// Exit status of a stage that could not confine itself, and the prefix of its message.
const NOT_CONFINED: u8 = 125;
pub(super) const NOTHING_RAN: &str = "guarded_session: nothing ran: ";

/// This program, even if its file was replaced since the start.
pub(crate) const THIS_PROGRAM: &str = "/proc/self/exe";

/// Request to a stage, sent through its standard input.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Request {
    pub(crate) plan: Plan,
    pub(crate) limits: Limits,
    /// User to become, if the plan changes the user.
    pub(crate) owner: u32,
    /// Folder that the job may write.
    pub(crate) scratch: PathBuf,
    /// Mount point of a new root.
    pub(crate) mount_point: PathBuf,
    pub(crate) job: Job,
}

/// Properties of the established confinement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Landlock version.
    pub(crate) landlock: Option<i32>,
}

/// Runs the stage if the command line names one.
pub(crate) fn run() -> Option<ExitCode> {
    let stage = match env::args_os().nth(1)?.to_str()? {
        ENTER => enter,
        INSIDE => inside,
        _ => return None,
    };
    let status = read_request().and_then(stage).unwrap_or_else(|error| {
        eprintln!("{NOTHING_RAN}{error}");
        NOT_CONFINED
    });
    Some(status.into())
}

fn read_request() -> Result<Request, ConfineError> {
    // File descriptors of the user's shell must not reach a call.
    close_fds::set_fds_cloexec(3, &[]);
    let mut text = Vec::new();
    io::stdin()
        .read_to_end(&mut text)
        .step("read the request")?;
    let null = std::fs::File::open("/dev/null").step("open `/dev/null`")?;
    rustix::stdio::dup2_stdin(&null).step("empty the standard input")?;
    serde_json::from_slice(&text).step("read the request")
}

fn enter(request: Request) -> Result<u8, ConfineError> {
    identity::die_with_parent()?;
    let kind = request.plan.namespaces();
    if kind == Namespaces::None {
        return inside(request);
    }
    namespaces::leave(kind)?;
    let mut inside = Command::new(THIS_PROGRAM)
        .arg0("guarded_session")
        .arg(INSIDE)
        .stdin(Stdio::piped())
        .spawn()
        .step("start the first process of the namespaces")?;
    if let Some(mut input) = inside.stdin.take() {
        serde_json::to_writer(&mut input, &request).step("pass the request on")?;
        input.flush().step("pass the request on")?;
    }
    inside
        .wait()
        .step("wait for the first process of the namespaces")
        .map(code)
}

fn inside(request: Request) -> Result<u8, ConfineError> {
    let held = lock(&request)?;
    let project = request.scratch.join("project");
    env::set_current_dir(project).step("enter the scratch copy")?;
    if let Job::Shell { shell, command } = &request.job {
        let mut shell = Command::new(shell.program());
        shell.arg("-c").arg(command);
        // The first process of a namespace must be a confined one that its children cannot signal.
        // Without namespaces, the shell replaces this process.
        let status = if request.plan.namespaces() == Namespaces::None {
            Err(shell.exec())
        } else {
            shell.status()
        };
        return status.step("start the shell").map(code);
    }
    Ok(request.job.run(held))
}

/// Applies every mechanism of the plan.
fn lock(request: &Request) -> Result<Held, ConfineError> {
    let plan = request.plan;
    let has_namespaces = plan.namespaces() != Namespaces::None;
    if has_namespaces {
        namespaces::enter_new_root(&request.mount_point, &request.scratch)?;
    }
    if plan.changes_user() {
        identity::become_stranger(request.owner)?;
    }
    if plan != Plan::None {
        identity::drop_capabilities()?;
        identity::hide_memory()?;
    }
    // Changing the user resets this setting.
    identity::die_with_parent()?;
    request.limits.apply()?;
    if plan == Plan::None {
        return Ok(Held { landlock: None });
    }
    let landlocked = if plan.has_landlock() {
        Some(filesystem::restrict(&request.scratch, has_namespaces)?)
    } else {
        None
    };
    syscalls::restrict(syscalls::Gaps {
        outside: !has_namespaces,
        signals: !has_namespaces && !landlocked.is_some_and(|landlocked| landlocked.scopes_signals),
        modes: !plan.guards_modes(),
    })?;
    Ok(Held {
        landlock: landlocked.map(|landlocked| landlocked.abi),
    })
}

/// Returns the exit status as a shell reports it.
fn code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => u8::try_from(code).unwrap_or(u8::MAX),
        (None, Some(signal)) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        (None, None) => u8::MAX,
    }
}
