//! Programs as event hooks.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use futures_util::future::{Either, select, try_join3};
use hooks_core::{EntryMeta, Failure, FailurePolicy, HookFuture};
use serde::de::value::{self, StrDeserializer};
use serde::de::{IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::process::{Child, ChildStdin, Command};
use tokio::runtime::Handle;
use tokio::time::timeout;

use group::Group;

use super::data::EmitError;
use super::emission::Emission;
use super::emit::policy;
use super::event::{Event, EventContext};
use super::handler::{HandlerOutput, HandlerResult, IntoHandler, form};
use super::result::json::{FIELDS, Members, Twice};
use super::result::{Action, HookResult};
use crate::display::shorten;
use crate::error::text;
use crate::{HookError, Map};

pub(crate) mod group;

/// A program as an event hook.
///
/// It reads the event from its standard input as one JSON object, `{"event": …, "data": …}`, and
/// its name from the environment variable `HOOK_EVENT`. Its exit code and output determine the
/// hook's result:
///
/// | Exit code | Standard output | Result |
/// |---|---|---|
/// | 0 | empty | `continue` |
/// | 0 | ends with a [`HookResult`] in JSON: all of it, or the last line | that `HookResult` |
/// | 0 | anything else | a [failure](Failure::Invalid) |
/// | 2 | | `deny`, with standard error as the reason |
/// | another, or a signal | | a [failure](Failure::Error) |
///
/// A JSON object without `action` is a [`HookResult`] only if it has no unknown fields: an object
/// with another field, such as `decision`, has another format, and is a failure. Beside an
/// `action`, other fields are kept. `{}` is `continue`.
///
/// A result that denies or asks applies, with defaults for the rest, even if another field of it is
/// invalid or cannot be read.
///
/// Standard error, up to the output limit, and the standard output before the result are printed
/// into the transcript, unless the result suppresses them. If the program exceeds its timeout, or
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
/// A failure of an event hook denies only if the registration sets
/// [`FailClosed`](hooks_core::FailurePolicy::FailClosed).
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

    /// Runs the program in this folder.
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
            CommandError::Start { program, source }
        })
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
            return Err(HookError::from_fault(limit));
        };
        if status.code() == Some(0) {
            return answer(event, &written);
        }
        print(event, &String::from_utf8_lossy(&written.output));
        let said = errors.trim();
        if status.code() == Some(DENIES) {
            return Ok(denial(Some(said)));
        }
        let said = said.lines().last().unwrap_or_default().to_owned();
        Err(CommandError::Failed { status, said }.into())
    }
}

/// Returns the result at the end of a program's output.
fn answer(event: Event<'_>, written: &Written) -> Result<HookResult, HookError> {
    // If failures are isolated, incomplete output is accepted as it is.
    let is_left_open = !written.is_all && policy(event.hook()) != FailurePolicy::Isolate;
    let invalid = |why: String| Err(HookError::from_fault(Failure::invalid(why)));
    let alone = |no: HookResult, why: &dyn fmt::Display| {
        event.print(format!(
            "the answer is taken without its other fields: {why}"
        ));
        Ok(no)
    };
    let output = written.output.trim_ascii_end();
    if output.is_empty() && !is_left_open {
        return Ok(HookResult::proceed());
    }
    if output.is_empty() {
        return Err(CommandError::LeftOpen.into());
    }
    // All of it, which may have several lines, or else the last line.
    let before_last = output.iter().rposition(|byte| *byte == b'\n');
    let (before, last) = output.split_at(before_last.map_or(0, |at| at + 1));
    let (before, said) = match Said::read(output) {
        Err(Unclear::NoJson(_)) => (before, Said::read(last)),
        said => (&[][..], said),
    };
    print(event, &String::from_utf8_lossy(before));
    match said {
        Ok(Said::Json(Value::Object(map))) if is_left_open && !map.contains_key("action") => {
            Err(CommandError::LeftOpen.into())
        }
        Ok(Said::Json(Value::Object(map))) => {
            if let Err(why) = check_recognised(&map) {
                return invalid(format!("in the JSON object on its standard output {why}"));
            }
            let no = held_back(&map);
            match (HookResult::from_map(map), no) {
                (Ok(result), _) => Ok(result),
                (Err(why), Some(no)) => alone(no, &why),
                (Err(why), None) => invalid(why.to_string()),
            }
        }
        Ok(Said::Json(_)) => invalid("its standard output is JSON, but not an object".to_owned()),
        Ok(Said::No(no, why)) => alone(*no, &why),
        Err(why) => invalid(why.to_string()),
    }
}

/// Maximum length of an unknown field's name in a message, in characters.
const MAX_FIELD_CHARS: usize = 40;

/// A JSON object is not a [`HookResult`]: it has no `action`, and a field that a result does not
/// have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no `action`, and `{field}` is not a field of a result; give an `action`, such as `deny`, or print nothing to continue"
)]
pub(crate) struct Unrecognised {
    field: String,
}

/// Returns an error if an object without `action` has a field that a [`HookResult`] does not have.
///
/// Such an object has another format, is misspelt, or is an echo of the input. Its defaults would
/// mean `continue`. Beside an `action`, and in an object that is not the output
/// of a program, unknown fields are kept.
pub(crate) fn check_recognised(map: &Map) -> Result<(), Unrecognised> {
    if map.contains_key("action") {
        return Ok(());
    }
    match map.keys().find(|field| !FIELDS.contains(&field.as_str())) {
        None => Ok(()),
        Some(field) => Err(Unrecognised {
            field: shorten(field, MAX_FIELD_CHARS),
        }),
    }
}

/// Parsed output of a program.
enum Said {
    Json(Value),
    /// A denial beside fields that cannot be read, or that occur twice.
    No(Box<HookResult>, String),
}

/// Reason for which output cannot be parsed.
#[derive(Debug, thiserror::Error)]
enum Unclear {
    #[error("its standard output does not end with a JSON object: {0}")]
    NoJson(serde_json::Error),
    #[error("in the JSON object on its standard output {0}")]
    Twice(Twice),
}

impl Said {
    fn read(text: &[u8]) -> Result<Self, Unclear> {
        match serde_json::from_slice(text) {
            Ok(Value::Object(_)) => {}
            Ok(value) => return Ok(Said::Json(value)),
            Err(why) => {
                return match unreadable_no(text) {
                    Some(no) => Ok(Said::No(Box::new(no), why.to_string())),
                    None => Err(Unclear::NoJson(why)),
                };
            }
        }
        let members: Members = serde_json::from_slice(text).map_err(Unclear::NoJson)?;
        match members.into_map() {
            Ok(map) => Ok(Said::Json(Value::Object(map))),
            Err((members, why)) => match strictest_no(&members) {
                Some(no) => Ok(Said::No(Box::new(no), why.to_string())),
                None => Err(Unclear::Twice(why)),
            },
        }
    }
}

/// Returns the strictest denial or question in an object with repeated fields, with the texts that
/// follow it most closely.
fn strictest_no(Members(fields): &Members) -> Option<HookResult> {
    let texts = |name| {
        let fields = fields.iter().enumerate();
        fields.filter_map(move |(at, (field, value))| {
            Some((at, value.as_str()?)).filter(|_| field == name)
        })
    };
    let nos = texts("action").filter_map(|(at, action)| {
        let near = |name| {
            let near = texts(name).min_by_key(|(other, _)| other.abs_diff(at));
            near.map(|(_, text)| text)
        };
        no(action, near("reason"), near("approval_prompt"))
    });
    nos.max_by_key(|no| no.action.strength())
}

/// Returns the denial or question in an object with a value that cannot be read: a number out of
/// range, an incomplete character, lists nested without a limit.
fn unreadable_no(answer: &[u8]) -> Option<HookResult> {
    let text = |field| Field(field).of(answer);
    let (action, reason) = (text("action")?, text("reason"));
    no(
        &action,
        reason.as_deref(),
        text("approval_prompt").as_deref(),
    )
}

/// Returns the part of a result that denies or asks, which applies whatever the other fields are.
fn held_back(map: &Map) -> Option<HookResult> {
    let text = |field| map.get(field).and_then(Value::as_str);
    no(text("action")?, text("reason"), text("approval_prompt"))
}

fn no(action: &str, reason: Option<&str>, approval_prompt: Option<&str>) -> Option<HookResult> {
    let action: StrDeserializer<'_, value::Error> = action.into_deserializer();
    match Action::deserialize(action).ok()? {
        Action::Deny => Some(denial(reason)),
        action @ Action::AskUser => Some(HookResult {
            action,
            approval_prompt: approval_prompt.map(str::to_owned),
            reason: reason.map(str::to_owned),
            ..HookResult::default()
        }),
        Action::Continue | Action::Modify | Action::InjectContext => None,
    }
}

/// A field of an object; the other fields need not be readable.
struct Field(&'static str);

impl Field {
    /// Returns the value of the field, if it is text.
    fn of(self, object: &[u8]) -> Option<String> {
        let mut reader = serde_json::Deserializer::from_slice(object);
        let text = reader.deserialize_map(self).ok()?;
        reader.end().ok()?;
        text
    }
}

impl<'de> Visitor<'de> for Field {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut text = None;
        while let Some(Lossy(key)) = object.next_key()? {
            if key == self.0 {
                let Lossy(value) = object.next_value()?;
                text = Some(value);
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(text)
    }
}

/// A text, with U+FFFD for invalid characters.
struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Lossy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

fn denial(reason: Option<&str>) -> HookResult {
    HookResult {
        action: Action::Deny,
        reason: reason
            .filter(|reason| !reason.is_empty())
            .map(str::to_owned),
        ..HookResult::default()
    }
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
        /// Cause.
        source: io::Error,
    },
    /// It ended with neither 0 nor 2.
    #[error("the program ended with {status}{}{said}", if said.is_empty() { "" } else { ": " })]
    Failed {
        /// Exit status.
        status: ExitStatus,
        /// Last line of its standard error.
        said: String,
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
    #[error("the program cannot be spoken with: {0}")]
    Pipe(#[source] io::Error),
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
            "; check its path and permissions"
        }
        _ => "",
    }
}
