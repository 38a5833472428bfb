//! What every contender does: two hooks on one message of 1 KB.

use std::time::Instant;

use hooks_script::measure::{Isolated, Sandbox};
use hooks_script::{ContextData, Manifest, ScriptEngine};

use crate::native::Native;

pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    /// What bare WebAssembly may be multiplied with.
    pub(crate) target: f64,
    /// What native warm took, in microseconds, on the machine for which the targets in
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

/// 1 KB of text, of which some has to be moderated.
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

/// The same, as it crosses the border.
pub(crate) fn input() -> Vec<u8> {
    let context = serde_json::json!({"stage": "pre", "in": message(), "data": {}});
    context.to_string().into_bytes()
}

/// The argument with which the bench starts itself.
pub(crate) const START: &str = "start";

/// From nothing to the first answer; prints how many microseconds it took.
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
            assert!(matches!(run.verdict, hooks_script::Verdict::Out(_)));
        }
    }
    println!("{}", began.elapsed().as_secs_f64() * 1e6);
}

/// The argument with which a profiler starts the bench.
pub(crate) const REPEAT: &str = "repeat";

/// Does a part of the no-op a number of times, and nothing else, so that a profiler finds it.
pub(crate) fn repeat(part: &str, times: u32) -> Result<(), String> {
    let sandbox = Sandbox::new().map_err(|error| error.to_string())?;
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
