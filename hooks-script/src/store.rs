//! Shared parts of the stores of this crate: their error, and the database.

#[cfg(feature = "sqlite")]
mod database;

use jiff::Timestamp;
#[cfg(feature = "sqlite")]
use sqlx::Row;
#[cfg(feature = "sqlite")]
use sqlx::sqlite::SqliteRow;

#[cfg(feature = "sqlite")]
use crate::scope::Scope;

#[cfg(feature = "sqlite")]
pub use database::Database;
#[cfg(feature = "sqlite")]
pub(crate) use database::{from_db_time, to_db_time};

/// Converts microseconds since 1970, as stored, to a time. It goes through nanoseconds, because
/// only they cover the last second of the range.
pub(crate) fn at_microsecond(microseconds: i64) -> Result<Timestamp, jiff::Error> {
    Timestamp::from_nanosecond(i128::from(microseconds) * 1000)
}

/// Rounds a time to the precision with which every backend stores and compares times.
pub(crate) fn to_the_microsecond(time: Timestamp) -> Timestamp {
    at_microsecond(time.as_microsecond()).unwrap_or(time)
}

/// Error returned when a store fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database failed.
    #[error("database error: {source}")]
    Database {
        /// Error of the database.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The path does not name a file.
    #[error(
        "`{path}` is not a file name for SQLite; use a path, or a store in memory such as `ConsentStore::in_memory()`"
    )]
    NoFile {
        /// The given path.
        path: String,
    },
    /// The database contains a value that this version does not know.
    #[error(
        "unknown value `{value}` in column `{column}`; the database was written by a newer version, or is damaged"
    )]
    Unknown {
        /// Column of the value.
        column: &'static str,
        /// Value.
        value: String,
    },
}

#[cfg(feature = "sqlite")]
impl StoreError {
    pub(crate) fn unknown(column: &'static str, value: impl ToString) -> Self {
        StoreError::Unknown {
            column,
            value: value.to_string(),
        }
    }
}

#[cfg(feature = "sqlite")]
impl Scope {
    /// Reads the scope from a row of any table.
    pub(crate) fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Scope {
            user: row.try_get("user_id")?,
            guild: row.try_get("guild_id")?,
            channel: row.try_get("channel_id")?,
        })
    }
}

#[cfg(feature = "sqlite")]
impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        StoreError::Database {
            source: error.into(),
        }
    }
}

#[cfg(feature = "sqlite")]
impl From<sqlx::migrate::MigrateError> for StoreError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        StoreError::Database {
            source: error.into(),
        }
    }
}
