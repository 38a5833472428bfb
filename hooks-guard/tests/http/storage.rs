//! Tests disk and database failures: every decision has a record, and the daemon does not crash.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};

use crate::client::Answer;
use crate::daemon::{Daemon, Setup};
use crate::support::{assert_no_internals, has};

/// Opens a second connection to the daemon's database.
pub(crate) async fn open(daemon: &Daemon) -> SqliteConnection {
    let path = daemon.setup().database_file();
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(Duration::from_secs(30));
    SqliteConnection::connect_with(&options).await.unwrap()
}

pub(crate) async fn run(database: &mut SqliteConnection, sql: String) {
    sqlx::query(AssertSqlSafe(sql))
        .execute(database)
        .await
        .unwrap();
}

/// A decision that could not be recorded allows nothing.
#[track_caller]
fn assert_safe(answer: &Answer) {
    assert!(
        answer.status == 500 || answer.status == 503,
        "{}: {}",
        answer.status,
        answer.text()
    );
    let body = answer.refusal(answer.status);
    if answer.status == 500 {
        assert!(body["request_id"].is_string(), "{body}");
    }
}

#[tokio::test]
async fn storage_a_locked_database_allows_nothing_and_recovers() {
    let mut daemon = Daemon::plain();
    daemon.ask("ls");
    let mut other = open(&daemon).await;
    run(&mut other, "BEGIN EXCLUSIVE".to_owned()).await;
    let port = daemon.port;
    let asking = std::thread::spawn(move || {
        crate::daemon::ask(&json!({ "command": "ls locked" })).try_send(port)
    });
    // Requests without a database continue, and report the problem.
    daemon.get("/health");
    let answer = asking.join().unwrap().unwrap();
    assert_safe(&answer);
    assert_eq!(daemon.get("/health").status, 503);
    run(&mut other, "ROLLBACK".to_owned()).await;
    assert_eq!(daemon.ask("ls again")["decision"], "AUTO_ALLOWED");
    daemon.assert_healthy();
}

#[tokio::test]
async fn storage_a_request_waits_for_a_short_lock() {
    let daemon = Daemon::plain();
    let mut other = open(&daemon).await;
    run(&mut other, "BEGIN EXCLUSIVE".to_owned()).await;
    let port = daemon.port;
    let asking =
        std::thread::spawn(move || crate::daemon::ask(&json!({ "command": "ls" })).send(port));
    tokio::time::sleep(Duration::from_millis(200)).await;
    run(&mut other, "ROLLBACK".to_owned()).await;
    assert_eq!(asking.join().unwrap().ok()["decision"], "AUTO_ALLOWED");
}

#[tokio::test]
async fn p_43_the_latency_excludes_the_write_of_the_record() {
    let daemon = Daemon::plain();
    let latency = || daemon.get("/health").ok()["hooks"]["classification_latency_ms"].clone();
    assert_eq!(latency(), 0, "nothing was asked");
    let mut other = open(&daemon).await;
    run(&mut other, "BEGIN EXCLUSIVE".to_owned()).await;
    let port = daemon.port;
    let asking = std::thread::spawn(move || {
        let start = std::time::Instant::now();
        crate::daemon::ask(&json!({ "command": "ls" }))
            .send(port)
            .ok();
        start.elapsed()
    });
    tokio::time::sleep(Duration::from_millis(250)).await;
    run(&mut other, "ROLLBACK".to_owned()).await;
    let whole = asking.join().unwrap().as_millis();
    let latency = u128::from(latency().as_u64().unwrap());
    assert!(latency < whole / 2, "{latency} of {whole} ms");
}

#[tokio::test]
async fn p_22_a_database_that_fails_is_an_error_without_internals() {
    let mut daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let mut other = open(&daemon).await;
    let tables = sqlx::query(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'
         AND sql NOT LIKE 'CREATE VIRTUAL%'",
    )
    .fetch_all(&mut other)
    .await
    .unwrap();
    for pragma in ["foreign_keys = OFF", "legacy_alter_table = ON"] {
        run(&mut other, format!("PRAGMA {pragma}")).await;
    }
    for table in tables {
        let name: String = table.get(0);
        // Shadow tables of a search index cannot be renamed and need not be.
        let sql = format!("ALTER TABLE \"{name}\" RENAME TO \"{name}_gone\"");
        let _ = sqlx::query(AssertSqlSafe(sql)).execute(&mut other).await;
    }
    for target in ["/api/hooks/decisions", "/api/hooks/stats"] {
        let answer = daemon.get(target);
        let body = answer.error(500, "DB_ERROR");
        assert_eq!(body["error"], "Database query failed");
        assert!(body["request_id"].is_string(), "{body}");
    }
    let one = daemon.get(&format!("/api/hooks/decisions/{}", permission["id"]));
    one.error(500, "DB_ERROR");
    daemon
        .delete("/api/hooks/cleanup?force=true")
        .error(500, "DB_ERROR");
    for command in ["ls", "mkdir out"] {
        assert_safe(&daemon.post(&json!({ "command": command })));
    }
    let answer = daemon.respond(&permission["id"], "APPROVED");
    assert_safe(&answer);
    assert_no_internals(&answer.text());
    // The health may report it, too.
    let health = daemon.get("/health");
    assert!(matches!(health.status, 200 | 503), "{}", health.status);
    assert!(health.json()["hooks"].is_object());
    assert!(daemon.is_running() && !daemon.stderr().contains("panicked"));
}

/// Limits the file size of the daemon, which simulates a full disk.
#[track_caller]
fn limit(daemon: &Daemon, bytes: &str) {
    let status = Command::new("prlimit")
        .args(["--pid", &daemon.pid().to_string()])
        .arg(format!("--fsize={bytes}:"))
        .status()
        .unwrap();
    assert!(status.success());
}

/// Sends requests until one is refused; returns the number of decisions.
#[track_caller]
fn fill(daemon: &Daemon, round: usize) -> (u64, Answer) {
    for number in 0..20_000 {
        let command = format!("ls {number} {}", "a".repeat(9_000 - 800 * round));
        let answer = daemon.post(&json!({ "command": command }));
        if answer.status != 200 {
            return (number, answer);
        }
        assert_eq!(answer.ok()["decision"], "AUTO_ALLOWED");
    }
    panic!("the disk did not fill")
}

fn total(daemon: &Daemon) -> u64 {
    let body = daemon.get("/api/hooks/decisions?limit=1").ok();
    body["pagination"]["total"].as_u64().unwrap()
}

/// Starts a service with a decision whose file size can be limited; returns `None` if this machine
/// cannot set a limit.
fn with_limitable_files() -> Option<Daemon> {
    if !has("prlimit") || !has("sh") {
        return None;
    }
    let daemon = Setup::new()
        .wrapper(&["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .start();
    daemon.ask("ls");
    Some(daemon)
}

#[test]
fn storage_a_full_disk_allows_nothing_and_loses_nothing() {
    let Some(mut daemon) = with_limitable_files() else {
        return;
    };
    // Repeatedly, because the write of a record may fail as well as its commit.
    for round in 0..10 {
        let before = total(&daemon);
        let files = crate::support::files_below(&daemon.setup().folder().join("data"));
        let longest = files
            .iter()
            .map(|file| fs::metadata(file).unwrap().len())
            .max();
        let bytes = longest.unwrap() + 60_000 + 1_111 * round as u64;
        limit(&daemon, &bytes.to_string());
        let (answered, refused) = fill(&daemon, round);
        assert_safe(&refused);
        for _ in 0..3 {
            let answer = daemon.post(&json!({ "command": "ls" }));
            if answer.status != 200 {
                assert_safe(&answer);
            }
        }
        // All decisions are recorded and can be read.
        assert!(total(&daemon) >= before + answered, "round {round}");

        // Room again, without a restart.
        limit(&daemon, "unlimited");
        let before = total(&daemon);
        let permission = daemon.ask(&format!("mkdir {round}"));
        daemon.respond(&permission["id"], "APPROVED").ok();
        assert_eq!(total(&daemon), before + 1, "round {round}");
    }
    daemon.assert_healthy();
    let before = total(&daemon);
    let daemon = daemon.restart(|setup| setup.wrapper(&[]));
    assert_eq!(total(&daemon), before);
}

/// Returns the number of log lines with a text.
fn lines(daemon: &Daemon, what: &str) -> usize {
    daemon
        .stderr()
        .lines()
        .filter(|line| line.contains(what))
        .count()
}

/// Waits for a health status without sending other requests.
#[track_caller]
fn await_health(daemon: &Daemon, status: u16) {
    let begin = Instant::now();
    loop {
        let health = daemon.get("/health");
        if health.status == status {
            let state = if status == 200 { "ok" } else { "degraded" };
            assert_eq!(health.json()["status"], state);
            return;
        }
        assert!(
            begin.elapsed() < Duration::from_secs(30),
            "{}",
            health.text()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn storage_a_full_disk_is_degraded_and_logged_at_a_limited_rate() {
    let Some(mut daemon) = with_limitable_files() else {
        return;
    };
    assert_eq!(daemon.get("/health").status, 200);
    // Smaller than any record.
    limit(&daemon, "4096");
    let begin = Instant::now();
    let mut refused = 0;
    while refused < 1_000 {
        assert_safe(&daemon.post(&json!({ "command": "ls" })));
        refused += 1;
    }
    await_health(&daemon, 503);
    for message in ["cannot write the audit trail", "cannot record the decision"] {
        let most = 2 * (begin.elapsed().as_secs() as usize / 10 + 2);
        let found = lines(&daemon, message);
        assert!((1..=most).contains(&found), "{message}: {found} lines");
    }
    // The service retries by itself and stays degraded while there is no room.
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(daemon.get("/health").status, 503);
    limit(&daemon, "unlimited");
    await_health(&daemon, 200);
    daemon.assert_healthy();
    // The number of suppressed messages is in the next one.
    limit(&daemon, "4096");
    std::thread::sleep(Duration::from_secs(10));
    assert_safe(&daemon.post(&json!({ "command": "ls" })));
    let left_out = |stderr: &str| {
        let counts = stderr
            .lines()
            .filter_map(|line| line.split_once("suppressed="));
        let counts = counts.filter_map(|(_, rest)| {
            let end = rest.find(|char: char| !char.is_ascii_digit());
            rest[..end.unwrap_or(rest.len())].parse::<u64>().ok()
        });
        counts.max().unwrap_or(0)
    };
    let until = Instant::now() + Duration::from_secs(10);
    while left_out(&daemon.stderr()) < 400 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(left_out(&daemon.stderr()) >= 400, "{}", daemon.stderr());
    limit(&daemon, "unlimited");
    await_health(&daemon, 200);
    let url = format!("sqlite:{}", daemon.setup().database_file().display());
    crate::operation::assert_intact(&url);
}

/// A process that holds the write lock and is stopped.
struct StoppedWriter(std::process::Child);

impl StoppedWriter {
    fn with_lock(database: &std::path::Path) -> Self {
        use std::io::{BufRead, BufReader, Write};
        let mut child = Command::new("sqlite3")
            .arg(database)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.as_mut().unwrap();
        let sql = b".timeout 30000\nBEGIN IMMEDIATE;\nSELECT 'locked';\n";
        stdin.write_all(sql).unwrap();
        stdin.flush().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line.trim(), "locked");
        let stopped = Self(child);
        stopped.signal("STOP");
        stopped
    }

    fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        let status = Command::new("kill")
            .args([&format!("-{name}"), &pid])
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for StoppedWriter {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the latency of the slowest of many clients; no response may allow a command.
#[track_caller]
fn slowest(port: u16, clients: usize) -> Duration {
    let asking: Vec<_> = (0..clients)
        .map(|number| {
            std::thread::spawn(move || {
                let begin = Instant::now();
                let command = format!("ls {number}");
                let answer = crate::daemon::ask(&json!({ "command": command })).send(port);
                (answer.status, begin.elapsed())
            })
        })
        .collect();
    let answers = asking.into_iter().map(|it| it.join().unwrap());
    answers
        .map(|(status, took)| {
            assert_eq!(status, 500);
            took
        })
        .max()
        .unwrap()
}

/// Longer than delays of a busy test machine, and far shorter than the added waits of all clients.
const SECOND: Duration = Duration::from_millis(1_000);

#[test]
fn storage_a_process_stopped_in_a_transaction_does_not_delay_requests() {
    if !has("sqlite3") {
        return;
    }
    let mut daemon = Daemon::plain();
    let pending = daemon.ask("mkdir out")["id"].clone();
    let file = daemon.setup().database_file();
    let stopped = StoppedWriter::with_lock(&file);
    for clients in [1, 40] {
        let took = slowest(daemon.port, clients);
        assert!(took < SECOND, "{clients} clients: {took:?}");
    }
    // Also one after the other, while others wait.
    let port = daemon.port;
    let crowd = std::thread::spawn(move || slowest(port, 20));
    std::thread::sleep(Duration::from_millis(200));
    assert!(slowest(port, 1) < SECOND);
    assert!(crowd.join().unwrap() < SECOND);
    let begin = Instant::now();
    assert_eq!(daemon.respond(&pending, "APPROVED").status, 500);
    assert!(begin.elapsed() < SECOND);
    // Reads continue.
    daemon.get("/api/hooks/decisions").ok();
    assert_eq!(daemon.get("/health").status, 503, "it cannot write");

    // An agent's hook that decides alone, with a locked trail.
    let input = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": "Bash",
        "tool_input": { "command": "ls" }, "tool_use_id": "t",
    });
    let begin = Instant::now();
    let mut hook = Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args(["hook", "claude-code", "--database"])
        .arg(format!("sqlite:{}", file.display()))
        .env("HOME", daemon.setup().home())
        .env("XDG_CONFIG_HOME", daemon.setup().home().join(".config"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(
        &mut hook.stdin.take().unwrap(),
        input.to_string().as_bytes(),
    )
    .unwrap();
    let output = hook.wait_with_output().unwrap();
    let took = begin.elapsed();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!stdout.contains("\"allow\""), "{stdout}");
    assert!(took < SECOND, "{took:?}: {stdout}");

    stopped.signal("CONT");
    drop(stopped);
    assert_eq!(daemon.ask("ls")["decision"], "AUTO_ALLOWED");
    await_health(&daemon, 200);
    daemon.assert_healthy();
}

/// Two services on one file, one of which is stopped at any point.
#[test]
fn storage_a_stopped_service_does_not_delay_another_one() {
    let mut one = Daemon::plain();
    let url = format!("sqlite:{}", one.setup().database_file().display());
    let other = Setup::new().database(&url).start();
    for round in 0..8_u64 {
        let port = other.port;
        let load: Vec<_> = (0..4)
            .map(|_| {
                std::thread::spawn(move || {
                    for number in 0..15 {
                        let command = format!("mkdir {number}");
                        let _ = crate::daemon::ask(&json!({ "command": command })).try_send(port);
                    }
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(20 + 7 * round));
        other.signal("STOP");
        for number in 0..6 {
            let begin = Instant::now();
            let answer = one.post(&json!({ "command": format!("ls {number}") }));
            let took = begin.elapsed();
            assert!(took < SECOND, "round {round}: {took:?}");
            assert!(matches!(answer.status, 200 | 500), "{}", answer.status);
        }
        other.signal("CONT");
        for asking in load {
            asking.join().unwrap();
        }
    }
    await_health(&one, 200);
    await_health(&other, 200);
    one.assert_healthy();
    crate::operation::assert_intact(&url);
}

#[test]
fn storage_a_full_disk_at_start_is_an_error() {
    if !has("sh") {
        return;
    }
    let setup = Setup::new().wrapper(&["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
    let (_, stderr) = setup.fail();
    assert!(stderr.contains("audit.db"), "{stderr}");
}

#[test]
fn storage_a_missing_folder_is_created_or_reported() {
    let setup = Setup::new();
    let path = setup.folder().join("missing/folder/audit.db");
    let setup = setup.database(&format!("sqlite:{}", path.display()));
    let mut child = setup.command().spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1_500));
    let ended = child.try_wait().unwrap();
    // By now it has shown which of the two it is.
    let _ = child.kill();
    child.wait().unwrap();
    if ended.is_some() {
        let (_, stderr) = setup.fail();
        assert!(stderr.contains("missing/folder"), "{stderr}");
    } else {
        let daemon = setup.start();
        daemon.ask("ls");
        assert!(path.exists());
    }
}

#[test]
fn storage_a_file_that_is_not_a_database_is_reported_and_unchanged() {
    let setup = Setup::new();
    let text = "a letter, and no database ".repeat(100);
    fs::write(setup.database_file(), &text).unwrap();
    let (_, stderr) = setup.fail();
    assert!(stderr.contains("audit.db"), "{stderr}");
    assert_eq!(fs::read_to_string(setup.database_file()).unwrap(), text);
}

#[test]
fn storage_a_folder_in_place_of_the_database_is_reported() {
    let setup = Setup::new();
    fs::create_dir(setup.database_file()).unwrap();
    let (_, stderr) = setup.fail();
    assert!(stderr.contains("audit.db"), "{stderr}");
}

#[test]
fn storage_an_address_with_an_unknown_scheme_is_refused() {
    for url in ["mysql://localhost/x", "", "http://localhost/"] {
        let (_, stderr) = Setup::new().database(url).fail();
        assert!(stderr.to_lowercase().contains("sqlite"), "{url}: {stderr}");
    }
}

#[test]
fn storage_a_password_in_an_address_is_not_printed() {
    let setup = Setup::new().database("postgres://user:quite-unmistakable@127.0.0.1:1/none");
    let (_, stderr) = setup.fail();
    assert!(!stderr.contains("unmistakable"), "{stderr}");
}

#[test]
fn storage_without_an_address_the_trail_is_in_the_home() {
    let daemon = Setup::new().without_database().start();
    daemon.ask("ls");
    let mut found = crate::support::files_below(&daemon.setup().home());
    found.retain(|path| fs::read(path).is_ok_and(|it| it.starts_with(b"SQLite format 3")));
    assert_eq!(found.len(), 1, "{found:?}");
    let daemon = daemon.restart(|setup| setup);
    assert_eq!(
        daemon.get("/api/hooks/decisions").ok()["pagination"]["total"],
        1
    );
}
