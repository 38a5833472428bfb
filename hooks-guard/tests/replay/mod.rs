//! Tests of `replay` with transcripts that the published clients wrote (`transcripts/README.md`).

mod hostile;
mod program;
mod recorded;

use std::fs;
use std::path::{Path, PathBuf};

use hooks_guard::gate::Gate;
use hooks_guard::replay::{self, ReplayedCall, Transcript, TranscriptCall};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// Returns the folder with the recorded sessions: a folder for each client, with one for each session.
fn transcripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replay/transcripts")
}

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// Copies a recorded session into a folder, as the client wrote it: databases are recorded as SQL.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a recorded folder") {
        let from = entry.expect("an entry").path();
        let name = from.file_name().expect("a name").to_str().expect("UTF-8");
        match name.strip_suffix(".sql") {
            Some(database) => make_database(&from, &to.join(database)),
            None if from.is_dir() => copy(&from, &to.join(name)),
            None => {
                fs::copy(&from, to.join(name)).expect("a copy");
            }
        }
    }
}

fn make_database(sql: &Path, file: &Path) {
    let sql = fs::read_to_string(sql).expect("a recorded database");
    runtime().block_on(async {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true);
        let mut connection = options.connect().await.expect("a database");
        let done = sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
            .execute(&mut connection)
            .await;
        done.expect("the recorded SQL");
    });
}

/// Returns a copy of a session, such as `claude/session`, as the home of a user.
fn home(session: &str) -> TempDir {
    let home = TempDir::new().expect("a folder");
    copy(&transcripts().join(session), home.path());
    home
}

/// Returns the calls of the transcripts below a folder, in the order of the files.
fn calls(folder: &Path) -> Vec<TranscriptCall> {
    let read = async {
        let mut calls = Vec::new();
        for file in replay::transcript_files(folder) {
            let mut transcript = Transcript::open(&file).expect("a transcript");
            while let Some(call) = transcript.next_call().await.expect("a call") {
                calls.push(call);
            }
        }
        calls
    };
    runtime().block_on(read)
}

/// Returns the decision about a call by the tables and the default settings.
fn decision(call: &TranscriptCall) -> ReplayedCall {
    runtime().block_on(replay::decide(&Gate::tables_only(), call))
}
