//! Fuzzes sources: a source is refused or runs within its limits, and does not affect later runs.
#![no_main]

use std::num::NonZeroUsize;
use std::sync::LazyLock;

use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_script::{
    ContextData, Failure, Limits, Manifest, RegisterError, Run, RunResult, ScriptEngine, ScriptHook,
};
use libfuzzer_sys::fuzz_target;

const CANARY: &str = "let runs = 0;
export default ({ in: m }) => ({ out: { ...m, runs: ++runs, r: Math.random(), globals: Object.getOwnPropertyNames(globalThis) } });";

static ENGINE: LazyLock<(ScriptEngine, ScriptHook, Run)> = LazyLock::new(|| {
    let mut limits = Limits::default();
    (limits.fuel, limits.load_fuel) = (2_000_000, 2_000_000);
    let engine = ScriptEngine::builder()
        .limits(limits)
        .workers(NonZeroUsize::MIN)
        .hash_memory(true)
        .build()
        .expect("the engine starts");
    let canary = engine.register(manifest(), CANARY).expect("it is a hook");
    let first = run(&canary);
    (engine, canary, first)
});

fn manifest() -> Manifest {
    Manifest::new("fuzz.js", "Fuzz", []).expect("it has all it needs")
}

fn run(hook: &ScriptHook) -> Run {
    block_on(hook.run_pre(&Map::new(), &ContextData::new()))
}

fuzz_target!(|source: &str| {
    let (engine, canary, first) = &*ENGINE;
    // As a module, and as the body of a hook: more inputs compile in this form.
    let body = format!("export default async (context) => {{ {source} }};");
    for source in [source, &body] {
        match engine.register(manifest(), source) {
            Ok(hook) => {
                let run = run(&hook);
                let engine_failed = matches!(run.result, RunResult::Failed(Failure::Engine(_)));
                assert!(!engine_failed, "{run:?}");
            }
            Err(error) => assert!(!matches!(error, RegisterError::Engine(_)), "{error}"),
        }
    }
    let again = run(canary);
    assert_eq!(again.result, first.result);
    assert_eq!(
        (again.fuel, &again.memory_hash),
        (first.fuel, &first.memory_hash)
    );
});
