//! Open modes and migrations. Takes a list of migrations; returns the `Migrator` that applies them.
//! Also defines the permit for several read transactions.

use std::borrow::Cow;

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use tokio::sync::OwnedSemaphorePermit;

/// Returns the migrator for a list of migrations, each with a version, a name and SQL text.
pub(super) fn migrator(changes: &[(i64, &'static str, &'static str)]) -> Migrator {
    let migrations = changes.iter().map(|&(version, name, sql)| {
        let kind = MigrationType::Simple;
        Migration::new(
            version,
            Cow::Borrowed(name),
            kind,
            sql.into_sql_str(),
            false,
        )
    });
    Migrator::with_migrations(migrations.collect())
}

/// Purpose for which a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::audit) enum OpenMode {
    /// For a long-running process.
    Pooled,
    /// For a single operation; the file is not cleaned up on close.
    OneShot,
    /// For reading, including files on read-only media.
    ReadOnly,
    /// Like `ReadOnly`, for verification only: accepts any schema.
    Unchecked,
}

/// Permit to hold `more` additional read connections. Without the permit, readers that each wait
/// for a second connection could deadlock.
#[derive(Debug)]
pub(in crate::audit) struct ReadPermit {
    pub(in crate::audit) more: usize,
    pub(super) _permit: OwnedSemaphorePermit,
}
