//! Fuzzes messages: a hook that returns its input returns the values as JavaScript represents them,
//! and a second run returns these unchanged.
#![no_main]

use std::num::NonZeroUsize;
use std::sync::LazyLock;

use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_script::{ContextData, Manifest, RunResult, ScriptEngine, ScriptHook};
use libfuzzer_sys::fuzz_target;

static HOOK: LazyLock<ScriptHook> = LazyLock::new(|| {
    let engine = ScriptEngine::builder().workers(NonZeroUsize::MIN).build();
    let manifest = Manifest::new("fuzz.js", "Fuzz", []).expect("it has all it needs");
    let source = "export default ({ in: message }) => ({ out: message });";
    let hook = engine
        .expect("the engine starts")
        .register(manifest, source);
    hook.expect("it is a hook")
});

fn through(message: &Map) -> Option<Map> {
    match block_on(HOOK.run_pre(message, &ContextData::new())).result {
        RunResult::Returned(out) => Some(out),
        // Too deep for the engine's stack, or too large.
        RunResult::Failed(failure) if failure.is_limit() => None,
        other => panic!("{other:?}"),
    }
}

fuzz_target!(|json: &[u8]| {
    let Ok(message) = serde_json::from_slice::<Map>(json) else {
        return;
    };
    if let Some(once) = through(&message) {
        assert_eq!(once.len(), message.len());
        assert_eq!(through(&once), Some(once.clone()));
    }
});
