//! Output of the command line: JSON for programs, lines for people.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use hooks_runtime::{Map, display::escape};
use hooks_script::{
    ContextKey, Failure, Limits, ManifestError, Position, RegisterError, Run, RunResult,
    ScriptHook, Stage,
};
use serde::Serialize;

use super::outcome_name;

#[derive(Serialize, Default)]
struct RunJson<'a> {
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<&'a Map>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<StopJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorJson<'a>>,
    console: Vec<String>,
    fuel: u64,
    duration_us: u64,
    memory_bytes: usize,
    #[serde(flatten)]
    limits: Option<LimitsJson>,
}

/// Limits of a run.
#[derive(Serialize)]
struct LimitsJson {
    fuel_limit: u64,
    duration_limit_us: u64,
    memory_limit_bytes: usize,
}

#[derive(Serialize)]
struct StopJson<'a> {
    class: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
}

/// Outcome of a successful registration.
const REGISTERED: &str = "registered";

/// Maximum number of characters shown before and after the position of an error.
const AROUND: usize = 60;

/// A file and its text.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
}

/// Something in a hook, its manifest or its context that the author may not expect.
#[derive(Serialize)]
pub(super) struct Finding {
    level: FindingLevel,
    message: String,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum FindingLevel {
    Note,
    Warning,
}

/// Result of `check --context`.
pub(super) struct Checked<'a> {
    pub(super) hook: &'a ScriptHook,
    pub(super) run: &'a Run,
    pub(super) stage: Stage,
    pub(super) message: &'a Map,
    /// Keys of `data` that the hook receives.
    pub(super) data: Vec<ContextKey>,
    /// Context file.
    pub(super) context: &'a Path,
    pub(super) findings: &'a [Finding],
}

#[derive(Serialize)]
struct CheckedJson<'a> {
    outcome: &'a str,
    code_hash: &'a str,
    stage: Stage,
    run: RunJson<'a>,
    findings: &'a [Finding],
}

impl Finding {
    pub(super) fn note(message: String) -> Self {
        let level = FindingLevel::Note;
        Self { level, message }
    }

    pub(super) fn warning(message: String) -> Self {
        let level = FindingLevel::Warning;
        Self { level, message }
    }
}

/// Prints that a hook is registered, its input, its run, and the findings.
pub(super) fn checked(checked: &Checked<'_>, source: Text<'_>, json: bool) -> io::Result<()> {
    let &Checked {
        hook, run, stage, ..
    } = checked;
    if json {
        return print(&CheckedJson {
            outcome: REGISTERED,
            code_hash: hook.code_hash(),
            stage,
            run: run_json(run, hook.limits(), stage),
            findings: checked.findings,
        });
    }
    print_accepted(hook)?;
    let mut to = io::stdout().lock();
    let names = |names: Vec<String>| match names.is_empty() {
        true => "no fields".to_owned(),
        false => names.join(", "),
    };
    let message = checked.message.keys().map(|name| format!("`{name}`"));
    let data = checked.data.iter().map(|key| format!("`{key}`"));
    let sentence = format!(
        "ran {} as `{}` {} the action with {}: `in` has {}, `data` has {}",
        source.file.display(),
        hook.manifest().name(),
        match stage {
            Stage::Pre => "before",
            Stage::Post => "after",
        },
        checked.context.display(),
        names(message.collect()),
        names(data.collect()),
    );
    writeln!(to, "{}", escape(&sentence))?;
    drop(to);
    self::run(run, hook.limits(), stage, source, json)?;
    print_findings(checked.findings)
}

fn print_findings(findings: &[Finding]) -> io::Result<()> {
    let mut to = io::stdout().lock();
    for finding in findings {
        let level = match finding.level {
            FindingLevel::Note => "note",
            FindingLevel::Warning => "warning",
        };
        writeln!(to, "{level}: {}", escape(&finding.message))?;
    }
    Ok(())
}

fn run_json<'a>(run: &'a Run, limits: &Limits, stage: Stage) -> RunJson<'a> {
    let outcome = outcome_name(&run.result, stage);
    let (out, stop, error) = match &run.result {
        RunResult::Returned(out) => (Some(out).filter(|_| stage == Stage::Pre), None, None),
        RunResult::Stop(stop) => {
            let (class, message) = (stop.class.as_str(), stop.message.as_str());
            (None, Some(StopJson { class, message }), None)
        }
        RunResult::Failed(failure) => (None, None, Some(failure_json(failure))),
        _ => (None, None, None),
    };
    RunJson {
        outcome,
        out,
        stop,
        error,
        console: run.console.iter().map(ToString::to_string).collect(),
        fuel: run.fuel,
        duration_us: u64::try_from(run.duration.as_micros()).unwrap_or(u64::MAX),
        memory_bytes: run.memory_bytes,
        limits: Some(LimitsJson {
            fuel_limit: limits.fuel,
            duration_limit_us: u64::try_from(limits.wall.as_micros()).unwrap_or(u64::MAX),
            memory_limit_bytes: limits.heap,
        }),
    }
}

pub(super) fn run(
    run: &Run,
    limits: &Limits,
    stage: Stage,
    source: Text<'_>,
    json: bool,
) -> io::Result<()> {
    let shown = run_json(run, limits, stage);
    if json {
        return print(&shown);
    }
    let RunJson {
        outcome,
        out,
        stop,
        error,
        ..
    } = shown;
    let mut to = io::stdout().lock();
    for line in &run.console {
        writeln!(to, "{}", escape(&line.to_string()))?;
    }
    if run.console_dropped > 0 {
        writeln!(to, "… and {} more lines", run.console_dropped)?;
    }
    match (out, stop, error) {
        (Some(out), _, _) => {
            let text = serde_json::to_string_pretty(out).unwrap_or_default();
            writeln!(to, "out:")?;
            for line in text.lines() {
                writeln!(to, "{}", escape(line))?;
            }
            Ok(())
        }
        (_, Some(stop), _) => writeln!(
            to,
            "{outcome}: {}: {}",
            escape(stop.class),
            escape(stop.message)
        ),
        (_, _, Some(error)) => writeln!(to, "{}", error_text(outcome, &error, source)),
        _ => writeln!(to, "{outcome}"),
    }?;
    writeln!(
        to,
        "fuel {} of {}, time {} µs of {}, memory {} KiB of {} KiB",
        grouped(run.fuel),
        grouped(limits.fuel),
        grouped(run.duration.as_micros()),
        timeout(limits.wall),
        grouped(run.memory_bytes.div_ceil(1024) as u64),
        grouped((limits.heap / 1024) as u64),
    )
}

/// Returns a timeout in seconds, or in milliseconds if it has a fraction.
pub(super) fn timeout(wall: Duration) -> String {
    match wall.subsec_nanos() {
        0 => format!("{} s", grouped(wall.as_secs())),
        _ => format!("{} ms", grouped(wall.as_millis())),
    }
}

/// Returns a number with its digits in groups of three.
pub(super) fn grouped(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Measurements of one hook.
#[derive(Serialize)]
pub(super) struct BenchTimes {
    pub(super) runs: u32,
    /// Outcome of the first run. Failed runs are timed too, because limits take time.
    pub(super) outcome: &'static str,
    pub(super) register_us: u128,
    pub(super) first_us: u128,
    pub(super) median_us: f64,
    pub(super) slowest_of_100_us: f64,
    /// Includes the transfer to the worker and back.
    pub(super) median_with_wait_us: f64,
    pub(super) fuel: u64,
    pub(super) fuel_limit: u64,
    pub(super) memory_bytes: usize,
    pub(super) snapshot_bytes: usize,
}

pub(super) fn times(
    times: &BenchTimes,
    limits: &Limits,
    file: &Path,
    json: bool,
) -> io::Result<()> {
    if json {
        let mut shown = serde_json::json!(times);
        shown["file"] = file.display().to_string().into();
        return print(&shown);
    }
    let mut to = io::stdout().lock();
    writeln!(
        to,
        "{}: {}, {} runs: median {} µs, p99 {} µs; with the way to the worker and back {} µs",
        escape(&file.display().to_string()),
        times.outcome,
        times.runs,
        times.median_us,
        times.slowest_of_100_us,
        times.median_with_wait_us,
    )?;
    writeln!(
        to,
        "  registered in {} µs, first run {} µs; fuel {} of {}, {} KiB of {} KiB, snapshot {} KiB",
        times.register_us,
        times.first_us,
        grouped(times.fuel),
        grouped(limits.fuel),
        grouped(times.memory_bytes.div_ceil(1024) as u64),
        grouped((limits.heap / 1024) as u64),
        times.snapshot_bytes.div_ceil(1024),
    )
}

/// Prints that a hook can be registered, and the findings.
pub(super) fn accepted(hook: &ScriptHook, findings: &[Finding], json: bool) -> io::Result<()> {
    if json {
        return print(&serde_json::json!({
            "outcome": REGISTERED,
            "code_hash": hook.code_hash(),
            "findings": findings,
        }));
    }
    print_accepted(hook)?;
    print_findings(findings)
}

fn print_accepted(hook: &ScriptHook) -> io::Result<()> {
    let hash = hook.code_hash();
    writeln!(io::stdout(), "can be registered; SHA-256 {hash}")
}

pub(super) fn rejected(error: &RegisterError, place: Text<'_>, json: bool) -> io::Result<()> {
    let outcome = "rejected_at_registration";
    let shown = match error {
        RegisterError::Load(failure) => ErrorJson {
            kind: "load",
            ..failure_json(failure)
        },
        _ => ErrorJson {
            kind: error.kind(),
            class: None,
            message: match error {
                // Its position is printed separately.
                RegisterError::Manifest(ManifestError::Json { message, .. }) => {
                    format!("the manifest is not JSON: {message}")
                }
                _ => error.to_string(),
            },
            line: None,
            column: None,
        },
    };
    let error = with_position(shown, error.position());
    if json {
        print(&RunJson {
            outcome,
            error: Some(error),
            ..RunJson::default()
        })
    } else {
        writeln!(io::stdout(), "{}", error_text("rejected", &error, place))
    }
}

fn failure_json(failure: &Failure) -> ErrorJson<'_> {
    let (class, message, position) = match failure {
        Failure::Thrown {
            class,
            message,
            position,
            ..
        } => (Some(class.as_str()), message.clone(), *position),
        _ => (None, failure.to_string(), None),
    };
    let shown = ErrorJson {
        kind: failure.kind(),
        class,
        message,
        line: None,
        column: None,
    };
    with_position(shown, position)
}

fn with_position(error: ErrorJson<'_>, position: Option<Position>) -> ErrorJson<'_> {
    ErrorJson {
        line: position.map(|at| at.line),
        column: position.map(|at| at.column),
        ..error
    }
}

/// Returns the error with its place, and the line with a caret if the place is known.
fn error_text(outcome: &str, error: &ErrorJson<'_>, source: Text<'_>) -> String {
    let Text { file, text } = source;
    let (place, line) = match (error.line, error.column) {
        (Some(line), Some(column)) => (
            format!("{}:{line}:{column}: ", file.display()),
            marked(text, line, column),
        ),
        _ => (format!("{}: ", file.display()), None),
    };
    let class = error
        .class
        .map(|class| format!("{class}: "))
        .unwrap_or_default();
    let sentence = escape(&format!(
        "{place}{outcome} ({}): {class}{}",
        error.kind, error.message
    ));
    match line {
        Some(line) => format!("{sentence}\n{line}"),
        None => sentence,
    }
}

/// Returns a line of a text with a caret below a column, which is in bytes and starts at 1; `None`
/// if the text has no such line. A long line is cut around the caret.
pub(super) fn marked(text: &str, line: u32, column: u32) -> Option<String> {
    let number = usize::try_from(line).ok()?;
    let line = text.lines().nth(number.checked_sub(1)?)?;
    let at = line.floor_char_boundary(usize::try_from(column).ok()?.saturating_sub(1));
    let (before, after) = line.split_at(at);
    let from = before.char_indices().rev().nth(AROUND - 1);
    let to = after.char_indices().nth(AROUND);
    let mut shown = match from {
        Some((0, _)) | None => escape(before),
        Some((from, _)) => format!("…{}", escape(&before[from..])),
    };
    let start = shown.len();
    let length = after
        .chars()
        .next()
        .map_or(0, |first| escape(first.encode_utf8(&mut [0; 4])).len());
    match to {
        Some((to, _)) => shown += &format!("{}…", escape(&after[..to])),
        None => shown += &escape(after),
    }
    let snippet = Snippet::source(&shown)
        .line_start(number)
        .annotation(AnnotationKind::Primary.span(start..start + length));
    let report = [Group::with_level(Level::ERROR).element(snippet)];
    Some(Renderer::plain().render(&report))
}

fn print(shown: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_string(shown).unwrap_or_default();
    writeln!(io::stdout(), "{}", escape_json(&json))
}

/// Escapes control and invisible characters in JSON as `\u` sequences. They occur only in strings.
fn escape_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        let text = character.to_string();
        if escape(&text) == text {
            escaped.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    escaped
}
