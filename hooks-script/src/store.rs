//! What the stores of this crate have in common: their error, and the database.

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

/// A time as every store keeps it: in microseconds since 1970. By way of nanoseconds, of which
/// the last second of all times has all.
pub(crate) fn at_microsecond(microseconds: i64) -> Result<Timestamp, jiff::Error> {
    Timestamp::from_nanosecond(i128::from(microseconds) * 1000)
}

/// Error returned when a store fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database fails.
    #[error("the database fails: {source}")]
    Database {
        /// What it says.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is to be no file.
    #[error(
        "`{path}` names no file to SQLite; name one by its path, or keep this in memory: `ConsentStore::in_memory()` and its like"
    )]
    NoFile {
        /// What was given.
        path: String,
    },
    /// The database holds what this version does not know.
    #[error(
        "the database has `{value}` as `{column}`; it was written by a newer version, or damaged"
    )]
    Unknown {
        /// Where.
        column: &'static str,
        /// What.
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
    /// The scope in a row of one of the tables.
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
