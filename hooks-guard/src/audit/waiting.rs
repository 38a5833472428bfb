//! The questions that wait, by agent and session. In: a transaction; then answers. Out: how many wait
//! in all, and of a session.

use std::collections::HashMap;

use super::error::AuditError;
use super::record::Stored;
use super::tx::Tx;

/// The questions that wait, by agent and session, as a transaction has counted them.
#[derive(Debug)]
pub(super) struct OpenQuestions {
    pub(super) total: u32,
    pub(super) sessions: HashMap<(Option<String>, Option<String>), u32>,
}

impl OpenQuestions {
    /// No more rows than the limit are read, however many wait; where as many do, their sessions
    /// are not.
    pub(super) async fn read(tx: &mut Tx, now: i64, limit: u32) -> Result<Self, AuditError> {
        let bounds = [now.into(), i64::from(limit).into()];
        // The index alone answers this.
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

    /// Takes notice of an answer.
    pub(super) fn answered(&mut self, row: &Stored) {
        let session = (row.agent.clone(), row.session_id.clone());
        if row.deadline.is_some()
            && let Some(count) = self.sessions.get_mut(&session)
        {
            *count = count.saturating_sub(1);
            self.total = self.total.saturating_sub(1);
        }
    }
}
