//! Grants of "allow always", by session.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::request::ApprovalRequest;
use crate::digest::Digest;

/// Requests that the user has allowed for the rest of a session.
#[derive(Default)]
pub(super) struct SessionGrants {
    sessions: HashMap<Arc<str>, HashSet<Digest>>,
    /// End of each ended session. A late answer to a request from before the end grants nothing.
    ended: HashMap<Arc<str>, Timestamp>,
    /// Latest end among the sessions that were removed from `ended`.
    forgotten: Option<Timestamp>,
}

/// Upper bound of `ended`.
const MAX_ENDED: usize = 4096;

impl SessionGrants {
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
        if self.ended.len() == MAX_ENDED {
            // A request that is older than all of these ends grants nothing.
            let latest = self.ended.drain().map(|(_, ended)| ended).max();
            self.forgotten = self.forgotten.max(latest);
        }
        self.ended.insert(session.into(), Timestamp::now());
    }
}
