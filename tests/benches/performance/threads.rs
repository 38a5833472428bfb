//! Two threads that dispatch on one shared set, against one thread.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::cases;
use crate::contenders::limit_always;
use crate::workload::{PROMPT, block_on};

/// What two threads should get done, as a multiple of one.
pub(crate) const TARGET: f64 = 1.95;

const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(100);

/// What two threads get done, as a multiple of one.
pub(crate) struct Scaling {
    pub(crate) dispatch: f64,
    /// The same with static calls, which share nothing but the words: what the machine
    /// grants a second thread at the time.
    pub(crate) limit: f64,
}

/// The best round of each, because other work on the machine can only take away.
pub(crate) fn scaling() -> Scaling {
    let (set, words) = cases::shared();
    let dispatch = || {
        let _ = black_box(block_on(set.always(black_box(PROMPT))));
    };
    let limit = || {
        let _ = black_box(block_on(limit_always(&words, black_box(PROMPT))));
    };
    let (mut ours, mut theirs) = ([0.0_f64; 2], [0.0_f64; 2]);
    for _ in 0..ROUNDS {
        for threads in [1, 2] {
            let (ours, theirs) = (&mut ours[threads - 1], &mut theirs[threads - 1]);
            *ours = ours.max(throughput(threads, &dispatch));
            *theirs = theirs.max(throughput(threads, &limit));
        }
    }
    Scaling {
        dispatch: ours[1] / ours[0],
        limit: theirs[1] / theirs[0],
    }
}

/// Dispatches a second, all threads together.
fn throughput(threads: usize, work: &(impl Fn() + Sync)) -> f64 {
    let (ready, over) = (Barrier::new(threads), AtomicBool::new(false));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
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
