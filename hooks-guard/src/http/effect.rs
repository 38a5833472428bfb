//! Answers with a delay. Takes an accepted answer; records it when its delay ends, unless it was
//! withdrawn before.
//!
//! A delayed answer is in memory only. Before it takes effect, the trail has an open question: the
//! agent continues to wait, and if the service stops, the question stays open. The lock of the
//! [table](super::delayed) decides between a withdrawal and the end of the delay.

use tokio::time::{Instant, sleep_until};

use super::delayed::DelayedAnswer;
use super::metrics;
use super::state::AppState;
use crate::audit::AnswerResult;
use crate::log_limit;
use crate::service::{OperatorAnswer, RespondResult, ServiceError};

impl AppState {
    /// Announces an answer, and records it at its time. Returns the earlier answer if the question
    /// has a delayed answer already.
    pub(super) fn delay(
        &self,
        answer: &DelayedAnswer,
        reply: OperatorAnswer,
        until: Instant,
    ) -> Result<(), DelayedAnswer> {
        let number = self.inner.delayed.add(&self.inner.hub, answer.clone())?;
        let (id, by) = (answer.id, answer.by);
        tokio::spawn(take_effect(self.clone(), (id, number), reply, by, until));
        Ok(())
    }
}

/// Records an answer at its time, unless it is withdrawn or the service stops before.
async fn take_effect(
    state: AppState,
    (id, number): (i64, u64),
    reply: OperatorAnswer,
    by: &'static str,
    until: Instant,
) {
    let (delayed, hub) = (&state.inner.delayed, &state.inner.hub);
    tokio::select! {
        biased;
        () = state.inner.ending.begun() => {
            delayed.remove(hub, id, number, None);
            return;
        }
        () = sleep_until(until) => {}
    }
    if !delayed.begin_effect(id, number) {
        return;
    }
    let answered = state.service().respond(id, reply, by).await;
    delayed.remove(hub, id, number, failure_of(answered).as_deref());
}

/// Counts an answer that took effect; returns why an answer did not.
fn failure_of(answered: Result<RespondResult, ServiceError>) -> Option<String> {
    match answered {
        Ok(RespondResult::Answered(AnswerResult::Done(record))) => {
            metrics::answer(&record);
            None
        }
        Ok(RespondResult::Answered(AnswerResult::Already(record))) => {
            let response = record.user_response.map_or("nothing", |said| said.as_str());
            Some(format!("the question was already answered: {response}"))
        }
        Ok(RespondResult::Answered(AnswerResult::Unknown)) => {
            Some("the decision was deleted".to_owned())
        }
        Ok(_) => Some("the answer is not possible any more".to_owned()),
        Err(error) => {
            if let Some(suppressed) =
                log_limit::suppressed("cannot record a delayed answer", &error)
            {
                tracing::error!(%error, suppressed, "cannot record a delayed answer");
            }
            Some("the audit trail could not be written; answer again".to_owned())
        }
    }
}
