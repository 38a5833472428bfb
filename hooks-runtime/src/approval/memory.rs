//! What "allow always" has been answered to, by session (`E-138`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::request::ApprovalRequest;
use crate::digest::Digest;

/// What is remembered, and until when.
#[derive(Default)]
pub(super) struct Memory {
    sessions: HashMap<Arc<str>, HashSet<Digest>>,
    /// When sessions ended: a question of before is not remembered, however late its answer.
    ended: HashMap<Arc<str>, Timestamp>,
    /// The same for sessions that are no longer in the list.
    forgotten: Option<Timestamp>,
}

/// How many ended sessions are told apart.
const ENDED: usize = 4096;

impl Memory {
    pub(super) fn remember(&mut self, request: &ApprovalRequest, memory: Digest) {
        let ended = self
            .ended
            .get(&request.session)
            .copied()
            .max(self.forgotten);
        if ended.is_some_and(|ended| request.asked_at <= ended) {
            return;
        }
        let session = self.sessions.entry(Arc::clone(&request.session));
        session.or_default().insert(memory);
    }

    pub(super) fn holds(&self, request: &ApprovalRequest, memory: &Digest) -> bool {
        let session = self.sessions.get(&request.session);
        session.is_some_and(|session| session.contains(memory))
    }

    pub(super) fn end(&mut self, session: &str) {
        self.sessions.remove(session);
        if self.ended.len() == ENDED {
            // Nothing that is open for that long is remembered.
            let latest = self.ended.drain().map(|(_, ended)| ended).max();
            self.forgotten = self.forgotten.max(latest);
        }
        self.ended.insert(session.into(), Timestamp::now());
    }
}
