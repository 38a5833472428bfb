//! Runs one job in a confined process, and stops it if it exceeds its time, output or disk limit.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::fchown;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::confine::Confinement;
use crate::confine::stage::{ENTER, Request, THIS_PROGRAM};
use crate::job::Job;
use crate::scratch::{self, Scratch, Usage};

/// Maximum disk use of the scratch copy, in bytes and in files and folders.
const DISK_LIMIT_BYTES: u64 = 256 << 20;
const DISK_LIMIT_ENTRIES: usize = 50_000;

/// Interval of disk use checks.
const DISK_CHECK: Duration = Duration::from_millis(250);

/// Time to read a pipe after its shell has ended. Only a process that left the group of an
/// unconfined call can keep it open longer.
const GRACE: Duration = Duration::from_millis(500);

/// Runs jobs in one scratch copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executor<'a> {
    confinement: &'a Confinement,
    scratch: &'a Scratch,
    time_limit: Duration,
    output_limit: usize,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Exited(i32),
    TimedOut,
    OutputLimit,
    DiskLimit,
    /// The process could not be started or watched.
    Failed(String),
}

/// A job that ran.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) outcome: Outcome,
    /// Standard output and error in order, up to the output limit.
    pub(crate) output: String,
}

impl<'a> Executor<'a> {
    /// Creates an executor with 10 seconds and 64 KiB for each job.
    pub(crate) fn new(confinement: &'a Confinement, scratch: &'a Scratch) -> Self {
        Self {
            confinement,
            scratch,
            time_limit: Duration::from_secs(10),
            output_limit: 64 << 10,
        }
    }

    pub(crate) fn with_limits(self, time_limit: Duration, output_limit: usize) -> Self {
        Self {
            time_limit,
            output_limit,
            ..self
        }
    }

    /// Runs `job` until it ends or exceeds a limit.
    pub(crate) async fn run(&self, job: Job) -> Run {
        let mut output = Vec::new();
        let outcome = self
            .watch(job, &mut output)
            .await
            .unwrap_or_else(|error| Outcome::Failed(error.to_string()));
        Run {
            outcome,
            output: String::from_utf8_lossy(&output).into_owned(),
        }
    }

    async fn watch(&self, job: Job, output: &mut Vec<u8>) -> io::Result<Outcome> {
        let before = self.scratch.usage();
        let mut end = Instant::now() + self.time_limit;
        let (mut child, mut pipe) = self.start(job).await?;
        let group = Group::of(&child);
        // Counts on another thread: a call can make counting slow, and must still time out.
        let mut counting: Option<JoinHandle<Usage>> = None;
        let mut disk = tokio::time::interval(DISK_CHECK);
        let mut chunk = vec![0; 8 << 10];
        let (mut status, mut is_open) = (None, true);
        let cut_off = loop {
            tokio::select! {
                read = pipe.read(&mut chunk), if is_open => match read? {
                    0 => is_open = false,
                    length => if !keep(output, &chunk[..length], self.output_limit) {
                        break Some(Outcome::OutputLimit);
                    },
                },
                ended = child.wait(), if status.is_none() => {
                    status = Some(ended?);
                    // Background processes end with the job, and so does their output.
                    group.kill();
                    end = end.min(Instant::now() + GRACE);
                },
                () = tokio::time::sleep_until(end.into()) => break match status {
                    Some(_) => None,
                    None => Some(Outcome::TimedOut),
                },
                _ = disk.tick(), if status.is_none() && counting.is_none() => {
                    let files = self.scratch.files();
                    let count = move || scratch::count(&files, Some(end));
                    counting = Some(tokio::task::spawn_blocking(count));
                },
                now = counted(&mut counting), if counting.is_some() => {
                    counting = None;
                    if status.is_none() && overfills(before, now?) {
                        break Some(Outcome::DiskLimit);
                    }
                },
            }
            if status.is_some() && !is_open {
                break None;
            }
        };
        group.kill();
        let status = match status {
            Some(status) => status,
            None => child.wait().await?,
        };
        if cut_off.is_some() {
            // The pipe closes when the last process has ended.
            let rest =
                async { while pipe.read(&mut chunk).await.is_ok_and(|length| length > 0) {} };
            let _ = tokio::time::timeout(GRACE, rest).await;
        }
        Ok(cut_off.unwrap_or(Outcome::Exited(code(status))))
    }

    /// Starts a process that confines itself and runs `job`. Both output streams share one pipe, so
    /// their order is kept.
    async fn start(&self, job: Job) -> io::Result<(Child, pipe::Receiver)> {
        let files = self.scratch.files();
        let (output, input) = io::pipe()?;
        // A call may open its output by name, which checks the owner of the pipe.
        fchown(&input, Some(self.confinement.owner()), None)?;
        let mut child = Command::new(THIS_PROGRAM)
            .arg0("guarded_session")
            .arg(ENTER)
            .current_dir("/")
            .env_clear()
            .envs(ENVIRONMENT)
            .env("HOME", files.join("home"))
            .env("TMPDIR", files.join("tmp"))
            .stdin(Stdio::piped())
            .stdout(input.try_clone()?)
            .stderr(input)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let request = Request {
            plan: self.confinement.plan,
            limits: self.confinement.limits(),
            owner: self.confinement.owner(),
            scratch: files,
            mount_point: self.scratch.mount_point(),
            job,
        };
        let request = serde_json::to_vec(&request)?;
        if let Some(mut stdin) = child.stdin.take() {
            match stdin.write_all(&request).await {
                // The process ended before reading the request; its output has the reason.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                result => result?,
            }
        }
        Ok((child, pipe::Receiver::from_owned_fd(OwnedFd::from(output))?))
    }
}

/// Environment of a call, except its folders.
const ENVIRONMENT: [(&str, &str); 16] = [
    (
        "PATH",
        "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/run/current-system/sw/bin",
    ),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TERM", "dumb"),
    ("TZ", "UTC"),
    ("PAGER", "cat"),
    ("EDITOR", "true"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Disables background maintenance.
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "maintenance.auto"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_AUTHOR_NAME", "agent"),
    ("GIT_AUTHOR_EMAIL", "agent@example.invalid"),
    ("GIT_COMMITTER_NAME", "agent"),
    ("GIT_COMMITTER_EMAIL", "agent@example.invalid"),
];

/// Process group of a call. Dropping it kills its processes.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    fn kill(&self) {
        if let Some(group) = self.0 {
            // Fails if no process is left, which is fine.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Appends as much of `chunk` to `output` as `limit` allows. Returns `true` if all of it fitted.
fn keep(output: &mut Vec<u8>, chunk: &[u8], limit: usize) -> bool {
    let room = limit.saturating_sub(output.len());
    output.extend_from_slice(&chunk[..chunk.len().min(room)]);
    chunk.len() <= room
}

/// Returns the disk use once it has been counted.
async fn counted(counting: &mut Option<JoinHandle<Usage>>) -> io::Result<Usage> {
    match counting {
        Some(counting) => Ok(counting.await?),
        None => std::future::pending().await,
    }
}

/// Returns `true` if a call has filled the disk. If the disk was already full, the call may still
/// delete files.
fn overfills(before: Usage, now: Usage) -> bool {
    now.bytes > DISK_LIMIT_BYTES.max(before.bytes)
        || now.entries > DISK_LIMIT_ENTRIES.max(before.entries)
}

/// Returns the exit status as a shell reports it.
fn code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}
