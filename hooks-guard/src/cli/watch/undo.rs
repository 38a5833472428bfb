//! Answers that take effect after a delay. In: events, and responses to answers. Out: which answers
//! can be undone.

use hooks_guard::audit::UserResponse;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

/// Time after which an answer without an event is not displayed any more. If it had no effect, the
/// question is still in the list.
const MAX_SILENCE: SignedDuration = SignedDuration::from_secs(2);

/// An answer that takes effect later, as the service announces it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Answering {
    pub(super) id: i64,
    pub(super) response: UserResponse,
    pub(super) effective_at: Timestamp,
}

impl Answering {
    /// Describes the answer and the time that is left.
    pub(super) fn describe(&self, now: Timestamp) -> String {
        let left = self.effective_at.duration_since(now);
        let seconds = (left.as_millis().max(0) + 999) / 1000;
        format!("{} in {seconds} s", self.response.as_str())
    }
}

/// The answers that have not taken effect, of all clients of the service.
#[derive(Debug, Default)]
pub(super) struct AnsweringList {
    answers: Vec<Answering>,
    /// Questions that this program has answered, the last one at the end.
    own: Vec<i64>,
}

impl AnsweringList {
    /// Adds or replaces an answer.
    pub(super) fn add(&mut self, answering: Answering) {
        self.answers.retain(|other| other.id != answering.id);
        self.answers.push(answering);
    }

    /// Adds an answer of this program.
    pub(super) fn add_own(&mut self, answering: Answering) {
        self.own.retain(|id| *id != answering.id);
        self.own.push(answering.id);
        self.add(answering);
    }

    /// Removes an answer; returns `true` if it is of this program.
    pub(super) fn remove(&mut self, id: i64) -> bool {
        self.answers.retain(|other| other.id != id);
        let before = self.own.len();
        self.own.retain(|other| *other != id);
        before != self.own.len()
    }

    /// Removes all answers, because the service announces them again.
    pub(super) fn clear(&mut self) {
        self.answers.clear();
    }

    /// Removes the answers that have had their effect, or never will, according to the time.
    pub(super) fn expire(&mut self, now: Timestamp) {
        let answers = self.answers.iter();
        let is_old = |answer: &&Answering| now.duration_since(answer.effective_at) > MAX_SILENCE;
        let old: Vec<i64> = answers.filter(is_old).map(|answer| answer.id).collect();
        for id in old {
            self.remove(id);
        }
    }

    pub(super) fn get(&self, id: i64) -> Option<&Answering> {
        self.answers.iter().find(|answer| answer.id == id)
    }

    /// Returns the last answer of this program that may still be undone.
    pub(super) fn last_own(&self) -> Option<i64> {
        let ids = self.own.iter().rev().copied();
        ids.into_iter().find(|id| self.get(*id).is_some())
    }
}
