//! Benchmarks of the audit trail: durable inserts compared with plain ones, filters, searches,
//! statistics.
//!
//! With `-- write` it replaces its section of `docs/performance.md` by the results.
//!
//! `HOOKS_AUDIT_ROWS` sets the number of decisions (default: 20 000), `HOOKS_AUDIT_DIR` the folder
//! (default: a temporary folder). A file of an earlier run in that folder is reused.

mod fill;
#[path = "../../../tests/benches/page.rs"]
mod page;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

use futures_util::stream::{self, StreamExt};
use hooks_guard::audit::{AuditStore, Filter, Page, Period, UserResponse};
use hooks_guard::classify::{Crud, Decision};
use jiff::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};

/// Number of measurements of each read; the median is reported.
const TIMES: usize = 5;

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
            if arguments.iter().any(|argument| argument == "write") {
                page::write(Some(MARK), &section(rows, &rates, &reads)).expect("written");
            }
        });
}

fn section(rows: i64, rates: &[(String, f64)], reads: &[Read]) -> String {
    let mut text = format!(
        "{MARK}\n\n## The audit trail\n\n\
         Written by `HOOKS_AUDIT_ROWS={rows} cargo bench -p hooks-guard --bench audit -- write` on \
         {}, with {} cores, in one process: a SQLite file on a disk, `synchronous=FULL`.\n\n\
         | Durable records | a second | × plain |\n|---|---:|---:|\n",
        Timestamp::now().strftime("%Y-%m-%d"),
        std::thread::available_parallelism().map_or(1, usize::from),
    );
    let plain = rates.first().map_or(f64::NAN, |(_, rate)| *rate);
    for (what, rate) in rates {
        let _ = writeln!(text, "| {what} | {rate:.0} | {:.2} |", rate / plain);
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
    text += &page::missed(&misses);
    text
}

async fn inserts(folder: &Path) -> Vec<(String, f64)> {
    let mut rates = Vec::new();
    println!("{:<58}{:>12}", "durable inserts", "per second");
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
    let text = "x".repeat(400);
    let many = 2000;
    let started = Instant::now();
    for _ in 0..many {
        sqlx::query("INSERT INTO plain (text) VALUES ($1)")
            .bind(&text)
            .execute(&mut connection)
            .await
            .expect("inserted");
    }
    rates.push(rate("plain SQLite, one at a time", many, started));
    connection.close().await.expect("closed");
    fs::remove_file(&plain).expect("removed");

    for together in [1, 16, 64, 256] {
        let path = folder.join("inserts.db");
        let trail = AuditStore::open(&path.display().to_string())
            .await
            .expect("a trail");
        let many = match together {
            1 => 2000,
            _ => 20_000,
        };
        let started = Instant::now();
        stream::iter(0..many)
            .for_each_concurrent(together, |n| {
                let trail = &trail;
                async move {
                    trail
                        .record(fill::decision(n, many))
                        .await
                        .expect("recorded");
                }
            })
            .await;
        let what = format!("the trail, {together} at a time");
        rates.push(rate(&what, many, started));
        trail.close().await;
        fs::remove_file(&path).expect("removed");
    }
    rates
}

fn rate(what: &str, many: i64, started: Instant) -> (String, f64) {
    let rate = many as f64 / started.elapsed().as_secs_f64();
    println!("  {what:<56}{rate:>12.0}");
    (what.to_owned(), rate)
}

async fn reads(folder: &Path, rows: i64) -> Vec<Read> {
    let mut reads = Vec::new();
    let path = folder.join(format!("trail-{rows}.db"));
    let trail = AuditStore::open(&path.display().to_string())
        .await
        .expect("a trail");
    let there = trail.totals().await.expect("counted").total_decisions;
    let there = i64::try_from(there).expect("fewer");
    let started = Instant::now();
    if there < rows {
        fill::record(&trail, there..rows, rows).await;
        rate("filling, with answers", rows - there, started);
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
    let started = Instant::now();
    let found = trail.verify().await.expect("a walk");
    assert!(found.is_intact(), "{found:?}");
    let times = vec![started.elapsed()];
    reads.push(show("the whole chain verified", found.entries, times, None));
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
