//! Where the log of the trail ends. In: a transaction. Out: the last entry with its hash, and the last
//! numbers that were given.

use super::error::AuditError;
use super::tx::{Sql, Tx};

/// On which all instances hear that something was written.
#[cfg(feature = "postgres")]
pub(super) const CHANNEL: &str = "hooks_guard_audit";

/// The columns of a [`Head`] in the table.
macro_rules! head_columns {
    () => {
        "SELECT seq, hash, decisions, remembered, "
    };
}

/// The number that SQLite raises with each change of the schema.
macro_rules! schema_version {
    () => {
        "(SELECT schema_version FROM pragma_schema_version)"
    };
}

/// A number that differs from before if a table was replaced or its kind, its triggers, its rules or
/// its columns were changed; -1 if there is something that acts by itself.
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

/// Without PostgreSQL no statement has it.
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
    /// The last number of a decision.
    pub(super) decisions: i64,
    /// The last number of a remembered answer.
    pub(super) remembered: i64,
    /// Differs from before if the schema was changed.
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

    /// With PostgreSQL the lock behind which all writers queue.
    pub(super) async fn lock(tx: &mut Tx) -> Result<Self, AuditError> {
        let sql = Sql::each(
            concat!(head_columns!(), schema_version!(), " FROM head"),
            concat!(head_columns!(), schema_mark!(), " FROM head FOR UPDATE"),
        );
        Self::of(tx, sql).await
    }

    async fn of(tx: &mut Tx, sql: Sql) -> Result<Self, AuditError> {
        let row = tx.one(sql, &[]).await?;
        Ok(Self {
            seq: row.int(0)?,
            hash: row.hash(1)?,
            decisions: row.int(2)?,
            remembered: row.int(3)?,
            schema: row.int(4)?,
        })
    }

    /// Whether both heads give the same next numbers.
    pub(super) fn same_counters(&self, other: &Self) -> bool {
        (self.decisions, self.remembered) == (other.decisions, other.remembered)
    }
}
