//! Table of the answers that take effect later. Takes answers and withdrawals; decides which of both
//! comes first, and sends their events.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::hub::{Hub, SseMessage};
use crate::audit::{AuditRecord, RememberScope, UserResponse};

/// An answer that takes effect at a later time.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct DelayedAnswer {
    /// Id of the decision.
    pub(super) id: i64,
    pub(super) response: UserResponse,
    pub(super) remember: RememberScope,
    pub(super) note: Option<String>,
    /// Author of the answer.
    pub(super) by: &'static str,
    /// Time at which the answer takes effect.
    #[schema(value_type = String, format = DateTime)]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub(super) effective_at: Timestamp,
}

/// A record, with the delayed answer to its question.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct AnsweredRecord {
    #[serde(flatten)]
    pub(super) record: AuditRecord,
    /// The delayed answer, only for the operator; absent if there is none, also after it has taken
    /// effect or was withdrawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answering: Option<DelayedAnswer>,
}

/// Result of a withdrawal.
#[derive(Debug)]
pub(super) enum WithdrawResult {
    /// The answer will not take effect.
    Withdrawn,
    /// Too late: the answer is being recorded.
    TakesEffect(UserResponse),
    /// There is no delayed answer to this question.
    Unknown,
}

/// The delayed answers of this process.
#[derive(Debug, Default)]
pub(crate) struct DelayedAnswers(Mutex<DelayedTable>);

#[derive(Debug, Default)]
struct DelayedTable {
    /// At most one answer to each question, by the id of its decision.
    answers: HashMap<i64, DelayedEntry>,
    last_number: u64,
}

#[derive(Debug)]
struct DelayedEntry {
    /// Distinguishes the answer from later answers to the same question.
    number: u64,
    /// `true` while the answer is being recorded, so that it cannot be withdrawn.
    takes_effect: bool,
    answer: DelayedAnswer,
}

impl DelayedAnswers {
    fn lock(&self) -> MutexGuard<'_, DelayedTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the delayed answer to a question.
    pub(super) fn get(&self, id: i64) -> Option<DelayedAnswer> {
        let table = self.lock();
        table.answers.get(&id).map(|entry| entry.answer.clone())
    }

    /// Returns all delayed answers, in the order in which they take effect.
    pub(super) fn all(&self) -> Vec<DelayedAnswer> {
        let entries = self.lock();
        let answers = entries.answers.values().map(|entry| entry.answer.clone());
        let mut answers: Vec<_> = answers.collect();
        answers.sort_by_key(|answer| (answer.effective_at, answer.id));
        answers
    }

    /// Adds and announces an answer; returns its number. Returns the earlier answer if the question
    /// has one already.
    pub(super) fn add(&self, hub: &Hub, answer: DelayedAnswer) -> Result<u64, DelayedAnswer> {
        let mut table = self.lock();
        if let Some(earlier) = table.answers.get(&answer.id) {
            return Err(earlier.answer.clone());
        }
        table.last_number += 1;
        let number = table.last_number;
        // Sent under the lock, so that listeners receive the events in their order.
        hub.announce(announcement(&answer));
        let entry = DelayedEntry {
            number,
            takes_effect: false,
            answer,
        };
        table.answers.insert(entry.answer.id, entry);
        Ok(number)
    }

    /// Starts to record an answer. Returns `false` if the answer was withdrawn.
    pub(super) fn begin_effect(&self, id: i64, number: u64) -> bool {
        match self.lock().answers.get_mut(&id) {
            Some(entry) if entry.number == number && !entry.takes_effect => {
                entry.takes_effect = true;
                true
            }
            _ => false,
        }
    }

    /// Removes an answer. If it did not take effect for a reason, announces it.
    pub(super) fn remove(&self, hub: &Hub, id: i64, number: u64, reason: Option<&str>) {
        let mut table = self.lock();
        let entry = table.answers.get(&id);
        if entry.is_some_and(|entry| entry.number == number) {
            table.answers.remove(&id);
            if reason.is_some() {
                hub.announce(withdrawal(id, None, reason));
            }
        }
    }

    /// Withdraws the answer to a question.
    pub(super) fn withdraw(&self, hub: &Hub, id: i64, by: &str) -> WithdrawResult {
        let mut table = self.lock();
        match table.answers.get(&id) {
            None => WithdrawResult::Unknown,
            Some(entry) if entry.takes_effect => WithdrawResult::TakesEffect(entry.answer.response),
            Some(_) => {
                table.answers.remove(&id);
                hub.announce(withdrawal(id, Some(by), None));
                WithdrawResult::Withdrawn
            }
        }
    }
}

/// Returns the event that an answer does not take effect.
fn withdrawal(id: i64, by: Option<&str>, reason: Option<&str>) -> SseMessage {
    let data = json!({ "id": id, "by": by, "reason": reason });
    SseMessage::new(0, "withdrawn", &data).for_operator()
}

/// Returns the event of a delayed answer. Only the operator receives it: agents can read events,
/// too, and must not learn an answer that may be withdrawn.
pub(super) fn announcement(answer: &DelayedAnswer) -> SseMessage {
    SseMessage::new(0, "answering", &json!(answer)).for_operator()
}
