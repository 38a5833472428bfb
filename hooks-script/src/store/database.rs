//! A SQLite database, with what this crate keeps in it.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use super::StoreError;

/// How long a statement waits for another process that writes.
const BUSY: Duration = Duration::from_secs(5);

/// What has to be done to an older database, in order. An entry that was released stays as it
/// is.
const MIGRATIONS: [(i64, &str, &str); 1] = [(
    1,
    "records",
    include_str!("../../migrations/0001_records.sql"),
)];

/// A SQLite database for a [`ConsentStore`](crate::ConsentStore), a
/// [`RunHistory`](crate::RunHistory) and [`Versions`](crate::Versions); one file can hold all
/// three (`S-20`, `S-21`). A clone is the same database. Needs a Tokio runtime.
///
/// A change is written through to the disk before the call that makes it returns.
#[derive(Debug, Clone)]
pub struct Database {
    pool: SqlitePool,
}

impl Database {
    /// Opens the database in a file, which is made if there is none, and brings it up to date.
    ///
    /// # Errors
    ///
    /// If the file cannot be used, or was written by a newer version of this crate.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            // What is deleted does not stay readable in the file.
            .pragma("secure_delete", "ON")
            .busy_timeout(BUSY);
        let pool = SqlitePoolOptions::new()
            .max_connections(4)
            .acquire_timeout(BUSY)
            .connect_with(options)
            .await?;
        let migrations = MIGRATIONS.map(|(version, name, sql)| {
            let kind = MigrationType::Simple;
            Migration::new(
                version,
                Cow::Borrowed(name),
                kind,
                sql.into_sql_str(),
                false,
            )
        });
        Migrator::with_migrations(migrations.into())
            .run(&pool)
            .await?;
        Ok(Database { pool })
    }

    /// Waits for what is under way, and closes the file. Every later call on it fails.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub(crate) fn pool(&self) -> &SqlitePool {
        &self.pool
    }
}

/// Times are kept as microseconds since 1970.
pub(crate) fn to_db_time(time: Timestamp) -> i64 {
    time.as_microsecond()
}

pub(crate) fn from_db_time(microseconds: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(microseconds).map_err(|_| StoreError::unknown("time", microseconds))
}
