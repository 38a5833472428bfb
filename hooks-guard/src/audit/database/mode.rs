//! How a database is opened. In: migrations, and for how long the database is needed. Out: what brings
//! it up to date; the right of a reader to have several transactions.

use std::borrow::Cow;

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use tokio::sync::OwnedSemaphorePermit;

/// What brings a database up to date: each change with its number, its name and its text.
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

/// For how long a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::audit) enum OpenMode {
    /// For a process that stays.
    Pooled,
    /// For one thing, and then it is left as it is.
    OneShot,
    /// For reading, also where nothing can be written.
    ReadOnly,
    /// The same for verifying alone, whatever its schema is.
    Unchecked,
}

/// While it is there, its holder may have so many connections more than one to read: who waits
/// for a second one while others do might wait for ever.
#[derive(Debug)]
pub(in crate::audit) struct ReadPermit {
    pub(in crate::audit) more: usize,
    pub(super) _turn: OwnedSemaphorePermit,
}
