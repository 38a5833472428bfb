//! Holds the changes of pending questions. In: changes with the secret of their decision. Out: the
//! changes, until the question is answered or expires. They are in memory only, and bounded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use subtle::ConstantTimeEq;

use super::{ChangeTotals, FileChanges};

/// Maximum size of the changes of all questions in bytes.
const MAX_HELD_BYTES: usize = 16 << 20;

/// The changes of pending questions.
#[derive(Debug, Default)]
pub(crate) struct HeldChanges {
    held: Mutex<HeldQuestions>,
}

#[derive(Debug, Default)]
struct HeldQuestions {
    by_id: BTreeMap<i64, HeldQuestion>,
    bytes: usize,
}

#[derive(Debug)]
struct HeldQuestion {
    deadline: Timestamp,
    secret_hash: [u8; 32],
    changes: Option<(ChangeTotals, Arc<FileChanges>)>,
    bytes: usize,
}

/// Result of a client's changes for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachResult {
    /// The changes are shown with the question.
    Attached(ChangeTotals),
    /// The question has changes already.
    Already,
    /// The secret does not match the decision.
    WrongSecret,
    /// The decision is unknown to this process, is not a question about files, or is answered.
    NotPending,
}

impl HeldChanges {
    fn lock(&self) -> MutexGuard<'_, HeldQuestions> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts changes of a question from now on, until its deadline.
    pub(crate) fn expect(&self, id: i64, secret_hash: [u8; 32], deadline: Timestamp) {
        let question = HeldQuestion {
            deadline,
            secret_hash,
            changes: None,
            bytes: 0,
        };
        self.lock().by_id.insert(id, question);
    }

    /// Returns an error if changes of a question are not accepted.
    pub(crate) fn check(&self, id: i64, secret_hash: &[u8; 32]) -> Result<(), AttachResult> {
        self.lock().awaited(id, secret_hash).map(drop)
    }

    /// Holds the changes of a question; the first changes count.
    pub(crate) fn attach(
        &self,
        id: i64,
        secret_hash: &[u8; 32],
        changes: FileChanges,
    ) -> AttachResult {
        let mut held = self.lock();
        let question = match held.awaited(id, secret_hash) {
            Ok(question) => question,
            Err(refused) => return refused,
        };
        let totals = changes.totals();
        let bytes = changes.files.iter().map(|file| file.bytes()).sum();
        question.changes = Some((totals, Arc::new(changes)));
        question.bytes = bytes;
        held.bytes += bytes;
        held.drop_excess();
        AttachResult::Attached(totals)
    }

    /// Returns the changes of a question.
    pub(crate) fn get(&self, id: i64) -> Option<Arc<FileChanges>> {
        let held = self.lock();
        let (_, changes) = held.by_id.get(&id)?.changes.as_ref()?;
        Some(Arc::clone(changes))
    }

    /// Returns the size of the changes of a question.
    pub(crate) fn totals(&self, id: i64) -> Option<ChangeTotals> {
        let held = self.lock();
        let (totals, _) = held.by_id.get(&id)?.changes.as_ref()?;
        Some(*totals)
    }

    /// Removes a question that is answered.
    pub(crate) fn remove(&self, id: i64) {
        let mut held = self.lock();
        if let Some(question) = held.by_id.remove(&id) {
            held.bytes -= question.bytes;
        }
    }

    /// Removes the questions whose deadline has passed.
    pub(crate) fn expire(&self, now: Timestamp) {
        let mut held = self.lock();
        let HeldQuestions { by_id, bytes } = &mut *held;
        by_id.retain(|_, question| {
            let stays = question.deadline > now;
            *bytes -= if stays { 0 } else { question.bytes };
            stays
        });
    }
}

impl HeldQuestions {
    /// Returns the question of a secret, if it has no changes yet.
    fn awaited(
        &mut self,
        id: i64,
        secret_hash: &[u8; 32],
    ) -> Result<&mut HeldQuestion, AttachResult> {
        let question = self.by_id.get_mut(&id).ok_or(AttachResult::NotPending)?;
        if !bool::from(question.secret_hash.ct_eq(secret_hash)) {
            return Err(AttachResult::WrongSecret);
        }
        match question.changes {
            Some(_) => Err(AttachResult::Already),
            None => Ok(question),
        }
    }

    /// Drops the largest changes, the oldest first among equal ones, until the rest fits.
    fn drop_excess(&mut self) {
        while self.bytes > MAX_HELD_BYTES {
            let questions = self.by_id.values_mut();
            // `max_by_key` returns the last of equal ones.
            let Some(largest) = questions.rev().max_by_key(|question| question.bytes) else {
                return;
            };
            self.bytes -= std::mem::take(&mut largest.bytes);
            if let Some((_, changes)) = &mut largest.changes {
                *changes = Arc::new(FileChanges {
                    dropped: true,
                    ..FileChanges::default()
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{AttachResult, HeldChanges, MAX_HELD_BYTES};
    use crate::changes::{FileChangeKind, FileChanges, FileDiff};

    fn changes(bytes: usize) -> FileChanges {
        FileChanges {
            files: vec![FileDiff {
                path: String::new(),
                kind: FileChangeKind::Edit,
                added: 1,
                removed: 0,
                diff: "+".repeat(bytes),
                omitted_lines: 0,
                notes: Vec::new(),
                masked: false,
            }],
            ..FileChanges::default()
        }
    }

    const SECRET: [u8; 32] = [7; 32];

    fn deadline() -> Timestamp {
        Timestamp::now() + SignedDuration::from_secs(60)
    }

    #[test]
    fn changes_need_the_secret_and_count_once() {
        let held = HeldChanges::default();
        assert_eq!(
            held.attach(1, &SECRET, changes(5)),
            AttachResult::NotPending
        );
        held.expect(1, SECRET, deadline());
        assert_eq!(held.totals(1), None);
        assert_eq!(
            held.attach(1, &[8; 32], changes(5)),
            AttachResult::WrongSecret
        );
        let attached = held.attach(1, &SECRET, changes(5));
        assert!(matches!(attached, AttachResult::Attached(totals) if totals.added == 1));
        assert_eq!(held.attach(1, &SECRET, changes(6)), AttachResult::Already);
        assert_eq!(held.get(1).unwrap().files[0].diff.len(), 5);
        held.remove(1);
        assert_eq!((held.get(1), held.lock().bytes), (None, 0));
    }

    #[test]
    fn expired_questions_are_removed() {
        let held = HeldChanges::default();
        held.expect(1, SECRET, deadline());
        held.expect(2, SECRET, Timestamp::now());
        for id in [1, 2] {
            held.attach(id, &SECRET, changes(10));
        }
        held.expire(Timestamp::now());
        assert!(held.get(1).is_some() && held.get(2).is_none());
        assert_eq!(held.lock().bytes, 10);
    }

    #[test]
    fn the_oldest_of_the_largest_changes_are_dropped() {
        let held = HeldChanges::default();
        let large = 60 << 10;
        let many = i64::try_from(MAX_HELD_BYTES / large + 3).unwrap();
        held.expect(0, SECRET, deadline());
        held.attach(0, &SECRET, changes(10));
        for id in 1..=many {
            held.expect(id, SECRET, deadline());
            held.attach(id, &SECRET, changes(large));
        }
        assert!(held.lock().bytes <= MAX_HELD_BYTES);
        let dropped = |id: i64| held.get(id).unwrap().dropped;
        let ids: Vec<i64> = (0..=many).filter(|id| dropped(*id)).collect();
        assert_eq!(ids, [1, 2, 3], "the small and the newest stay");
        // The size is still known.
        assert_eq!(held.totals(1).unwrap().added, 1);
        assert_eq!(held.get(1).unwrap().files, []);
    }
}
