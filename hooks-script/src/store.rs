//! What the stores of this crate have in common: their error, and the database.

#[cfg(feature = "sqlite")]
mod database;

#[cfg(feature = "sqlite")]
pub use database::Database;
#[cfg(feature = "sqlite")]
pub(crate) use database::{from_db_time, to_db_time};

/// Why a store cannot answer.
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
