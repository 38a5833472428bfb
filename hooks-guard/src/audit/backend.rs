//! The database of a trail, checked. In: an address. Out: transactions whose state continues from the one that
//! this process knows, or an error.

use super::anchor::Anchor;
use super::database::{Database, OpenMode, ReadPermit};
use super::error::AuditError;
use super::follow;
use super::head::Head;
use super::tx::Tx;

/// The database of a trail. A clone is the same one.
#[derive(Clone, Debug)]
pub(super) struct Backend {
    database: Database,
}

impl Backend {
    pub(super) async fn open(url: &str, mode: OpenMode) -> Result<Self, AuditError> {
        let database = Database::open(url, mode).await?;
        Ok(Self { database })
    }

    /// The database, for what is not checked.
    pub(super) fn database(&self) -> &Database {
        &self.database
    }

    /// The last known state of the database.
    pub(super) fn anchor(&self) -> &Anchor {
        self.database.anchor()
    }

    /// Takes the trail as it is now for the known one.
    pub(super) async fn begin(&self) -> Result<Head, AuditError> {
        #[cfg(feature = "sqlite")]
        let file = match &self.database {
            Database::Sqlite(database) => database.file_state().await?,
            #[cfg(feature = "postgres")]
            Database::Postgres(_) => None,
        };
        let head = self.begin_briefly().await?;
        #[cfg(feature = "sqlite")]
        if let Some(file) = file {
            let seq = file.head.map_or(0, |(seq, _)| seq);
            let mut tx = self.database.read().await?;
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
        let mut tx = self.database.read().await?;
        let head = Head::read(&mut tx).await?;
        self.database.check_schema(&mut tx, head.schema).await?;
        // At once: SQLite does not begin its log anew while a transaction reads it.
        tx.rollback().await?;
        self.anchor().advance(head, []);
        Ok(head)
    }

    /// The same database, whose readers do not queue behind those of this one.
    pub(super) fn reserved(&self) -> Self {
        Self {
            database: self.database.reserved(),
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
        let mut tx = self.database.read().await?;
        follow::recognize(&self.database, &mut tx, known).await?;
        Ok(tx)
    }

    /// As [`read`](Self::read), of a trail that may be another one.
    pub(super) async fn read_unchecked(&self) -> Result<Tx, AuditError> {
        self.database.read().await
    }

    /// For a single statement, which sees one state by itself.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) async fn glance(&self) -> Result<Tx, AuditError> {
        self.check_contents().await?;
        let known = self.anchor().head();
        let mut tx = self.database.glance().await?;
        follow::recognize(&self.database, &mut tx, known).await?;
        Ok(tx)
    }

    /// Checks that the file of a database is a state on the way to the known head: it may have been
    /// written over in its place, behind the log.
    ///
    /// # Errors
    /// If it is not.
    pub(super) async fn check_contents(&self) -> Result<(), AuditError> {
        follow::check_contents(&self.database).await
    }

    /// Checks that the database is still the one that was opened.
    ///
    /// # Errors
    /// If its file was deleted or replaced: what is written to the open file is lost.
    pub(super) fn check(&self) -> Result<(), AuditError> {
        self.database.check()
    }

    /// The right to have several transactions read at the same time; none where that makes nothing
    /// faster, or somebody has it.
    pub(super) fn beside(&self) -> Option<ReadPermit> {
        self.database.beside()
    }

    /// A transaction that nobody else writes beside.
    pub(super) async fn write(&self) -> Result<Tx, AuditError> {
        self.database.write().await
    }

    pub(super) async fn close(&self) {
        self.database.close().await;
    }
}
