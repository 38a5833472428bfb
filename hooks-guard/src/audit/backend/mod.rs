//! The two databases, behind what the rest of the trail needs of one: a transaction in which
//! constant texts are run with values bound to them. Everything else is written once.

use std::borrow::Cow;

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

use sqlx::migrate::{Migration, MigrationType, Migrator};
#[cfg(feature = "postgres")]
use sqlx::postgres::PgRow;
#[cfg(feature = "sqlite")]
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, SqlSafeStr, Type};
use tokio::sync::OwnedSemaphorePermit;

use super::TrailAddress;
use super::anchor::{self, Anchor};
use super::error::AuditError;
use super::write::Head;

#[cfg(feature = "postgres")]
pub(super) use postgres::{CHANNEL, Postgres, schema_mark};
#[cfg(feature = "sqlite")]
pub(super) use sqlite::Sqlite;

/// Without PostgreSQL no statement has it.
#[cfg(not(feature = "postgres"))]
macro_rules! schema_mark {
    () => {
        "0"
    };
}
#[cfg(not(feature = "postgres"))]
pub(super) use schema_mark;

/// What brings a database up to date: each change with its number, its name and its text.
fn migrator(changes: &[(i64, &'static str, &'static str)]) -> Migrator {
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

/// One of the databases. A clone is the same one.
#[derive(Clone, Debug)]
pub(super) enum Backend {
    #[cfg(feature = "sqlite")]
    Sqlite(Sqlite),
    #[cfg(feature = "postgres")]
    Postgres(Postgres),
}

/// For how long a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stay {
    Long,
    /// For one thing, and then it is left as it is.
    Brief,
    /// For reading, also where nothing can be written.
    ReadOnly,
    /// The same for verifying alone, whatever its schema is.
    Unchecked,
}

impl Backend {
    pub(super) async fn open(url: &str, stay: Stay) -> Result<Self, AuditError> {
        match TrailAddress::read(url) {
            #[cfg(feature = "postgres")]
            Some(TrailAddress::Postgres(url)) => {
                Ok(Self::Postgres(Postgres::open(url, stay).await?))
            }
            #[cfg(not(feature = "postgres"))]
            Some(TrailAddress::Postgres(_)) => Err(AuditError::Unsupported {
                backend: "PostgreSQL",
                feature: "postgres",
            }),
            #[cfg(feature = "sqlite")]
            Some(TrailAddress::File(path)) => {
                Ok(Self::Sqlite(Sqlite::open(Some(path), stay).await?))
            }
            #[cfg(feature = "sqlite")]
            Some(TrailAddress::Memory) => Ok(Self::Sqlite(Sqlite::open(None, stay).await?)),
            #[cfg(not(feature = "sqlite"))]
            Some(TrailAddress::File(_) | TrailAddress::Memory) => Err(AuditError::Unsupported {
                backend: "SQLite",
                feature: "sqlite",
            }),
            None => Err(AuditError::Address {
                url: match url.rsplit_once('@') {
                    Some((_, host)) => host.to_owned(),
                    None => url.to_owned(),
                },
            }),
        }
    }

    /// The last known state of the database.
    pub(super) fn anchor(&self) -> &Anchor {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.anchor(),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.anchor(),
        }
    }

    /// Compares the schema with the one that the migrations make, if its mark has changed.
    ///
    /// # Errors
    /// If there is a difference.
    pub(super) async fn check_schema(&self, tx: &mut Tx, mark: i64) -> Result<(), AuditError> {
        if mark >= 0 && self.anchor().is_compared(mark) {
            return Ok(());
        }
        self.compare_schema(tx).await?;
        self.anchor().compared(mark);
        Ok(())
    }

    /// Compares the schema with the one that the migrations make.
    ///
    /// # Errors
    /// If there is a difference.
    pub(super) async fn compare_schema(&self, tx: &mut Tx) -> Result<(), AuditError> {
        match (self, tx) {
            #[cfg(feature = "sqlite")]
            (Self::Sqlite(_), Tx::Sqlite(tx)) => {
                sqlite::check_schema(tx).await?;
            }
            #[cfg(feature = "postgres")]
            (Self::Postgres(database), Tx::Postgres(tx)) => database.check_schema(tx).await?,
            #[cfg(all(feature = "sqlite", feature = "postgres"))]
            _ => unreachable!("a transaction belongs to its database"),
        }
        Ok(())
    }

    /// Returns whether each table of the trail is there and is a plain table: reading a view, a
    /// virtual table or a table with rules runs what they are made of.
    pub(super) async fn has_plain_tables(&self, tx: &mut Tx) -> Result<bool, AuditError> {
        match (self, tx) {
            #[cfg(feature = "sqlite")]
            (Self::Sqlite(_), Tx::Sqlite(tx)) => sqlite::has_plain_tables(tx).await,
            #[cfg(feature = "postgres")]
            (Self::Postgres(_), Tx::Postgres(tx)) => postgres::has_plain_tables(tx).await,
            #[cfg(all(feature = "sqlite", feature = "postgres"))]
            _ => unreachable!("a transaction belongs to its database"),
        }
    }

    /// Takes the trail as it is now for the known one.
    pub(super) async fn begin(&self) -> Result<Head, AuditError> {
        #[cfg(feature = "sqlite")]
        let file = match self {
            Self::Sqlite(database) => database.file_state().await?,
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
        };
        let head = self.begin_briefly().await?;
        #[cfg(feature = "sqlite")]
        if let Some(file) = file {
            let seq = file.head.map_or(0, |(seq, _)| seq);
            let mut tx = self.read_unchecked().await?;
            let rows = tx
                .all("SELECT seq, hash FROM log WHERE seq > $1", &[seq.into()])
                .await?;
            let entries: Result<Vec<_>, AuditError> = rows
                .iter()
                .map(|row| Ok((row.int(0)?, row.hash(1)?)))
                .collect();
            self.anchor().begin_file(file, entries?);
        }
        Ok(head)
    }

    /// As [`begin`](Self::begin), for a process that records one thing.
    pub(super) async fn begin_briefly(&self) -> Result<Head, AuditError> {
        let mut tx = self.read_unchecked().await?;
        let head = Head::read(&mut tx).await?;
        self.check_schema(&mut tx, head.schema).await?;
        // At once: SQLite does not begin its log anew while a transaction reads it.
        tx.rollback().await?;
        self.anchor().advance(head, []);
        Ok(head)
    }

    /// The same database, whose readers do not queue behind those of this one.
    pub(super) fn reserved(&self) -> Self {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => Self::Sqlite(database.reserved()),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => Self::Postgres(database.reserved()),
        }
    }

    /// A transaction that sees one state and changes nothing.
    ///
    /// # Errors
    /// If that state does not continue from the one that this process knows.
    pub(super) async fn read(&self) -> Result<Tx, AuditError> {
        self.check_contents().await?;
        // Before the snapshot: this process may write meanwhile.
        let known = self.anchor().head();
        let mut tx = self.read_unchecked().await?;
        anchor::recognize(self, &mut tx, known).await?;
        Ok(tx)
    }

    /// As [`read`](Self::read), of a trail that may be another one.
    pub(super) async fn read_unchecked(&self) -> Result<Tx, AuditError> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.read().await.map(Tx::Sqlite),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.read().await.map(Tx::Postgres),
        }
    }

    /// For a single statement, which sees one state by itself.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) async fn glance(&self) -> Result<Tx, AuditError> {
        self.check_contents().await?;
        let known = self.anchor().head();
        let mut tx = match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.glance().await.map(Tx::Sqlite)?,
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.read().await.map(Tx::Postgres)?,
        };
        anchor::recognize(self, &mut tx, known).await?;
        Ok(tx)
    }

    /// Checks that the file of a database is a state on the way to the known head: it may have been
    /// written over in its place, behind the log.
    ///
    /// # Errors
    /// If it is not.
    pub(super) async fn check_contents(&self) -> Result<(), AuditError> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.check_contents(self).await,
            // A server keeps its files itself.
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Checks that the database is still the one that was opened.
    ///
    /// # Errors
    /// If its file was deleted or replaced: what is written to the open file is lost.
    pub(super) fn check(&self) -> Result<(), AuditError> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.check(),
            // A server keeps its files itself.
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => Ok(()),
        }
    }

    /// The right to have several transactions read at the same time; none where that makes nothing
    /// faster, or somebody has it.
    pub(super) fn beside(&self) -> Option<Beside> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.beside(),
            // Its server divides the work itself.
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
        }
    }

    /// A transaction that nobody else writes beside.
    pub(super) async fn write(&self) -> Result<Tx, AuditError> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.write().await.map(Tx::Sqlite),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.write().await.map(Tx::Postgres),
        }
    }

    /// Writes a copy into a new file.
    pub(super) async fn backup(&self, file: &std::path::Path) -> Result<(), AuditError> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.backup(file).await,
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => {
                let _ = file;
                Err(AuditError::CopiedElsewhere)
            }
        }
    }

    pub(super) async fn close(&self) {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.close().await,
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.close().await,
        }
    }
}

/// While it is there, its holder may have so many connections more than one to read: who waits
/// for a second one while others do might wait for ever.
#[derive(Debug)]
pub(super) struct Beside {
    pub(super) more: usize,
    _turn: OwnedSemaphorePermit,
}

/// A text that is the same for both, or one for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sql {
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "the other one's"))]
    sqlite: &'static str,
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "the other one's")
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

/// A value for `$1` and so on.
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

/// A transaction. Dropped without a commit, it has done nothing.
#[derive(Debug)]
pub(super) enum Tx {
    #[cfg(feature = "sqlite")]
    Sqlite(sqlx::pool::PoolConnection<sqlx::Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
}

/// Runs the same call on either.
macro_rules! run {
    ($tx:expr, $sql:expr, $args:expr, $method:ident, $row:ident) => {{
        let sql: Sql = $sql.into();
        match $tx {
            #[cfg(feature = "sqlite")]
            Tx::Sqlite(tx) => {
                let mut query = sqlx::query(sql.sqlite);
                for arg in $args {
                    query = match *arg {
                        Arg::Int(value) => query.bind(value),
                        Arg::Real(value) => query.bind(value),
                        Arg::Text(value) => query.bind(value),
                        Arg::Bytes(value) => query.bind(value),
                    };
                }
                query.$method(&mut **tx).await.map(run!(@wrap $row, Sqlite))
            }
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => {
                let mut query = sqlx::query(sql.postgres);
                for arg in $args {
                    query = match *arg {
                        Arg::Int(value) => query.bind(value),
                        Arg::Real(value) => query.bind(value),
                        Arg::Text(value) => query.bind(value),
                        Arg::Bytes(value) => query.bind(value),
                    };
                }
                query.$method(&mut **tx).await.map(run!(@wrap $row, Postgres))
            }
        }
    }};
    (@wrap all, $variant:ident) => {
        |rows| rows.into_iter().map(Row::$variant).collect::<Vec<Row>>()
    };
    (@wrap optional, $variant:ident) => { |row| row.map(Row::$variant) };
    (@wrap none, $variant:ident) => { |done| done.rows_affected() };
}

impl Tx {
    /// Returns how many rows it changed.
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
    ) -> Result<Vec<Row>, AuditError> {
        Ok(run!(self, sql, args, fetch_all, all)?)
    }

    pub(super) async fn optional(
        &mut self,
        sql: impl Into<Sql>,
        args: &[Arg<'_>],
    ) -> Result<Option<Row>, AuditError> {
        Ok(run!(self, sql, args, fetch_optional, optional)?)
    }

    /// Of a text that always has a row.
    pub(super) async fn one(
        &mut self,
        sql: impl Into<Sql>,
        args: &[Arg<'_>],
    ) -> Result<Row, AuditError> {
        self.optional(sql, args)
            .await?
            .ok_or(AuditError::Damaged { column: "row" })
    }

    pub(super) async fn commit(self) -> Result<(), AuditError> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(mut tx) => {
                sqlx::query("COMMIT").execute(&mut *tx).await?;
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(tx) => tx.commit().await?,
        }
        Ok(())
    }

    /// What dropping it comes to, but at once: others wait for what it has locked.
    pub(super) async fn rollback(self) -> Result<(), AuditError> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(mut tx) => {
                sqlx::query("ROLLBACK").execute(&mut *tx).await?;
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(tx) => tx.rollback().await?,
        }
        Ok(())
    }
}

/// A row, whose columns are read by their position.
#[derive(Debug)]
pub(super) enum Row {
    #[cfg(feature = "sqlite")]
    Sqlite(SqliteRow),
    #[cfg(feature = "postgres")]
    Postgres(PgRow),
}

/// What both databases have as a type of a column.
macro_rules! column {
    ($name:ident, $type:ty) => {
        pub(super) fn $name(&self, at: usize) -> Result<$type, AuditError> {
            self.get::<$type>(at)
        }
    };
}

#[cfg(all(feature = "sqlite", feature = "postgres"))]
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
#[cfg(all(feature = "sqlite", not(feature = "postgres")))]
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
#[cfg(all(feature = "postgres", not(feature = "sqlite")))]
macro_rules! get {
    () => {
        fn get<T>(&self, at: usize) -> Result<T, AuditError>
        where
            T: for<'r> Decode<'r, sqlx::Postgres> + Type<sqlx::Postgres>,
        {
            use sqlx::Row as _;
            let Self::Postgres(row) = self;
            Ok(row.try_get(at)?)
        }
    };
}

impl Row {
    get!();
    column!(int, i64);
    column!(maybe_int, Option<i64>);
    column!(real, f64);
    column!(text, String);
    column!(maybe_text, Option<String>);
    column!(maybe_bytes, Option<Vec<u8>>);

    pub(super) fn flag(&self, at: usize) -> Result<bool, AuditError> {
        Ok(self.int(at)? != 0)
    }

    pub(super) fn hash(&self, at: usize) -> Result<[u8; 32], AuditError> {
        self.maybe_hash(at)?
            .ok_or(AuditError::Damaged { column: "hash" })
    }

    pub(super) fn maybe_hash(&self, at: usize) -> Result<Option<[u8; 32]>, AuditError> {
        self.maybe_bytes(at)?
            .map(<[u8; 32]>::try_from)
            .transpose()
            .map_err(|_| AuditError::Damaged { column: "hash" })
    }
}
