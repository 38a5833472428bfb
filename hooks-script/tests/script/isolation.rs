//! Determinism: one input has one output, on any worker and after any other run.

use std::num::NonZeroUsize;
use std::thread;

use futures_executor::block_on;
use hooks_script::{ContextData, ScriptEngine, ScriptHook};

use crate::support::{body, manifest, message, pre, register};

const HOOK: &str = "
    const words = new Map([['hello', 'goodbye']]);
    let runs = 0;
    export default async function ({ in: message }) {
      runs++;
      await null;
      const text = message.text.replace(/\\w+/g, (word) => words.get(word) ?? word);
      const weak = new WeakMap([[message, 1]]);
      return { out: { text, runs, random: Math.random(), now: Date.now(), weak: weak.get(message),
                      sorted: [...text].sort().join(''), keys: Object.keys({ ...message, z: 1, 2: 1, 1: 1 }) } };
    }";

/// State that other hooks leave between the runs.
const NOISE: &[&str] = &[
    "globalThis.noise = new Array(1000).fill('noise');",
    "throw new Error('noise');",
    "const f = () => f() + 1; f();",
    "const l = []; for (;;) l.push(new Uint8Array(1 << 16).fill(1));",
    "for (;;) {}",
    "globalThis.noise = new Uint8Array(4 << 20).fill(0xa5);",
    "const f = () => { try { f(); } catch {} }; f();",
    "for (let i = 0; i < 60; i++) Promise.reject('noise'); await new Promise(() => {});",
    "Array.prototype.sort = null; Map.prototype.get = () => 'noise'; delete globalThis.Math;",
];

#[test]
fn s_02_s_24_concurrent_runs_have_identical_outputs_and_fuel() {
    let engine = ScriptEngine::builder()
        .workers(NonZeroUsize::new(4).unwrap())
        .build()
        .unwrap();
    let hook = register(&engine, HOOK);
    let noise = register(&engine, &body(NOISE[0]));
    let first = pre(&hook);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..1500 {
                    let run = pre(&hook);
                    assert_eq!(
                        (&run.result, run.fuel, run.memory_bytes),
                        (&first.result, first.fuel, first.memory_bytes)
                    );
                    if round % 100 == 0 {
                        pre(&noise);
                    }
                }
            });
        }
    });
}

#[test]
fn s_24_runs_leave_the_same_memory_on_every_engine_and_worker() {
    let engine = |workers: usize| {
        ScriptEngine::builder()
            .workers(NonZeroUsize::new(workers).unwrap())
            .hash_memory(true)
            .build()
            .unwrap()
    };
    let first = pre(&register(&engine(1), HOOK));
    assert!(first.memory_hash.is_some());
    let shared = engine(3);
    let hook = register(&shared, HOOK);
    let again = shared.register(manifest(), HOOK).unwrap();
    let noise: Vec<_> = NOISE
        .iter()
        .map(|text| register(&shared, &body(text)))
        .collect();
    for noise in &noise {
        pre(noise);
        // Also after a refused hook, and after a cancelled run.
        let refused = shared.register(
            manifest(),
            "globalThis.n = Array(4000).fill('noise'); throw n; export default () => {};",
        );
        assert!(refused.is_err());
        block_on(poll_once(noise));
        for hook in [&hook, &again] {
            let run = pre(hook);
            assert_eq!(
                (&run.result, run.fuel, &run.memory_hash),
                (&first.result, first.fuel, &first.memory_hash)
            );
        }
    }
}

/// Starts a run and drops its future.
async fn poll_once(hook: &ScriptHook) {
    let (message, data) = (message(), ContextData::new());
    let mut run = Box::pin(hook.run_pre(&message, &data));
    let _ = futures_util::poll!(&mut run);
}

/// Processors differ in the bits of NaN, and scripts can read them.
#[test]
fn s_02_every_nan_has_the_same_bits() {
    let source = body(
        "const made = [0 / 0, Math.sqrt(-1), Infinity - Infinity, -NaN, Math.acos(2), parseFloat('x'), 5 % 0];
         const bits = made.map((n) => new BigUint64Array(new Float64Array([n]).buffer)[0].toString(16));
         const short = made.map((n) => new Uint32Array(new Float32Array([n]).buffer)[0].toString(16));
         const view = new DataView(new ArrayBuffer(8));
         view.setBigUint64(0, 0xfff4000000000001n);
         const read = new BigUint64Array(new Float64Array([view.getFloat64(0)]).buffer)[0].toString(16);
         return { out: { bits: [...new Set(bits)], short: [...new Set(short)], read } };",
    );
    let shown = crate::support::out(crate::support::run(&source));
    assert_eq!(
        shown,
        serde_json::json!({"bits": ["7ff8000000000000"], "short": ["7fc00000"], "read": "7ff8000000000000"})
    );
}
