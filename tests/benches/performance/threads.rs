//! Two threads that dispatch on shared values, against one thread.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};

use crate::cases;
use crate::contenders::limit_always;
use crate::events;
use crate::workload::{PROMPT, block_on};

/// Target throughput of two threads, as a multiple of one.
pub(crate) const TARGET: f64 = 1.95;

const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(100);

/// Throughput of two threads, as a multiple of one.
pub(crate) struct Scaling {
    /// Shared values, and the throughput with each.
    pub(crate) shared: Vec<(&'static str, f64)>,
    /// Throughput of static calls, which share only the words: the machine's limit for a second
    /// thread at the time.
    pub(crate) limit: f64,
}

/// Returns the best round of each, because other work on the machine only slows rounds down.
pub(crate) fn scaling() -> Scaling {
    let (set, words) = cases::shared();
    let (registry, phases) = events::shared();
    let dispatch = || {
        let _ = black_box(block_on(set.always(black_box(PROMPT))));
    };
    let limit = || {
        let _ = black_box(block_on(limit_always(&words, black_box(PROMPT))));
    };
    let emit = || emitter(&registry);
    let pre = || {
        || {
            let _ = black_box(block_on(phases.execute_pre(black_box("src/main.rs"))).is_ok());
        }
    };
    let mut best = [[0.0_f64; 2]; 5];
    for _ in 0..ROUNDS {
        for threads in [1, 2] {
            let rounds = [
                throughput(threads, || dispatch),
                throughput(threads, emit),
                while_another_registers(&registry, || throughput(threads, emit)),
                throughput(threads, pre),
                throughput(threads, || limit),
            ];
            for (best, done) in best.iter_mut().zip(rounds) {
                best[threads - 1] = best[threads - 1].max(done);
            }
        }
    }
    let [set, emit, busy, pre, limit] = best.map(|[one, two]| two / one);
    Scaling {
        shared: vec![
            ("a typed set", set),
            ("a registry of events", emit),
            (
                "a registry of events, while a third thread registers and unregisters",
                busy,
            ),
            ("a registry of PRE hooks", pre),
        ],
        limit,
    }
}

/// Returns emissions with the thread's own data.
fn emitter(registry: &HookRegistry) -> impl FnMut() + use<'_> {
    let mut data = Some(events::data());
    move || {
        let given = data.take().expect("every emission gives the data back");
        if let Ok(emission) = block_on(registry.emit(black_box(events::EVENT), given)) {
            data = Some(emission.data);
        }
    }
}

/// Does some work while a further thread registers and unregisters a hook repeatedly; that thread
/// sleeps in between, because the machine has no third processor for it.
fn while_another_registers(registry: &HookRegistry, work: impl FnOnce() -> f64) -> f64 {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let hook = |_: Event<'_>| HookResult::proceed();
                let registration = registry.register("other", hook, RegisterOptions::new());
                registration.unregister();
                thread::sleep(Duration::from_millis(1));
            }
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    })
}

/// Returns the work per second, of all threads together.
fn throughput<W: FnMut()>(threads: usize, work: impl Fn() -> W + Sync) -> f64 {
    let (ready, over) = (Barrier::new(threads), AtomicBool::new(false));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut work = work();
                    ready.wait();
                    let (start, mut done) = (Instant::now(), 0_u64);
                    while !over.load(Ordering::Relaxed) {
                        for _ in 0..100 {
                            work();
                        }
                        done += 100;
                    }
                    done as f64 / start.elapsed().as_secs_f64()
                })
            })
            .collect();
        thread::sleep(ROUND);
        over.store(true, Ordering::Relaxed);
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker only dispatches"))
            .sum()
    })
}
