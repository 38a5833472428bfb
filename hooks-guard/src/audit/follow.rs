//! Checks that a database continues from the known head. Takes a transaction and the known head;
//! returns an error that describes the difference if the trail was changed outside the store.

use super::chain::Gap;
use super::database::Database;
use super::error::AuditError;
use super::head::Head;
use super::tx::Tx;
use super::walk::continues;

use super::database::{MAX_READ_ATTEMPTS, READ_RETRY_DELAY, Sqlite};

/// Maximum number of entries of other processes that are checked while the database is locked.
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
        return Err(rewritten(known, "the entry has a different hash"));
    }
    if now.seq == known.seq && !now.same_counters(known) {
        return Err(rewritten(known, "the last assigned ids differ"));
    }
    Ok(())
}

/// Returns the gap that contains a removed entry.
pub(super) async fn find_gap(tx: &mut Tx, seq: i64) -> Result<Option<Gap>, AuditError> {
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

/// Checks that the trail that a transaction reads contains the known head.
///
/// # Errors
/// Returns an error if it does not, or if the schema was changed.
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
        Some(_) => Err(rewritten(&known, "the entry has a different hash")),
        None => match find_gap(tx, known.seq).await? {
            Some(gap) if gap.last > known.seq || gap.hash == known.hash => Ok(()),
            _ => Err(rewritten(&known, "the entry is missing")),
        },
    }
}

/// Checks, entry by entry, that the head that a transaction reads continues from the known head,
/// and makes it the known head.
///
/// # Errors
/// Returns an error if the entries in between do not link, or if the schema was changed.
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

/// Checks the entries that other processes have written, without locking the database.
///
/// # Errors
/// Returns the errors of [`follow`].
pub(super) async fn catch_up(database: &Database) -> Result<(), AuditError> {
    // Read the known head before the snapshot: this process may write in between.
    let known = database.anchor().head();
    let mut tx = database.read().await?;
    let now = Head::read(&mut tx).await?;
    follow(database, &mut tx, known, now).await
}

/// Maximum number of checks that find an unknown head in the database file.
const MAX_CHECKS: u32 = 3;

/// Checks that the database file without its write-ahead log contains a state between the last
/// accepted state and the known head. Reads the file only if it was written to, as by a checkpoint.
///
/// # Errors
/// Returns an error if it does not: the file was overwritten in place, bypassing the log.
pub(super) async fn check_contents(database: &Database) -> Result<(), AuditError> {
    match database {
        Database::Sqlite(file) => check_file(database, file).await,
        // The database server guards its own files.
        #[cfg(feature = "postgres")]
        Database::Postgres(_) => Ok(()),
    }
}

async fn check_file(database: &Database, file: &Sqlite) -> Result<(), AuditError> {
    let anchor = database.anchor();
    let Some(known) = anchor.file() else {
        return Ok(());
    };
    if !file.has_new_contents(&known)? {
        return Ok(());
    }
    let (mut unreadable, mut unknown) = (0, 0);
    while unreadable < MAX_READ_ATTEMPTS && unknown < MAX_CHECKS {
        // A running checkpoint changes the stamp again, so the file is checked again.
        unreadable += 1;
        if let Some(state) = file.contents().await {
            unknown += 1;
            if anchor.accept_file(state) {
                return Ok(());
            }
            // The state may belong to another process, or to a commit that has not returned yet.
            catch_up(database).await?;
            if anchor.accept_file(state) {
                return Ok(());
            }
        }
        tokio::time::sleep(READ_RETRY_DELAY).await;
    }
    match known.head {
        // A checkpoint may have written the first page but not yet the page with the head.
        None if unknown == 0 => Ok(()),
        _ => file.replaced().map_or(Ok(()), Err),
    }
}
