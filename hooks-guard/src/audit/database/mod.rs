//! The two databases, without checks. Takes an address and an open mode; returns transactions on
//! the database. [`Backend`](super::backend::Backend) adds the checks.

mod mode;
#[cfg(feature = "postgres")]
mod postgres;
mod queue;
mod snapshot;
mod sqlite;

use super::address::TrailAddress;
use super::anchor::Anchor;
use super::error::AuditError;
use super::head::Head;
use super::tx::Tx;

pub(super) use mode::{OpenMode, ReadPermit};
#[cfg(feature = "postgres")]
pub(super) use postgres::Postgres;
pub use queue::MAX_QUEUE_TIME;
pub(super) use snapshot::{BorrowedRow, SnapshotReader, first, unwound};
pub(super) use sqlite::{MAX_READ_ATTEMPTS, READ_RETRY_DELAY, Sqlite, SqliteTx};

/// SQLite or PostgreSQL database. Clones share the connections.
#[derive(Clone, Debug)]
pub(super) enum Database {
    Sqlite(Sqlite),
    #[cfg(feature = "postgres")]
    Postgres(Postgres),
}

impl Database {
    pub(super) async fn open(url: &str, mode: OpenMode) -> Result<Self, AuditError> {
        match TrailAddress::read(url) {
            #[cfg(feature = "postgres")]
            Some(TrailAddress::Postgres(url)) => {
                Ok(Self::Postgres(Postgres::open(url, mode).await?))
            }
            #[cfg(not(feature = "postgres"))]
            Some(TrailAddress::Postgres(_)) => Err(AuditError::Unsupported {
                backend: "PostgreSQL",
                feature: "postgres",
            }),
            Some(TrailAddress::File(path)) => {
                Ok(Self::Sqlite(Sqlite::open(Some(path), mode).await?))
            }
            Some(TrailAddress::Memory) => Ok(Self::Sqlite(Sqlite::open(None, mode).await?)),
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
            Self::Sqlite(database) => database.anchor(),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.anchor(),
        }
    }

    /// Compares the schema with the schema that the migrations produce if the schema mark has
    /// changed.
    ///
    /// # Errors
    /// Returns an error if the schemas differ.
    pub(super) async fn check_schema(&self, tx: &mut Tx, mark: i64) -> Result<(), AuditError> {
        if mark >= 0 && self.anchor().is_compared(mark) {
            return Ok(());
        }
        self.compare_schema(tx).await?;
        self.anchor().set_checked_schema(mark);
        Ok(())
    }

    /// Compares the schema with the schema that the migrations produce.
    ///
    /// # Errors
    /// Returns an error if the schemas differ.
    pub(super) async fn compare_schema(&self, tx: &mut Tx) -> Result<(), AuditError> {
        match (self, tx) {
            (Self::Sqlite(_), Tx::Sqlite(tx)) => {
                sqlite::check_schema(tx).await?;
            }
            #[cfg(feature = "postgres")]
            (Self::Postgres(database), Tx::Postgres(tx)) => database.check_schema(tx).await?,
            #[cfg(feature = "postgres")]
            _ => unreachable!("a transaction belongs to its database"),
        }
        Ok(())
    }

    /// Returns `true` if every table of the trail exists and is a plain table. A view, a virtual
    /// table or a table with rules could run code when it is read.
    pub(super) async fn has_plain_tables(&self, tx: &mut Tx) -> Result<bool, AuditError> {
        match (self, tx) {
            (Self::Sqlite(_), Tx::Sqlite(tx)) => sqlite::has_plain_tables(tx).await,
            #[cfg(feature = "postgres")]
            (Self::Postgres(_), Tx::Postgres(tx)) => postgres::has_plain_tables(tx).await,
            #[cfg(feature = "postgres")]
            _ => unreachable!("a transaction belongs to its database"),
        }
    }

    /// Returns readers of the snapshot of a transaction. Returns none if only the transaction can read
    /// the database, and `None` if another process wrote since the transaction began.
    pub(super) async fn snapshot_readers(
        &self,
        count: usize,
        tx: &mut Tx,
    ) -> Result<Option<Vec<SnapshotReader>>, AuditError> {
        match self {
            Self::Sqlite(database) => {
                let head = Head::read(tx).await?;
                database.snapshot_readers(count, head).await
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => Ok(Some(Vec::new())),
        }
    }

    /// Returns a handle to this database that reads through reserved connections.
    pub(super) fn reserved(&self) -> Self {
        match self {
            Self::Sqlite(database) => Self::Sqlite(database.reserved()),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => Self::Postgres(database.reserved()),
        }
    }

    /// Begins a read-only transaction on one snapshot.
    pub(super) async fn read(&self) -> Result<Tx, AuditError> {
        match self {
            Self::Sqlite(database) => database.read().await.map(Tx::Sqlite),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.read().await.map(Tx::Postgres),
        }
    }

    /// Checks that the database file is still the file that was opened.
    ///
    /// # Errors
    /// Returns an error if the file was deleted or replaced: writes to the open file would be lost.
    pub(super) fn check(&self) -> Result<(), AuditError> {
        match self {
            Self::Sqlite(database) => database.check(),
            // The database server guards its own files.
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Returns a permit for several concurrent read transactions. Returns `None` if the backend
    /// gains nothing from them, or if another task holds the permit.
    pub(super) fn read_permit(&self) -> Option<ReadPermit> {
        match self {
            Self::Sqlite(database) => database.read_permit(),
            // The database server parallelizes queries itself.
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
        }
    }

    /// Returns a connection for a single statement, which reads one snapshot by itself.
    pub(super) async fn acquire(&self) -> Result<Tx, AuditError> {
        match self {
            Self::Sqlite(database) => database.acquire().await.map(Tx::Sqlite),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.read().await.map(Tx::Postgres),
        }
    }

    /// Begins a write transaction, which excludes all other writers, and reads the head.
    pub(super) async fn write(&self) -> Result<(Tx, Head), AuditError> {
        match self {
            Self::Sqlite(database) => {
                let (tx, head) = database.write().await?;
                Ok((Tx::Sqlite(tx), head))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => {
                let mut tx = Tx::Postgres(database.write().await?);
                let head = Head::lock(&mut tx).await?;
                Ok((tx, head))
            }
        }
    }

    /// Copies the database to a new file.
    pub(super) async fn backup(&self, file: &std::path::Path) -> Result<(), AuditError> {
        match self {
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
            Self::Sqlite(database) => database.close().await,
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.close().await,
        }
    }
}
