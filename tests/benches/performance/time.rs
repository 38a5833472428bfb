//! Times contenders in turns, so that a busy machine affects all of them.

use std::time::Instant;

use crate::cases::Run;

const ROUNDS: usize = 61;
const ROUND_NANOS: f64 = 400_000.0;

/// The median time of one run of each contender, in nanoseconds.
pub(crate) fn interleaved<const N: usize>(mut contenders: [&mut Run; N]) -> [f64; N] {
    let repeats = contenders.each_mut().map(|run| {
        let once = time(run, 1000).max(1.0);
        (ROUND_NANOS / once) as u32 + 1
    });
    let mut samples = contenders.each_ref().map(|_| Vec::with_capacity(ROUNDS));
    for _ in 0..ROUNDS {
        for (at, run) in contenders.iter_mut().enumerate() {
            samples[at].push(time(run, repeats[at]));
        }
    }
    samples.map(|mut samples| {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    })
}

fn time(run: &mut Run, repeats: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..repeats {
        run();
    }
    start.elapsed().as_nanos() as f64 / f64::from(repeats)
}
