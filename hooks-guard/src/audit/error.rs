//! Why the audit trail cannot answer.

use std::io;
use std::sync::Arc;

/// Error returned by an [`AuditStore`](super::AuditStore).
///
/// Whoever has to record a decision and gets one of these has not recorded it, and must not let
/// anything run on it. The store stays usable: the next call tries again.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The address names no database that this build knows.
    #[error("`{url}` is no address of a database; give a path, `sqlite:PATH` or `postgres://…`")]
    Address {
        /// The address, without what stands before its host.
        url: String,
    },
    /// This build has no support for such a database.
    #[error("this build cannot use {backend}; build it with the feature `{feature}`")]
    Unsupported {
        /// The database.
        backend: &'static str,
        /// The feature of this crate.
        feature: &'static str,
    },
    /// The folder or the file cannot be made.
    #[error("`{path}` cannot be made: {source}; see that its folder exists and may be written to")]
    Create {
        /// What was to be made.
        path: String,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// A copy is made with the tools of the database.
    #[error("a trail in PostgreSQL is copied with `pg_dump`; see the page on operation")]
    CopiedElsewhere,
    /// The file is something else.
    #[error("the file is no SQLite database, or is damaged; give another path, or restore it")]
    NotADatabase,
    /// It was written by a newer version.
    #[error(
        "the database has schema {version}, which this version does not know; use a newer `hooks-guard`"
    )]
    Newer {
        /// The schema that it has.
        version: i64,
    },
    /// The file was deleted, moved or replaced while it was open: what is written to it is lost.
    #[error(
        "`{path}` was deleted or replaced while it was in use; put the file back, or restart the service"
    )]
    Replaced {
        /// The file.
        path: String,
    },
    /// The trail does not continue from an entry that this process wrote or read before: it was
    /// replaced, set back or rewritten.
    #[error(
        "the trail no longer continues from entry {entry}, which this process knows: {problem}; run `hooks-guard audit verify` with a noted `--head`, restore the trail, or restart the service to accept it as it is"
    )]
    Rewritten {
        /// The last entry that was known.
        entry: i64,
        /// What is different.
        problem: String,
    },
    /// A row allows something, and the log does not say so: it was written by hand.
    #[error(
        "the log does not vouch for {what} {number}, which would allow something; run `hooks-guard audit verify`, and restore the trail"
    )]
    Unvouched {
        /// What it is.
        what: &'static str,
        /// Its number.
        number: i64,
    },
    /// The database has tables, triggers or indexes that its migrations do not make.
    #[error(
        "the database has another schema than this version makes: {difference}; look at it and run `{remedy}`, or restore the database"
    )]
    Schema {
        /// The first difference.
        difference: String,
        /// A statement that removes it.
        remedy: String,
    },
    /// Somebody else writes, and does not end.
    #[error("the database is locked by another process; end that process, or try again")]
    Locked,
    /// Nothing more can be written.
    #[error("the disk of the database is full; make room, or clean up old decisions")]
    Full,
    /// The database may only be read.
    #[error(
        "the database may only be read; allow writing to its file and folder, or give the address of the primary server"
    )]
    ReadOnly,
    /// The database may only be read, and its schema is one of before.
    #[error(
        "the database has schema {version} and may only be read, so that it cannot be brought up to date; copy it to where it may be written to"
    )]
    Older {
        /// The schema that it has.
        version: i64,
    },
    /// The file may only be read, and what was written last is in a log beside it, which SQLite
    /// does not read there.
    #[error(
        "`{path}` may only be read, and has a log beside it that cannot be read there; copy both to a folder that may be written to"
    )]
    UnreadableLog {
        /// The file.
        path: String,
    },
    /// The file cannot be opened, or the server not be reached.
    #[error(
        "the database cannot be reached: {source}; see that its address is right, that its server runs if it has one, and that you may use it"
    )]
    Unreachable {
        /// What the driver says.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// What is stored makes no sense.
    #[error("the database has a `{column}` that is none; see what `audit verify` says")]
    Damaged {
        /// Where.
        column: &'static str,
    },
    /// The store is being closed.
    #[error("the audit trail is closed; open it again")]
    Closed,
    /// Anything else.
    #[error("the database fails: {source}")]
    Database {
        /// What the driver says.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
}

impl From<sqlx::Error> for AuditError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            // SQLite's; what it means of a server, the pools of one say.
            sqlx::Error::PoolTimedOut => Self::Locked,
            sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => Self::Closed,
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) => Self::Unreachable {
                source: Arc::new(error),
            },
            sqlx::Error::Database(said) => match code(said.code().as_deref().unwrap_or("")) {
                Code::Locked => Self::Locked,
                Code::Full => Self::Full,
                Code::ReadOnly => Self::ReadOnly,
                Code::NotADatabase => Self::NotADatabase,
                Code::Unreachable => Self::Unreachable {
                    source: Arc::new(error),
                },
                Code::Other => Self::Database {
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

enum Code {
    Locked,
    Full,
    ReadOnly,
    NotADatabase,
    Unreachable,
    Other,
}

/// SQLite has numbers, of which the lower byte is the kind; PostgreSQL has five letters.
fn code(code: &str) -> Code {
    match code {
        "55P03" | "40P01" | "40001" => return Code::Locked,
        "53100" => return Code::Full,
        "25006" => return Code::ReadOnly,
        "57P01" | "57P02" | "57P03" | "53300" | "28P01" | "28000" | "3D000" => {
            return Code::Unreachable;
        }
        _ if code.len() == 5 => return Code::Other,
        _ => {}
    }
    match code.parse::<u32>().map(|code| code & 0xff) {
        Ok(5 | 6) => Code::Locked,
        Ok(13) => Code::Full,
        Ok(8) => Code::ReadOnly,
        Ok(11 | 26) => Code::NotADatabase,
        Ok(14) => Code::Unreachable,
        _ => Code::Other,
    }
}
