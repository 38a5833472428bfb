//! Errors of the audit trail.

use std::io;
use std::sync::Arc;

/// Error returned by an [`AuditStore`](super::AuditStore).
///
/// A caller that gets this error has not recorded its decision and must not run the command. The
/// store stays usable: the next call tries again.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The address is not the address of a supported database.
    #[error("`{url}` is not a database address; give a path, `sqlite:PATH` or `postgres://…`")]
    Address {
        /// The address without its credentials.
        url: String,
    },
    /// This build does not support the database.
    #[error("this build does not support {backend}; build it with the feature `{feature}`")]
    Unsupported {
        /// Name of the database.
        backend: &'static str,
        /// Cargo feature of this crate that enables it.
        feature: &'static str,
    },
    /// The folder or the file cannot be created.
    #[error("cannot create `{path}`: {source}; check that its folder exists and is writable")]
    Create {
        /// Path of the folder or file.
        path: String,
        /// Error of the operating system.
        source: Arc<io::Error>,
    },
    /// Backups of this database are made with its own tools.
    #[error("a trail in PostgreSQL cannot be backed up here; use `pg_dump`")]
    CopiedElsewhere,
    /// The file is not a database.
    #[error("the file is damaged or not a SQLite database; give another path, or restore it")]
    NotADatabase,
    /// The database was written by a newer version.
    #[error("unknown database schema {version}; use a newer `hooks-guard`")]
    Newer {
        /// Schema version of the database.
        version: i64,
    },
    /// The file was deleted, moved or replaced while it was open; writes to it would be lost.
    #[error(
        "`{path}` was deleted or replaced while it was in use; put the file back, or restart the service"
    )]
    Replaced {
        /// Path of the file.
        path: String,
    },
    /// The trail does not continue from an entry that this process wrote or read before: the trail
    /// was replaced, reset or rewritten.
    #[error(
        "the trail no longer continues from entry {entry}, the last known entry: {problem}; run `hooks-guard audit verify` with a noted `--head`, restore the trail, or restart the service to accept the current trail"
    )]
    Rewritten {
        /// Number of the last known entry.
        entry: i64,
        /// The difference.
        problem: String,
    },
    /// A row allows a command, but the log has no entry for it: the row was written by hand.
    #[error(
        "the log does not confirm {what} {number}, which would allow a command; run `hooks-guard audit verify`, and restore the trail"
    )]
    Unvouched {
        /// Kind of the row.
        what: &'static str,
        /// Id of the row.
        number: i64,
    },
    /// The database has tables, triggers or indexes that its migrations do not create.
    #[error(
        "the schema of the database differs from the schema of this version: {difference}; check it and run `{remedy}`, or restore the database"
    )]
    Schema {
        /// The first difference.
        difference: String,
        /// SQL statement that removes the difference.
        remedy: String,
    },
    /// Another program holds the write lock and does not release it.
    #[error(
        "the database is locked by another process; look for a stopped `hooks-guard serve` or an open database program, end it, and try again"
    )]
    Locked,
    /// Processes that record single decisions were still writing when the timeout of this process
    /// passed.
    #[error(
        "other hooks were still writing to the database when the timeout passed; try again, or start `hooks-guard serve`, which records for all hooks"
    )]
    Queued,
    /// Another service uses the trail.
    #[error(
        "`{path}` is in use by another service ({holder}); stop that service, or give this service another trail"
    )]
    Claimed {
        /// Path of the trail.
        path: String,
        /// Description of the other service.
        holder: String,
    },
    /// The disk or the database is full.
    #[error("the disk of the database is full; free disk space, or clean up old decisions")]
    Full,
    /// The database is read-only.
    #[error(
        "the database is read-only; make its file and folder writable, or give the address of the primary server"
    )]
    ReadOnly,
    /// The database is read-only and has an older schema.
    #[error(
        "the database has the older schema {version} and is read-only, so it cannot be migrated; copy it to a writable folder"
    )]
    Older {
        /// Schema version of the database.
        version: i64,
    },
    /// The file is read-only, and its latest changes are in a write-ahead log, which SQLite cannot
    /// read there.
    #[error(
        "`{path}` is read-only, and its write-ahead log cannot be read there; copy both to a writable folder"
    )]
    UnreadableLog {
        /// Path of the file.
        path: String,
    },
    /// The file cannot be opened, or the server cannot be reached.
    #[error(
        "cannot reach the database: {source}; check its address, that its server is running, and your permissions"
    )]
    Unreachable {
        /// Error of the driver.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// A stored value is invalid.
    #[error("invalid `{column}` in the database; run `hooks-guard audit verify`")]
    Damaged {
        /// Column of the value.
        column: &'static str,
    },
    /// The store is being closed.
    #[error("the audit trail is closed; open it again")]
    Closed,
    /// Any other error.
    #[error("database error: {source}")]
    Database {
        /// Error of the driver.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
}

impl From<sqlx::Error> for AuditError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            // For SQLite. The PostgreSQL backend converts the timeout of its pools itself.
            sqlx::Error::PoolTimedOut => Self::Locked,
            sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => Self::Closed,
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) => Self::Unreachable {
                source: Arc::new(error),
            },
            sqlx::Error::Database(cause) => match code(cause.code().as_deref().unwrap_or("")) {
                DatabaseErrorKind::Locked => Self::Locked,
                DatabaseErrorKind::Full => Self::Full,
                DatabaseErrorKind::ReadOnly => Self::ReadOnly,
                DatabaseErrorKind::NotADatabase => Self::NotADatabase,
                DatabaseErrorKind::Unreachable => Self::Unreachable {
                    source: Arc::new(error),
                },
                DatabaseErrorKind::Other => Self::Database {
                    source: Arc::new(error),
                },
            },
            _ => Self::Database {
                source: Arc::new(error),
            },
        }
    }
}

impl From<sqlx::migrate::MigrateError> for AuditError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        use sqlx::migrate::MigrateError;
        match error {
            MigrateError::VersionMissing(version) | MigrateError::VersionNotPresent(version) => {
                Self::Newer { version }
            }
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
            error => Self::Database {
                source: Arc::new(error),
            },
        }
    }
}

enum DatabaseErrorKind {
    Locked,
    Full,
    ReadOnly,
    NotADatabase,
    Unreachable,
    Other,
}

/// Classifies an error code: SQLite uses numbers whose low byte is the kind, PostgreSQL five
/// characters.
fn code(code: &str) -> DatabaseErrorKind {
    match code {
        "55P03" | "40P01" | "40001" => return DatabaseErrorKind::Locked,
        "53100" => return DatabaseErrorKind::Full,
        "25006" => return DatabaseErrorKind::ReadOnly,
        "57P01" | "57P02" | "57P03" | "53300" | "28P01" | "28000" | "3D000" => {
            return DatabaseErrorKind::Unreachable;
        }
        _ if code.len() == 5 => return DatabaseErrorKind::Other,
        _ => {}
    }
    match code.parse::<u32>().map(|code| code & 0xff) {
        // 15: too many processes opened the write-ahead log at the same time.
        Ok(5 | 6 | 15) => DatabaseErrorKind::Locked,
        Ok(13) => DatabaseErrorKind::Full,
        Ok(8) => DatabaseErrorKind::ReadOnly,
        Ok(11 | 26) => DatabaseErrorKind::NotADatabase,
        Ok(14) => DatabaseErrorKind::Unreachable,
        _ => DatabaseErrorKind::Other,
    }
}
