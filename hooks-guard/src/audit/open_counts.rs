//! Open questions by agent and session. Takes a transaction, then answers; returns the number of
//! open questions in total and per session.

use std::collections::HashMap;

use super::error::AuditError;
use super::record::DecisionRow;
use super::tx::Tx;

/// Open questions by agent and session, as counted by a transaction.
#[derive(Debug)]
pub(super) struct OpenQuestionCounts {
    pub(super) total: u32,
    pub(super) sessions: HashMap<(Option<String>, Option<String>), u32>,
}

impl OpenQuestionCounts {
    /// Reads at most `limit` rows, however many questions are open. If the limit is reached,
    /// sessions are not counted.
    pub(super) async fn read(tx: &mut Tx, now: i64, limit: u32) -> Result<Self, AuditError> {
        let bounds = [now.into(), i64::from(limit).into()];
        // Covered by the index.
        let row = tx
            .one(
                "SELECT count(*) FROM (SELECT d.deadline FROM decisions d WHERE d.response IS NULL
                    AND d.deadline IS NOT NULL AND d.deadline > $1 LIMIT $2) o",
                &bounds,
            )
            .await?;
        let mut open = Self {
            total: 0,
            sessions: HashMap::new(),
        };
        let total = u32::try_from(row.int(0)?).unwrap_or(limit);
        if total >= limit {
            open.total = total;
            return Ok(open);
        }
        let rows = tx
            .all(
                "SELECT d.agent, d.session_id FROM decisions d WHERE d.response IS NULL
                    AND d.deadline IS NOT NULL AND d.deadline > $1 LIMIT $2",
                &bounds,
            )
            .await?;
        for row in &rows {
            open.add((row.maybe_text(0)?, row.maybe_text(1)?));
        }
        Ok(open)
    }

    pub(super) fn add(&mut self, session: (Option<String>, Option<String>)) {
        self.total += 1;
        *self.sessions.entry(session).or_default() += 1;
    }

    /// Removes an answered question.
    pub(super) fn answered(&mut self, row: &DecisionRow) {
        let session = (row.agent.clone(), row.session_id.clone());
        if row.deadline.is_some()
            && let Some(count) = self.sessions.get_mut(&session)
        {
            *count = count.saturating_sub(1);
            self.total = self.total.saturating_sub(1);
        }
    }
}
