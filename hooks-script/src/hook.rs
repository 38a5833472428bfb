//! A registered hook: takes a message and context data, returns a run.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use hooks_runtime::Map;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::consent::{ConsentRequest, Permit};
use crate::engine_state::EngineState;
use crate::fields::ContextData;
use crate::limits::Limits;
use crate::manifest::Manifest;
use crate::outbox::HTTP;
use crate::run::{Failure, Run, RunResult, Stage, Stop};
use crate::sandbox::{CallEnd, CallReport, CallTexts, RunJob, RunLimits, Snapshot, Status};
use crate::scope::Scope;
use crate::source;

/// A hook that is registered with an engine; see [`ScriptEngine`](crate::ScriptEngine) for an
/// example. It keeps no state between runs. Clones share the hook.
#[derive(Clone)]
pub struct ScriptHook {
    shared: Arc<EngineState>,
    manifest: Arc<Manifest>,
    snapshot: Arc<Snapshot>,
    code_hash: Arc<str>,
    /// Source code, as written by the author.
    source: Arc<str>,
    /// `true` if the source contains `HookStopException`.
    pub(crate) names_stop: bool,
    /// Setting of the host; `None` is the default.
    pub(crate) fail_closed: Option<bool>,
}

/// The input of a hook.
#[derive(Serialize)]
struct HookInput<'a> {
    stage: Stage,
    r#in: &'a Map,
    data: Map,
}

/// Cancels the run on its worker when the future is dropped.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

impl ScriptHook {
    pub(crate) fn new(
        shared: Arc<EngineState>,
        manifest: Manifest,
        snapshot: Arc<Snapshot>,
        code_hash: String,
        source: &str,
    ) -> Self {
        ScriptHook {
            shared,
            manifest: Arc::new(manifest),
            snapshot,
            code_hash: code_hash.into(),
            source: source.into(),
            names_stop: source::contains_name(source, STOP_CLASS),
            fail_closed: None,
        }
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the SHA-256 of the source, in hexadecimal digits.
    pub fn code_hash(&self) -> &Arc<str> {
        &self.code_hash
    }

    /// Returns the bytes that the loaded hook occupies beyond the state that all hooks of an engine
    /// share.
    pub fn snapshot_bytes(&self) -> usize {
        self.snapshot.bytes()
    }

    /// Returns `true` if `name` is a name or a string in the source, outside comments. A hook can
    /// also compute a name, so `false` does not prove that it never uses one.
    ///
    /// ```
    /// use hooks_script::{Manifest, ScriptEngine};
    ///
    /// let engine = ScriptEngine::builder().build()?;
    /// let source = "export default ({ in: m }) => m.kind === 'post' ? { out: m } : null; // later";
    /// let hook = engine.register(Manifest::new("text:", "Posts", [])?, source)?;
    /// assert!(hook.source_contains("out") && !hook.source_contains("later"));
    /// assert_eq!(hook.source_strings(), ["post"]);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn source_contains(&self, name: &str) -> bool {
        source::contains_name(&self.source, name)
    }

    /// Returns the strings in the source, each once, without comments and without templates that
    /// contain `${}`. They are often the values that the hook compares with a message.
    pub fn source_strings(&self) -> Vec<String> {
        source::strings(&self.source)
    }

    /// Returns `true` if a class name comes from the author or from the engine, and was not built
    /// from the input of a run.
    pub(crate) fn has_class(&self, name: &str) -> bool {
        let is_apart = |beside: Option<char>| {
            beside.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '$' | '\\'))
        };
        let source = &*self.source;
        let mut places = source.match_indices(name);
        BUILT_IN_CLASSES.contains(&name)
            || !name.is_empty()
                && places.any(|(at, _)| {
                    is_apart(source[..at].chars().next_back())
                        && is_apart(source[at + name.len()..].chars().next())
                })
    }

    /// Returns `true` if the engine itself throws exceptions of this class.
    pub(crate) fn is_engine_class(class: &str) -> bool {
        const SCRIPT_CLASSES: [&str; 2] = ["Error", STOP_CLASS];
        BUILT_IN_CLASSES.contains(&class) && !SCRIPT_CLASSES.contains(&class)
    }

    /// Returns the source.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Returns the limits of a run.
    pub fn limits(&self) -> &Limits {
        self.shared.sandbox.limits()
    }

    /// Runs the hook before an action, on a worker thread. Waits until a worker is free.
    ///
    /// The hook gets a copy of `message`, so changing it without returning it has no effect.
    /// Dropping the future ends the run within a few milliseconds, or before it starts.
    pub async fn run_pre(&self, message: &Map, data: &ContextData) -> Run {
        self.run(Stage::Pre, message, data).await
    }

    /// Runs the hook after an action, like [`run_pre`](Self::run_pre), and ignores its return
    /// value.
    pub async fn run_post(&self, message: &Map, data: &ContextData) -> Run {
        self.run(Stage::Post, message, data).await
    }

    /// Runs the hook in the given stage.
    pub async fn run(&self, stage: Stage, message: &Map, data: &ContextData) -> Run {
        self.run_within(stage, message, data, RunLimits::default())
            .await
    }

    /// Runs the hook after an action, with `context.http` if the permit is for this version of the
    /// hook and for [`HTTP`](crate::HTTP), and is still valid. Otherwise it runs like
    /// [`run_post`](Self::run_post). It sends nothing: see [`Run::outbox`].
    pub async fn run_post_permitted(
        &self,
        message: &Map,
        data: &ContextData,
        permit: &Permit,
    ) -> Run {
        let http = self.is_permitted_http(permit) && permit.check().await.is_ok();
        let allowance = RunLimits {
            http,
            ..RunLimits::default()
        };
        self.run_within(Stage::Post, message, data, allowance).await
    }

    /// Returns `true` if a permit is for this version of the hook and for requests. Does not check that
    /// the permit is still valid.
    pub(crate) fn is_permitted_http(&self, permit: &Permit) -> bool {
        let scope = permit.request().scope().clone();
        *permit.request() == ConsentRequest::of(self, HTTP, scope)
    }

    /// Like [`run`](Self::run), with lower limits or with capabilities that were approved.
    pub(crate) async fn run_within(
        &self,
        stage: Stage,
        message: &Map,
        data: &ContextData,
        allowance: RunLimits,
    ) -> Run {
        let limits = self.limits();
        if is_deeper(message.values(), MAX_MESSAGE_DEPTH - 1) {
            return self.failed_run(Failure::Depth(MAX_MESSAGE_DEPTH));
        }
        let context = HookInput {
            stage,
            r#in: message,
            data: self.shared.fields.visible(data, &self.manifest),
        };
        let input = match serde_json::to_vec(&context) {
            Ok(input) if input.len() <= limits.input => input,
            Ok(input) => {
                return self.failed_run(Failure::Input {
                    bytes: input.len(),
                    limit: limits.input,
                });
            }
            Err(error) => return self.failed_run(Failure::Engine(error.to_string())),
        };
        let cancel = CancelOnDrop(Arc::default());
        let start = RunJob {
            hook: Arc::clone(&self.snapshot),
            stage,
            input,
            given: self.shared.call_args(Arc::clone(&cancel.0), allowance),
        };
        match self.shared.pool.run(start).await {
            Some((report, duration)) => self.completed_run(stage, report, duration),
            None => self.failed_run(Failure::Engine("its worker has stopped".to_owned())),
        }
    }

    fn completed_run(&self, stage: Stage, mut report: CallReport, duration: Duration) -> Run {
        let has_returned = report.ended.has_returned();
        let result = match report.ended {
            CallEnd::Returned(status, texts) => self.run_result(stage, status, texts),
            CallEnd::Failed(failure) => RunResult::Failed(failure),
            // The future was dropped, so this value is never read.
            CallEnd::Cancelled => {
                RunResult::Failed(Failure::Engine("the run was cancelled".to_owned()))
            }
        };
        if matches!(result, RunResult::Failed(_)) {
            report.outbox.clear();
        }
        Run {
            result,
            fuel: report.fuel,
            console: report.console,
            console_dropped: report.console_dropped,
            outbox: report.outbox,
            code_hash: Arc::clone(&self.code_hash),
            memory_bytes: report.peak,
            memory_hash: report.memory_hash,
            duration,
            began: report.began,
            has_returned,
        }
    }

    fn run_result(&self, stage: Stage, status: Status, texts: CallTexts) -> RunResult {
        RunResult::Failed(match status {
            Status::Done if stage == Stage::Post => return RunResult::Returned(Map::new()),
            Status::Done => match returned_message(texts.text) {
                Ok(out) => return RunResult::Returned(out),
                Err(why) => Failure::BadReturn(why),
            },
            Status::Stop => {
                return RunResult::Stop(Stop {
                    class: if texts.class.is_empty() {
                        STOP_CLASS.to_owned()
                    } else {
                        texts.class
                    },
                    message: texts.message,
                    stack: texts.stack,
                });
            }
            Status::NoData if texts.text == b"undefined" => return RunResult::Unchanged,
            Status::NoData if texts.text.is_empty() => Failure::BadReturn(json_error(&texts)),
            Status::NoData => Failure::BadReturn(format!("returned {}; {REMEDY}", texts.text())),
            Status::Unsettled => {
                Failure::BadReturn("awaits a promise that never settles".to_owned())
            }
            _ => texts.thrown(),
        })
    }

    pub(crate) fn failed_run(&self, failure: Failure) -> Run {
        self.completed_run(Stage::Pre, CallReport::failed(failure), Duration::ZERO)
    }
}

impl ConsentRequest {
    /// Creates the request of a registered hook.
    pub fn of(hook: &ScriptHook, capability: impl Into<String>, scope: Scope) -> Self {
        ConsentRequest::of_version(hook.manifest(), hook.code_hash(), capability, scope)
    }
}

/// Class of the exceptions that stop an action.
const STOP_CLASS: &str = "HookStopException";

/// Exception classes that the engine provides.
const BUILT_IN_CLASSES: [&str; 11] = [
    "AggregateError",
    "Error",
    "EvalError",
    STOP_CLASS,
    "InternalError",
    "RangeError",
    "ReferenceError",
    "SuppressedError",
    "SyntaxError",
    "TypeError",
    "URIError",
];

const REMEDY: &str = "return `{ out: … }` with the message, or nothing to leave it unchanged";

/// Maximum nesting depth of a message: the limit of `serde_json`.
const MAX_MESSAGE_DEPTH: usize = 127;

/// Returns `true` if values are nested deeper than `levels`.
fn is_deeper<'v>(values: impl IntoIterator<Item = &'v Value>, levels: usize) -> bool {
    values.into_iter().any(|value| match (value, levels) {
        (Value::Array(_) | Value::Object(_), 0) => true,
        (Value::Array(list), _) => is_deeper(list, levels - 1),
        (Value::Object(map), _) => is_deeper(map.values(), levels - 1),
        _ => false,
    })
}

/// Describes why a returned value does not serialize to JSON. Two messages of the engine are
/// rewritten; other messages come from the script.
fn json_error(texts: &CallTexts) -> String {
    let why = match (texts.class.as_str(), texts.message.as_str()) {
        ("TypeError", "circular reference") => "it contains itself".to_owned(),
        ("TypeError", "BigInt are forbidden in JSON.stringify") => {
            "it contains a BigInt".to_owned()
        }
        (_, message) => format!("a getter, a `toJSON` or a proxy in it threw `{message}`"),
    };
    format!("returned a value that does not serialize to JSON: {why}; {REMEDY}")
}

/// Returns the message in a hook's return value, `{out}`: an object in an object.
fn returned_message(json: Vec<u8>) -> Result<Map, String> {
    let json = replace_lone_surrogates(json);
    let deep = |_| format!("returned a value deeper than {MAX_MESSAGE_DEPTH} levels; {REMEDY}");
    // The outer object is not a level of the message: a message of maximum depth can be returned.
    let Ok(mut returned) = serde_json::from_slice::<HashMap<String, Box<RawValue>>>(&json) else {
        let returned = serde_json::from_slice(&json).map_err(deep)?;
        return Err(format!("returned {}; {REMEDY}", kind(&returned)));
    };
    let Some(out) = returned.remove("out") else {
        return Err(format!("returned an object without `out`; {REMEDY}"));
    };
    match serde_json::from_str(out.get()).map_err(deep)? {
        Value::Object(out) => Ok(out),
        other => Err(format!("returned `out` as {}; {REMEDY}", kind(&other))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Replaces unpaired surrogates by U+FFFD. Strings of scripts may contain them; Rust strings
/// cannot. `JSON.stringify` writes them as `\udXXX` and pairs unescaped.
fn replace_lone_surrogates(mut text: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while at + 1 < text.len() {
        if text[at] != b'\\' {
            at += 1;
            continue;
        }
        if let Some([b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F']) =
            text.get(at + 1..at + 4)
        {
            text[at + 2..at + 6].copy_from_slice(b"fffd");
        }
        at += 2;
    }
    text
}

impl fmt::Debug for ScriptHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptHook")
            .field("name", &self.manifest.name())
            .field("code_hash", &self.code_hash)
            .field("fails_closed", &self.fails_closed())
            .finish_non_exhaustive()
    }
}
