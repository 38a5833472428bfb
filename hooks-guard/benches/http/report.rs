//! The section of `docs/performance.md`: measures all its figures and formats them.

use std::fmt::Write as _;
use std::time::Duration;

use crate::console::{Seen, WINDOWS, Windows};
use crate::load::{self, Answered, Pace, Until};
use crate::page::{judged, missed};
use crate::process::{self, Server};
use crate::shared::runtime;
use crate::{crowd, hook, memory, pages, plain};

/// Start of the section; it ends at the next section.
pub(crate) const MARK: &str = "<!-- the permission service -->";

const RATE_TARGET: f64 = 2_000.0;
const P99_TARGET_MS: f64 = 20.0;
const HOOK_TARGET_MS: f64 = 15.0;
/// Latency from which a page counts as slow.
const PAUSE_MS: f64 = 500.0;

const CONNECTIONS: [usize; 5] = [1, 4, 16, 64, 256];
const ROUNDS: usize = 3;
const TURN: Duration = Duration::from_secs(2);
/// Duration of the load at a fixed rate.
pub(crate) const STEADY: Duration = Duration::from_secs(20);
const STEADY_CONNECTIONS: usize = 64;

/// Returns the section. Includes the memory over `decisions`, if given.
pub(crate) fn section(decisions: Option<usize>) -> Result<String, String> {
    let mut misses = Vec::new();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut text = format!(
        "{MARK}\n\n## The permission service\n\n\
         Written by `cargo bench -p hooks-guard --bench http -- write` on {}, with {cores} cores. \
         The daemon runs in a separate process, with its trail in a SQLite file on a disk, \
         `synchronous=FULL`, and no rate limit. One thread of another process on this machine \
         generates the load. Six of ten commands are allowed reads, the others change \
         something.\n",
        jiff::Timestamp::now().strftime("%Y-%m-%d")
    );
    eprintln!("decisions");
    decide(&mut text, &mut misses)?;
    eprintln!("a fixed rate");
    steady(&mut text, &mut misses)?;
    eprintln!("calls of a hook");
    call(&mut text, &mut misses)?;
    eprintln!("a crowd");
    many(&mut text, &mut misses)?;
    if let Some(decisions) = decisions {
        eprintln!("memory");
        remembered(&mut text, decisions)?;
        eprintln!("pages");
        turned(&mut text, &mut misses)?;
    }
    text += &missed(&misses);
    Ok(text)
}

/// Runs a load on a server. Returns the responses, and the CPU time per response in microseconds.
fn turn(server: &Server, connections: usize, time: Duration) -> Result<(Answered, f64), String> {
    let before = server.used()?;
    let run = load::run(server.port, connections, Until::Time(time), Pace::Full);
    let answered = runtime()?.block_on(run);
    let answered = answered.map_err(|error| error.to_string())?;
    let used = server.used()?.saturating_sub(before);
    let each = used.as_secs_f64() * 1e6 / answered.many().max(1) as f64;
    Ok((answered, each))
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

#[derive(Default)]
struct Columns {
    daemon: Vec<f64>,
    p50: Vec<f64>,
    p99: Vec<f64>,
    used: Vec<f64>,
    empty: Vec<f64>,
    empty_p99: Vec<f64>,
    empty_used: Vec<f64>,
    plain: Vec<f64>,
}

fn decide(text: &mut String, misses: &mut Vec<String>) -> Result<(), String> {
    let folder = process::folder()?;
    let daemon = Server::daemon(folder.path())?;
    let empty = Server::empty()?;
    let mut rows = CONNECTIONS.map(|_| Columns::default());
    for _ in 0..ROUNDS {
        for (connections, row) in CONNECTIONS.into_iter().zip(&mut rows) {
            let (answered, used) = turn(&daemon, connections, TURN)?;
            row.daemon.push(answered.per_second());
            row.p50.push(answered.share(0.5));
            row.p99.push(answered.share(0.99));
            row.used.push(used);
            let (answered, used) = turn(&empty, connections, TURN)?;
            row.empty.push(answered.per_second());
            row.empty_p99.push(answered.share(0.99));
            row.empty_used.push(used);
            let run = plain::inserts(folder.path(), connections, TURN);
            let rate = runtime()?.block_on(run);
            row.plain.push(rate.map_err(|error| error.to_string())?);
        }
    }
    let _ = write!(
        text,
        "\nMaximum throughput: each connection sends the next request after each response. For \
         comparison: an axum handler that does nothing, and durable inserts of 400 bytes into a \
         table without an index, with one row per connection in each transaction. Medians of \
         {ROUNDS} runs of {} s.\n\n\
         | Connections | decisions/s | p50, ms | p99, ms | CPU per decision, µs | empty handler, requests/s | p99, ms | CPU per request, µs | rows/s | decisions / rows |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        TURN.as_secs()
    );
    let mut reached = false;
    let mut best = String::new();
    for (connections, row) in CONNECTIONS.into_iter().zip(rows) {
        let (rate, p99) = (median(row.daemon), median(row.p99));
        if rate >= RATE_TARGET && p99 < P99_TARGET_MS {
            reached = true;
        }
        best = format!("{rate:.0}/s with p99 {p99:.1} ms");
        let plain = median(row.plain);
        let _ = writeln!(
            text,
            "| {connections} | {rate:.0} | {:.1} | {p99:.1} | {:.0} | {:.0} | {:.1} | {:.0} | {plain:.0} | {:.2} |",
            median(row.p50),
            median(row.used),
            median(row.empty),
            median(row.empty_p99),
            median(row.empty_used),
            rate / plain,
        );
    }
    if !reached {
        misses.push(format!(
            "no number of connections reaches {RATE_TARGET:.0} decisions/s with p99 under \
             {P99_TARGET_MS:.0} ms; {} connections: {best}",
            CONNECTIONS[CONNECTIONS.len() - 1]
        ));
    }
    Ok(())
}

fn steady(text: &mut String, misses: &mut Vec<String>) -> Result<(), String> {
    let alone = Steady::of(STEADY, false)?;
    let (shown, missed) = (alone.shown(), alone.missed());
    let _ = writeln!(
        text,
        "\nFixed rate of {RATE_TARGET:.0} decisions/s for {} s, independent of the responses, on \
         {STEADY_CONNECTIONS} connections: {shown}.",
        STEADY.as_secs(),
    );
    misses.extend(missed);
    eprintln!("a fixed rate, with the console open");
    let watched = Steady::of(STEADY, true)?;
    let (shown, seen) = (watched.shown(), watched.seen());
    let _ = writeln!(
        text,
        "\nWith {WINDOWS} open windows of the console (inbox, hooks and statistics), which \
         receive events and read what their pages read: {shown}. {seen}",
    );
    let missed = watched.missed();
    misses.extend(missed.map(|missed| format!("with the console open, {missed}")));
    Ok(())
}

/// Result of the load at a fixed rate.
struct Steady {
    answered: Answered,
    /// CPU usage of the daemon, as a share of one core.
    busy: f64,
    /// Observations of console windows, if they were open.
    seen: Option<Seen>,
}

impl Steady {
    fn of(time: Duration, watched: bool) -> Result<Self, String> {
        let folder = process::folder()?;
        let daemon = Server::daemon(folder.path())?;
        let windows = watched.then(|| Windows::open(daemon.port));
        let before = daemon.used()?;
        let run = load::run(
            daemon.port,
            STEADY_CONNECTIONS,
            Until::Time(time),
            Pace::PerSecond(RATE_TARGET as u32),
        );
        let answered = runtime()?.block_on(run);
        let answered = answered.map_err(|error| error.to_string())?;
        let busy = (daemon.used()? - before).as_secs_f64() / time.as_secs_f64();
        Ok(Self {
            answered,
            busy,
            seen: windows.map(Windows::close).transpose()?,
        })
    }

    fn reached(&self) -> bool {
        self.answered.per_second() > 0.98 * RATE_TARGET && self.answered.share(0.99) < P99_TARGET_MS
    }

    fn shown(&self) -> String {
        let answered = &self.answered;
        format!(
            "{:.0} responses/s, p50 {:.1} ms, p99 {} ms (target < {P99_TARGET_MS:.0} ms), maximum \
             {:.1} ms, {:.2} of a core",
            answered.per_second(),
            answered.share(0.5),
            judged(format!("{:.1}", answered.share(0.99)), self.reached()),
            answered.share(1.0),
            self.busy,
        )
    }

    fn seen(&self) -> String {
        let seen = self.seen.unwrap_or_default();
        format!(
            "Each window received {} of {} decisions and {} notices of missed events; the \
             slowest of {} responses to pages took {:.1} ms.",
            seen.events / WINDOWS,
            self.answered.many(),
            seen.missed,
            seen.reads,
            seen.slowest.as_secs_f64() * 1e3,
        )
    }

    fn missed(&self) -> Option<String> {
        (!self.reached()).then(|| {
            format!(
                "{RATE_TARGET:.0} decisions/s: {:.0} responses/s, p99 {:.1} ms",
                self.answered.per_second(),
                self.answered.share(0.99),
            )
        })
    }
}

/// Runs the fixed rate without and with the console open.
pub(crate) fn watched(time: Duration) -> Result<(), String> {
    println!("alone: {}", Steady::of(time, false)?.shown());
    let watched = Steady::of(time, true)?;
    println!("watched: {}. {}", watched.shown(), watched.seen());
    Ok(())
}

fn call(text: &mut String, misses: &mut Vec<String>) -> Result<(), String> {
    let times = hook::times()?;
    let [p50, p99] = [0.5, 0.99].map(|share| hook::share(&times.hook, share));
    let [none, most] = [0.5, 0.99].map(|share| hook::share(&times.nothing, share));
    let reached = p50 < HOOK_TARGET_MS;
    let _ = writeln!(
        text,
        "\nA call of `hooks-guard hook claude-code` without a daemon, including the start of the \
         process and the record on disk: median {} ms (target < {HOOK_TARGET_MS:.0} ms), p99 \
         {p99:.1} ms, over {} calls. `/bin/true`, called alternately: median {none:.1} ms, p99 \
         {most:.1} ms.",
        judged(format!("{p50:.1}"), reached),
        times.hook.len(),
    );
    if !reached {
        misses.push(format!(
            "a call of a hook: {p50:.1} ms instead of {HOOK_TARGET_MS:.0} ms"
        ));
    }
    Ok(())
}

fn many(text: &mut String, misses: &mut Vec<String>) -> Result<(), String> {
    let crowd = crowd::of(crowd::CONNECTIONS)?;
    let became: Vec<String> = crowd
        .became
        .iter()
        .map(|(what, many)| format!("{many} × {what}"))
        .collect();
    let _ = writeln!(
        text,
        "\n{} connections at once, with a request on each: completed within {:.1} s with {}.",
        crowd::CONNECTIONS,
        crowd.whole.as_secs_f64(),
        became.join(", "),
    );
    if !crowd.well {
        misses.push(format!(
            "after {} connections the daemon did not answer",
            crowd::CONNECTIONS
        ));
    }
    Ok(())
}

fn remembered(text: &mut String, decisions: usize) -> Result<(), String> {
    let seen = memory::over(decisions)?;
    let _ = write!(
        text,
        "\nThe memory of the daemon over {decisions} decisions ({:.0} decisions/s, p99 at most {:.1} ms):\n\n| Decisions |",
        seen.per_second, seen.p99
    );
    for (answers, _) in &seen.memory {
        let _ = write!(text, " {answers} |");
    }
    *text += "\n|---|";
    *text += &"---:|".repeat(seen.memory.len());
    *text += "\n| MiB |";
    for (_, memory) in &seen.memory {
        let _ = write!(text, " {:.1} |", *memory as f64 / 1024.0);
    }
    *text += "\n";
    Ok(())
}

fn turned(text: &mut String, misses: &mut Vec<String>) -> Result<(), String> {
    let _ = write!(
        text,
        "\nA trail of {} decisions, read through the daemon like the console: fifty decisions per \
         page, each page by the time of the last decision of the previous page. For text searches, \
         one page at each of several places between the newest and the oldest decision:\n\n\
         | Filter | pages | decisions shown | median, ms | p99, ms | slowest, ms |\n\
         |---|---:|---:|---:|---:|---:|\n",
        pages::DECISIONS
    );
    for read in pages::of(pages::DECISIONS)? {
        let slowest = read.share(1.0);
        let reached = slowest < PAUSE_MS;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.1} | {:.1} | {} |",
            read.what,
            read.pages(),
            read.shown,
            read.share(0.5),
            read.share(0.99),
            judged(format!("{slowest:.1}"), reached),
        );
        if !reached {
            misses.push(format!(
                "the slowest page of {}: {slowest:.1} ms instead of {PAUSE_MS:.0} ms",
                read.what
            ));
        }
    }
    Ok(())
}

/// Runs a load with one number of connections.
pub(crate) fn once(connections: usize, time: Duration) -> Result<(), String> {
    let folder = process::folder()?;
    let daemon = Server::daemon(folder.path())?;
    let (answered, used) = turn(&daemon, connections, time)?;
    println!(
        "{:.0} decisions/s, p50 {:.2} ms, p99 {:.2} ms, {used:.0} µs CPU per decision",
        answered.per_second(),
        answered.share(0.5),
        answered.share(0.99)
    );
    Ok(())
}
