//! SQLite database of the stores: connection settings and migrations.

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

/// Time for which a statement waits for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Number of attempts to create the tables of a new file, and the delay between them.
const MAX_ATTEMPTS: u32 = 20;
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Migrations, in order. Released entries never change.
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
/// Every change is on disk before the call that makes it returns.
#[derive(Debug, Clone)]
pub struct Database {
    pool: SqlitePool,
}

impl Database {
    /// Opens the database in a file, creates it if it is missing, and migrates it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be used, or was written by a newer version of this
    /// crate. Also refuses paths that SQLite does not take as the file of that name: `:memory:`,
    /// the empty path, and paths that begin with `file:`. Each connection would open its own
    /// database.
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
            // Deleted data must not remain readable in the file.
            .pragma("secure_delete", "ON")
            .busy_timeout(BUSY_TIMEOUT);
        let mut tries = 0;
        loop {
            match opened(&options).await {
                Ok(pool) => return Ok(Database { pool }),
                // Another process may be creating this file.
                Err(error) if tries < MAX_ATTEMPTS && is_passing(&error) => tries += 1,
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    /// Waits for pending calls and closes the file. Later calls fail.
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
        .acquire_timeout(BUSY_TIMEOUT)
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

/// Returns `true` if SQLite is busy, or a table appeared while it was being created.
fn is_passing(error: &MigrateError) -> bool {
    const ERROR: i32 = 1;
    const BUSY: i32 = 5;
    const LOCKED: i32 = 6;
    let (MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) = error else {
        return false;
    };
    let code = error.as_database_error().and_then(|error| error.code());
    let code = code.and_then(|code| code.parse::<i32>().ok());
    // The other bits are the extended error code.
    code.is_some_and(|code| [ERROR, BUSY, LOCKED].contains(&(code & 0xff)))
}

/// Converts a time to microseconds since 1970, as stored.
pub(crate) fn to_db_time(time: Timestamp) -> i64 {
    time.as_microsecond()
}

pub(crate) fn from_db_time(microseconds: i64) -> Result<Timestamp, StoreError> {
    at_microsecond(microseconds).map_err(|_| StoreError::unknown("time", microseconds))
}
