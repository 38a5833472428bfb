//! Whether a database continues from the state that this process knows. In: a transaction, and the
//! known head. Out: nothing, or an error that says what was changed behind the back of the store.

use super::chain::Gap;
use super::database::Database;
use super::error::AuditError;
use super::head::Head;
use super::tx::Tx;
use super::walk::continues;

#[cfg(feature = "sqlite")]
use super::database::{READ_AGAIN, READS, Sqlite};

/// How many entries of other processes are checked at most while the database is locked.
pub(super) const MAX_LOCKED: i64 = 500;

pub(super) fn rewritten(known: &Head, problem: impl Into<String>) -> AuditError {
    AuditError::Rewritten {
        entry: known.seq,
        problem: problem.into(),
    }
}

/// Checks that a head can follow a known one.
pub(super) fn check_order(known: &Head, now: &Head) -> Result<(), AuditError> {
    if now.seq < known.seq {
        let problem = format!("the trail ends with entry {}", now.seq);
        return Err(rewritten(known, problem));
    }
    if now.seq == known.seq && now.hash != known.hash {
        return Err(rewritten(known, "the entry has another hash"));
    }
    if now.seq == known.seq && !now.same_counters(known) {
        return Err(rewritten(known, "the last numbers given are others"));
    }
    Ok(())
}

/// Returns the gap that an entry was removed with.
pub(super) async fn gap_of(tx: &mut Tx, seq: i64) -> Result<Option<Gap>, AuditError> {
    let row = tx
        .optional(
            "SELECT first, last, hash FROM gaps WHERE first <= $1 AND last >= $1",
            &[seq.into()],
        )
        .await?;
    row.map(|row| {
        Ok(Gap {
            first: row.int(0)?,
            last: row.int(1)?,
            hash: row.hash(2)?,
        })
    })
    .transpose()
}

/// Checks that the trail that a transaction reads has the known head in it.
///
/// # Errors
/// If it does not, or if its schema was changed.
pub(super) async fn recognize(
    database: &Database,
    tx: &mut Tx,
    known: Option<Head>,
) -> Result<(), AuditError> {
    let Some(known) = known else { return Ok(()) };
    database.anchor().check_fault()?;
    let now = Head::read(tx).await?;
    database.check_schema(tx, now.schema).await?;
    check_order(&known, &now)?;
    if now.seq == known.seq || known.seq == 0 {
        return Ok(());
    }
    let row = tx
        .optional("SELECT hash FROM log WHERE seq = $1", &[known.seq.into()])
        .await?;
    match row {
        Some(row) if row.hash(0)? == known.hash => Ok(()),
        Some(_) => Err(rewritten(&known, "the entry has another hash")),
        None => match gap_of(tx, known.seq).await? {
            Some(gap) if gap.last > known.seq || gap.hash == known.hash => Ok(()),
            _ => Err(rewritten(&known, "the entry is missing")),
        },
    }
}

/// Checks that the head that a transaction sees continues from the known one, entry by entry, and
/// makes it the known one.
///
/// # Errors
/// If the entries in between do not link, or if the schema was changed.
pub(super) async fn follow(
    database: &Database,
    tx: &mut Tx,
    known: Option<Head>,
    now: Head,
) -> Result<(), AuditError> {
    database.anchor().check_fault()?;
    database.check_schema(tx, now.schema).await?;
    let Some(known) = known else { return Ok(()) };
    check_order(&known, &now)?;
    if now.seq == known.seq {
        return Ok(());
    }
    match continues(tx, &known, &now).await? {
        Ok(entries) => {
            database.anchor().advance(now, entries);
            Ok(())
        }
        Err(problem) => Err(rewritten(&known, problem)),
    }
}

/// Follows what other processes have written, without locking the database.
///
/// # Errors
/// As [`follow`].
pub(super) async fn catch_up(database: &Database) -> Result<(), AuditError> {
    // Before the snapshot: this process may write meanwhile.
    let known = database.anchor().head();
    let mut tx = database.read().await?;
    let now = Head::read(&mut tx).await?;
    follow(database, &mut tx, known, now).await
}

/// How often the file of a SQLite database without its log may have a head that is not known.
#[cfg(feature = "sqlite")]
const CHECKS: u32 = 3;

/// Checks that the file of a database without its log is a state on the way to the known head. Reads
/// the file if it was written to, which a checkpoint does.
///
/// # Errors
/// If it is not: the file was written over in its place, behind the log.
pub(super) async fn check_contents(database: &Database) -> Result<(), AuditError> {
    match database {
        #[cfg(feature = "sqlite")]
        Database::Sqlite(file) => check_file(database, file).await,
        // A server keeps its files itself.
        #[cfg(feature = "postgres")]
        Database::Postgres(_) => Ok(()),
    }
}

#[cfg(feature = "sqlite")]
async fn check_file(database: &Database, file: &Sqlite) -> Result<(), AuditError> {
    let anchor = database.anchor();
    let Some(known) = anchor.file() else {
        return Ok(());
    };
    if !file.has_new_contents(&known)? {
        return Ok(());
    }
    let (mut unreadable, mut unknown) = (0, 0);
    while unreadable < READS && unknown < CHECKS {
        // A checkpoint may be writing: it changes the stamp again, and is looked at again.
        unreadable += 1;
        if let Some(state) = file.contents().await {
            unknown += 1;
            if anchor.take_file(state) {
                return Ok(());
            }
            // Entries of another process, or of a commit that has not returned yet.
            catch_up(database).await?;
            if anchor.take_file(state) {
                return Ok(());
            }
        }
        tokio::time::sleep(READ_AGAIN).await;
    }
    match known.head {
        // Its first page may be there before the one with the head.
        None if unknown == 0 => Ok(()),
        _ => file.replaced().map_or(Ok(()), Err),
    }
}
