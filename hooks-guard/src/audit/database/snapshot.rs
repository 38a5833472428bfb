//! Reads a snapshot of a SQLite file without the driver's worker thread. Takes the path of the file;
//! returns rows that borrow their values.
//!
//! The driver copies each value of a row and sends the row to another thread, which takes several
//! times as long as reading it. Whatever reads millions of rows therefore reads them here.

use std::panic;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Params, Row, Statement};
use tokio::task::JoinError;

use crate::audit::error::AuditError;
use crate::audit::head::Head;
use crate::audit::tx::{Columns, DAMAGED_HASH};

/// Lock timeout of a statement. Readers of a database with a write-ahead log only wait while another
/// process recovers the log.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A SQLite file, and how it is opened.
#[derive(Clone, Debug)]
pub(super) struct FileLocation {
    pub(super) path: PathBuf,
    /// If `true`, the file is on a read-only medium and is read without locks.
    pub(super) is_immutable: bool,
}

/// Read-only connection to a SQLite file.
#[derive(Debug)]
pub(in crate::audit) struct SnapshotReader {
    connection: Connection,
}

impl SnapshotReader {
    pub(super) fn open(file: &FileLocation) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match file.is_immutable {
            false => Connection::open_with_flags(&file.path, flags)?,
            true => {
                let flags = flags | OpenFlags::SQLITE_OPEN_URI;
                Connection::open_with_flags(immutable(&file.path)?, flags)?
            }
        };
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(Self { connection })
    }

    /// Begins to read the current snapshot. Returns `false` if its head is another one.
    pub(in crate::audit) fn begin(&self, head: &Head) -> rusqlite::Result<bool> {
        self.connection.execute_batch("BEGIN")?;
        let mut statement =
            (self.connection).prepare("SELECT seq, hash, decisions, remembered FROM head")?;
        let found = statement.query_row([], |row| {
            let row = BorrowedRow(row);
            Ok(row.hash(1).is_ok_and(|hash| hash == head.hash)
                && row.int(0).is_ok_and(|seq| seq == head.seq)
                && row.int(2).is_ok_and(|id| id == head.decisions)
                && row.int(3).is_ok_and(|id| id == head.remembered))
        })?;
        Ok(found)
    }

    pub(in crate::audit) fn prepare(&self, sql: &str) -> rusqlite::Result<Statement<'_>> {
        self.connection.prepare(sql)
    }
}

/// Returns the result of a blocking task. Continues its panic.
///
/// # Errors
/// Returns [`AuditError::Closed`] if the runtime ended first.
pub(in crate::audit) fn unwound<T>(result: Result<T, JoinError>) -> Result<T, AuditError> {
    result.map_err(|error| match error.try_into_panic() {
        Ok(panic) => panic::resume_unwind(panic),
        Err(_) => AuditError::Closed,
    })
}

/// Calls a function with the first row of a query, if there is one.
pub(in crate::audit) fn first<T>(
    statement: &mut Statement<'_>,
    args: impl Params,
    read: impl FnOnce(&BorrowedRow<'_, '_>) -> Result<T, AuditError>,
) -> Result<Option<T>, AuditError> {
    let mut rows = statement.query(args)?;
    rows.next()?.map(|row| read(&BorrowedRow(row))).transpose()
}

/// Returns a URI that opens a file without locks and without its write-ahead log.
fn immutable(path: &Path) -> rusqlite::Result<String> {
    let invalid = || rusqlite::Error::InvalidPath(path.to_owned());
    let mut uri = url::Url::from_file_path(path).map_err(|()| invalid())?;
    uri.set_query(Some("immutable=1"));
    Ok(uri.into())
}

/// A row that borrows its values. Integers, texts and hashes are not converted into each other.
#[derive(Debug)]
pub(in crate::audit) struct BorrowedRow<'r, 's>(pub(in crate::audit) &'r Row<'s>);

/// Error for a value of another type.
const OTHER_TYPE: AuditError = AuditError::Damaged { column: "row" };

impl BorrowedRow<'_, '_> {
    fn value(&self, at: usize) -> Result<ValueRef<'_>, AuditError> {
        Ok(self.0.get_ref(at)?)
    }
}

impl Columns for BorrowedRow<'_, '_> {
    type Text<'r>
        = &'r str
    where
        Self: 'r;

    fn int(&self, at: usize) -> Result<i64, AuditError> {
        self.maybe_int(at)?.ok_or(OTHER_TYPE)
    }

    fn maybe_int(&self, at: usize) -> Result<Option<i64>, AuditError> {
        match self.value(at)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(value) => Ok(Some(value)),
            _ => Err(OTHER_TYPE),
        }
    }

    fn real(&self, at: usize) -> Result<f64, AuditError> {
        match self.value(at)? {
            ValueRef::Real(value) => Ok(value),
            _ => Err(OTHER_TYPE),
        }
    }

    fn text(&self, at: usize) -> Result<&str, AuditError> {
        self.maybe_text(at)?.ok_or(OTHER_TYPE)
    }

    fn maybe_text(&self, at: usize) -> Result<Option<&str>, AuditError> {
        match self.value(at)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(value) => match std::str::from_utf8(value) {
                Ok(value) => Ok(Some(value)),
                Err(_) => Err(OTHER_TYPE),
            },
            _ => Err(OTHER_TYPE),
        }
    }

    fn maybe_hash(&self, at: usize) -> Result<Option<[u8; 32]>, AuditError> {
        match self.value(at)? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(value) => value.try_into().map(Some).map_err(|_| DAMAGED_HASH),
            _ => Err(OTHER_TYPE),
        }
    }
}

impl From<rusqlite::Error> for AuditError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database {
            source: std::sync::Arc::new(error),
        }
    }
}
