//! Tests of the verification in segments: it finds what the verification without segments finds.

use std::cell::Cell;
use std::env;
use std::process::Command;

use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sha2::{Digest, Sha256};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};

use super::{Segmentation, Verification, verify_in_segments};
use crate::audit::backend::Backend;
use crate::audit::chain;
use crate::audit::database::OpenMode;
use crate::audit::decide;
use crate::audit::error::AuditError;
use crate::audit::head::Head;
use crate::audit::record::{Execution, NewAnswer, NewDecision, UserResponse};
use crate::audit::remembered::NewRemembered;
use crate::audit::segments;
use crate::audit::store::AuditStore;
use crate::audit::walk::{ChainHead, ChainWalk};
use crate::classify::{Crud, Decision};
use crate::request::PermissionRequest;

/// Tables of a trail, each with its key.
const TABLES: [(&str, &str); 10] = [
    ("log", "seq"),
    ("decisions", "id"),
    ("searched", "at, id"),
    ("head", "one"),
    ("gaps", "first"),
    ("used", "decision"),
    ("cleanups", "seq"),
    ("remembered", "id"),
    ("tallies", "unit, start, class, requires, response, agent"),
    ("times", "unit, start, ms"),
];

/// Number of decisions for which allocations are counted.
const DECISIONS: i64 = 2000;

fn minute(minute: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minute)
}

/// Returns one of several kinds of decisions.
fn decision(n: i64) -> NewDecision {
    let command = match n % 3 {
        0 => format!("rm {n}"),
        1 => format!("LS Dir-{n}"),
        _ => format!("echo Größe-{n}"),
    };
    let mut request = PermissionRequest::new(command);
    request.agent = match n % 4 {
        0 => None,
        1 => Some("NUL \0, \"quoted\" \\ Größe".to_owned()),
        _ => Some("codex".to_owned()),
    };
    let mut new = NewDecision::sample(request);
    new.permission.timestamp = minute(n * 17);
    new.permission.classification = [Crud::Read, Crud::Delete][usize::from(n % 2 == 0)];
    if n % 2 == 0 {
        new.permission.decision = Decision::RequiresConfirmation;
    }
    new.permission.denied = n % 10 == 0;
    new.permission.confidence = 0.7 + (n % 4) as f64 / 10.0;
    new.secret_hash = Some(Sha256::digest("secret").into());
    new
}

/// Records the decisions of a trail with every kind of entry; the more decisions, the more kinds.
async fn fill(trail: &AuditStore, decisions: i64) {
    let answer = |n: i64| NewAnswer {
        response: [UserResponse::Approved, UserResponse::Denied][usize::from(n % 3 == 0)],
        by: "console".to_owned(),
        note: (n % 2 == 0).then(|| "looked at".to_owned()),
        at: minute(n * 17 + 5),
    };
    let ids = join_all((1..=decisions).map(|n| trail.record(decision(n)))).await;
    let ids: Vec<i64> = ids.into_iter().map(|id| id.expect("recorded")).collect();
    join_all(ids.iter().map(async |&id| {
        match id % 6 {
            0 => drop(trail.answer(id, answer(id)).await.expect("answered")),
            2 => drop(
                trail
                    .answer_and_use(id, "secret", answer(1))
                    .await
                    .expect("used"),
            ),
            3 | 4 => {
                let at = minute(id * 17 + 9);
                let ran = Execution {
                    exit_status: Some(1),
                    at,
                };
                drop(
                    trail
                        .record_execution(id, "secret", ran)
                        .await
                        .expect("reported"),
                );
            }
            _ => {}
        }
    }))
    .await;
    for n in 0..decisions / 8 {
        let new = NewRemembered {
            command_hash: [1; 32],
            command: "make".to_owned(),
            cwd: None,
            session_id: Some("s".to_owned()),
            agent: None,
            by: "console".to_owned(),
            at: minute(n),
            scope: None,
        };
        let remembered = trail.remember(new).await.expect("remembered");
        if n % 2 == 0 {
            trail
                .revoke(remembered.id, "console")
                .await
                .expect("revoked");
        }
        if n % 3 == 1 {
            trail
                .cleanup(minute(n * 34), "cron")
                .await
                .expect("cleaned");
        }
    }
}

/// A change of the database by hand.
#[derive(Clone, Debug)]
struct Change {
    table: usize,
    row: usize,
    column: usize,
    kind: usize,
}

fn change() -> impl Strategy<Value = Change> {
    // Most changes concern the tables with the most rows.
    let table = prop_oneof![3 => 0..3_usize, 2 => 3..TABLES.len()];
    (table, 0..200_usize, 0..40_usize, 0..9_usize).prop_map(|(table, row, column, kind)| Change {
        table,
        row,
        column,
        kind,
    })
}

impl Change {
    /// Applies the change, unless the schema forbids it or the table is empty.
    async fn apply(&self, database: &mut SqliteConnection) {
        let (table, key) = TABLES[self.table];
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM {table}")))
            .fetch_one(&mut *database)
            .await
            .expect("a count");
        let columns: Vec<(String, String)> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT name, type FROM pragma_table_info('{table}')"
        )))
        .fetch_all(&mut *database)
        .await
        .expect("columns");
        let row = self.row as i64 % rows.max(1);
        let (column, kind) = &columns[self.column % columns.len()];
        let values: &[&str] = match kind.as_str() {
            "INTEGER" => &["NULL", "0", "{} + 1", "{} - 1", "-{}", "{} + 1000"],
            "TEXT" => &[
                "NULL",
                "''",
                "upper({})",
                "{} || 'x'",
                "CAST(x'ff' AS TEXT)",
                "'a' || {}",
            ],
            "REAL" => &["0.0", "{} / 2"],
            _ => &["NULL", "zeroblob(32)", "x'00'", "zeroblob(31)"],
        };
        let this = format!("({key}) = (SELECT {key} FROM {table} LIMIT 1 OFFSET {row})");
        let sql = match self.kind {
            0 => format!("DELETE FROM {table} WHERE {this}"),
            1 => format!(
                "UPDATE OR IGNORE {table} SET {column} =
                    (SELECT {column} FROM {table} LIMIT 1 OFFSET {}) WHERE {this}",
                (row + 1) % rows.max(1)
            ),
            2 => "INSERT OR IGNORE INTO log SELECT (SELECT max(seq) + 1 FROM log), kind, subject, hash
                    FROM log LIMIT 1"
                .to_owned(),
            3 => format!(
                "INSERT OR IGNORE INTO gaps SELECT seq, seq, hash FROM log LIMIT 1 OFFSET {row}"
            ),
            kind => {
                let value = values[(kind + self.row) % values.len()].replace("{}", column);
                format!("UPDATE OR IGNORE {table} SET {column} = {value} WHERE {this}")
            }
        };
        // An error means that the schema forbids the value.
        let _ = sqlx::query(AssertSqlSafe(sql)).execute(database).await;
    }
}

async fn open(path: &str) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    options.connect().await.expect("a connection")
}

/// Returns the result in comparable form.
fn shown(result: Result<Verification, AuditError>) -> Result<Verification, String> {
    result.map_err(|error| error.to_string())
}

/// Compares the verification in segments with the one without. Returns it.
async fn compare(
    path: &str,
    noted: &[ChainHead],
    segmentation: Segmentation,
) -> Result<Result<Verification, String>, TestCaseError> {
    let backend = Backend::open(path, OpenMode::Unchecked).await;
    let backend = backend.expect("it opens");
    let whole = Segmentation {
        threads: 0,
        ..segmentation
    };
    let expected = shown(verify_in_segments(&backend, noted, whole).await);
    let found = shown(verify_in_segments(&backend, noted, segmentation).await);
    backend.close().await;
    prop_assert_eq!(&found, &expected, "{:?}", segmentation);
    Ok(found)
}

/// Returns heads to compare: valid ones, one of another trail, and one after the end.
async fn noted_heads(path: &str) -> Vec<ChainHead> {
    let mut database = open(path).await;
    let rows: Vec<(i64, Vec<u8>)> = sqlx::query_as("SELECT seq, hash FROM log WHERE seq % 5 < 2")
        .fetch_all(&mut database)
        .await
        .expect("entries");
    database.close().await.expect("closed");
    let mut heads: Vec<ChainHead> = rows
        .into_iter()
        .map(|(seq, hash)| ChainHead {
            count: seq.unsigned_abs(),
            hash: match seq % 11 {
                0 => [9; 32],
                _ => hash.try_into().expect("a hash"),
            },
        })
        .collect();
    for count in [0, 1, 2, 3, 1_000_000] {
        let hash = [0; 32];
        heads.push(ChainHead { count, hash });
    }
    heads
}

#[test]
fn segments_find_what_the_whole_walk_finds() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let (compared, intact) = (Cell::new(0), Cell::new(0));
    let cases = (Config::default().cases / 16).max(1);
    let mut runner = TestRunner::new(Config {
        cases,
        ..Config::default()
    });
    let trails = (
        0..60_i64,
        prop::collection::vec((change(), 1..14_i64, 1..4_usize), 12),
    );
    let result = runner.run(&trails, |(decisions, changes)| {
        runtime.block_on(async {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("trail.db").display().to_string();
            let trail = AuditStore::open(&path).await.expect("a trail");
            fill(&trail, decisions).await;
            trail.close().await;
            let noted = noted_heads(&path).await;
            for (change, entries, threads) in changes {
                let segmentation = Segmentation { entries, threads };
                let found = compare(&path, &noted, segmentation).await?;
                prop_assert!(found.is_ok_and(|found| found.has_whole_entries));
                let copy = folder.path().join("copy.db").display().to_string();
                std::fs::copy(&path, &copy).expect("a copy");
                let mut by_hand = open(&copy).await;
                change.apply(&mut by_hand).await;
                by_hand.close().await.expect("closed");
                let found = compare(&copy, &noted, segmentation).await?;
                compared.set(compared.get() + 1);
                let is_intact = found.is_ok_and(|found| found.has_whole_entries);
                intact.set(intact.get() + usize::from(is_intact));
                std::fs::remove_file(&copy).expect("removed");
            }
            Ok(())
        })
    });
    result.expect("equal results");
    let (compared, intact) = (compared.get(), intact.get());
    assert!(intact < compared / 2, "{intact} of {compared} are intact");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn segments_cover_an_intact_trail_up_to_its_head() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trail.db").display().to_string();
    let trail = AuditStore::open(&path).await.expect("a trail");
    fill(&trail, 60).await;
    let backend = &trail.inner.backend;
    let mut tx = backend.read_unchecked().await.expect("a transaction");
    let head = Head::read(&mut tx).await.expect("a head");
    let gaps = chain::gaps(&mut tx).await.expect("gaps");
    assert!(!gaps.is_empty(), "no cleanup");
    for (entries, threads) in [(1, 1), (7, 2), (1000, 3)] {
        let segmentation = Segmentation { entries, threads };
        let readers = segmentation.readers(backend.database(), &mut tx).await;
        let readers = readers.expect("opened").expect("no other writer");
        assert_eq!(readers.len(), threads + 1);
        let walk = segments::walk(ChainWalk::default(), &gaps, readers, entries).await;
        let end = walk.expect("a walk").end();
        assert_eq!((end.seq, end.hash), (head.seq, head.hash));
    }
    drop(tx);
    trail.close().await;
}

/// Exchanges the ids of two decisions and writes the hashes that the chain then has.
async fn exchange_ids(trail: &AuditStore, path: &str) {
    let mut database = open(path).await;
    for sql in [
        "UPDATE decisions SET id = -id",
        "UPDATE decisions SET id = 3 + id",
        "UPDATE searched SET id = 3 - id",
        "UPDATE log SET subject = 3 - subject",
    ] {
        let done = sqlx::query(sql).execute(&mut database).await;
        assert_eq!(done.expect(sql).rows_affected(), 2, "{sql}");
    }
    let mut tx = trail
        .inner
        .backend
        .read_unchecked()
        .await
        .expect("a transaction");
    let mut hash = [0; 32];
    for (seq, id) in [(1, 2), (2, 1)] {
        let row = decide::find(&mut tx, id)
            .await
            .expect("read")
            .expect("there");
        hash = chain::link(&hash, chain::decided(&row));
        let sql = format!(
            "UPDATE log SET hash = x'{}' WHERE seq = {seq}",
            hex::encode(hash)
        );
        let done = sqlx::query(AssertSqlSafe(sql)).execute(&mut database).await;
        assert_eq!(done.expect("written").rows_affected(), 1);
    }
    let sql = format!("UPDATE head SET hash = x'{}'", hex::encode(hash));
    let done = sqlx::query(AssertSqlSafe(sql)).execute(&mut database).await;
    assert_eq!(done.expect("written").rows_affected(), 1);
    database.close().await.expect("closed");
}

/// An attacker who rewrites every hash has to keep the order of the ids, also across segments.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_in_another_order_are_found_across_segments() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trail.db").display().to_string();
    let trail = AuditStore::open(&path).await.expect("a trail");
    for n in [1, 3] {
        trail.record(decision(n)).await.expect("recorded");
    }
    exchange_ids(&trail, &path).await;
    trail.close().await;
    for entries in [1, 2] {
        let segmentation = Segmentation {
            entries,
            threads: 2,
        };
        let found = compare(&path, &[], segmentation).await.expect("equal");
        let broken = found.expect("a walk").broken.expect("a problem");
        assert_eq!(broken.entry, Some(2), "{broken:?}");
        assert!(broken.problem.contains("assigned before"), "{broken:?}");
    }
}

/// Set for the process whose allocations are counted: the path of its trail, and the number of
/// threads.
const COUNTED: &str = "HOOKS_AUDIT_COUNTED";

/// Verifies a trail once. Without threads, the driver reads it.
fn count_this(counted: &str) {
    let (path, threads) = counted.rsplit_once('\n').expect("two lines");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let backend = Backend::open(path, OpenMode::Unchecked).await;
        let backend = backend.expect("it opens");
        let segmentation = Segmentation {
            entries: 1000,
            threads: threads.parse().expect("a number"),
        };
        let found = verify_in_segments(&backend, &[], segmentation).await;
        assert!(found.expect("a walk").has_whole_entries);
        backend.close().await;
    });
}

/// Returns the number of allocations of a process that calls [`count_this`].
fn allocations(counted: &str) -> u64 {
    let output = Command::new("valgrind")
        .arg("--leak-check=no")
        .arg(env::current_exe().expect("a program"))
        .args(["--exact", "--test-threads=1"])
        .arg("audit::verify::tests::segments_allocate_nothing_for_an_entry")
        .env(COUNTED, counted)
        .output()
        .expect("it runs");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let usage = log.split_once("total heap usage: ").expect("a count").1;
    let count = usage.split_once(" allocs").expect("a count").0;
    count.replace(',', "").parse().expect("a number")
}

/// Allocations, because times do not hold on a busy machine, and instructions not without
/// optimisation. `docs/performance.md` has the times of a release build.
#[test]
fn segments_allocate_nothing_for_an_entry() {
    if let Ok(counted) = env::var(COUNTED) {
        return count_this(&counted);
    }
    if let Err(why) = Command::new("valgrind").arg("--version").output() {
        assert!(env::var_os("HOOKS_REQUIRE_ALL").is_none(), "{why}");
        eprintln!("NOT COUNTED: allocations, because {why}; install valgrind");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let trail_of = |decisions: i64| {
        let path = folder.path().join(format!("trail-{decisions}.db"));
        let path = path.display().to_string();
        runtime.block_on(async {
            let trail = AuditStore::open(&path).await.expect("a trail");
            // All in one hour: the counts of hours are read by the driver either way.
            let recorded = join_all((0..decisions).map(|n| {
                let mut new = decision(n);
                new.permission.timestamp = minute(0);
                trail.record(new)
            }))
            .await;
            assert!(recorded.iter().all(Result::is_ok));
            trail.close().await;
        });
        path
    };
    let (empty, full) = (trail_of(0), trail_of(DECISIONS));
    let count = |threads: usize| {
        let of = |path: &str| allocations(&format!("{path}\n{threads}"));
        of(&full) - of(&empty)
    };
    let (in_segments, whole) = (count(1), count(0));
    let decisions = DECISIONS.unsigned_abs();
    assert!(
        in_segments < decisions / 4,
        "{in_segments} allocations for {decisions} decisions"
    );
    assert!(whole > 40 * decisions, "{whole} for {decisions} decisions");
}
