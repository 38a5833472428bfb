//! A process that is killed during a write loses no record whose write was confirmed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, io, thread};

use hooks_guard::audit::{AnswerResult, AuditStore, UserResponse};
use hooks_guard::classify::Crud;
use jiff::Timestamp;

use crate::kit::{assert_intact, decision, new_answer, run};

/// Set for the process that is killed: the path that it writes to.
const VICTIM: &str = "HOOKS_AUDIT_VICTIM";

/// Number of kills. Default: 100.
const KILLS: &str = "HOOKS_AUDIT_KILLS";

/// Records and answers at full speed, and prints each confirmed record.
fn victim(path: &str) {
    run(async {
        let trail = AuditStore::open(path).await.expect("a trail");
        let tasks = (0..16).map(|n: usize| {
            let trail = trail.clone();
            tokio::spawn(async move {
                loop {
                    let command = format!("touch {n}");
                    let new = decision(&command, Crud::Create, Timestamp::now());
                    let id = trail.record(new).await.expect("recorded");
                    say(&format!("recorded {id}\n"));
                    let answer = new_answer(UserResponse::Approved, Timestamp::now());
                    let done = trail.answer(id, answer).await.expect("answered");
                    assert!(matches!(done, AnswerResult::Done(_)), "{done:?}");
                    say(&format!("answered {id}\n"));
                }
            })
        });
        futures_util::future::join_all(tasks).await;
    });
}

/// Prints a line in one write: an incomplete line counts as not printed.
fn say(line: &str) {
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())
        .and_then(|()| out.flush())
        .expect("a receiver");
}

#[test]
fn a_killed_process_loses_no_acknowledged_record() {
    if let Some(path) = env::var_os(VICTIM) {
        return victim(&path.to_string_lossy());
    }
    let kills: u64 = env::var(KILLS)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(100);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trail.db").display().to_string();
    let mut recorded = Vec::new();
    let mut answered = Vec::new();
    for kill in 0..kills {
        let mut child = Command::new(env::current_exe().expect("a program"))
            .args(["--exact", "--nocapture", "--test-threads=1"])
            .arg("crash::a_killed_process_loses_no_acknowledged_record")
            .env(VICTIM, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("it starts");
        let out = child.stdout.take().expect("piped");
        let (writes, started) = mpsc::channel();
        let reader = thread::spawn(move || {
            let mut lines = Vec::new();
            let mut out = BufReader::new(out);
            loop {
                let mut line = String::new();
                match out.read_line(&mut line) {
                    Ok(read) if read > 0 && line.ends_with('\n') => {
                        let _ = writes.send(());
                        lines.push(line);
                    }
                    _ => return lines,
                }
            }
        });
        // A quarter of the kills happen while the file is opened, the others during writes, each at
        // a different moment.
        if kill % 4 != 0 {
            let lines = started.iter().take(5).count();
            assert_eq!(lines, 5, "it ends before it is killed");
        }
        thread::sleep(Duration::from_micros(kill * 104_729 % 60_000));
        child.kill().expect("killed");
        child.wait().expect("dead");
        for line in reader.join().expect("read") {
            match line.trim_end().split_once(' ') {
                Some(("recorded", id)) => recorded.extend(id.parse::<i64>()),
                Some(("answered", id)) => answered.extend(id.parse::<i64>()),
                // Output of the test harness.
                _ => {}
            }
        }
    }
    run(async {
        let trail = AuditStore::open(&path).await.expect("a trail");
        eprintln!(
            "{} decisions and {} answers were acknowledged",
            recorded.len(),
            answered.len()
        );
        assert!(
            kills < 10 || recorded.len() > 100,
            "no record was acknowledged"
        );
        for id in recorded {
            assert!(
                trail.decision(id).await.expect("read").is_some(),
                "decision {id} is lost"
            );
        }
        for id in answered {
            let record = trail.decision(id).await.expect("read").expect("there");
            assert_eq!(record.user_response, Some(UserResponse::Approved), "{id}");
        }
        assert_intact(&trail).await;
    });
}
