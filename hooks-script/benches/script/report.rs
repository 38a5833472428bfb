//! Writes the section in the page of figures. All its figures are measured when it is written.

use std::fmt::Write as _;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::process::Command;
use std::time::{Duration, Instant};

use futures_executor::block_on;
use hooks_script::measure::{BenchSandbox, Isolated};
use hooks_script::{
    ContextData, Limits, Manifest, RunResult, ScriptEngine, ScriptHook, ScriptStack,
};

use crate::bare::Bare;
use crate::native::Native;
use crate::node::{self, Node};
use crate::page::{judged, missed};
use crate::processor;
use crate::threads;
use crate::time::{Timed, interleaved, median, micros, timed};
use crate::workload::{self, START, WORK, Work};

/// Start of the section; it ends at the start of another section.
pub(crate) const MARK: &str = "<!-- hooks in scripts -->";

/// Targets for a machine on which a run without a sandbox takes [`Work::native`].
const RESET_TARGET: f64 = 6.0;
const REGISTER_TARGET: f64 = 2_000.0;
const STOP_TARGET: f64 = 1_500.0;

pub(crate) fn section() -> Result<String, String> {
    let node = node::version();
    let mut text = introduction(&node);
    let mut misses = Vec::new();
    runs(&mut text, node.is_ok(), &mut misses)?;
    eprintln!("two threads");
    parallel(&mut text, &mut misses);
    eprintln!("registration, ten hooks, deadlines");
    hooks(&mut text, &mut misses);
    eprintln!("first start");
    first_start(&mut text)?;
    text += &missed(&misses);
    Ok(text)
}

fn introduction(node: &Result<String, String>) -> String {
    let node = match node {
        Ok(version) => format!("node is {version}."),
        Err(why) => format!("node is left out: {why}."),
    };
    format!(
        "{MARK}\n\n## Hooks in scripts\n\n\
         Written by `cargo bench -p hooks-script-benches -- write` in one run on {}. *Bare* \
         is the engine in WebAssembly without resets, which programs cannot use; *isolated* resets \
         before each run, on one thread; *worker* is `run_pre`, including the round trip to a worker \
         thread. *Native* is rquickjs 0.14, QuickJS without a sandbox: *warm* in one context, \
         *fresh* in a new context per run, which loads the hook again, like `vm` of node. {node} \
         Each run has a message of 1 KB. Times are medians in microseconds; the contenders run in \
         turns.\n",
        processor::name(),
    )
}

fn runs(text: &mut String, with_node: bool, misses: &mut Vec<String>) -> Result<(), String> {
    let _ = writeln!(
        text,
        "\n| Hook | bare | isolated | ratio | target | worker | native warm | native fresh | node `vm` | fuel, of {} |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        Limits::default().fuel
    );
    let input = workload::input();
    let sandbox = BenchSandbox::new().expect("the engine starts");
    let mut resets = String::new();
    for work in &WORK {
        eprintln!("{}", work.name);
        let hook = register(&engine(1), work);
        let mut isolated = Isolated::new(&sandbox, work.source);
        let fuel = isolated.run(&input);
        let native = Native::new(work.source);
        let parts = parts(&mut isolated, &native, &input);
        let bytes = hook.snapshot_bytes();
        let mut bare = Bare::new(work.source).map_err(|error| format!("{error:#}"))?;
        let mut node = with_node.then(|| Node::start(work)).transpose()?;
        let mut contenders: Vec<Timed<'_>> = vec![
            Box::new(|repeats| bare.timed(&input, repeats)),
            timed(|| {
                black_box(isolated.run(&input));
            }),
            timed(|| run(&hook)),
            timed(|| native.warm(&input)),
            timed(|| native.fresh(&input)),
        ];
        if let Some(node) = &mut node {
            contenders.push(Box::new(|repeats| node.run(repeats)));
        }
        let times = interleaved(&mut contenders);
        let ratio = times[1] / times[0];
        let reached = ratio <= work.target;
        let node = times
            .get(5)
            .map_or("left out".to_owned(), |time| format!("{time:.0}"));
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.1} | {} | ≤ {:.2} | {:.1} | {:.1} | {:.1} | {node} | {fuel} |",
            work.name,
            times[0],
            times[1],
            judged(format!("{ratio:.2}"), reached),
            work.target,
            times[2],
            times[3],
            times[4],
        );
        if !reached {
            misses.push(format!(
                "{}: isolated is {ratio:.2} × bare, not {:.2}",
                work.name, work.target
            ));
        }
        let (reset, target) = (parts.reset, RESET_TARGET * parts.native / work.native);
        let reached = reset <= target;
        let _ = writeln!(
            resets,
            "| {} | {} | ≤ {target:.1} | {:.1} | {:.1} | {} |",
            work.name,
            judged(format!("{reset:.1}"), reached),
            parts.native,
            parts.run,
            bytes / 1024
        );
        if !reached {
            misses.push(format!(
                "{}: the reset takes {reset:.1} µs, not {target:.1}: it restores all memory \
                 that its runs may have written",
                work.name
            ));
        }
    }
    let _ = write!(
        text,
        "\nIf no job is queued, a worker resets its instance after it has sent a result, so the \
         next run of the hook does not wait for the reset. The target is {RESET_TARGET:.0} µs on a machine \
         on which native warm takes {} and {} µs. It is scaled by the time of native warm on this \
         machine, measured in turns with the resets.\n\n\
         | Hook | reset | target | native warm | run after the reset | snapshot, KiB |\n\
         |---|---:|---:|---:|---:|---:|\n{resets}",
        WORK[0].native, WORK[1].native
    );
    Ok(())
}

/// Times in microseconds, measured in turns.
struct Parts {
    /// Reset after a run, without a run.
    reset: f64,
    /// Run after a reset.
    run: f64,
    /// Run without a sandbox.
    native: f64,
}

fn parts(isolated: &mut Isolated, native: &Native, input: &[u8]) -> Parts {
    let time = |work: &mut dyn FnMut()| {
        let began = Instant::now();
        work();
        micros(began.elapsed())
    };
    let [mut resets, mut runs, mut natives] = [const { Vec::new() }; 3];
    for _ in 0..1_000 {
        natives.push(time(&mut || native.warm(input)));
        runs.push(time(&mut || _ = black_box(isolated.run(input))));
        resets.push(time(&mut || isolated.reset()));
    }
    Parts {
        reset: median(resets),
        run: median(runs),
        native: median(natives),
    }
}

fn parallel(text: &mut String, misses: &mut Vec<String>) {
    let sandbox = BenchSandbox::new().expect("the engine starts");
    let sandbox = &sandbox;
    let work = |work: &'static Work| {
        move || {
            let input = workload::input();
            let mut isolated = Isolated::new(sandbox, work.source);
            let run: Box<dyn FnMut()> = Box::new(move || {
                black_box(isolated.run(&input));
            });
            run
        }
    };
    let counting = || {
        let run: Box<dyn FnMut()> = Box::new(|| {
            for number in 0..10_000_u32 {
                black_box(number);
            }
        });
        run
    };
    let (small, large) = (work(&WORK[0]), work(&WORK[1]));
    let scaling = threads::scaling([&small, &large, &counting]);
    let machine = scaling[2];
    // The target is for two whole processors.
    let target = threads::TARGET * (machine / 2.0).min(1.0);
    let _ = write!(
        text,
        "\nThroughput of two threads as a multiple of one (target ≥ {:.1} on a machine that scales \
         to 2, here {target:.2}): ",
        threads::TARGET
    );
    for (work, scaling) in WORK.iter().zip(scaling) {
        let reached = scaling >= target;
        let shown = judged(format!("{scaling:.2}"), reached);
        let _ = write!(text, "{} {shown}, ", work.name);
        if !reached {
            misses.push(format!(
                "two threads, {}: {scaling:.2}, not {target:.2}; an independent loop reached {machine:.2}",
                work.name
            ));
        }
    }
    let _ = writeln!(
        text,
        "a counting loop {machine:.2}, the maximum of the machine."
    );
}

fn hooks(text: &mut String, misses: &mut Vec<String>) {
    let engine = engine(1);
    let mut judge = |what: &str, measured: f64, target: f64, unit: &str| {
        let reached = measured <= target;
        if !reached {
            misses.push(format!(
                "{what}: {measured:.2}{unit}, not {target:.0}{unit}"
            ));
        }
        let shown = judged(format!("{measured:.2}"), reached);
        format!("| {what} | {shown}{unit} | ≤ {target:.0}{unit} |\n")
    };
    *text += "\n| Measurement | value | target |\n|---|---:|---:|\n";
    for work in &WORK {
        let mut times = Vec::new();
        for _ in 0..61 {
            let began = Instant::now();
            register(&engine, work);
            times.push(micros(began.elapsed()));
        }
        let what = format!("registration, {}", work.name);
        *text += &judge(&what, median(times), REGISTER_TARGET, " µs");
    }

    let (one, ten) = (stack(&engine, 1), stack(&engine, 10));
    let mut contenders = [timed(|| run_stack(&one)), timed(|| run_stack(&ten))];
    let times = interleaved(&mut contenders);
    *text += &judge(
        "stack of ten small hooks, × stack of one",
        times[1] / times[0],
        10.0,
        "",
    );

    let mut limits = Limits::default();
    (limits.fuel, limits.wall) = (u64::MAX / 2, Duration::from_millis(10));
    let engine = ScriptEngine::builder().limits(limits.clone()).build();
    let engine = engine.expect("the engine starts");
    for (what, body) in [
        ("endless loop", "for (;;) {}"),
        (
            "endless sorting",
            "const l = Array.from({ length: 5e4 }, (_, i) => i * 7919 % 50021); for (;;) [...l].sort();",
        ),
        (
            "backtracking expression",
            "/^(a+)+$/.test('a'.repeat(40) + 'b'); for (;;) {}",
        ),
    ] {
        let source = format!("export default () => {{ {body} }};");
        let hook = engine.register(manifest(), &source).expect("it is one");
        let late = (0..21)
            .map(|_| {
                let run = block_on(hook.run_pre(&workload::message(), &ContextData::new()));
                micros(run.duration) - micros(limits.wall)
            })
            .collect();
        let what = format!("stop after the timeout, {what}");
        *text += &judge(&what, median(late), STOP_TARGET, " µs");
    }
}

fn first_start(text: &mut String) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut shown = Vec::new();
    for (contender, what) in [("wasm", "engine, hook and first run"), ("native", "native")] {
        let mut times = Vec::new();
        for _ in 0..15 {
            let output = Command::new(&program)
                .args([START, contender])
                .output()
                .map_err(|error| error.to_string())?;
            let said = String::from_utf8_lossy(&output.stdout);
            times.push(
                said.trim()
                    .parse::<f64>()
                    .map_err(|error| format!("{said}: {error}"))?,
            );
        }
        shown.push(format!("{what} {:.2} ms", median(times) / 1000.0));
    }
    let _ = writeln!(
        text,
        "\nFirst start, in a new process: {}.",
        shown.join(", ")
    );
    Ok(())
}

fn engine(workers: usize) -> ScriptEngine {
    let workers = NonZeroUsize::new(workers).expect("at least one");
    let engine = ScriptEngine::builder().workers(workers).build();
    engine.expect("the engine starts")
}

fn manifest() -> Manifest {
    Manifest::new("https://example.org/hook.js", "A hook", []).expect("it has all it needs")
}

fn register(engine: &ScriptEngine, work: &Work) -> ScriptHook {
    let hook = engine.register(manifest(), work.source);
    hook.expect("it can be registered")
}

fn run(hook: &ScriptHook) {
    let run = block_on(hook.run_pre(&workload::message(), &ContextData::new()));
    assert!(matches!(run.result, RunResult::Returned(_)), "{run:?}");
}

fn stack(engine: &ScriptEngine, hooks: usize) -> ScriptStack {
    let stack = ScriptStack::builder().build();
    for number in 0..hooks {
        let source = format!(
            "export default ({{ in: message }}) => ({{ out: {{ ...message, n: {number} }} }});"
        );
        let hook = engine.register(manifest(), &source).expect("it is one");
        stack.insert(format!("hook {number}"), hook);
    }
    stack
}

fn run_stack(stack: &ScriptStack) {
    let done = block_on(stack.run_pre(workload::message(), &ContextData::new()));
    assert!(done.is_ok(), "{done:?}");
}
