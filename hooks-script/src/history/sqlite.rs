//! History of runs in a SQLite database.

use std::time::Duration;

use jiff::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteExecutor};

use super::query::{RunPage, RunQuery};
use super::record::{RunOutcome, RunRecord};
use crate::run::Stage;
use crate::scope::Scope;
use crate::store::{Database, StoreError, from_db_time, to_db_time};

/// Appends all records in one transaction, so that they wait only once for the disk and for other
/// writers.
pub(super) async fn append_all(
    database: &Database,
    records: &[RunRecord],
) -> Result<(), StoreError> {
    let mut transaction = database.pool().begin_with("BEGIN IMMEDIATE").await?;
    for record in records {
        append(&mut *transaction, record).await?;
    }
    Ok(transaction.commit().await?)
}

pub(super) async fn append(
    database: impl SqliteExecutor<'_>,
    record: &RunRecord,
) -> Result<u64, StoreError> {
    // For a skipped run, which has no class, the message is the reason.
    let (kind, class, message, trace) = match &record.outcome {
        RunOutcome::Success => (None, None, None, None),
        RunOutcome::Skipped { reason } => (None, None, Some(reason), None),
        RunOutcome::Stopped {
            class,
            message,
            trace,
        } => (None, Some(class), Some(message), Some(trace)),
        RunOutcome::Failure {
            kind,
            class,
            message,
            trace,
        } => (Some(kind), Some(class), Some(message), Some(trace)),
    };
    let done = sqlx::query(
        "INSERT INTO runs (time_us, source, version, name, action, user_id, guild_id, channel_id, stage,
                           outcome, kind, class, message, trace, duration_us, fuel, memory_bytes)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(to_db_time(record.time))
    .bind(&record.source)
    .bind(&record.version)
    .bind(&record.name)
    .bind(&record.action)
    .bind(&record.scope.user)
    .bind(&record.scope.guild)
    .bind(&record.scope.channel)
    .bind(record.stage.to_string())
    .bind(record.outcome.kind().as_str())
    .bind(kind)
    .bind(class)
    .bind(message)
    .bind(trace)
    .bind(i64::try_from(record.duration.as_micros()).unwrap_or(i64::MAX))
    .bind(i64::try_from(record.fuel).unwrap_or(i64::MAX))
    .bind(i64::try_from(record.memory_bytes).unwrap_or(i64::MAX))
    .execute(database)
    .await?;
    Ok(done.last_insert_rowid().cast_unsigned())
}

pub(super) async fn query(database: &Database, query: &RunQuery) -> Result<RunPage, StoreError> {
    let rows = sqlx::query(
        "SELECT * FROM runs
         WHERE (?1 IS NULL OR source = ?1)
           AND (?2 IS NULL OR outcome = ?2)
           AND (?3 IS NULL OR action = ?3)
           AND (?4 IS NULL OR time_us >= ?4)
           AND (?5 IS NULL OR time_us < ?5)
           AND (?6 IS NULL OR id < ?6)
         ORDER BY id DESC LIMIT ?7",
    )
    .bind(&query.hook)
    .bind(query.outcome.map(|outcome| outcome.as_str()))
    .bind(&query.action)
    .bind(query.from.map(to_db_time))
    .bind(query.until.map(to_db_time))
    .bind(query.before.map(|id| i64::try_from(id).unwrap_or(i64::MAX)))
    .bind(query.limit as i64 + 1)
    .fetch_all(database.pool())
    .await?;
    let records = rows.iter().map(record).collect::<Result<_, _>>()?;
    Ok(RunPage::of(records, query.limit))
}

pub(super) async fn forget_before(database: &Database, time: Timestamp) -> Result<u64, StoreError> {
    let done = sqlx::query("DELETE FROM runs WHERE time_us < ?")
        .bind(to_db_time(time))
        .execute(database.pool())
        .await?;
    Ok(done.rows_affected())
}

fn record(row: &SqliteRow) -> Result<RunRecord, StoreError> {
    let number =
        |column| -> Result<u64, StoreError> { Ok(row.try_get::<i64, _>(column)?.cast_unsigned()) };
    Ok(RunRecord {
        id: number("id")?,
        time: from_db_time(row.try_get("time_us")?)?,
        source: row.try_get("source")?,
        version: row.try_get("version")?,
        name: row.try_get("name")?,
        action: row.try_get("action")?,
        scope: Scope::from_row(row)?,
        stage: match row.try_get("stage")? {
            "pre" => Stage::Pre,
            "post" => Stage::Post,
            other => return Err(StoreError::unknown("stage", other)),
        },
        outcome: match row.try_get("outcome")? {
            "success" => RunOutcome::Success,
            "skipped" => RunOutcome::Skipped {
                reason: row.try_get("message")?,
            },
            "stopped" => RunOutcome::Stopped {
                class: row.try_get("class")?,
                message: row.try_get("message")?,
                trace: row.try_get("trace")?,
            },
            "failure" => RunOutcome::Failure {
                kind: row.try_get("kind")?,
                class: row.try_get("class")?,
                message: row.try_get("message")?,
                trace: row.try_get("trace")?,
            },
            other => return Err(StoreError::unknown("outcome", other)),
        },
        duration: Duration::from_micros(number("duration_us")?),
        fuel: number("fuel")?,
        memory_bytes: number("memory_bytes")?,
        is_class_known: false,
    })
}
