//! A SQLite database, with what this crate keeps in it.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use super::{StoreError, at_microsecond};

/// How long a statement waits for another process that writes.
const BUSY: Duration = Duration::from_secs(5);

/// How often to try to make a new file's tables, and how long after each other.
const TRIES: u32 = 20;
const AGAIN: Duration = Duration::from_millis(50);

/// What has to be done to an older database, in order. An entry that was released stays as it
/// is.
const MIGRATIONS: [(i64, &str, &str); 3] = [
    (
        1,
        "records",
        include_str!("../../migrations/0001_records.sql"),
    ),
    (
        2,
        "consents stay",
        include_str!("../../migrations/0002_consents_stay.sql"),
    ),
    (
        3,
        "consent to context",
        include_str!("../../migrations/0003_consent_to_context.sql"),
    ),
];

/// A SQLite database for a [`ConsentStore`](crate::ConsentStore), a
/// [`RunHistory`](crate::RunHistory) and [`Versions`](crate::Versions); one file can contain all
/// three. Clones share the database. Needs a Tokio runtime.
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
    /// If the file cannot be used, or was written by a newer version of this crate. The names
    /// by which SQLite means no file, or not the one of that name, are refused: `:memory:`,
    /// nothing, and what begins with `file:`. Each connection would have a database of its own.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let name = path.as_os_str().as_encoded_bytes();
        if name.is_empty() || name == b":memory:" || name.starts_with(b"file:") {
            return Err(StoreError::NoFile {
                path: path.display().to_string(),
            });
        }
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            // What is deleted does not stay readable in the file.
            .pragma("secure_delete", "ON")
            .busy_timeout(BUSY);
        let mut tries = 0;
        loop {
            match opened(&options).await {
                Ok(pool) => return Ok(Database { pool }),
                // Somebody else may be making the same file just now.
                Err(error) if tries < TRIES && is_passing(&error) => tries += 1,
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Waits for what is under way, and closes the file. Every later call on it fails.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub(crate) fn pool(&self) -> &SqlitePool {
        &self.pool
    }
}

async fn opened(options: &SqliteConnectOptions) -> Result<SqlitePool, MigrateError> {
    let pool = SqlitePoolOptions::new()
        .max_connections(4)
        .acquire_timeout(BUSY)
        .connect_with(options.clone())
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
    Ok(pool)
}

/// Whether SQLite is busy, or finds a table that was not there a moment ago.
fn is_passing(error: &MigrateError) -> bool {
    const ERROR: i32 = 1;
    const BUSY: i32 = 5;
    const LOCKED: i32 = 6;
    let (MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) = error else {
        return false;
    };
    let said = error.as_database_error().and_then(|error| error.code());
    let code = said.and_then(|code| code.parse::<i32>().ok());
    // The rest of the number says more exactly why.
    code.is_some_and(|code| [ERROR, BUSY, LOCKED].contains(&(code & 0xff)))
}

/// Times are kept as microseconds since 1970.
pub(crate) fn to_db_time(time: Timestamp) -> i64 {
    time.as_microsecond()
}

pub(crate) fn from_db_time(microseconds: i64) -> Result<Timestamp, StoreError> {
    at_microsecond(microseconds).map_err(|_| StoreError::unknown("time", microseconds))
}
