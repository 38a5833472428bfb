//! Memory of the daemon over very many decisions.

use crate::load::{Pace, Until};
use crate::process::{self, Server};
use crate::shared::runtime;

pub(crate) const DECISIONS: usize = 1_000_000;
/// Number of samples.
const STEPS: usize = 10;
const CONNECTIONS: usize = 64;

/// Result of the benchmark.
pub(crate) struct Seen {
    /// Memory in KiB by number of decisions.
    pub(crate) memory: Vec<(usize, u64)>,
    /// Decisions per second over the whole run.
    pub(crate) per_second: f64,
    /// p99 latency in the slowest step, in milliseconds.
    pub(crate) p99: f64,
}

pub(crate) fn over(decisions: usize) -> Result<Seen, String> {
    let folder = process::folder()?;
    let daemon = Server::daemon(folder.path())?;
    let runtime = runtime()?;
    let mut memory = Vec::new();
    let (mut answers, mut seconds, mut p99) = (0, 0.0, 0.0_f64);
    for _ in 0..STEPS {
        let until = Until::Answers(decisions.div_ceil(STEPS));
        let run = crate::load::run(daemon.port, CONNECTIONS, until, Pace::Full);
        let answered = runtime.block_on(run).map_err(|error| error.to_string())?;
        answers += answered.many();
        seconds += answered.many() as f64 / answered.per_second();
        p99 = p99.max(answered.share(0.99));
        memory.push((answers, daemon.memory()?));
        eprintln!(
            "{answers} decisions: {} KiB, {:.0} a second, p99 {:.1} ms",
            daemon.memory()?,
            answered.per_second(),
            answered.share(0.99)
        );
    }
    Ok(Seen {
        memory,
        per_second: answers as f64 / seconds,
        p99,
    })
}

pub(crate) fn shown(decisions: usize) -> Result<(), String> {
    let seen = over(decisions)?;
    println!(
        "{:.0} decisions/s, p99 at most {:.1} ms",
        seen.per_second, seen.p99
    );
    Ok(())
}
