//! Broken transcripts: no panic, and no lost line after a broken one.

use std::fs;
use std::path::{Path, PathBuf};

use hooks_guard::replay::{self, Transcript, TranscriptCall, TranscriptProblems};
use proptest::prelude::*;
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use tempfile::TempDir;

use super::{calls, decision, home, runtime, transcripts};

/// Sessions in each form: lines, documents, a folder of files, databases.
const SESSIONS: [&str; 8] = [
    "claude/session",
    "codex/asked",
    "gemini/session",
    "copilot/session",
    "cline/session",
    "vibe/session",
    "openhands/session",
    "goose/session",
];

/// Reads a file to its end or to an error.
fn read(file: &Path) -> (Vec<TranscriptCall>, TranscriptProblems) {
    let read = async {
        let mut calls = Vec::new();
        let Ok(mut transcript) = Transcript::open(file) else {
            return (calls, TranscriptProblems::default());
        };
        while let Ok(Some(call)) = transcript.next_call().await {
            calls.push(call);
        }
        (calls, transcript.problems())
    };
    runtime().block_on(read)
}

/// Returns the largest transcript of a session, which has its calls.
fn largest(home: &Path) -> PathBuf {
    let files = replay::transcript_files(home).into_iter();
    let size = |file: &PathBuf| file.metadata().map(|file| file.len()).unwrap_or_default();
    files.max_by_key(size).expect("a transcript")
}

/// A line that is no entry of a transcript.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    let bytes = bytes.prop_map(|bytes| bytes.into_iter().filter(|byte| *byte != b'\n').collect());
    let texts = [
        "{",
        "[]",
        "null",
        "{\"type\":",
        "\"text\"",
        "{}",
        "[{\"type\":\"tool_use\"}]",
    ];
    prop_oneof![
        bytes,
        prop::sample::select(texts.map(|text| text.as_bytes().to_vec()).to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn broken_lines_lose_no_other_line(
        session in prop::sample::select(SESSIONS[..4].to_vec()),
        inserted in prop::collection::vec((any::<prop::sample::Index>(), garbage()), 1..5),
    ) {
        let home = home(session);
        let file = largest(home.path());
        let (expected, _) = read(&file);
        let text = fs::read(&file).expect("a transcript");
        let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for (place, line) in inserted {
            lines.insert(place.index(lines.len()), line);
        }
        fs::write(&file, lines.join(&b'\n')).expect("a transcript");
        let (found, _) = read(&file);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_cut_transcript_has_the_calls_before_the_cut(
        session in prop::sample::select(SESSIONS[..4].to_vec()),
        cut in any::<prop::sample::Index>(),
    ) {
        let home = home(session);
        let file = largest(home.path());
        let (expected, _) = read(&file);
        let text = fs::read(&file).expect("a transcript");
        let cut = cut.index(text.len());
        fs::write(&file, &text[..cut]).expect("a transcript");
        let (found, problems) = read(&file);
        prop_assert!(found.len() <= expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert_eq!((&found.tool, &found.arguments), (&expected.tool, &expected.arguments));
        }
        prop_assert!(problems.broken <= 1, "{problems:?}");
    }

    #[test]
    fn changed_bytes_never_panic(
        session in prop::sample::select(SESSIONS.to_vec()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let home = home(session);
        for file in replay::transcript_files(home.path()) {
            let mut bytes = fs::read(&file).expect("a transcript");
            if bytes.is_empty() {
                continue;
            }
            for (place, byte) in &changes {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            fs::write(&file, bytes).expect("a transcript");
            for call in read(&file).0 {
                decision(&call);
            }
        }
    }
}

#[test]
fn a_line_over_the_limit_is_skipped_and_counted() {
    let home = home("claude/session");
    let file = largest(home.path());
    let (expected, _) = read(&file);
    let text = fs::read_to_string(&file).expect("a transcript");
    let long = format!("{{\"type\":\"{}\"}}\n", "x".repeat(40 << 20));
    let (first, rest) = text.split_at(text.find('\n').expect("a line") + 1);
    fs::write(&file, format!("{first}{long}{rest}")).expect("a transcript");
    let (found, problems) = read(&file);
    assert_eq!(found, expected);
    assert_eq!((problems.too_long, problems.broken), (1, 0));
}

#[test]
fn a_half_written_line_is_counted() {
    let home = home("codex/session");
    let file = largest(home.path());
    let (expected, _) = read(&file);
    let mut text = fs::read_to_string(&file).expect("a transcript");
    text.push_str("{\"timestamp\":\"2026-12-01T04:26:45.5");
    fs::write(&file, text).expect("a transcript");
    let (found, problems) = read(&file);
    assert_eq!(found, expected);
    assert_eq!((problems.too_long, problems.broken), (0, 1));
}

#[test]
fn a_database_in_use_is_read_with_its_log_and_not_changed() {
    let home = TempDir::new().expect("a folder");
    let file = home.path().join("opencode.db");
    let sql = transcripts().join("opencode/session/.local/share/opencode/opencode.db.sql");
    let sql = fs::read_to_string(sql).expect("a recorded database");
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .create_if_missing(true);
    let options = options.journal_mode(SqliteJournalMode::Wal);
    let runtime = runtime();
    // The connection stays open, as that of a client that runs.
    let connection = runtime.block_on(async {
        let mut connection = options.connect().await.expect("a database");
        let done = sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
            .execute(&mut connection)
            .await;
        done.expect("the recorded SQL");
        connection
    });
    let log = home.path().join("opencode.db-wal");
    assert!(log.metadata().expect("a log").len() > 0);
    let files = || {
        let mut files: Vec<_> = fs::read_dir(home.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .map(|file| (fs::read(&file).expect("a file"), file))
            .collect();
        files.sort();
        files
    };
    let before = files();
    let found = calls(home.path());
    assert_eq!(found.len(), 7);
    assert_eq!(files(), before);
    drop(connection);
}
