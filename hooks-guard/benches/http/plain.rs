//! Another baseline: inserts of one column into SQLite, with equal durability and batch size.

use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};

/// Returns the number of inserts per second, with `together` rows per transaction.
pub(crate) async fn inserts(
    folder: &Path,
    together: usize,
    time: Duration,
) -> Result<f64, sqlx::Error> {
    let mut connection = SqliteConnectOptions::new()
        .filename(folder.join("plain.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .connect()
        .await?;
    sqlx::query("CREATE TABLE IF NOT EXISTS plain (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        .execute(&mut connection)
        .await?;
    // About the length of a decision with all its texts.
    let text = "x".repeat(400);
    let began = Instant::now();
    let mut rows = 0;
    while began.elapsed() < time {
        let mut transaction = connection.begin().await?;
        for _ in 0..together {
            sqlx::query("INSERT INTO plain (text) VALUES ($1)")
                .bind(&text)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        rows += together;
    }
    let rate = rows as f64 / began.elapsed().as_secs_f64();
    connection.close().await?;
    Ok(rate)
}
