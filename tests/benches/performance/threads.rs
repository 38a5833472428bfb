//! Two threads that dispatch on one shared set, against one thread.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::cases;
use crate::contenders::BenchSet;
use crate::workload::{PROMPT, block_on};

/// What two threads should get done, as a multiple of one.
pub(crate) const TARGET: f64 = 1.95;

const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(100);

/// What two threads get done, as a multiple of one: the best round of each, because
/// everything else on the machine can only take away.
pub(crate) fn scaling() -> f64 {
    let set = cases::shared();
    let (mut one, mut two) = (0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        one = one.max(throughput(&set, 1));
        two = two.max(throughput(&set, 2));
    }
    two / one
}

/// Dispatches a second, all threads together.
fn throughput(set: &BenchSet<'_>, threads: usize) -> f64 {
    let (ready, over) = (Barrier::new(threads), AtomicBool::new(false));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    ready.wait();
                    let (start, mut done) = (Instant::now(), 0_u64);
                    while !over.load(Ordering::Relaxed) {
                        for _ in 0..100 {
                            let _ = black_box(block_on(set.always(black_box(PROMPT))));
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
