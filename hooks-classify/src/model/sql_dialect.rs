//! [`SqlDialect`] of a program.

/// The dialect of SQL that a program speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SqlDialect {
    MySql,
    PostgreSql,
    Sqlite,
    /// One of several, or any other.
    Unknown,
}
