//! Shared helpers of the tests.

use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_script::{
    ContextData, Failure, Limits, Manifest, RegisterError, Run, RunResult, ScriptEngine,
    ScriptHook, Stop,
};
use serde_json::{Value, json};

pub(crate) fn manifest() -> Manifest {
    Manifest::new("https://example.org/hook.js", "A hook", []).unwrap()
}

/// Returns an engine with one worker, so that all runs share its instance.
pub(crate) fn engine() -> ScriptEngine {
    engine_with(|_| ())
}

pub(crate) fn engine_with(change: impl FnOnce(&mut Limits)) -> ScriptEngine {
    let mut limits = Limits::default();
    change(&mut limits);
    ScriptEngine::builder()
        .limits(limits)
        .workers(std::num::NonZeroUsize::MIN)
        .hash_memory(true)
        .build()
        .unwrap()
}

pub(crate) fn register(engine: &ScriptEngine, source: &str) -> ScriptHook {
    let registered = engine.register(manifest(), source);
    registered.unwrap_or_else(|error| panic!("{error}\n{source}"))
}

pub(crate) fn rejected(source: &str) -> RegisterError {
    engine().register(manifest(), source).unwrap_err()
}

/// Returns a hook whose function has this body.
pub(crate) fn body(text: &str) -> String {
    format!("export default async function (context) {{\n{text}\n}}\n")
}

pub(crate) fn map(value: Value) -> Map {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

pub(crate) fn message() -> Map {
    map(json!({"text": "hello world"}))
}

pub(crate) fn pre(hook: &ScriptHook) -> Run {
    block_on(hook.run_pre(&message(), &ContextData::new()))
}

pub(crate) fn post(hook: &ScriptHook) -> Run {
    block_on(hook.run_post(&message(), &ContextData::new()))
}

/// Runs a source before an action, in a new engine.
pub(crate) fn run(source: &str) -> Run {
    pre(&register(&engine(), source))
}

#[track_caller]
pub(crate) fn out(run: Run) -> Value {
    match run.result {
        RunResult::Returned(out) => Value::Object(out),
        other => panic!("no output: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn stop(run: Run) -> Stop {
    match run.result {
        RunResult::Stop(stop) => stop,
        other => panic!("no stop: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn failure(run: Run) -> Failure {
    match run.result {
        RunResult::Failed(failure) => failure,
        other => panic!("no failure: {other:?}"),
    }
}

/// Formats a run as the corpus expects it: `out`, `unchanged`, `stop CLASS`, `error KIND [CLASS]`, `interrupted
/// KIND`.
pub(crate) fn summary(run: &Run) -> String {
    match &run.result {
        RunResult::Returned(_) => "out".to_owned(),
        RunResult::Unchanged => "unchanged".to_owned(),
        RunResult::Stop(stop) => format!("stop {}", stop.class),
        RunResult::Failed(Failure::Thrown { class, .. }) => format!("error thrown {class}"),
        RunResult::Failed(failure) if failure.is_limit() => {
            format!("interrupted {}", failure.kind())
        }
        RunResult::Failed(failure) => format!("error {}", failure.kind()),
        other => panic!("{other:?}"),
    }
}
