//! Programs as event hooks.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use futures_util::future::try_join4;
use hooks_core::Fault;
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};

use super::event::Event;
use super::handler::EventHook;
use super::result::{Action, HookResult};
use crate::{HookError, Map};

/// A program as an event hook.
///
/// It is given the event on its standard input as one JSON object, `{"event": …, "data": …}`,
/// and its name in the environment variable `HOOK_EVENT`. What it does says what it answers:
///
/// | Exit code | Standard output | Answer |
/// |---|---|---|
/// | 0 | empty | `continue` |
/// | 0 | ends with a [`HookResult`] in JSON: all of it, or the last line | that |
/// | 0 | anything else | a [fault](Fault::Invalid) |
/// | 2 | | `deny`, with standard error as the reason |
/// | another, or a signal | | a [fault](Fault::Error) |
///
/// Standard error, and the standard output before the answer, are printed into the
/// transcript, unless the answer suppresses them (`E-150`). A program that takes too long,
/// or writes too much, is killed, and so are the processes that it has started (on Unix: its
/// process group), also when the emission is dropped; a fault says so.
///
/// A fault of an event hook means no only where the registration says
/// [`FailClosed`](hooks_core::FailurePolicy::FailClosed).
///
/// ```no_run
/// use std::time::Duration;
///
/// use hooks_runtime::{CommandHook, FailurePolicy, HookRegistry, RegisterOptions};
///
/// let hooks = HookRegistry::new();
/// hooks.register(
///     HookRegistry::TOOL_PRE,
///     CommandHook::new("./check-tool").arg("--strict").time_limit(Duration::from_secs(5)),
///     RegisterOptions::new().name("check-tool").on_failure(FailurePolicy::FailClosed),
/// );
/// ```
#[derive(Debug, Clone)]
pub struct CommandHook {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    time_limit: Duration,
    output_limit: usize,
}

/// What a program is given.
#[derive(Serialize)]
struct Input<'a> {
    event: &'a str,
    data: &'a Map,
}

/// What a program wrote before it ended.
struct Ended {
    status: ExitStatus,
    output: String,
    errors: String,
}

impl CommandHook {
    /// The time that a program has unless it is given another.
    pub const TIME_LIMIT: Duration = Duration::from_secs(60);
    /// The bytes that a program may write unless it is given another number: to its standard
    /// output, and to its standard error.
    pub const OUTPUT_LIMIT: usize = 1 << 20;

    /// A program, which is looked for as the system does, without a shell in between.
    pub fn new(program: impl Into<OsString>) -> Self {
        CommandHook {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: None,
            time_limit: CommandHook::TIME_LIMIT,
            output_limit: CommandHook::OUTPUT_LIMIT,
        }
    }

    /// Gives the program one more argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Gives the program more arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable in the program's environment, which otherwise is this process's.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Runs the program in this folder.
    #[must_use]
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Limits the time from the program's start to the end of its output.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Limits the bytes that the program may write to its standard output, and to its
    /// standard error.
    #[must_use]
    pub fn output_limit(mut self, bytes: usize) -> Self {
        self.output_limit = bytes;
        self
    }

    fn command(&self, event: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env("HOOK_EVENT", event)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        #[cfg(unix)]
        command.process_group(0);
        command
    }

    /// Runs the program to its end.
    async fn run(&self, event: Event<'_>) -> Result<Ended, CommandError> {
        let input = serde_json::to_vec(&Input {
            event: event.name(),
            data: &event.data(),
        });
        let input = input.map_err(|error| CommandError::Pipe(error.into()))?;
        let mut child = self.command(event.name()).spawn().map_err(|source| {
            let program = self.program.to_string_lossy().into_owned();
            CommandError::Start { program, source }
        })?;
        // Kills what is left of the group wherever this ends, an early drop included.
        let group = Group::of(&child);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(CommandError::Pipe(io::ErrorKind::BrokenPipe.into()));
        };
        let ended = async move {
            let status = child.wait().await.map_err(CommandError::Pipe)?;
            // A process that the program left behind would keep the pipes open.
            drop(group);
            Ok(status)
        };
        let (status, output, errors, ()) = try_join4(
            ended,
            capture(stdout, "output", self.output_limit),
            capture(stderr, "error", self.output_limit),
            feed(stdin, &input),
        )
        .await?;
        Ok(Ended {
            status,
            output,
            errors,
        })
    }
}

impl EventHook for CommandHook {
    async fn call(&self, event: Event<'_>) -> Result<HookResult, HookError> {
        let ended = tokio::time::timeout(self.time_limit, self.run(event)).await;
        let Ok(ended) = ended else {
            return Err(HookError::from_fault(Fault::Timeout(self.time_limit)));
        };
        let ended = ended?;
        print(event, &ended.errors);
        match ended.status.code() {
            Some(0) => ended.answer(event),
            Some(2) => {
                print(event, &ended.output);
                let reason = ended.errors.trim();
                Ok(HookResult {
                    action: Action::Deny,
                    reason: (!reason.is_empty()).then(|| reason.to_owned()),
                    ..HookResult::default()
                })
            }
            _ => {
                print(event, &ended.output);
                let said = ended.errors.trim().lines().last().unwrap_or_default();
                Err(CommandError::Failed {
                    status: ended.status,
                    said: said.to_owned(),
                }
                .into())
            }
        }
    }
}

impl Ended {
    fn answer(&self, event: Event<'_>) -> Result<HookResult, HookError> {
        let invalid = |why: String| Err(HookError::from_fault(Fault::invalid(why)));
        let output = self.output.trim_end();
        // All of it, which may be on several lines, or else the last line.
        let (before, answer) = match serde_json::from_str::<serde_json::Value>(output) {
            Ok(answer) => ("", Ok(answer)),
            Err(error) => match output.rsplit_once('\n') {
                Some((before, last)) => (before, serde_json::from_str(last)),
                None => ("", Err(error)),
            },
        };
        print(event, before);
        match answer {
            _ if output.is_empty() => Ok(HookResult::proceed()),
            Ok(serde_json::Value::Object(map)) => {
                HookResult::from_map(map).or_else(|why| invalid(why.to_string()))
            }
            Ok(_) => invalid("its standard output is JSON, but not an object".to_owned()),
            Err(error) => invalid(format!(
                "its standard output does not end with a JSON object: {error}"
            )),
        }
    }
}

fn print(event: Event<'_>, text: &str) {
    if !text.trim().is_empty() {
        event.print(text.trim_end());
    }
}

/// Reads a pipe to its end, if that comes before the limit.
async fn capture(
    pipe: impl AsyncRead + Unpin,
    name: &'static str,
    limit: usize,
) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    let read = pipe.take(limit as u64 + 1).read_to_end(&mut bytes).await;
    read.map_err(CommandError::Pipe)?;
    if bytes.len() > limit {
        return Err(CommandError::TooMuch { name, limit });
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes the event into the pipe; a program need not read it.
async fn feed(mut pipe: ChildStdin, input: &[u8]) -> Result<(), CommandError> {
    match pipe.write_all(input).await {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandError::Pipe(error)),
        _ => Ok(()),
    }
}

/// Why a program gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// It could not be started.
    #[error("`{program}` cannot be started: {source}; check its path and permissions")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        source: io::Error,
    },
    /// It ended with neither 0 nor 2.
    #[error("the program ended with {status}{}{said}", if said.is_empty() { "" } else { ": " })]
    Failed {
        /// How it ended.
        status: ExitStatus,
        /// The last line of its standard error.
        said: String,
    },
    /// It wrote too much, and was killed.
    #[error(
        "the program wrote more than {limit} bytes to its standard {name}, and was killed; raise its `output_limit`"
    )]
    TooMuch {
        /// `output` or `error`.
        name: &'static str,
        /// The bytes that it might have written.
        limit: usize,
    },
    /// It could not be spoken with.
    #[error("the program cannot be spoken with: {0}")]
    Pipe(#[source] io::Error),
}

/// The processes of a hook; they are killed when this is dropped.
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group {
            leader: id.and_then(rustix::process::Pid::from_raw),
        }
    }

    // Where there are no process groups, tokio kills the program itself.
    #[cfg(not(unix))]
    fn of(_: &Child) -> Self {
        Group {}
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            // Where all of them have ended, there is nothing to kill.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}
