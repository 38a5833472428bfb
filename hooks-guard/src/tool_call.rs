//! The answer to a tool call of an agent. In: the question of the agent's hook, and the service that
//! has decided it. Out: the answer, after that of the operator if the agent shows no prompt.
//!
//! `hooks-guard hook` calls the service over HTTP. The endpoint for hooks over HTTP calls it in the
//! same process. Both answer by [`resolve`]. The proxy of the Agent Client Protocol only waits for
//! the operator, by [`ask_operator`].

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::audit::AuditRecord;
use crate::changes::{self, FileChanges, ProposedChange};
use crate::classify::Decision;
use crate::protocol::{
    self, Agent, AgentDecision, AgentHook, DecisionRequest, HookEvent, HookReply,
};
use crate::request::{PermissionDecision, PermissionRequest};

/// Timeout of the comparison of edits with the present files.
const COMPARE_TIMEOUT: Duration = Duration::from_millis(500);

/// Timeout of showing the changes of a question.
const CHANGES_TIMEOUT: Duration = Duration::from_secs(1);

/// Minimum of the remaining time in which an answer can still reach the agent.
const MIN_REMAINING: Duration = Duration::from_millis(500);

/// Reason of a denial if the operator did not answer in time.
const NO_ANSWER: &str = "the operator did not answer in time; approve the request in the console, \
                         with `hooks-guard approve` or `hooks-guard watch`";

/// Reason of a reply if there is no decision before the agent's timeout.
pub const NO_DECISION: &str =
    "no decision before the agent's timeout; try again, or run `hooks-guard doctor`";

/// Decides a request again.
pub trait QuestionDecider {
    /// Decides the request again, because its files have changed since the question. An error holds
    /// the reason, if there is one to show.
    fn decide_again(
        &self,
        question: &DecisionRequest,
    ) -> impl Future<Output = Result<PermissionDecision, Option<String>>> + Send;
}

/// The service that has decided a question, in this process or over HTTP.
pub trait QuestionService {
    /// Shows changes with the question. Errors are only logged, because the question is valid
    /// without changes.
    fn show_changes(
        &self,
        id: i64,
        secret: &str,
        changes: FileChanges,
        limit: Duration,
    ) -> impl Future<Output = ()> + Send;

    /// Waits for the answer to the question, up to `wait` seconds and in any case only `limit`.
    /// Returns `None` if there is no answer yet.
    ///
    /// # Errors
    /// If the service cannot be asked again.
    fn wait_for_answer(
        &self,
        id: i64,
        wait: u64,
        limit: Duration,
    ) -> impl Future<Output = Result<Option<QuestionAnswer>, String>> + Send;

    /// Uses the approval of the question, which is possible once.
    ///
    /// # Errors
    /// If the approval does not hold.
    fn redeem(
        &self,
        id: i64,
        secret: &str,
        limit: Duration,
    ) -> impl Future<Output = Result<(), RedeemError>> + Send;
}

/// The operator's answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionAnswer {
    /// Approved.
    Approved,
    /// Denied, with the operator's note.
    Denied {
        /// The note, if there is one.
        note: Option<String>,
    },
    /// The question has expired without an answer.
    Expired,
}

/// Reason why an approval does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedeemError {
    /// The files of the request have changed since the question.
    Changed(String),
    /// Another reason.
    Failed(String),
}

/// A question that the service has recorded.
#[derive(Clone, Debug)]
pub struct RecordedQuestion {
    /// Id of the decision.
    pub id: i64,
    /// Secret of the decision.
    pub secret: String,
    /// Start of the reason of each reply.
    pub reason: String,
    /// The edits of a file tool, which are shown with the question.
    pub edits: Vec<ProposedChange>,
    /// Directory of the request.
    pub cwd: Option<PathBuf>,
}

/// The operator's reply to a question, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorReply {
    /// The request is approved, and the approval is used.
    Approved(String),
    /// The request is denied, or was not answered.
    Denied(String),
    /// The request was approved, but its files have changed since the question.
    Changed(String),
}

/// Returns the answer to a question that the service has decided. If the request needs approval and
/// the agent shows no prompt, waits for the operator until `deadline`. If the files changed while
/// the question was pending, asks again.
pub async fn resolve(
    service: &(impl QuestionService + Sync),
    decider: &(impl QuestionDecider + Sync),
    question: &DecisionRequest,
    mut permission: PermissionDecision,
    deadline: Instant,
) -> AgentDecision {
    loop {
        let Some(recorded) = recorded(question, &permission) else {
            return AgentDecision::of(question, &permission);
        };
        let why = match ask_operator(service, recorded, deadline).await {
            OperatorReply::Approved(why) => return AgentDecision::Allow(why),
            OperatorReply::Denied(why) => return AgentDecision::Deny(why),
            OperatorReply::Changed(why) => why,
        };
        if until(deadline) < MIN_REMAINING {
            return AgentDecision::Deny(why);
        }
        permission = match decider.decide_again(question).await {
            Ok(decided) => decided,
            Err(None) => return AgentDecision::Deny(why),
            Err(Some(error)) => return AgentDecision::Deny(format!("{why}; {error}")),
        };
    }
}

/// Returns the question to the operator; `None` if the decision is not a question, or the agent
/// itself asks.
fn recorded(
    question: &DecisionRequest,
    permission: &PermissionDecision,
) -> Option<RecordedQuestion> {
    let asks = permission.decision == Decision::RequiresConfirmation && !permission.denied;
    if !asks || permission.left_to_agent || !question.unattended() {
        return None;
    }
    Some(RecordedQuestion {
        id: permission.id?,
        secret: permission.secret.clone()?,
        reason: permission.reason(),
        edits: question.edits(),
        cwd: question.request.cwd.clone(),
    })
}

/// Waits for the operator's answer to a question until `deadline`, and uses an approval.
pub async fn ask_operator(
    service: &(impl QuestionService + Sync),
    question: RecordedQuestion,
    deadline: Instant,
) -> OperatorReply {
    let RecordedQuestion {
        id,
        secret,
        reason,
        edits,
        cwd,
    } = question;
    let denied = |why: String| OperatorReply::Denied(format!("{reason}; {why}"));
    if let Some(changes) = compare(edits, cwd).await {
        let limit = CHANGES_TIMEOUT.min(until(deadline) / 2);
        service.show_changes(id, &secret, changes, limit).await;
    }
    loop {
        let remaining = until(deadline);
        if remaining < MIN_REMAINING {
            return denied(NO_ANSWER.to_owned());
        }
        let wait = remaining.as_secs().saturating_sub(1).min(30);
        match service.wait_for_answer(id, wait, remaining).await {
            Err(error) => return denied(error),
            Ok(None) if wait == 0 => return denied(NO_ANSWER.to_owned()),
            Ok(None) => {}
            Ok(Some(QuestionAnswer::Approved)) => {
                return match service.redeem(id, &secret, until(deadline)).await {
                    Ok(()) => {
                        OperatorReply::Approved(format!("{reason}; approved by the operator"))
                    }
                    Err(RedeemError::Changed(why)) => {
                        OperatorReply::Changed(format!("{reason}; {why}"))
                    }
                    Err(RedeemError::Failed(why)) => denied(why),
                };
            }
            Ok(Some(QuestionAnswer::Expired)) => return denied(NO_ANSWER.to_owned()),
            Ok(Some(QuestionAnswer::Denied { note })) => {
                return denied(match note {
                    Some(note) => format!("denied by the operator: {note}"),
                    None => "denied by the operator; ask the user how to continue".to_owned(),
                });
            }
        }
    }
}

/// Compares the edits of a file tool with the present files; `None` if there are no edits.
async fn compare(edits: Vec<ProposedChange>, cwd: Option<PathBuf>) -> Option<FileChanges> {
    if edits.is_empty() {
        return None;
    }
    let edits: Arc<[_]> = edits.into();
    let proposed = Arc::clone(&edits);
    let (send, receive) = oneshot::channel();
    // Reading a file may block, for example in a network's file system.
    let _ = thread::Builder::new().spawn(move || {
        // The receiver is dropped after the timeout.
        let _ = send.send(changes::compare(&proposed, cwd.as_deref()));
    });
    let compared = tokio::time::timeout(COMPARE_TIMEOUT, receive).await;
    Some(match compared {
        Ok(Ok(changes)) => changes,
        _ => changes::not_compared(&edits),
    })
}

/// Returns the reply if there is no decision: asks through the agent's prompt if it shows one, else
/// denies.
#[must_use]
pub fn without_decision(question: &DecisionRequest, why: String) -> AgentDecision {
    match question.unattended() {
        false => AgentDecision::Ask(why),
        true => AgentDecision::Deny(why),
    }
}

/// Returns the reply to an event if the guard cannot decide: to a question as
/// [`without_decision`], to another event as to a failure.
#[must_use]
pub fn undecided_reply(agent: Agent, event: &HookEvent, problem: &str) -> HookReply {
    let why = format!("hooks-guard cannot decide: {problem}");
    match event {
        HookEvent::Ask(question) => {
            protocol::decision_reply(question, &without_decision(question, why))
        }
        other => protocol::failure_reply(agent, Some(other.hook()), &why),
    }
}

/// Returns the reply after a tool ran: a message if another command ran than the decided one.
#[must_use]
pub fn run_reply(hook: AgentHook, other: Option<&AuditRecord>) -> HookReply {
    let ran = |record: &AuditRecord| {
        let ran = record.ran_command.as_deref()?;
        let (id, decided) = (record.id, &record.command);
        Some(protocol::other_command_reply(hook, id, decided, ran))
    };
    other
        .and_then(ran)
        .unwrap_or_else(|| protocol::empty_reply(hook))
}

/// Sets the agent's name, and a call id if the agent sent none.
pub fn complete(request: &mut PermissionRequest, agent: &str) {
    request.agent = Some(agent.to_owned());
    let derived = || derive_call_id(request.command.as_str(), request.cwd.as_deref());
    if request.call_id.is_none() {
        request.call_id = Some(derived());
    }
}

/// Derives a call id from the command and its directory, for an agent that sends none.
fn derive_call_id(command: &str, cwd: Option<&Path>) -> String {
    let mut hash = Sha256::new();
    hash.update(command);
    hash.update([0]);
    hash.update(cwd.map_or(&[][..], |cwd| cwd.as_os_str().as_encoded_bytes()));
    format!("command:{}", hex::encode(&hash.finalize()[..16]))
}

fn until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}
