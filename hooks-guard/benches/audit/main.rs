//! Benchmarks of the audit trail: durable inserts compared with plain ones, filters, searches,
//! statistics.
//!
//! With `-- write` it replaces its section of `docs/performance.md` by the results.
//!
//! `HOOKS_AUDIT_ROWS` sets the number of decisions (default: 20 000), `HOOKS_AUDIT_DIR` the folder
//! (default: a temporary folder). A file of an earlier run in that folder is reused. `HOOKS_AUDIT_BEFORE`
//! is the program of an earlier version, whose `audit verify` is measured beside the current one.

mod fill;
#[path = "../../../tests/benches/page.rs"]
mod page;

use std::fmt::Write as _;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

use futures_util::stream::{self, StreamExt};
use hooks_guard::audit::{AuditStore, Filter, Page, Period, UserResponse};
use hooks_guard::classify::{Crud, Decision};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};

/// Number of measurements of each read; the median is reported.
const TIMES: usize = 5;

/// Rates on 2026-11-22, when each statement of a record was sent to the thread of the connection
/// alone: plain SQLite, and the trail with 1, 16, 64 and 256 records at a time, × plain.
const RATIOS_BEFORE: [f64; 5] = [1.0, 0.68, 4.35, 9.51, 15.51];

/// Number of turns in which plain inserts and the trail are compared, and of records in each.
const TURNS: i64 = 20;
const RECORDS_PER_TURN: i64 = 100;

/// Start of the section in `docs/performance.md`; it ends at the next section.
const MARK: &str = "<!-- the audit trail -->";

const FILTER_TARGET_MS: f64 = 50.0;
const TEXT_TARGET_MS: f64 = 500.0;

/// Result of a read benchmark.
struct Read {
    what: String,
    found: u64,
    ms: f64,
    target_ms: Option<f64>,
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--test") {
        // `cargo test --benches` only checks that the bench starts.
        return;
    }
    let rows = env::var("HOOKS_AUDIT_ROWS")
        .ok()
        .and_then(|rows| rows.parse().ok())
        .unwrap_or(20_000);
    let temporary = tempfile::tempdir().expect("a folder");
    let folder =
        env::var_os("HOOKS_AUDIT_DIR").map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(async {
            let rates = inserts(&folder).await;
            let reads = reads(&folder, rows).await;
            let walks = walks(&trail_path(&folder, rows)).await;
            if arguments.iter().any(|argument| argument == "write") {
                let section = section(rows, &rates, &reads, &walks);
                page::write(Some(MARK), &section).expect("written");
            }
        });
}

fn section(rows: i64, rates: &[(String, f64)], reads: &[Read], walks: &[Walk]) -> String {
    let mut text = format!(
        "{MARK}\n\n## The audit trail\n\n\
         Written by `HOOKS_AUDIT_ROWS={rows} cargo bench -p hooks-guard --bench audit -- write` on \
         {}, with {} cores, in one process: a SQLite file on a disk, `synchronous=FULL`.\n\n\
         | Durable records | a second | × plain | × plain on 2026-11-22 |\n|---|---:|---:|---:|\n",
        Timestamp::now().strftime("%Y-%m-%d"),
        std::thread::available_parallelism().map_or(1, usize::from),
    );
    let plain = rates.first().map_or(f64::NAN, |(_, rate)| *rate);
    for ((what, rate), before) in rates.iter().zip(RATIOS_BEFORE) {
        let ratio = rate / plain;
        let _ = writeln!(text, "| {what} | {rate:.0} | {ratio:.2} | {before:.2} |");
    }
    let _ = write!(
        text,
        "\nOver {rows} decisions of ninety days, the first page of fifty with the number of all, \
         median of {TIMES}:\n\n| Filter | found | ms | target |\n|---|---:|---:|---:|\n"
    );
    let mut misses = Vec::new();
    for Read {
        what,
        found,
        ms,
        target_ms,
    } in reads
    {
        let reached = target_ms.is_none_or(|target| *ms < target);
        let target = target_ms.map_or("–".to_owned(), |target| format!("< {target:.0}"));
        let shown = page::judged(format!("{ms:.1}"), reached);
        let _ = writeln!(text, "| {what} | {found} | {shown} | {target} |");
        if !reached {
            misses.push(format!("{what}: {ms:.1} ms, not {target}"));
        }
    }
    text += "\nThe whole chain verified. The file is hashed with SHA-256 on one thread for comparison:\n\n\
             | Verification | s | processor s | entries a second | × hash of the file |\n\
             |---|---:|---:|---:|---:|\n";
    let hash = walks.last().map_or(f64::NAN, |walk| walk.seconds);
    for Walk {
        what,
        entries,
        seconds,
        processor_seconds,
    } in walks
    {
        let rate = entries.map_or("–".to_owned(), |entries| {
            format!("{:.0}", entries as f64 / seconds)
        });
        let ratio = seconds / hash;
        let _ = writeln!(
            text,
            "| {what} | {seconds:.1} | {processor_seconds:.1} | {rate} | {ratio:.2} |"
        );
    }
    text += &page::missed(&misses);
    text
}

/// Result of reading the whole trail once.
struct Walk {
    what: &'static str,
    /// Number of entries; `None` if only the bytes were read.
    entries: Option<u64>,
    seconds: f64,
    processor_seconds: f64,
}

/// Measures the verification of a trail by an earlier version, if there is one, and by this version,
/// and the hash of its file.
async fn walks(path: &Path) -> Vec<Walk> {
    // All read the file from memory, if it fits.
    let _ = hash(path);
    let trail = AuditStore::open_read_only(&path.display().to_string()).await;
    let trail = trail.expect("a trail");
    let entries = trail.head().await.expect("a head").count;
    let mut walks = Vec::new();
    if let Some(before) = env::var_os("HOOKS_AUDIT_BEFORE") {
        walks.push(
            walk("an earlier version", Some(entries), async || {
                let done = Command::new(before)
                    .args(["audit", "verify", "--database"])
                    .arg(path)
                    .output();
                assert!(done.expect("it runs").status.success());
            })
            .await,
        );
    }
    walks.push(
        walk("this version", Some(entries), async || {
            let found = trail.verify().await.expect("a walk");
            assert!(found.is_intact(), "{found:?}");
        })
        .await,
    );
    trail.close().await;
    walks.push(
        walk("SHA-256 of the file", None, async || {
            let _ = hash(path);
        })
        .await,
    );
    walks
}

async fn walk(what: &'static str, entries: Option<u64>, work: impl AsyncFnOnce()) -> Walk {
    let processor = processor_seconds();
    let started = Instant::now();
    work().await;
    let seconds = started.elapsed().as_secs_f64();
    let processor_seconds = processor_seconds() - processor;
    println!("  {what:<44}{seconds:>12.2}{processor_seconds:>12.2}");
    Walk {
        what,
        entries,
        seconds,
        processor_seconds,
    }
}

fn hash(path: &Path) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut file = fs::File::open(path).expect("a file");
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).expect("read") {
            0 => return hash.finalize().into(),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// Returns the processor time of this process and of its ended children; 0 on systems other than
/// Linux.
fn processor_seconds() -> f64 {
    /// Ticks of a second in `/proc`.
    const TICKS: f64 = 100.0;
    let Ok(stat) = fs::read_to_string("/proc/self/stat") else {
        return 0.0;
    };
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let times = fields.split_whitespace().skip(11).take(4);
    times
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / TICKS
}

async fn inserts(folder: &Path) -> Vec<(String, f64)> {
    println!("{:<58}{:>12}", "durable inserts", "per second");
    let mut rates = one_at_a_time(folder).await;
    for together in [16, 64, 256] {
        let (trail, path) = new_trail(folder).await;
        let many = 20_000;
        let started = Instant::now();
        record(&trail, 0..many, many, together).await;
        let what = format!("the trail, {together} at a time");
        rates.push(rate(&what, many, started.elapsed()));
        trail.close().await;
        fs::remove_file(&path).expect("removed");
    }
    rates
}

/// Compares plain inserts with the trail, both one at a time. Other programs slow the disk down for
/// seconds, so the two take turns.
async fn one_at_a_time(folder: &Path) -> Vec<(String, f64)> {
    let plain = folder.join("plain.db");
    let mut connection = SqliteConnectOptions::new()
        .filename(&plain)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .connect()
        .await
        .expect("a connection");
    sqlx::query("CREATE TABLE IF NOT EXISTS plain (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        .execute(&mut connection)
        .await
        .expect("a table");
    let (trail, path) = new_trail(folder).await;
    let text = "x".repeat(400);
    let (mut by_plain, mut by_trail) = (Duration::ZERO, Duration::ZERO);
    for turn in 0..TURNS {
        let started = Instant::now();
        for _ in 0..RECORDS_PER_TURN {
            sqlx::query("INSERT INTO plain (text) VALUES ($1)")
                .bind(&text)
                .execute(&mut connection)
                .await
                .expect("inserted");
        }
        by_plain += started.elapsed();
        let started = Instant::now();
        let first = turn * RECORDS_PER_TURN;
        let numbers = first..first + RECORDS_PER_TURN;
        record(&trail, numbers, TURNS * RECORDS_PER_TURN, 1).await;
        by_trail += started.elapsed();
    }
    connection.close().await.expect("closed");
    trail.close().await;
    fs::remove_file(&plain).expect("removed");
    fs::remove_file(&path).expect("removed");
    let many = TURNS * RECORDS_PER_TURN;
    vec![
        rate("plain SQLite, one at a time", many, by_plain),
        rate("the trail, 1 at a time", many, by_trail),
    ]
}

async fn new_trail(folder: &Path) -> (AuditStore, PathBuf) {
    let path = folder.join("inserts.db");
    let trail = AuditStore::open(&path.display().to_string()).await;
    (trail.expect("a trail"), path)
}

/// Records the decisions with these numbers out of `many`, at most `together` at a time.
async fn record(trail: &AuditStore, numbers: Range<i64>, many: i64, together: usize) {
    stream::iter(numbers)
        .for_each_concurrent(together, |n| async move {
            let new = fill::decision(n, many);
            trail.record(new).await.expect("recorded");
        })
        .await;
}

fn rate(what: &str, many: i64, time: Duration) -> (String, f64) {
    let rate = many as f64 / time.as_secs_f64();
    println!("  {what:<56}{rate:>12.0}");
    (what.to_owned(), rate)
}

fn trail_path(folder: &Path, rows: i64) -> PathBuf {
    folder.join(format!("trail-{rows}.db"))
}

async fn reads(folder: &Path, rows: i64) -> Vec<Read> {
    let mut reads = Vec::new();
    let path = trail_path(folder, rows);
    let trail = AuditStore::open(&path.display().to_string())
        .await
        .expect("a trail");
    let there = trail.totals().await.expect("counted").total_decisions;
    let there = i64::try_from(there).expect("fewer");
    let started = Instant::now();
    if there < rows {
        fill::record(&trail, there..rows, rows).await;
        rate("filling, with answers", rows - there, started.elapsed());
    }
    println!(
        "{:<46}{:>12}{:>12}",
        format!("over {rows} decisions"),
        "found",
        "ms"
    );
    let now = Timestamp::now();
    let days = |days: i64| Some(now - jiff::SignedDuration::from_hours(24 * days));
    let text = |text: &str| Filter {
        command: Some(text.to_owned()),
        ..Filter::default()
    };
    let first = Page::default();
    let deep = Page {
        limit: 50,
        offset: 100_000,
    };
    let filters = [
        ("everything", Filter::default(), first),
        ("everything, page 2001", Filter::default(), deep),
        (
            "class",
            Filter {
                classification: Some(Crud::Delete),
                ..Filter::default()
            },
            first,
        ),
        (
            "response",
            Filter {
                response: Some(UserResponse::Denied),
                ..Filter::default()
            },
            first,
        ),
        (
            "class and response",
            Filter {
                classification: Some(Crud::Update),
                response: Some(UserResponse::Approved),
                ..Filter::default()
            },
            first,
        ),
        (
            "class and response that never occur together",
            Filter {
                classification: Some(Crud::Read),
                response: Some(UserResponse::Denied),
                ..Filter::default()
            },
            first,
        ),
        (
            "decision",
            Filter {
                decision: Some(Decision::AutoAllowed),
                ..Filter::default()
            },
            first,
        ),
        (
            "the last hour",
            Filter {
                since: Some(now - jiff::SignedDuration::from_hours(1)),
                ..Filter::default()
            },
            first,
        ),
        (
            "ten days long ago",
            Filter {
                since: days(60),
                until: days(50),
                ..Filter::default()
            },
            first,
        ),
        (
            "ten days long ago, class and response",
            Filter {
                since: days(60),
                until: days(50),
                classification: Some(Crud::Delete),
                response: Some(UserResponse::Approved),
                ..Filter::default()
            },
            first,
        ),
        (
            "agent",
            Filter {
                agent: Some("codex".to_owned()),
                ..Filter::default()
            },
            first,
        ),
        (
            "agent and class",
            Filter {
                agent: Some("codex".to_owned()),
                classification: Some(Crud::Delete),
                ..Filter::default()
            },
            first,
        ),
        (
            "session",
            Filter {
                session_id: Some("session-7".to_owned()),
                ..Filter::default()
            },
            first,
        ),
        ("text: `git`", text("git"), first),
        ("text: `number 4711`", text("Number 4711"), first),
        ("text: `é`", text("é"), first),
        ("text: `zebra`", text("zebra"), first),
        (
            "text and class and response",
            Filter {
                classification: Some(Crud::Update),
                response: Some(UserResponse::Approved),
                ..text("11'")
            },
            first,
        ),
        (
            "text and agent",
            Filter {
                agent: Some("codex".to_owned()),
                ..text("zebra")
            },
            first,
        ),
        (
            "text that most have, and agent",
            Filter {
                agent: Some("codex".to_owned()),
                ..text("git")
            },
            first,
        ),
    ];
    for (what, filter, page) in filters {
        let mut total = 0;
        let mut times = Vec::new();
        for _ in 0..TIMES {
            let started = Instant::now();
            total = trail.decisions(&filter, page).await.expect("found").total;
            times.push(started.elapsed());
        }
        let target_ms = match filter.command {
            Some(_) => TEXT_TARGET_MS,
            None => FILTER_TARGET_MS,
        };
        reads.push(show(what, total, times, Some(target_ms)));
    }
    for (what, period) in [
        ("statistics of all time", Period::default()),
        (
            "statistics of ten days",
            Period {
                since: days(60),
                until: days(50),
            },
        ),
    ] {
        let mut total = 0;
        let mut times = Vec::new();
        for _ in 0..TIMES {
            let started = Instant::now();
            total = trail.stats(&period).await.expect("counted").total_decisions;
            times.push(started.elapsed());
        }
        reads.push(show(what, total, times, None));
    }
    trail.close().await;
    reads
}

fn show(what: &str, found: u64, mut times: Vec<Duration>, target_ms: Option<f64>) -> Read {
    times.sort_unstable();
    let ms = times[times.len() / 2].as_secs_f64() * 1000.0;
    println!("  {what:<44}{found:>12}{ms:>12.1}");
    Read {
        what: what.to_owned(),
        found,
        ms,
        target_ms,
    }
}
