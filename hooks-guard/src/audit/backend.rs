//! Wraps the database of a trail with checks. Takes an address; returns transactions whose state
//! continues from the known head, or an error.

use super::anchor::Anchor;
use super::database::{Database, OpenMode, ReadPermit};
use super::error::AuditError;
use super::follow;
use super::head::Head;
use super::tx::Tx;

/// Checked database of an audit trail. Clones share the database.
#[derive(Clone, Debug)]
pub(super) struct Backend {
    database: Database,
}

impl Backend {
    pub(super) async fn open(url: &str, mode: OpenMode) -> Result<Self, AuditError> {
        let database = Database::open(url, mode).await?;
        Ok(Self { database })
    }

    /// Returns the database without the checks.
    pub(super) fn database(&self) -> &Database {
        &self.database
    }

    /// The last known state of the database.
    pub(super) fn anchor(&self) -> &Anchor {
        self.database.anchor()
    }

    /// Accepts the current trail as the known trail.
    pub(super) async fn begin(&self) -> Result<Head, AuditError> {
        let file = match &self.database {
            Database::Sqlite(database) => database.file_state().await?,
            #[cfg(feature = "postgres")]
            Database::Postgres(_) => None,
        };
        let head = self.begin_briefly().await?;
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

    /// Like [`begin`](Self::begin), for a process that records a single decision.
    pub(super) async fn begin_briefly(&self) -> Result<Head, AuditError> {
        let mut tx = self.database.read().await?;
        let head = Head::read(&mut tx).await?;
        self.database.check_schema(&mut tx, head.schema).await?;
        // Ends the read immediately: SQLite cannot restart its write-ahead log during a read.
        tx.rollback().await?;
        self.anchor().advance(head, []);
        Ok(head)
    }

    /// Returns a handle to this database that reads through reserved connections.
    pub(super) fn reserved(&self) -> Self {
        Self {
            database: self.database.reserved(),
        }
    }

    /// Begins a read-only transaction on one snapshot.
    ///
    /// # Errors
    /// Returns an error if the snapshot does not continue from the known head.
    pub(super) async fn read(&self) -> Result<Tx, AuditError> {
        self.check_contents().await?;
        // Read the known head before the snapshot: this process may write in between.
        let known = self.anchor().head();
        let mut tx = self.database.read().await?;
        follow::recognize(&self.database, &mut tx, known).await?;
        Ok(tx)
    }

    /// Like [`read`](Self::read), without the check that the trail continues from the known head.
    pub(super) async fn read_unchecked(&self) -> Result<Tx, AuditError> {
        self.database.read().await
    }

    /// Returns a connection for a single statement, which reads one snapshot by itself.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    pub(super) async fn acquire(&self) -> Result<Tx, AuditError> {
        self.check_contents().await?;
        let known = self.anchor().head();
        let mut tx = self.database.acquire().await?;
        follow::recognize(&self.database, &mut tx, known).await?;
        Ok(tx)
    }

    /// Checks that the database file contains a state between the last accepted state and the known
    /// head. The file may have been overwritten in place, bypassing the write-ahead log.
    ///
    /// # Errors
    /// Returns an error if the file contains any other state.
    pub(super) async fn check_contents(&self) -> Result<(), AuditError> {
        follow::check_contents(&self.database).await
    }

    /// Checks that the database file is still the file that was opened.
    ///
    /// # Errors
    /// Returns an error if the file was deleted or replaced: writes to the open file would be lost.
    pub(super) fn check(&self) -> Result<(), AuditError> {
        self.database.check()
    }

    /// Returns a permit for several concurrent read transactions. Returns `None` if the backend
    /// gains nothing from them, or if another task holds the permit.
    pub(super) fn read_permit(&self) -> Option<ReadPermit> {
        self.database.read_permit()
    }

    /// Begins a write transaction, which excludes all other writers, and reads the head.
    pub(super) async fn write(&self) -> Result<(Tx, Head), AuditError> {
        self.database.write().await
    }

    pub(super) async fn close(&self) {
        self.database.close().await;
    }
}
