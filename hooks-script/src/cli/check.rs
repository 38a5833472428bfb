//! `hooks-script check`: registers a hook, runs it with a context or with an empty message, and
//! reports what the author may not expect.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_script::{
    ContextData, ContextKey, Failure, Limits, PublicFields, Run, RunResult, ScriptEngine,
    ScriptHook, Stage,
};
use serde_json::Value;

use super::show::{self, Finding};
use super::{
    CommandError, FAILED, REJECTED, RunSettings, build_engine, context, is_written, read,
    register_or_print,
};

#[derive(Args)]
pub(super) struct CheckArgs {
    /// Hook source: one JavaScript module.
    file: PathBuf,
    /// Manifest, in JSON. Default: the hook sees all of `data`.
    #[arg(long)]
    manifest: Option<PathBuf>,
    /// Input of the hook, in JSON: {"stage", "in", "data"}. Runs the hook with it, and with
    /// variations if the run has no effect. Default: the hook runs with an empty message.
    #[arg(long)]
    context: Option<PathBuf>,
    #[command(flatten)]
    settings: RunSettings,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// Maximum number of variations of a message that are run.
const MAX_VARIATIONS: usize = 200;

/// Maximum number of variations that are listed.
const MAX_LISTED: usize = 5;

/// Factor of the second run of a hook that exceeds its fuel or its time.
const MORE: u32 = 10;

/// Context of the run.
struct Input {
    stage: Stage,
    message: Map,
    data: ContextData,
    keys: Vec<ContextKey>,
}

/// Effect of a run, without its texts, to compare runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Unchanged,
    Changed,
    Stopped,
    Failed,
}

impl CheckArgs {
    pub(super) fn run(self) -> Result<u8, CommandError> {
        let source = read(&self.file)?;
        let register = |engine: &ScriptEngine, keys: &[ContextKey]| {
            let manifest = self.manifest.as_deref();
            register_or_print(engine, (&self.file, &source), manifest, keys, self.json)
        };
        let Some(path) = &self.context else {
            let engine = build_engine(ScriptEngine::builder().workers(NonZeroUsize::MIN))?;
            return match register(&engine, &ContextKey::ALL)? {
                Some(hook) => {
                    let mut findings: Vec<_> = without_effect(&hook).into_iter().collect();
                    findings.extend(failure_with_empty_message(&hook));
                    findings.extend(rejecting_failures(&hook));
                    is_written(show::accepted(&hook, &findings, self.json))?;
                    Ok(0)
                }
                None => Ok(REJECTED),
            };
        };
        let (stage, message, data, fields, keys) = context(path)?;
        let limits = self.settings.limits();
        let engine = self.settings.build_engine(limits, fields.clone())?;
        let Some(hook) = register(&engine, &keys)? else {
            return Ok(REJECTED);
        };
        let input = Input {
            stage,
            message,
            data,
            keys,
        };
        let run = block_on(hook.run(stage, &input.message, &input.data));
        let mut findings = unmatched_keys(&hook, &input, path);
        match &run.result {
            RunResult::Failed(Failure::Fuel(_) | Failure::Wall(_)) => {
                findings.push(self.run_longer(&hook, &source, &input, fields)?);
            }
            RunResult::Failed(Failure::BadReturn(_))
            | RunResult::Unchanged
            | RunResult::Returned(_)
                if stage == Stage::Pre =>
            {
                findings.extend(without_effect(&hook));
                findings.extend(variations(&hook, &input, &run));
            }
            _ => {}
        }
        if stage == Stage::Pre {
            findings.extend(rejecting_failures(&hook));
        }
        let checked = show::Checked {
            hook: &hook,
            run: &run,
            stage,
            message: &input.message,
            // Keys that reach the hook.
            data: input
                .keys
                .iter()
                .filter(|key| hook.manifest().asks_for(**key))
                .copied()
                .collect(),
            context: path,
            findings: &findings,
        };
        let place = show::Text {
            file: &self.file,
            text: &source,
        };
        is_written(show::checked(&checked, place, self.json))?;
        Ok(match run.result {
            RunResult::Returned(_) | RunResult::Unchanged | RunResult::Stop(_) => 0,
            _ => FAILED,
        })
    }

    /// Runs a hook that exceeded its fuel or its time once more, with ten times of both, to
    /// distinguish a slow hook from an endless one.
    fn run_longer(
        &self,
        hook: &ScriptHook,
        source: &str,
        input: &Input,
        fields: PublicFields,
    ) -> Result<Finding, CommandError> {
        let limits = hook.limits();
        let more = Limits {
            fuel: limits.fuel.saturating_mul(MORE.into()).min(u64::MAX / 2),
            wall: limits.wall.saturating_mul(MORE),
            ..limits.clone()
        };
        let (fuel, wall) = (show::grouped(more.fuel), show::timeout(more.wall));
        let engine = self.settings.build_engine(more, fields)?;
        let longer = engine
            .register(hook.manifest().clone(), source)
            .map_err(|error| error.to_string())?;
        let run = block_on(longer.run(input.stage, &input.message, &input.data));
        let used = show::grouped(run.fuel);
        Ok(Finding::warning(match run.result {
            RunResult::Failed(Failure::Fuel(_) | Failure::Wall(_)) => format!(
                "the hook does not end with {MORE} times the limits either (fuel {fuel}, {wall}); \
                 look for an endless loop"
            ),
            _ => format!(
                "the hook ends with more fuel: it used {used} of {fuel}; make it faster, or increase \
                 `Limits::fuel` (here `--fuel`)"
            ),
        }))
    }
}

/// Compares the keys of the manifest with those of the context.
fn unmatched_keys(hook: &ScriptHook, input: &Input, context: &Path) -> Vec<Finding> {
    let context = context.display();
    let keys = ContextKey::ALL.into_iter().filter_map(|key| {
        match (hook.manifest().asks_for(key), input.keys.contains(&key)) {
            (true, false) => Some(format!(
                "the manifest requests `{key}`, but {context} has no `data.{key}`; add it, or remove \
                 `{key}` from the manifest"
            )),
            (false, true) => Some(format!(
                "{context} has `data.{key}`, but the hook does not receive it; add `{key}` to the \
                 `context` of the manifest, or remove it from {context}"
            )),
            _ => None,
        }
    });
    keys.map(Finding::warning).collect()
}

/// Finds a hook that has no effect before an action, because its source contains neither the field
/// `out` nor the class of a stop.
fn without_effect(hook: &ScriptHook) -> Option<Finding> {
    let has_effect = ["out", "HookStopException"].map(|name| hook.source_contains(name));
    (has_effect == [false, false]).then(|| {
        Finding::warning(
            "the source contains neither `out` nor `HookStopException`, so the hook has no effect \
             before an action; return `{ out: … }`, or throw a `HookStopException`"
                .to_owned(),
        )
    })
}

/// Describes how failures of a hook that can stop an action affect the action.
fn rejecting_failures(hook: &ScriptHook) -> Option<Finding> {
    hook.fails_closed().then(|| {
        Finding::note(
            "the source contains `HookStopException`, so an exception or an exceeded limit rejects \
             the action; the host can change this with `fail_closed(false)`"
                .to_owned(),
        )
    })
}

/// Runs the hook with a message and data without fields. Finds a hook that needs a field, or whose
/// return value is invalid.
fn failure_with_empty_message(hook: &ScriptHook) -> Option<Finding> {
    let run = block_on(hook.run_pre(&Map::new(), &ContextData::new()));
    let RunResult::Failed(failure) = run.result else {
        return None;
    };
    let message = match &failure {
        Failure::Thrown { position, .. } => {
            let place = position.map_or_else(String::new, |at| format!(" at {at}"));
            format!("{failure}{place}; test that a field exists before you use it")
        }
        _ => failure.to_string(),
    };
    Some(Finding::warning(format!(
        "with an empty message (`in` and `data` without fields), the hook {message}"
    )))
}

/// Runs the hook with variations of its message: each text in it is replaced by each string of the
/// source, which may be the name of a tool or a word that the hook looks for. Returns the variations
/// with another effect. If the hook changes the message, returns nothing.
fn variations(hook: &ScriptHook, input: &Input, run: &Run) -> Vec<Finding> {
    let effect = Effect::of(run, &input.message);
    if effect == Effect::Changed {
        return Vec::new();
    }
    let message = Value::Object(input.message.clone());
    let mut fields = Vec::new();
    text_fields(&message, "", &mut fields);
    let strings = hook.source_strings();
    let all = fields.iter().flat_map(|field| {
        let strings = strings.iter().filter(|string| !string.is_empty());
        strings.map(move |string| (field, string))
    });
    let (mut tried, mut others) = (0, Vec::new());
    for (field, string) in all.take(MAX_VARIATIONS) {
        let mut varied = message.clone();
        let Some(text) = varied.pointer_mut(field) else {
            continue;
        };
        if text.as_str() == Some(string) {
            continue;
        }
        *text = string.as_str().into();
        let Value::Object(varied) = varied else {
            continue;
        };
        tried += 1;
        let run = block_on(hook.run(input.stage, &varied, &input.data));
        let other = Effect::of(&run, &varied);
        if other != effect && other != Effect::Failed {
            let field = field.replace('/', ".");
            others.push(format!("if `in{field}` is `{string}`, the hook {other}"));
        }
    }
    let is_unchanged = effect == Effect::Unchanged;
    if others.is_empty() {
        let tried = match tried {
            0 => String::new(),
            tried => format!(", also in {tried} variations with strings of the source"),
        };
        return match is_unchanged {
            true => {
                let what = match run.result {
                    RunResult::Unchanged => "the hook returned nothing",
                    _ => "the output equals the message",
                };
                vec![Finding::note(format!(
                    "{what}{tried}; check that the hook handles this action"
                ))]
            }
            false => Vec::new(),
        };
    }
    let more = others.len().saturating_sub(MAX_LISTED);
    others.truncate(MAX_LISTED);
    let mut findings: Vec<_> = others
        .into_iter()
        .map(|other| match is_unchanged {
            true => Finding::note(other),
            false => Finding::warning(format!(
                "{other}; return `{{ out: … }}` for other values too"
            )),
        })
        .collect();
    if more > 0 {
        findings.push(Finding::note(format!("and {more} more variations")));
    }
    findings
}

/// Collects the JSON pointers of all texts in a value.
fn text_fields(value: &Value, at: &str, fields: &mut Vec<String>) {
    match value {
        Value::String(_) => fields.push(at.to_owned()),
        Value::Object(map) => {
            for (name, value) in map {
                let name = name.replace('~', "~0").replace('/', "~1");
                text_fields(value, &format!("{at}/{name}"), fields);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                text_fields(value, &format!("{at}/{index}"), fields);
            }
        }
        _ => {}
    }
}

impl Effect {
    fn of(run: &Run, message: &Map) -> Self {
        match &run.result {
            RunResult::Unchanged => Self::Unchanged,
            RunResult::Returned(out) if out == message => Self::Unchanged,
            RunResult::Returned(_) => Self::Changed,
            RunResult::Stop(_) => Self::Stopped,
            _ => Self::Failed,
        }
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unchanged => "leaves the message unchanged",
            Self::Changed => "changes the message",
            Self::Stopped => "stops the action",
            Self::Failed => "fails",
        })
    }
}
