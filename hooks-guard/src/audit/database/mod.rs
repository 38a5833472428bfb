//! The two databases, unchecked. In: an address, and for how long the database is needed. Out: transactions
//! that read or write whatever the database has; [`Backend`](super::backend::Backend) checks what they see.

mod mode;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

use super::address::TrailAddress;
use super::anchor::Anchor;
use super::error::AuditError;
use super::tx::Tx;

pub(super) use mode::{OpenMode, ReadPermit};
#[cfg(feature = "postgres")]
pub(super) use postgres::Postgres;
#[cfg(feature = "sqlite")]
pub(super) use sqlite::{READ_AGAIN, READS, Sqlite};

/// One of the databases. A clone is the same one.
#[derive(Clone, Debug)]
pub(super) enum Database {
    #[cfg(feature = "sqlite")]
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
            #[cfg(feature = "sqlite")]
            Some(TrailAddress::File(path)) => {
                Ok(Self::Sqlite(Sqlite::open(Some(path), mode).await?))
            }
            #[cfg(feature = "sqlite")]
            Some(TrailAddress::Memory) => Ok(Self::Sqlite(Sqlite::open(None, mode).await?)),
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
    pub(super) async fn read(&self) -> Result<Tx, AuditError> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.read().await.map(Tx::Sqlite),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.read().await.map(Tx::Postgres),
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
    pub(super) fn beside(&self) -> Option<ReadPermit> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.beside(),
            // Its server divides the work itself.
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
        }
    }

    /// A connection for a single statement, which sees one state by itself.
    pub(super) async fn glance(&self) -> Result<Tx, AuditError> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(database) => database.glance().await.map(Tx::Sqlite),
            #[cfg(feature = "postgres")]
            Self::Postgres(database) => database.read().await.map(Tx::Postgres),
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
