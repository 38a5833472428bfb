//! Exports the trail. Takes records; returns JSON lines or CSV lines.

use std::collections::VecDeque;

use futures_util::{Stream, stream};

use super::backend::Backend;
use super::error::AuditError;
use super::list::filter::{Filter, FilterArgs};
use super::record::{AuditRecord, DecisionRow};

/// Number of records in memory at a time.
const RECORDS_PER_READ: i64 = 100;

/// Returns a record as a line of JSON, including the newline.
///
/// # Panics
///
/// Never: all keys of a record are strings.
#[must_use]
pub fn jsonl(record: &AuditRecord) -> String {
    let mut line = serde_json::to_string(record).expect("a record is plain data");
    line.push('\n');
    line
}

/// Columns of a [`csv`] line.
const COLUMNS: [&str; 28] = [
    "id",
    "timestamp",
    "command",
    "classification",
    "decision_requires_confirmation",
    "user_response",
    "execution_happened",
    "response_time_ms",
    "confidence",
    "error",
    "reasoning",
    "explanation",
    "classification_method",
    "context",
    "agent",
    "session_id",
    "cwd",
    "call_id",
    "denied",
    "rule",
    "answered_at",
    "answered_by",
    "answer_note",
    "deadline",
    "executed_at",
    "exit_status",
    "response_time_us",
    "ran_command",
];

/// Returns the header line for [`csv`] lines.
#[must_use]
pub fn csv_header() -> String {
    let mut line = COLUMNS.join(",");
    line.push_str("\r\n");
    line
}

/// Returns a record as a CSV line (RFC 4180), including the newline.
///
/// A text that a spreadsheet would evaluate, because it begins with `=`, `+`, `-`, `@`, a tab or a
/// line break, gets a leading apostrophe, which spreadsheets hide. Programs find the unchanged
/// texts in [`jsonl`].
#[must_use]
pub fn csv(record: &AuditRecord) -> String {
    let value = serde_json::to_value(record).unwrap_or_default();
    let mut line = String::new();
    for (at, column) in COLUMNS.iter().enumerate() {
        if at > 0 {
            line.push(',');
        }
        match &value[column] {
            serde_json::Value::Null => {}
            serde_json::Value::String(text) => cell(&mut line, text),
            // A negative number must not get an apostrophe.
            other => line.push_str(&other.to_string()),
        }
    }
    line.push_str("\r\n");
    line
}

fn cell(line: &mut String, text: &str) {
    // A spreadsheet evaluates the text despite these leading characters.
    let harmless = !text
        .trim_start_matches([' ', '"', '\''])
        .starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    line.push('"');
    if !harmless {
        line.push('\'');
    }
    line.push_str(&text.replace('"', "\"\""));
    line.push('"');
}

struct Export {
    backend: Backend,
    bound: FilterArgs,
    last: (i64, i64),
    rows: VecDeque<DecisionRow>,
}

pub(super) fn export(
    backend: Backend,
    filter: &Filter,
) -> impl Stream<Item = Result<AuditRecord, AuditError>> + Send + use<> {
    let export = Export {
        backend,
        bound: filter.into(),
        last: (i64::MIN, i64::MIN),
        rows: VecDeque::new(),
    };
    // Neither a connection nor a snapshot is held between two pages.
    stream::try_unfold(export, |mut export| async move {
        if export.rows.is_empty() {
            let rows = export
                .bound
                .rows_after(&export.backend, export.last, RECORDS_PER_READ);
            export.rows = rows.await?.into();
        }
        let Some(row) = export.rows.pop_front() else {
            return Ok(None);
        };
        export.last = (row.at, row.id);
        Ok(Some((row.record()?, export)))
    })
}
