//! Scaling from one thread to two, each with its own instance of one sandbox.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const TARGET: f64 = 1.9;

const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(100);

/// Returns the throughput of two threads as a multiple of one, for each kind of work. Takes the
/// best round of each, because other load on the machine can only reduce it.
pub(crate) fn scaling<const N: usize>(
    works: [&(dyn Fn() -> Box<dyn FnMut()> + Sync); N],
) -> [f64; N] {
    let mut best = [[0.0_f64; 2]; N];
    for _ in 0..ROUNDS {
        for threads in [1, 2] {
            for (best, work) in best.iter_mut().zip(works) {
                best[threads - 1] = best[threads - 1].max(throughput(threads, work));
            }
        }
    }
    best.map(|[one, two]| two / one)
}

/// Returns the work per second of all threads together.
fn throughput(threads: usize, work: &(dyn Fn() -> Box<dyn FnMut()> + Sync)) -> f64 {
    let (ready, over) = (Barrier::new(threads), AtomicBool::new(false));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                // Stack of scripts, and as much for the host.
                let builder = thread::Builder::new().stack_size(4 << 20);
                let worker = builder.spawn_scoped(scope, || {
                    let mut work = work();
                    ready.wait();
                    let (start, mut done) = (Instant::now(), 0_u64);
                    while !over.load(Relaxed) {
                        work();
                        done += 1;
                    }
                    done as f64 / start.elapsed().as_secs_f64()
                });
                worker.expect("a thread")
            })
            .collect();
        thread::sleep(ROUND);
        over.store(true, Relaxed);
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker only runs hooks"))
            .sum()
    })
}
