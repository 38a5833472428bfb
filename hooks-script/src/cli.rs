//! The command line: parses the arguments, runs a subcommand, and returns the exit status.

mod bench;
mod check;
mod show;

use std::fs::File;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_runtime::display::{escape, json_message};
use hooks_script::{
    ContextData, ContextKey, Field, Limits, Manifest, PublicFields, RegisterError, RunResult,
    ScriptEngine, ScriptHook, Stage,
};
use serde::Deserialize;

/// The largest distance of a `Date` from 1970, in milliseconds.
const MAX_TIME_MS: i64 = 8_640_000_000_000_000;

/// Maximum number of bytes read from a file. It is larger than any allowed source or context, so
/// that an error can report the length of a file that is too long.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Exit statuses besides 0. clap also exits with 2 if it cannot parse the arguments.
const UNUSABLE: u8 = 2;
const STOPPED: u8 = 3;
const FAILED: u8 = 4;
const REJECTED: u8 = 5;

/// Tests hooks in sandboxed JavaScript.
///
/// Exit status: 0 if the hook returned, or stopped after the action; 2 if a file cannot be read or
/// output cannot be written; 3 if the hook stopped the action (`check`: 0); 4 if it failed or
/// exceeded a limit; 5 if it cannot be registered.
#[derive(Parser)]
#[command(name = "hooks-script", version)]
struct Arguments {
    #[command(subcommand)]
    what: HookCommand,
}

#[derive(Subcommand)]
enum HookCommand {
    /// Checks that a hook can be registered, and prints the position of an error. Runs the hook with
    /// the context, or with an empty message, and warns if it fails.
    Check(check::CheckArgs),
    /// Runs a hook.
    Run(RunArgs),
    /// Measures how long hooks take on this machine.
    Bench(bench::BenchArgs),
}

#[derive(Args)]
struct RunArgs {
    /// Hook source: one JavaScript module.
    file: PathBuf,
    /// Manifest, in JSON. Default: the hook sees all of `data`.
    #[arg(long)]
    manifest: Option<PathBuf>,
    /// Input of the hook, in JSON: {"stage", "in", "data"}.
    #[arg(long)]
    context: PathBuf,
    #[command(flatten)]
    settings: RunSettings,
    /// Number of runs.
    #[arg(long, value_name = "K", default_value = "1")]
    repeat: NonZeroUsize,
    /// Prints JSON, one object per run.
    #[arg(long)]
    json: bool,
}

/// Settings of a run with a context.
#[derive(Args)]
struct RunSettings {
    /// Time that the hook sees, in milliseconds since 1970.
    #[arg(
        long,
        value_name = "MS",
        default_value_t = 0,
        allow_negative_numbers = true,
        requires = "context",
        value_parser = clap::value_parser!(i64).range(-MAX_TIME_MS..=MAX_TIME_MS)
    )]
    now: i64,
    /// Seed of `Math.random`.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "context")]
    seed: u64,
    /// Fuel of each run.
    #[arg(
        long,
        value_name = "N",
        requires = "context",
        value_parser = clap::value_parser!(u64).range(1..=u64::MAX / 2)
    )]
    fuel: Option<u64>,
}

impl RunSettings {
    /// Returns the default limits with the given fuel.
    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.fuel = self.fuel.unwrap_or(limits.fuel);
        limits
    }

    /// Builds an engine with one worker.
    fn build_engine(&self, limits: Limits, fields: PublicFields) -> Result<ScriptEngine, String> {
        let (now, seed) = (self.now, self.seed);
        build_engine(
            ScriptEngine::builder()
                .workers(NonZeroUsize::MIN)
                .limits(limits)
                .public_fields(fields)
                .clock(move || now)
                .random(move || seed),
        )
    }
}

/// Contents of the `--context` file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContextFile {
    stage: Stage,
    r#in: Map,
    #[serde(default)]
    data: Map,
}

pub(crate) fn main() -> ExitCode {
    let done = match Arguments::parse().what {
        HookCommand::Check(check) => check.run(),
        HookCommand::Run(run) => run.go(),
        HookCommand::Bench(bench) => bench.run(),
    };
    ExitCode::from(done.unwrap_or_else(|error| {
        // If standard error cannot be written either, there is no other place to report the error.
        let _ = writeln!(io::stderr(), "error: {}", escape(&error.to_string()));
        if let CommandError::Invalid { line, .. } = error {
            let _ = writeln!(io::stderr(), "{line}");
        }
        UNUSABLE
    }))
}

/// Errors of the command itself.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    /// A file cannot be read or used.
    #[error("{0}")]
    Unusable(String),
    /// A file is not valid JSON.
    #[error("{message}")]
    Invalid {
        message: String,
        /// The invalid line with a caret.
        line: String,
    },
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Answer(#[from] io::Error),
}

/// Returns `false` if the reader closed the pipe, which is not an error.
fn is_written(written: io::Result<()>) -> Result<bool, CommandError> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => Ok(written.map(|()| true)?),
    }
}

impl From<String> for CommandError {
    fn from(unusable: String) -> Self {
        CommandError::Unusable(unusable)
    }
}

impl RunArgs {
    fn go(self) -> Result<u8, CommandError> {
        let source = read(&self.file)?;
        let (stage, message, data, fields, keys) = context(&self.context)?;
        let limits = self.settings.limits();
        let engine = self.settings.build_engine(limits, fields)?;
        let manifest = self.manifest.as_deref();
        let registered =
            register_or_print(&engine, (&self.file, &source), manifest, &keys, self.json)?;
        let Some(hook) = registered else {
            return Ok(REJECTED);
        };
        let place = show::Text {
            file: &self.file,
            text: &source,
        };
        let mut status = 0;
        for _ in 0..self.repeat.get() {
            let run = block_on(hook.run(stage, &message, &data));
            status = match (&run.result, stage) {
                (RunResult::Returned(_) | RunResult::Unchanged, _)
                | (RunResult::Stop(_), Stage::Post) => 0,
                (RunResult::Stop(_), Stage::Pre) => STOPPED,
                _ => FAILED,
            };
            if !is_written(show::run(&run, hook.limits(), stage, place, self.json))? {
                break;
            }
        }
        Ok(status)
    }
}

/// Reads the context file: stage, message and data, with the fields that the hook may see.
fn context(
    path: &Path,
) -> Result<(Stage, Map, ContextData, PublicFields, Vec<ContextKey>), CommandError> {
    let of_file = |error: String| CommandError::Unusable(format!("{}: {error}", path.display()));
    let text = read_json(path)?;
    // Serde also accepts a list for a struct.
    if text.trim_start().starts_with('[') {
        return Err(of_file(
            "the context is a list; write `{\"stage\": …, \"in\": …, \"data\": …}`".to_owned(),
        ));
    }
    let context: ContextFile =
        serde_json::from_str(&text).map_err(|error| invalid(path, &text, &error))?;
    let (data, fields, keys) = all_fields_public(&context.data).map_err(of_file)?;
    Ok((context.stage, context.r#in, data, fields, keys))
}

/// Returns an error of `serde_json` with its place and the invalid line.
fn invalid(path: &Path, text: &str, error: &serde_json::Error) -> CommandError {
    let (line, column) = (error.line(), error.column());
    let message = json_message(error);
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    match show::marked(text, number(line), number(column)) {
        Some(drawn) => CommandError::Invalid {
            message: format!("{}:{line}:{column}: {message}", path.display()),
            line: drawn,
        },
        None => CommandError::Unusable(format!("{}: {message}", path.display())),
    }
}

/// Declares every field of the file public, because the author of the file wrote it for this hook.
fn all_fields_public(given: &Map) -> Result<(ContextData, PublicFields, Vec<ContextKey>), String> {
    let (mut data, mut fields, mut keys) = (ContextData::new(), PublicFields::new(), Vec::new());
    let unknown = given
        .keys()
        .find(|key| ContextKey::ALL.iter().all(|known| known.as_str() != *key));
    if let Some(key) = unknown {
        return Err(format!(
            "`data.{key}` is unknown; use `user`, `channel` or `guild`"
        ));
    }
    for key in ContextKey::ALL {
        let Some(value) = given.get(key.as_str()) else {
            continue;
        };
        data = data
            .set(key, value)
            .map_err(|_| format!("`data.{key}` is not an object"))?;
        let names = value.as_object().into_iter().flat_map(Map::keys);
        fields = fields.set(key, names.map(Field::any));
        keys.push(key);
    }
    Ok((data, fields, keys))
}

fn register(
    engine: &ScriptEngine,
    source: &str,
    file: &Path,
    manifest: Option<&Path>,
    keys: &[ContextKey],
) -> Result<Result<ScriptHook, RegisterError>, String> {
    let manifest = match manifest {
        Some(path) => Manifest::parse(&read_json(path)?),
        None => {
            let name = file
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let name: String = name.chars().take(200).collect();
            Manifest::new(name.as_str(), name.as_str(), keys.iter().copied())
        }
    };
    Ok(manifest
        .map_err(RegisterError::from)
        .and_then(|manifest| engine.register(manifest, source)))
}

/// Registers a hook. Prints the error and returns `None` if that fails.
fn register_or_print(
    engine: &ScriptEngine,
    (file, source): (&Path, &str),
    manifest: Option<&Path>,
    keys: &[ContextKey],
    json: bool,
) -> Result<Option<ScriptHook>, CommandError> {
    match register(engine, source, file, manifest, keys)? {
        Ok(hook) => Ok(Some(hook)),
        Err(error) => {
            print_registration_error(&error, (file, source), manifest, json)?;
            Ok(None)
        }
    }
}

/// Prints a registration error with its file and position. Returns `false` if the reader closed the
/// pipe.
fn print_registration_error(
    error: &RegisterError,
    (file, source): (&Path, &str),
    manifest: Option<&Path>,
    json: bool,
) -> Result<bool, CommandError> {
    let text;
    let place = match (error, manifest) {
        (RegisterError::Manifest(_), Some(file)) => {
            text = read(file)?;
            show::Text { file, text: &text }
        }
        _ => show::Text { file, text: source },
    };
    is_written(show::rejected(error, place, json))
}

fn build_engine(builder: hooks_script::ScriptEngineBuilder) -> Result<ScriptEngine, String> {
    builder.build().map_err(|error| error.to_string())
}

/// Reads a file up to `MAX_FILE_BYTES`, because special files may never end.
fn read(path: &Path) -> Result<String, String> {
    // Reads up to four more bytes, so that the cut never splits a character within the limit.
    let mut bytes = Vec::new();
    let most = MAX_FILE_BYTES + 4;
    File::open(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let is_cut = bytes.len() as u64 == most;
    if let Err(error) = std::str::from_utf8(&bytes)
        && is_cut
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).map_err(|_| format!("{}: not UTF-8", path.display()))
}

/// Reads a file that must contain JSON.
fn read_json(path: &Path) -> Result<String, String> {
    let text = read(path)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(format!(
            "{}: longer than {MAX_FILE_BYTES} bytes",
            path.display()
        ));
    }
    Ok(text)
}

/// Returns the outcome as it is spelled in the output.
fn outcome_name(verdict: &RunResult, stage: Stage) -> &'static str {
    match verdict {
        RunResult::Returned(_) => "out",
        RunResult::Unchanged => "unchanged",
        RunResult::Stop(_) if stage == Stage::Pre => "stop",
        RunResult::Stop(_) => "annotated",
        RunResult::Failed(failure) if failure.is_limit() => "interrupted",
        _ => "error",
    }
}
