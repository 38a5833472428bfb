//! The hash chain of the log. Takes the rows that an entry covers; returns the hash of their
//! content and the link to the previous entry.
//!
//! `hash(n) = SHA-256(domain ‖ hash(n - 1) ‖ SHA-256(content(n)))`. The content is not stored a
//! second time: it is computed from the rows that filters read, so a changed row breaks the chain.

use sha2::{Digest, Sha256};

use super::error::AuditError;
use super::record::DecisionRow;
use super::tx::Tx;

/// Domain separator, used for no other hash.
const DOMAIN: &[u8] = b"hooks-guard audit trail 1\0";

/// Kind of event that a log entry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogEntryKind {
    Decided = 1,
    Answered = 2,
    Executed = 3,
    Remembered = 4,
    Revoked = 5,
    Cleaned = 6,
    Used = 7,
}

impl LogEntryKind {
    pub(super) fn of(code: i64) -> Option<Self> {
        Some(match code {
            1 => Self::Decided,
            2 => Self::Answered,
            3 => Self::Executed,
            4 => Self::Remembered,
            5 => Self::Revoked,
            6 => Self::Cleaned,
            7 => Self::Used,
            _ => return None,
        })
    }
}

pub(super) fn link(previous: &[u8; 32], content: [u8; 32]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(DOMAIN);
    hash.update(previous);
    hash.update(content);
    hash.finalize().into()
}

/// Hash of the content of an entry. Each field is hashed as a type byte, a length and a value, so
/// different contents cannot have equal encodings.
pub(super) struct Content(Sha256);

impl Content {
    pub(super) fn new(kind: LogEntryKind, subject: i64) -> Self {
        let mut hash = Sha256::new();
        hash.update(DOMAIN);
        Self(hash).int(kind as i64).int(subject)
    }

    pub(super) fn int(self, value: i64) -> Self {
        self.tagged(b'i', value.to_be_bytes())
    }

    pub(super) fn real(self, value: f64) -> Self {
        self.tagged(b'r', value.to_bits().to_be_bytes())
    }

    pub(super) fn bytes(self, value: &[u8]) -> Self {
        let mut content = self.tagged(b'b', (value.len() as u64).to_be_bytes());
        content.0.update(value);
        content
    }

    /// Adds a type byte and a number, which together are one update of the hash.
    fn tagged(mut self, tag: u8, number: [u8; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = number;
        self.0.update([tag, a, b, c, d, e, f, g, h]);
        self
    }

    pub(super) fn text(self, value: &str) -> Self {
        self.bytes(value.as_bytes())
    }

    pub(super) fn maybe<T>(self, value: Option<T>, some: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => some(self, value),
            None => self.none(),
        }
    }

    pub(super) fn maybe_text<T: AsRef<str>>(self, value: &Option<T>) -> Self {
        let text = |content: Self, text: &T| content.text(text.as_ref());
        self.maybe(value.as_ref(), text)
    }

    pub(super) fn maybe_int(self, value: Option<i64>) -> Self {
        self.maybe(value, Self::int)
    }

    fn none(mut self) -> Self {
        self.0.update(b"n");
        self
    }

    pub(super) fn hash(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

pub(super) fn decided<T: AsRef<str>>(row: &DecisionRow<T>) -> [u8; 32] {
    let content = Content::new(LogEntryKind::Decided, row.id)
        .int(row.at)
        .text(row.command.as_ref())
        .bytes(&row.command_hash)
        .int(row.class)
        .int(row.requires.into())
        .int(row.response_time_us)
        .real(row.confidence)
        .int(row.method)
        .int(row.timed_out.into())
        .text(row.reasoning.as_ref())
        .text(row.explanation.as_ref())
        .maybe_text(&row.context)
        .maybe_text(&row.agent)
        .maybe_text(&row.session_id)
        .maybe_text(&row.cwd)
        .maybe_text(&row.call_id)
        .int(row.denied.into())
        .maybe_text(&row.rule)
        .maybe_text(&row.error)
        .maybe_int(row.deadline)
        .maybe(row.secret_hash, |content, hash| content.bytes(&hash));
    // Rows without parts and scope hash as they did before these columns existed.
    match (&row.parts, &row.scope) {
        (None, None) => content.hash(),
        (Some(parts), None) => content.text(parts.as_ref()).hash(),
        (parts, Some(scope)) => {
            scoped(content.maybe_text(parts), scope.as_ref(), &row.scope_hash).hash()
        }
    }
}

/// Adds the scope of an approval to its content.
pub(super) fn scoped<T: AsRef<str>>(content: Content, scope: &str, hash: &Option<T>) -> Content {
    content.text(scope).maybe_text(hash)
}

pub(super) fn answered<T: AsRef<str>>(row: &DecisionRow<T>) -> [u8; 32] {
    Content::new(LogEntryKind::Answered, row.id)
        .maybe_int(row.response)
        .maybe_int(row.answered_at)
        .maybe_text(&row.answered_by)
        .maybe_text(&row.answer_note)
        .hash()
}

pub(super) fn executed<T: AsRef<str>>(row: &DecisionRow<T>) -> [u8; 32] {
    let content = Content::new(LogEntryKind::Executed, row.id)
        .maybe_int(row.executed_at)
        .maybe_int(row.exit_status);
    // Rows without another command hash as they did before this column existed.
    match &row.ran_command {
        Some(ran) => content.text(ran.as_ref()).hash(),
        None => content.hash(),
    }
}

/// Checks that the log contains an entry for a row, before the row allows a command.
///
/// # Errors
/// Returns an error if there is no entry, or if the entry does not match the row.
pub(super) async fn check_row(
    tx: &mut Tx,
    kind: LogEntryKind,
    subject: i64,
    seq: Option<i64>,
    content: [u8; 32],
) -> Result<(), AuditError> {
    let found = tx
        .optional(
            "SELECT l.hash, p.hash, g.hash FROM log l
             LEFT JOIN log p ON p.seq = l.seq - 1 LEFT JOIN gaps g ON g.last = l.seq - 1
             WHERE l.seq = $1 AND l.kind = $2 AND l.subject = $3",
            &[seq.into(), (kind as i64).into(), subject.into()],
        )
        .await?;
    let vouches = match found {
        None => false,
        Some(row) => {
            let previous = match (row.maybe_hash(1)?, row.maybe_hash(2)?) {
                (Some(hash), _) | (None, Some(hash)) => Some(hash),
                (None, None) if seq == Some(1) => Some([0; 32]),
                (None, None) => None,
            };
            previous.map(|previous| link(&previous, content)) == Some(row.hash(0)?)
        }
    };
    match vouches {
        true => Ok(()),
        false => Err(AuditError::Unvouched {
            what: match kind {
                LogEntryKind::Remembered => "remembered answer",
                _ => "decision",
            },
            number: subject,
        }),
    }
}

/// Checks that the log contains no entry of a kind about a row that records no such
/// event.
///
/// # Errors
/// Returns an error if there is such an entry.
pub(super) async fn check_none(
    tx: &mut Tx,
    kind: LogEntryKind,
    subject: i64,
) -> Result<(), AuditError> {
    let found = tx
        .optional(
            "SELECT seq FROM log WHERE kind = $1 AND subject = $2 AND kind IN (3, 5, 7) LIMIT 1",
            &[(kind as i64).into(), subject.into()],
        )
        .await?;
    match found {
        None => Ok(()),
        Some(_) => Err(AuditError::Unvouched {
            what: match kind {
                LogEntryKind::Revoked => "remembered answer",
                _ => "decision",
            },
            number: subject,
        }),
    }
}

/// Like [`check_row`], for an unused approval.
pub(super) async fn check_approval(tx: &mut Tx, row: &DecisionRow) -> Result<(), AuditError> {
    let decided = Some(row.decided_seq);
    check_row(
        tx,
        LogEntryKind::Decided,
        row.id,
        decided,
        self::decided(row),
    )
    .await?;
    check_row(
        tx,
        LogEntryKind::Answered,
        row.id,
        row.answered_seq,
        answered(row),
    )
    .await?;
    check_none(tx, LogEntryKind::Executed, row.id).await?;
    check_none(tx, LogEntryKind::Used, row.id).await
}

/// Range of entries that a cleanup removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) first: i64,
    pub(super) last: i64,
    /// Hash of the last removed entry.
    pub(super) hash: [u8; 32],
}

pub(super) fn gaps_hash(gaps: &[Gap]) -> [u8; 32] {
    let mut content = Content::new(LogEntryKind::Cleaned, 0);
    for gap in gaps {
        content = content.int(gap.first).int(gap.last).bytes(&gap.hash);
    }
    content.hash()
}

pub(super) async fn gaps(tx: &mut Tx) -> Result<Vec<Gap>, AuditError> {
    tx.all("SELECT first, last, hash FROM gaps ORDER BY first", &[])
        .await?
        .iter()
        .map(|row| {
            Ok(Gap {
                first: row.int(0)?,
                last: row.int(1)?,
                hash: row.hash(2)?,
            })
        })
        .collect()
}

/// Returns the content hash of an entry about the use of an approval.
pub(super) fn used(decision: i64, at: i64) -> [u8; 32] {
    Content::new(LogEntryKind::Used, decision).int(at).hash()
}

/// Selects the time of the use of decision `$1` in entry `$2`.
pub(super) const SELECT_USE: &str = "SELECT at FROM used WHERE decision = $1 AND seq = $2";

/// Returns the expected content hash of an entry about a use, if its decision records that use.
pub(super) async fn use_content(
    tx: &mut Tx,
    seq: i64,
    decision: i64,
) -> Result<Option<[u8; 32]>, AuditError> {
    let found = tx
        .optional(SELECT_USE, &[decision.into(), seq.into()])
        .await?;
    found.map(|row| Ok(used(decision, row.int(0)?))).transpose()
}
