//! Programs as event hooks.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use futures_util::future::{Either, select, try_join3};
use hooks_core::{EntryMeta, Failure, FailurePolicy, HookFuture};
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::process::{Child, ChildStdin, Command};
use tokio::runtime::Handle;
use tokio::time::timeout;

use group::Group;
use output::{OutputError, ProgramOutput, denial};
use start::ProgramFile;

use super::data::EmitError;
use super::emission::Emission;
use super::emit::policy;
use super::event::{Event, EventContext};
use super::handler::{HandlerOutput, HandlerResult, IntoHandler, form};
use super::result::{Action, HookResult};
use crate::error::text;
use crate::{HookError, Map};

pub(crate) mod group;
pub(crate) mod output;
mod scan;
mod start;

/// A program as an event hook.
///
/// It reads the event from its standard input as one JSON object, `{"event": …, "data": …}`, and
/// its name from the environment variable `HOOK_EVENT`. Its exit code and output determine the
/// hook's result:
///
/// | Exit code | Standard output | Result |
/// |---|---|---|
/// | 0 | empty | `continue` |
/// | 0 | contains JSON objects that deny or ask | the strictest of them; of equally strict ones, the first |
/// | 0 | ends with a [`HookResult`] in JSON, on lines of its own | that `HookResult` |
/// | 0 | anything else | a [failure](Failure::Invalid) |
/// | 2 | | `deny`, with standard error as the reason |
/// | another, or a signal | | a [failure](Failure::Error) |
///
/// A denial or question applies wherever it is printed: before or after text, or among other
/// results. Any other result is the last object of the output, and only text and objects without
/// `action` precede it. Several equal results are one result; several different results, of which
/// none denies or asks, are a failure. So is an `action` in text that is not JSON. Objects within
/// other objects do not count.
///
/// A byte order mark, UTF-16, colour codes and a Markdown code block around the result are
/// accepted. The message of a failure names them, and the text around the result.
///
/// A JSON object without `action` is a [`HookResult`] only if it has no unknown fields: an object
/// with another field, such as `decision`, has another format, and is a failure. Beside an
/// `action`, other fields are kept. `{}` is `continue`.
///
/// A result that denies or asks applies, with defaults for the rest, even if another field of it is
/// invalid or cannot be read.
///
/// Standard error, up to the output limit, and the standard output around the result are printed
/// into the transcript, without colour codes in the output, unless the result suppresses them. If the program exceeds its timeout, or
/// the output limit, it is killed, and the hook fails. It is also killed when the emission is
/// dropped. When the program ends, the processes that it has started (on Unix: its process group)
/// are killed; processes that still hold its standard output or error, through which the result may
/// be on its way, get 200 ms. A process that has left the group stays alive, and the hook does not
/// wait for it. If it still holds the standard output by then, and the output contains no `action`,
/// the result is `continue` if failures are [isolated](FailurePolicy::Isolate), and else a
/// [failure](Failure::Error).
///
/// By default, the name of the hook is the program's file name. Programs need a tokio runtime with
/// its drivers for time and I/O.
///
/// By default, a failure of an event hook denies only in the phase
/// [`Decide`](crate::events::EventPhase::Decide). In the other phases it denies if the registration
/// sets [`FailClosed`](FailurePolicy::FailClosed).
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
    /// Variables of this process that the program inherits; `None` for all.
    inherited: Option<Vec<OsString>>,
    folder: Option<PathBuf>,
    time_limit: Duration,
    pub(crate) output_limit: usize,
}

/// Input of a program.
#[derive(Serialize)]
struct Input<'a> {
    event: &'a str,
    data: &'a Map,
    /// Data before the changes by hooks, if the host keeps them.
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<&'a Map>,
    /// For an observer.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<InputOutcome<'a>>,
}

/// Outcome of an emission, for a program that observes it.
#[derive(Serialize)]
struct InputOutcome<'a> {
    /// `None` after an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<Action>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<'a> InputOutcome<'a> {
    fn of(outcome: &'a Result<Emission, EmitError>) -> Self {
        match outcome {
            Ok(emission) => InputOutcome {
                action: Some(emission.action),
                decided_by: emission.decided_by.as_deref(),
                reason: emission.reason(),
                error: None,
            },
            Err(error) => InputOutcome {
                action: None,
                decided_by: None,
                reason: None,
                error: Some(text(error)),
            },
        }
    }
}

/// Output of a program so far.
#[derive(Default)]
struct Written {
    output: Vec<u8>,
    errors: Vec<u8>,
    /// `true` if the output is complete: no process holds the pipe.
    is_all: bool,
}

/// Exit code of a denial.
pub(crate) const DENIES: i32 = 2;

/// Exit codes of shells and `env` for a program that cannot be started.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// Time for a program's pipes to close after its end.
pub(crate) const GRACE: Duration = Duration::from_millis(200);

impl CommandHook {
    /// Default timeout of a program.
    pub const TIME_LIMIT: Duration = Duration::from_secs(60);
    /// Default limit in bytes, for standard output, and for the part of standard error that is
    /// kept.
    pub const OUTPUT_LIMIT: usize = 1 << 20;

    /// Creates a hook that runs a program, which the system looks up, without a shell.
    pub fn new(program: impl Into<OsString>) -> Self {
        CommandHook {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            inherited: None,
            folder: None,
            time_limit: CommandHook::TIME_LIMIT,
            output_limit: CommandHook::OUTPUT_LIMIT,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
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

    /// Clears the program's environment, as
    /// [`Command::env_clear`](std::process::Command::env_clear) does: the program inherits no
    /// variable of this process, and variables that [`env`](Self::env) has set before are removed.
    /// The program still gets `HOOK_EVENT`.
    ///
    /// Without `PATH`, the system looks a program without a path up in its default folders. On
    /// Windows, many programs need `SystemRoot`.
    ///
    /// ```
    /// use hooks_runtime::CommandHook;
    ///
    /// let hook = CommandHook::new("check-tool").env_clear().env("LANG", "C.UTF-8");
    /// ```
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.environment.clear();
        self.inherited = Some(Vec::new());
        self
    }

    /// Lists variables of this process that the program inherits, and inherits no others. Further
    /// calls extend the list. A variable that is not set when the program starts is not set for the
    /// program either. [`env`](Self::env) takes precedence.
    ///
    /// ```
    /// use hooks_runtime::CommandHook;
    ///
    /// let hook = CommandHook::new("check-tool").env_inherit(["PATH", "HOME"]);
    /// ```
    #[must_use]
    pub fn env_inherit(mut self, names: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let inherited = self.inherited.get_or_insert_default();
        inherited.extend(names.into_iter().map(Into::into));
        self
    }

    /// Runs the program in this folder. On Unix, a relative path of the program is relative to this
    /// folder.
    #[must_use]
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets the timeout from the program's start to its end. Its pipes are read for at most 200 ms
    /// more, which count towards a timeout of the registration or of a dispatch.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Limits the bytes that the program may write to its standard output, and the bytes that are
    /// kept of its standard error.
    #[must_use]
    pub fn output_limit(mut self, bytes: usize) -> Self {
        self.output_limit = bytes;
        self
    }

    fn command(&self, event: &str) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(names) = &self.inherited {
            let set = |name| Some((name, env::var_os(name)?));
            command.env_clear().envs(names.iter().filter_map(set));
        }
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

    /// Starts the program for an event.
    pub(crate) fn start(&self, event: &str) -> Result<Child, CommandError> {
        self.command(event).spawn().map_err(|source| {
            let program = self.program.to_string_lossy().into_owned();
            let source = self.file().explain(source);
            CommandError::Start { program, source }
        })
    }

    fn file(&self) -> ProgramFile<'_> {
        const PATH: &str = "PATH";
        let set = self.environment.iter().rfind(|(name, _)| name == PATH);
        let is_inherited = match &self.inherited {
            Some(names) => names.iter().any(|name| name == PATH),
            None => true,
        };
        let search_path = match set {
            Some((_, value)) => Some(value.clone()),
            None if is_inherited => env::var_os(PATH),
            None => None,
        };
        ProgramFile {
            program: &self.program,
            folder: self.folder.as_deref(),
            search_path,
        }
    }

    /// Runs the program to its end, and returns its status, unless it exceeds its timeout.
    async fn run(
        &self,
        event: Event<'_>,
        written: &mut Written,
    ) -> Result<Option<ExitStatus>, CommandError> {
        let data = event.data();
        let input = to_json(&Input {
            event: event.name(),
            data: &data,
            original: event.original(),
            outcome: event.outcome().map(InputOutcome::of),
        })?;
        let mut child = self.start(event.name())?;
        // Kills the rest of the group on every exit, including an early drop.
        let group = Group::of(&child);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(CommandError::Pipe(io::ErrorKind::BrokenPipe.into()));
        };
        let limit = self.output_limit;
        let pipes = pin!(try_join3(
            feed(stdin, &input),
            async {
                let all = capture(stdout, &mut written.output, limit).await;
                written.is_all = all.is_ok();
                all
            },
            keep(stderr, &mut written.errors, limit),
        ));
        let ended = async {
            match select(pin!(child.wait()), pipes).await {
                Either::Left((status, pipes)) => Ok((status, Some(pipes))),
                Either::Right((Ok(_), exit)) => Ok((exit.await, None)),
                Either::Right((Err(error), _)) => Err(error),
            }
        };
        let Ok(ended) = timeout(self.time_limit, ended).await else {
            return Ok(None);
        };
        let (status, open) = ended?;
        let status = status.map_err(CommandError::Pipe)?;
        if let Some(pipes) = open {
            // Output may be on its way through a filter that the program started. A process that it
            // left behind would keep the pipes open, and a process that has left the group cannot
            // be killed.
            match timeout(GRACE, pipes).await {
                // A denial applies, whatever the output is.
                Ok(Err(error)) if status.code() != Some(DENIES) => return Err(error),
                _ => {}
            }
        }
        drop(group);
        Ok(Some(status))
    }
}

/// Returns the standard input of a program that is no observer.
pub(crate) fn input(event: &str, data: &Map) -> Result<Vec<u8>, CommandError> {
    to_json(&Input {
        event,
        data,
        original: None,
        outcome: None,
    })
}

fn to_json(input: &Input<'_>) -> Result<Vec<u8>, CommandError> {
    serde_json::to_vec(input).map_err(|error| CommandError::Pipe(error.into()))
}

/// The name of the hook is the program's file name.
#[diagnostic::do_not_recommend]
impl IntoHandler<form::Program> for CommandHook {
    type Return = HookResult;

    const TRUSTED: bool = false;

    fn start<'a>(
        &'a self,
        entry: &'a EntryMeta,
        context: EventContext<'_>,
        _: impl FnOnce(Self::Return, EventContext<'_>) -> HookFuture<'a, HandlerOutput>,
    ) -> HookFuture<'a, HandlerOutput> {
        let owned = context.to_owned_event(entry);
        HookFuture::boxed(async move { self.answer(owned.event()).await.apply(None) })
    }

    fn name(&self) -> Option<String> {
        let file = Path::new(&self.program).file_name()?;
        Some(file.to_string_lossy().into_owned())
    }
}

impl CommandHook {
    /// Runs the program for this event, and parses its result.
    async fn answer(&self, event: Event<'_>) -> Result<HookResult, HookError> {
        if Handle::try_current().is_err() {
            return Err(CommandError::NoRuntime.into());
        }
        let mut written = Written::default();
        let ended = self.run(event, &mut written).await;
        let errors = String::from_utf8_lossy(&written.errors);
        print(event, &errors);
        let Some(status) = ended? else {
            let limit = Failure::Timeout(self.time_limit);
            return Err(HookError::from_failure(limit));
        };
        if status.code() == Some(0) {
            return answer(event, &written);
        }
        print(event, &String::from_utf8_lossy(&written.output));
        let message = errors.trim();
        if status.code() == Some(DENIES) {
            return Ok(denial(Some(message)));
        }
        let mut message = message.lines().last().unwrap_or_default().to_owned();
        // `env` and shells do not show the carriage return at the end of a name.
        if let (Some(NOT_EXECUTABLE | NOT_FOUND), Some(why)) =
            (status.code(), self.file().carriage_return())
        {
            message = if message.is_empty() {
                why
            } else {
                format!("{message}; {why}")
            };
        }
        Err(CommandError::Failed { status, message }.into())
    }
}

/// Returns the result on a program's standard output.
fn answer(event: Event<'_>, written: &Written) -> Result<HookResult, HookError> {
    // If failures are isolated, incomplete output is accepted as it is.
    let is_left_open = !written.is_all && policy(event.hook()) != FailurePolicy::Isolate;
    if written.output.trim_ascii().is_empty() {
        return match is_left_open {
            true => Err(CommandError::LeftOpen.into()),
            false => Ok(HookResult::proceed()),
        };
    }
    let selected = ProgramOutput::parse(&written.output).select();
    print(event, &selected.before);
    for note in selected.notes {
        event.print(note);
    }
    print(event, &selected.after);
    if is_left_open && selected.lacks_action {
        return Err(CommandError::LeftOpen.into());
    }
    let invalid = |why: OutputError| HookError::from_failure(Failure::invalid(why.to_string()));
    selected.result.map_err(invalid)
}

fn print(event: Event<'_>, text: &str) {
    if !text.trim().is_empty() {
        event.print(text.trim_end());
    }
}

/// Reads a pipe to its end, if that comes before the limit.
pub(crate) async fn capture(
    pipe: impl AsyncRead + Unpin,
    bytes: &mut Vec<u8>,
    limit: usize,
) -> Result<(), CommandError> {
    let one_more = (limit as u64).saturating_add(1);
    let read = pipe.take(one_more).read_to_end(bytes).await;
    read.map_err(CommandError::Pipe)?;
    if bytes.len() > limit {
        bytes.truncate(limit);
        return Err(CommandError::TooMuch { limit });
    }
    Ok(())
}

/// Reads a pipe to its end, and keeps as much as the limit allows.
pub(crate) async fn keep(
    mut pipe: impl AsyncRead + Unpin,
    bytes: &mut Vec<u8>,
    limit: usize,
) -> Result<(), CommandError> {
    let mut kept = (&mut pipe).take(limit as u64);
    kept.read_to_end(bytes).await.map_err(CommandError::Pipe)?;
    // So that the program does not block on a full pipe.
    let rest = copy(&mut pipe, &mut sink()).await;
    rest.map(drop).map_err(CommandError::Pipe)
}

/// Writes the event into the pipe; a program may leave it unread.
pub(crate) async fn feed(mut pipe: ChildStdin, input: &[u8]) -> Result<(), CommandError> {
    match pipe.write_all(input).await {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandError::Pipe(error)),
        _ => Ok(()),
    }
}

/// Reason for which a program returned no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// It could not be started.
    #[error("`{program}` cannot be started: {source}{}", remedy(source))]
    Start {
        /// The program.
        program: String,
        /// Error of the system. If the reason for it can be found, such as a missing working folder or
        /// interpreter, the message of the error describes the reason, and the error of the system is
        /// the source of this error.
        source: io::Error,
    },
    /// It ended with neither 0 nor 2.
    #[error("the program ended with {status}{}{message}", if message.is_empty() { "" } else { ": " })]
    Failed {
        /// Exit status.
        status: ExitStatus,
        /// Last line of its standard error.
        message: String,
    },
    /// There is no tokio runtime to run it in.
    #[error("a program needs a tokio runtime; emit the event in one")]
    NoRuntime,
    /// It wrote too much, and was killed.
    #[error(
        "the program wrote more than {limit} bytes to its standard output, and was killed; raise its `output_limit`"
    )]
    TooMuch {
        /// The limit.
        limit: usize,
    },
    /// The program ended without a result, and a process that it left behind may hold one.
    #[error(
        "the program ended without an answer, and a process that it left behind kept its standard output; wait for that process, or redirect its output"
    )]
    LeftOpen,
    /// Reading or writing a pipe failed.
    #[error("the pipes to the program failed: {0}")]
    Pipe(#[source] io::Error),
}

fn remedy(error: &io::Error) -> &'static str {
    // An explained error has its own remedy.
    if error.get_ref().is_some() {
        return "";
    }
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
            "; check its path and permissions"
        }
        io::ErrorKind::ExecutableFileBusy => "; close the file, which is open for writing",
        io::ErrorKind::ArgumentListTooLong => "; shorten its arguments and environment",
        _ => "",
    }
}
