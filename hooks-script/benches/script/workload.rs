//! Workload of every contender: two hooks, each with one message of 1 KB.

use std::time::Instant;

use hooks_script::measure::{BenchSandbox, Isolated};
use hooks_script::{ContextData, Manifest, ScriptEngine};

use crate::native::Native;

pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    /// Target: maximum ratio to bare WebAssembly.
    pub(crate) target: f64,
    /// Time of a warm native run in microseconds, on the machine for which the targets in
    /// microseconds were set.
    pub(crate) native: f64,
}

pub(crate) const WORK: [Work; 2] = [
    Work {
        name: "no-op",
        source: "export default ({ in: message }) => ({ out: message });",
        target: 1.25,
        native: 11.6,
    },
    Work {
        name: "moderation",
        source: include_str!("moderation.js"),
        target: 1.03,
        native: 332.0,
    },
];

/// Returns a message of 1 KB, a part of which has to be moderated.
pub(crate) fn message() -> hooks_runtime::Map {
    let mut text = String::new();
    while text.len() < 960 {
        text += "The quick brown fox jumps over the lazy dog, and looks for a winner. ";
    }
    text += "See http://example.org/cheap for free money";
    let mut message = hooks_runtime::Map::new();
    message.insert("text".to_owned(), text.into());
    message
}

/// Returns the message as JSON for the sandbox.
pub(crate) fn input() -> Vec<u8> {
    let context = serde_json::json!({"stage": "pre", "in": message(), "data": {}});
    context.to_string().into_bytes()
}

/// Argument with which the bench starts itself.
pub(crate) const START: &str = "start";

/// Starts the contender and runs the hook once; prints the elapsed microseconds.
pub(crate) fn start(contender: &str) {
    let began = Instant::now();
    let work = &WORK[0];
    match contender {
        "native" => Native::new(work.source).fresh(&input()),
        _ => {
            let engine = ScriptEngine::builder().build().expect("the engine starts");
            let manifest = Manifest::new("start", "Start", []).expect("it has all it needs");
            let hook = engine.register(manifest, work.source).expect("it is one");
            let run = futures_executor::block_on(hook.run_pre(&message(), &ContextData::new()));
            assert!(matches!(run.result, hooks_script::RunResult::Returned(_)));
        }
    }
    println!("{}", began.elapsed().as_secs_f64() * 1e6);
}

/// Argument for a profiler.
pub(crate) const REPEAT: &str = "repeat";

/// Repeats one part of a no-op, so that a profiler sees nothing else.
pub(crate) fn repeat(part: &str, times: u32) -> Result<(), String> {
    let sandbox = BenchSandbox::new().map_err(|error| error.to_string())?;
    let mut isolated = Isolated::new(&sandbox, WORK[0].source);
    let (engine, input) = (ScriptEngine::builder().build(), input());
    let engine = engine.map_err(|error| error.to_string())?;
    let register = || {
        let manifest = Manifest::new("repeat", "Repeat", []).expect("it has all it needs");
        engine
            .register(manifest, WORK[0].source)
            .expect("it is one")
    };
    let (hook, message, data) = (register(), message(), ContextData::new());
    for _ in 0..times {
        match part {
            "isolated" => drop(isolated.run(&input)),
            "worker" => drop(futures_executor::block_on(hook.run_pre(&message, &data))),
            "register" => drop(register()),
            other => return Err(format!("there is no part `{other}`")),
        }
    }
    Ok(())
}
