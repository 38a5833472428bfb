//! JavaScript hooks that restrict what agents do. In: files of hooks, then a request. Out: a
//! restriction, and the history of the runs. The hooks need no trust, because a hook can only
//! restrict.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;
use std::{fs, io};

use futures_util::FutureExt;
use hooks_runtime::{Entry, HookError, Map};
use hooks_script::{
    BuildError, ContextData, Failure, Limits, Manifest, RegisterError, Run, RunGroup, RunHistory,
    RunOutcome, RunQuery, RunRecord, RunResult, ScriptEngine, ScriptHook, Stage,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::classify::{Classification, Crud};
use crate::dispatches::ScriptRuns;
use crate::gate::{CountScriptRuns, Gate, GateHooks, Restrict, Restriction};
use crate::request::PermissionRequest;

/// Number of runs that are kept.
const MAX_RUNS: NonZeroUsize = NonZeroUsize::new(1000).unwrap();
/// Timeout of a run: several must fit into the timeout of all restricting hooks.
const RUN_TIMEOUT: Duration = Duration::from_millis(250);
/// Maximum number of characters of a hook's message that is reported.
const MAX_MESSAGE_CHARS: usize = 300;
/// Name of the action that the hooks precede.
const ACTION: &str = "permission-request";

/// JavaScript hooks of the gate, with the history of their runs.
///
/// | Output of the hook | Effect |
/// |---|---|
/// | returns `{ out: {} }` | none |
/// | returns `{ out: { decision: "ask", reason: "…" } }` | the request needs confirmation |
/// | returns `{ out: { decision: "deny", reason: "…" } }`, or throws a `HookStopException` | the request is denied |
/// | returns nothing or anything else, throws, or exceeds a limit | the request needs confirmation |
///
/// `in` has `command` and `class`, and `agent` and `cwd` if the request has them; there is no
/// `data`.
///
/// ```
/// use hooks_guard::PermissionRequest;
/// use hooks_guard::gate::Gate;
/// use hooks_guard::script::ScriptHooks;
/// use hooks_script::{Manifest, ScriptEngine};
///
/// let hook = ScriptEngine::builder().build()?.register(
///     Manifest::new("text:", "No mail", [])?,
///     "export default ({ in: { command } }) =>
///         ({ out: /mail/.test(command) ? { decision: 'deny', reason: 'no mail' } : {} });",
/// )?;
/// let gate = Gate::tables_only().with_scripts(ScriptHooks::new([hook]));
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let decided = gate.decide(&PermissionRequest::new("mail ada < notes.txt")).await;
/// assert!(decided.permission.denied);
/// # });
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScriptHooks {
    hooks: Vec<ScriptHook>,
    history: RunHistory,
}

/// Error returned when a hook cannot be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The engine cannot be built.
    #[error(transparent)]
    Engine(#[from] BuildError),
    /// The file cannot be read.
    #[error("cannot read the hook `{path}`: {source}; check `scripts` in the configuration", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The file does not contain a valid hook.
    #[error("cannot use the hook `{path}`: {source}", path = .path.display())]
    Register {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: RegisterError,
    },
}

impl ScriptHooks {
    /// Creates a collection of these hooks, which run in this order.
    #[must_use]
    pub fn new(hooks: impl IntoIterator<Item = ScriptHook>) -> Self {
        Self {
            hooks: hooks.into_iter().collect(),
            history: RunHistory::in_memory(MAX_RUNS).text_chars(MAX_MESSAGE_CHARS),
        }
    }

    /// Loads the hooks in some files. When this returns, each has run its top-level code only.
    /// Blocks the thread.
    ///
    /// # Errors
    /// For the first file that cannot be read or is not a hook.
    pub fn load(files: &[PathBuf]) -> Result<Self, ScriptError> {
        let limits = Limits {
            wall: RUN_TIMEOUT,
            ..Limits::default()
        };
        let engine = ScriptEngine::builder().limits(limits).build()?;
        let hooks = files.iter().map(|path| load_hook(&engine, path));
        Ok(Self::new(hooks.collect::<Result<Vec<_>, _>>()?))
    }

    /// Returns the hooks as the gate registers them.
    fn entries(&self) -> impl Iterator<Item = Entry<impl Restrict + use<>>> + use<'_> {
        self.hooks.iter().map(|hook| {
            let manifest = hook.manifest();
            let entry = Entry::new(ScriptRestriction {
                hook: hook.clone(),
                history: self.history.clone(),
            });
            entry
                .key(manifest.source().to_owned())
                .name(manifest.name().to_owned())
                .trusted(false)
        })
    }

    /// Returns the runs since the start of the process, by hook, outcome and class, each with the
    /// last one that is still kept.
    async fn runs(&self) -> Vec<ScriptRuns> {
        let query = RunQuery::new().limit(MAX_RUNS.get());
        // A history in memory can always be read.
        let last = self.history.query(&query).await;
        let last = last.map_or_else(|_| Vec::new(), |page| page.records);
        let groups = self.history.summary().into_iter();
        groups.map(|group| self.run_counts(group, &last)).collect()
    }

    fn run_counts(&self, group: RunGroup, last: &[RunRecord]) -> ScriptRuns {
        let of_group = |record: &&RunRecord| {
            record.source == group.source
                && record.outcome.kind() == group.outcome
                && record.outcome.class().unwrap_or_default() == group.class
        };
        let last = last.iter().find(of_group);
        let of_source = |hook: &&ScriptHook| hook.manifest().source() == group.source;
        let hook = self.hooks.iter().find(of_source);
        ScriptRuns {
            hook: hook
                .map_or(&*group.source, |hook| hook.manifest().name())
                .to_owned(),
            outcome: group.outcome.as_str(),
            class: group.class,
            runs: group.runs,
            took_us: group.duration_us.sum,
            last_us: last.map(|run| u64::try_from(run.duration.as_micros()).unwrap_or(u64::MAX)),
            last_at: last.map(|run| run.time),
            last_error: last.and_then(|run| match &run.outcome {
                RunOutcome::Stopped { message, .. } | RunOutcome::Failure { message, .. } => {
                    Some(message.clone())
                }
                RunOutcome::Skipped { reason } => Some(reason.clone()),
                _ => None,
            }),
        }
    }
}

impl CountScriptRuns for ScriptHooks {
    fn script_runs(&self) -> Pin<Box<dyn Future<Output = Vec<ScriptRuns>> + Send + '_>> {
        Box::pin(self.runs())
    }
}

impl GateHooks {
    /// Registers hooks in JavaScript that may restrict.
    #[must_use]
    pub fn with_scripts(self, scripts: ScriptHooks) -> Self {
        let hooks = scripts.entries().fold(self, Self::with_restrict_entry);
        hooks.with_script_runs(scripts)
    }
}

impl Gate {
    /// Adds JavaScript hooks that may restrict decisions.
    #[must_use]
    pub fn with_scripts(self, scripts: ScriptHooks) -> Self {
        self.map_hooks(|hooks| hooks.with_scripts(scripts))
    }
}

fn load_hook(engine: &ScriptEngine, path: &Path) -> Result<ScriptHook, ScriptError> {
    let code = fs::read_to_string(path).map_err(|source| ScriptError::Read {
        path: path.to_owned(),
        source,
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let manifest = Manifest::new(format!("file:{}", path.display()), name, []);
    manifest
        .map_err(RegisterError::from)
        .and_then(|manifest| engine.register(manifest, &code))
        .map_err(|source| ScriptError::Register {
            path: path.to_owned(),
            source,
        })
}

/// A JavaScript hook in the gate.
struct ScriptRestriction {
    hook: ScriptHook,
    history: RunHistory,
}

/// Input of the hooks; nothing else of a request is passed.
#[derive(Serialize)]
struct ScriptInput<'a> {
    command: &'a str,
    class: Crud,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<std::borrow::Cow<'a, str>>,
}

/// Valid output of the hooks; an unknown key is an error, so that a misspelt one is not ignored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptOutput {
    #[serde(default, deserialize_with = "present")]
    decision: Option<ScriptDecision>,
    #[serde(default, deserialize_with = "present")]
    reason: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
enum ScriptDecision {
    Ask,
    Deny,
}

impl TryFrom<String> for ScriptDecision {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        match &*word {
            "ask" => Ok(ScriptDecision::Ask),
            "deny" => Ok(ScriptDecision::Deny),
            _ => Err(format!("unknown decision `{word}`")),
        }
    }
}

/// Deserializes a key that, if present, must have its type: a decision of `null` was meant to be
/// one.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl Restrict for ScriptRestriction {
    async fn restrict(
        &self,
        request: &PermissionRequest,
        found: &Classification,
    ) -> Result<Option<Restriction>, HookError> {
        let message = message(request, found)?;
        let data = ContextData::new();
        let mut unfinished = UnrecordedRun(Some(self));
        let mut run = self.hook.run_pre(&message, &data).await;
        let restriction = parse_restriction(&run);
        if let Err(failure) = &restriction {
            run.result = RunResult::Failed(failure.clone());
        }
        let record = RunRecord::of(&self.hook, Stage::Pre, &run, &message, &data);
        unfinished.0 = None;
        self.history.record(record.action(ACTION)).await?;
        restriction.map_err(|failure| HookError::new(truncate(&failure.to_string())))
    }
}

/// Records a run whose result is no longer needed.
struct UnrecordedRun<'a>(Option<&'a ScriptRestriction>);

impl Drop for UnrecordedRun<'_> {
    fn drop(&mut self) {
        if let Some(ScriptRestriction { hook, history }) = self.0 {
            let why = "its result was no longer needed";
            let record = RunRecord::skipped(hook, Stage::Pre, why).action(ACTION);
            // A history in memory never waits.
            let _ = history.record(record).now_or_never();
        }
    }
}

fn message(request: &PermissionRequest, found: &Classification) -> Result<Map, HookError> {
    let given = ScriptInput {
        command: &request.command,
        class: found.crud,
        agent: request.agent.as_deref(),
        cwd: request.cwd.as_deref().map(Path::to_string_lossy),
    };
    match serde_json::to_value(given)? {
        Value::Object(message) => Ok(message),
        _ => Err(HookError::new("the hook's input is not an object")),
    }
}

/// Returns the restriction of a run; an invalid output is a failure.
fn parse_restriction(run: &Run) -> Result<Option<Restriction>, Failure> {
    let out = match &run.result {
        RunResult::Returned(out) => out.clone(),
        RunResult::Stop(stop) => {
            let reason = truncate(&format!("{}: {}", stop.class, stop.message));
            return Ok(Some(Restriction::Deny(reason)));
        }
        RunResult::Failed(failure) => return Err(failure.clone()),
        // A decision is explicit: a hook whose `return` is missing must not let a request pass.
        RunResult::Unchanged => return Err(invalid_output(&"it is `undefined`")),
        _ => return Err(Failure::Engine("unknown kind of result".to_owned())),
    };
    let output: ScriptOutput =
        serde_json::from_value(Value::Object(out)).map_err(|why| invalid_output(&why))?;
    let reason = |reason: Option<String>| match reason {
        Some(reason) => truncate(&reason),
        None => "no reason given".to_owned(),
    };
    match output.decision {
        Some(ScriptDecision::Ask) => Ok(Some(Restriction::Ask(reason(output.reason)))),
        Some(ScriptDecision::Deny) => Ok(Some(Restriction::Deny(reason(output.reason)))),
        None if output.reason.is_some() => Err(invalid_output(&"a reason without a decision")),
        None => Ok(None),
    }
}

fn invalid_output(why: &dyn std::fmt::Display) -> Failure {
    Failure::BadReturn(format!(
        "returned an invalid value: {why}; return `{{ out: {{ decision, reason }} }}` with the \
         decision `ask` or `deny`, or `{{ out: {{}} }}`"
    ))
}

fn truncate(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
