//! The head of the log. Takes a transaction; returns the last entry with its hash, and the last
//! assigned ids.

use sqlx::SqliteConnection;

use super::error::AuditError;
use super::tx::{Sql, SqlRow, Tx};

/// PostgreSQL channel on which instances notify each other of writes.
#[cfg(feature = "postgres")]
pub(super) const CHANNEL: &str = "hooks_guard_audit";

/// Selects the columns of a [`Head`].
macro_rules! head_columns {
    () => {
        "SELECT seq, hash, decisions, remembered, "
    };
}

/// The number that SQLite increments with each change of the schema.
macro_rules! schema_version {
    () => {
        "(SELECT schema_version FROM pragma_schema_version)"
    };
}

/// A number that changes if a table is replaced or if its kind, triggers, rules or columns change;
/// -1 if a table has triggers, rules or similar objects.
#[cfg(feature = "postgres")]
macro_rules! schema_mark {
    () => {
        "(SELECT CASE WHEN bool_or(c.relhastriggers OR c.relhasrules OR c.relrowsecurity
                OR c.relhassubclass OR c.relkind <> 'r') OR count(*) <> 10 THEN -1
            ELSE abs(hashtextextended(string_agg(concat_ws(':', c.oid, c.relnatts, c.relchecks),
                ',' ORDER BY c.oid), 0) / 2) END
          FROM pg_catalog.pg_class c
          WHERE pg_catalog.pg_table_is_visible(c.oid) AND c.relname IN ('cleanups', 'decisions',
            'gaps', 'head', 'log', 'remembered', 'searched', 'tallies', 'times', 'used'))"
    };
}

/// Unused without PostgreSQL.
#[cfg(not(feature = "postgres"))]
macro_rules! schema_mark {
    () => {
        "0"
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) seq: i64,
    pub(super) hash: [u8; 32],
    /// Id of the last decision.
    pub(super) decisions: i64,
    /// Id of the last remembered answer.
    pub(super) remembered: i64,
    /// Schema mark; changes with the schema.
    pub(super) schema: i64,
}

impl Head {
    pub(super) async fn read(tx: &mut Tx) -> Result<Self, AuditError> {
        let sql = Sql::each(
            concat!(head_columns!(), schema_version!(), " FROM head"),
            concat!(head_columns!(), schema_mark!(), " FROM head"),
        );
        Self::of(tx, sql).await
    }

    /// Reads the head in PostgreSQL, and takes the row lock that serializes all writers.
    #[cfg(feature = "postgres")]
    pub(super) async fn lock(tx: &mut Tx) -> Result<Self, AuditError> {
        let sql = concat!(head_columns!(), schema_mark!(), " FROM head FOR UPDATE");
        Self::of(tx, sql.into()).await
    }

    /// Begins a write transaction of SQLite and reads the head. Two statements: the driver's thread
    /// panics if one query begins a transaction and then names a table that was renamed meanwhile.
    pub(super) async fn begin(connection: &mut SqliteConnection) -> Result<Self, AuditError> {
        // A plain `BEGIN` would fail at the first change, regardless of the lock timeout, if another
        // process wrote after the first read.
        sqlx::query("BEGIN IMMEDIATE")
            .execute(&mut *connection)
            .await?;
        let sql = concat!(head_columns!(), schema_version!(), " FROM head");
        let row = sqlx::query(sql).fetch_one(connection).await?;
        Self::read_row(&SqlRow::Sqlite(row))
    }

    async fn of(tx: &mut Tx, sql: Sql) -> Result<Self, AuditError> {
        Self::read_row(&tx.one(sql, &[]).await?)
    }

    fn read_row(row: &SqlRow) -> Result<Self, AuditError> {
        Ok(Self {
            seq: row.int(0)?,
            hash: row.hash(1)?,
            decisions: row.int(2)?,
            remembered: row.int(3)?,
            schema: row.int(4)?,
        })
    }

    /// Returns `true` if both heads lead to equal next ids.
    pub(super) fn same_counters(&self, other: &Self) -> bool {
        (self.decisions, self.remembered) == (other.decisions, other.remembered)
    }
}
