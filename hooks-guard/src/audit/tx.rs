//! Transactions on either database. Takes constant SQL texts with values for `$1` and so on;
//! returns rows, whose columns are read by position.

#[cfg(feature = "postgres")]
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Type};

use super::error::AuditError;

/// SQL text, one for both databases or one for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sql {
    sqlite: &'static str,
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "used by the other backend")
    )]
    postgres: &'static str,
}

impl Sql {
    pub(super) const fn each(sqlite: &'static str, postgres: &'static str) -> Self {
        Self { sqlite, postgres }
    }
}

impl From<&'static str> for Sql {
    fn from(text: &'static str) -> Self {
        Self::each(text, text)
    }
}

/// Value of an SQL parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arg<'a> {
    Int(Option<i64>),
    Real(f64),
    Text(Option<&'a str>),
    Bytes(Option<&'a [u8]>),
}

impl From<i64> for Arg<'_> {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<Option<i64>> for Arg<'_> {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Arg<'_> {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(Some(value))
    }
}

impl<'a> From<&'a String> for Arg<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(Some(value))
    }
}

impl<'a> From<&'a Option<String>> for Arg<'a> {
    fn from(value: &'a Option<String>) -> Self {
        Self::Text(value.as_deref())
    }
}

impl<'a> From<&'a [u8; 32]> for Arg<'a> {
    fn from(value: &'a [u8; 32]) -> Self {
        Self::Bytes(Some(value))
    }
}

impl<'a> From<&'a Option<[u8; 32]>> for Arg<'a> {
    fn from(value: &'a Option<[u8; 32]>) -> Self {
        Self::Bytes(value.as_ref().map(<[u8; 32]>::as_slice))
    }
}

/// A transaction. Rolls back if dropped without a commit.
#[derive(Debug)]
pub(super) enum Tx {
    Sqlite(super::database::SqliteTx),
    #[cfg(feature = "postgres")]
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
}

/// Runs a call on either database.
macro_rules! run {
    ($tx:expr, $sql:expr, $args:expr, $method:ident, $row:ident) => {{
        let sql: Sql = $sql.into();
        match $tx {
            Tx::Sqlite(tx) => {
                let query = run!(@bind sqlx::query(sql.sqlite), $args);
                query.$method(&mut **tx).await.map(run!(@wrap $row, Sqlite))
            }
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => {
                let query = run!(@bind sqlx::query(sql.postgres), $args);
                query.$method(&mut **tx).await.map(run!(@wrap $row, Postgres))
            }
        }
    }};
    // A macro, because the query types of the databases differ and a function cannot bind for both.
    (@bind $query:expr, $args:expr) => {
        $args.iter().fold($query, |query, arg| match *arg {
            Arg::Int(value) => query.bind(value),
            Arg::Real(value) => query.bind(value),
            Arg::Text(value) => query.bind(value),
            Arg::Bytes(value) => query.bind(value),
        })
    };
    (@wrap all, $variant:ident) => {
        |rows| rows.into_iter().map(SqlRow::$variant).collect::<Vec<SqlRow>>()
    };
    (@wrap optional, $variant:ident) => { |row| row.map(SqlRow::$variant) };
    (@wrap none, $variant:ident) => { |done| done.rows_affected() };
}

impl Tx {
    /// Runs a statement and returns the number of changed rows.
    pub(super) async fn execute(
        &mut self,
        sql: impl Into<Sql>,
        args: &[Arg<'_>],
    ) -> Result<u64, AuditError> {
        Ok(run!(self, sql, args, execute, none)?)
    }

    pub(super) async fn all(
        &mut self,
        sql: impl Into<Sql>,
        args: &[Arg<'_>],
    ) -> Result<Vec<SqlRow>, AuditError> {
        Ok(run!(self, sql, args, fetch_all, all)?)
    }

    pub(super) async fn optional(
        &mut self,
        sql: impl Into<Sql>,
        args: &[Arg<'_>],
    ) -> Result<Option<SqlRow>, AuditError> {
        Ok(run!(self, sql, args, fetch_optional, optional)?)
    }

    /// Runs a query that always returns a row.
    pub(super) async fn one(
        &mut self,
        sql: impl Into<Sql>,
        args: &[Arg<'_>],
    ) -> Result<SqlRow, AuditError> {
        self.optional(sql, args)
            .await?
            .ok_or(AuditError::Damaged { column: "row" })
    }

    /// Commits. A transaction of SQLite commits with its last statement.
    #[cfg(feature = "postgres")]
    pub(super) async fn commit(self) -> Result<(), AuditError> {
        match self {
            Self::Sqlite(mut tx) => {
                sqlx::query("COMMIT").execute(&mut *tx).await?;
            }
            Self::Postgres(tx) => tx.commit().await?,
        }
        Ok(())
    }

    /// Rolls back immediately, because other writers wait for the locks.
    pub(super) async fn rollback(self) -> Result<(), AuditError> {
        match self {
            Self::Sqlite(mut tx) => {
                sqlx::query("ROLLBACK").execute(&mut *tx).await?;
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(tx) => tx.rollback().await?,
        }
        Ok(())
    }
}

/// A row whose columns are read by position. Rows of a [`Tx`] own their values; rows of a
/// [`SnapshotReader`](super::database::SnapshotReader) borrow them.
pub(super) trait Columns {
    /// Text of a column.
    type Text<'r>: AsRef<str>
    where
        Self: 'r;

    fn int(&self, at: usize) -> Result<i64, AuditError>;
    fn maybe_int(&self, at: usize) -> Result<Option<i64>, AuditError>;
    fn real(&self, at: usize) -> Result<f64, AuditError>;
    fn text(&self, at: usize) -> Result<Self::Text<'_>, AuditError>;
    fn maybe_text(&self, at: usize) -> Result<Option<Self::Text<'_>>, AuditError>;
    fn maybe_hash(&self, at: usize) -> Result<Option<[u8; 32]>, AuditError>;

    fn flag(&self, at: usize) -> Result<bool, AuditError> {
        Ok(self.int(at)? != 0)
    }

    fn hash(&self, at: usize) -> Result<[u8; 32], AuditError> {
        self.maybe_hash(at)?.ok_or(DAMAGED_HASH)
    }
}

/// Error for a hash that is missing or has another length.
pub(super) const DAMAGED_HASH: AuditError = AuditError::Damaged { column: "hash" };

/// A row of a [`Tx`].
#[derive(Debug)]
pub(super) enum SqlRow {
    Sqlite(SqliteRow),
    #[cfg(feature = "postgres")]
    Postgres(PgRow),
}

/// Defines a getter for a column type that both databases support.
macro_rules! column {
    ($name:ident, $type:ty) => {
        pub(super) fn $name(&self, at: usize) -> Result<$type, AuditError> {
            self.get::<$type>(at)
        }
    };
}

#[cfg(feature = "postgres")]
macro_rules! get {
    () => {
        fn get<T>(&self, at: usize) -> Result<T, AuditError>
        where
            T: for<'r> Decode<'r, sqlx::Sqlite> + Type<sqlx::Sqlite>,
            T: for<'r> Decode<'r, sqlx::Postgres> + Type<sqlx::Postgres>,
        {
            use sqlx::Row as _;
            Ok(match self {
                Self::Sqlite(row) => row.try_get(at)?,
                Self::Postgres(row) => row.try_get(at)?,
            })
        }
    };
}
#[cfg(not(feature = "postgres"))]
macro_rules! get {
    () => {
        fn get<T>(&self, at: usize) -> Result<T, AuditError>
        where
            T: for<'r> Decode<'r, sqlx::Sqlite> + Type<sqlx::Sqlite>,
        {
            use sqlx::Row as _;
            let Self::Sqlite(row) = self;
            Ok(row.try_get(at)?)
        }
    };
}

impl SqlRow {
    get!();
    column!(int, i64);
    column!(maybe_int, Option<i64>);
    column!(real, f64);
    column!(text, String);
    column!(maybe_text, Option<String>);
    column!(maybe_bytes, Option<Vec<u8>>);

    pub(super) fn flag(&self, at: usize) -> Result<bool, AuditError> {
        Columns::flag(self, at)
    }

    pub(super) fn hash(&self, at: usize) -> Result<[u8; 32], AuditError> {
        Columns::hash(self, at)
    }

    pub(super) fn maybe_hash(&self, at: usize) -> Result<Option<[u8; 32]>, AuditError> {
        self.maybe_bytes(at)?
            .map(<[u8; 32]>::try_from)
            .transpose()
            .map_err(|_| DAMAGED_HASH)
    }
}

impl Columns for SqlRow {
    type Text<'r> = String;

    fn int(&self, at: usize) -> Result<i64, AuditError> {
        self.int(at)
    }

    fn maybe_int(&self, at: usize) -> Result<Option<i64>, AuditError> {
        self.maybe_int(at)
    }

    fn real(&self, at: usize) -> Result<f64, AuditError> {
        self.real(at)
    }

    fn text(&self, at: usize) -> Result<String, AuditError> {
        self.text(at)
    }

    fn maybe_text(&self, at: usize) -> Result<Option<String>, AuditError> {
        self.maybe_text(at)
    }

    fn maybe_hash(&self, at: usize) -> Result<Option<[u8; 32]>, AuditError> {
        self.maybe_hash(at)
    }
}
