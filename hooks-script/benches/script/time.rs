//! Measures contenders in turns, so that other load affects all of them equally.

use std::time::{Duration, Instant};

const ROUNDS: usize = 101;
const ROUND: Duration = Duration::from_millis(5);

/// Runs the contender a number of times and returns microseconds per run.
pub(crate) type Timed<'a> = Box<dyn FnMut(u32) -> f64 + 'a>;

pub(crate) fn timed<'a>(mut run: impl FnMut() + 'a) -> Timed<'a> {
    Box::new(move |repeats| {
        // Warm-up: the previous contender has filled the caches.
        run();
        let began = Instant::now();
        for _ in 0..repeats {
            run();
        }
        micros(began.elapsed()) / f64::from(repeats)
    })
}

/// Returns the median time per run of each contender, in microseconds.
pub(crate) fn interleaved(contenders: &mut [Timed<'_>]) -> Vec<f64> {
    let repeats: Vec<u32> = contenders
        .iter_mut()
        .map(|run| (micros(ROUND) / run(20).max(0.01)) as u32 + 1)
        .collect();
    let mut samples = vec![Vec::with_capacity(ROUNDS); contenders.len()];
    for _ in 0..ROUNDS {
        for ((run, repeats), samples) in contenders.iter_mut().zip(&repeats).zip(&mut samples) {
            samples.push(run(*repeats));
        }
    }
    samples.into_iter().map(median).collect()
}

pub(crate) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
