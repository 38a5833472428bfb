//! The interface between the proxy and the guard. In: a request of the agent. Out: a decision, and
//! later a report of its outcome.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::requests::AgentRequest;
use crate::request::PermissionRequest;

/// Decides about requests of an agent, and records their outcomes.
pub trait RequestGate: Send + Sync + 'static {
    /// Decides about a request. `agent` is the agent's name, if it has told one.
    fn decide(
        self: Arc<Self>,
        request: AgentRequest,
        agent: Option<String>,
    ) -> impl Future<Output = DecidedRequest> + Send;

    /// Records the outcome of a request.
    fn report(
        &self,
        record: DecisionRecord,
        outcome: RequestOutcome,
    ) -> impl Future<Output = ()> + Send;

    /// Records that a request ran.
    fn report_run(&self, key: RecordKey) -> impl Future<Output = ()> + Send;
}

/// A decision with its record.
#[derive(Debug)]
pub struct DecidedRequest {
    /// The decision.
    pub answer: RequestDecision,
    /// The record of the decision, for reports; `None` if nothing was recorded.
    pub record: Option<DecisionRecord>,
}

/// Decision about a request of an agent.
pub enum RequestDecision {
    /// The request is allowed, with the reason.
    Allow(String),
    /// The request is denied, with the reason.
    Deny(String),
    /// The operator decides: the future returns the reason of an approval, or of a denial.
    AskOperator(OperatorDecision),
    /// The user of the client decides; with the reason.
    AskClient(String),
    /// The guard has no objection, and leaves the decision to the client.
    Undecided,
}

/// Future that returns the reason of the operator's approval; an error is the reason of a denial.
pub type OperatorDecision = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

impl fmt::Debug for RequestDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allow(reason) => f.debug_tuple("Allow").field(reason).finish(),
            Self::Deny(reason) => f.debug_tuple("Deny").field(reason).finish(),
            Self::AskOperator(_) => f.debug_struct("AskOperator").finish_non_exhaustive(),
            Self::AskClient(reason) => f.debug_tuple("AskClient").field(reason).finish(),
            Self::Undecided => f.write_str("Undecided"),
        }
    }
}

/// A decision in the trail.
#[derive(Clone, Debug)]
pub struct DecisionRecord {
    /// The request.
    pub request: PermissionRequest,
    /// Id and secret of the decision.
    pub key: RecordKey,
}

/// Id and secret of a decision in the trail.
#[derive(Clone, Debug)]
pub struct RecordKey {
    /// Id of the decision.
    pub id: i64,
    /// Secret with which its outcome can be reported.
    pub secret: String,
    /// `true` if the service decided.
    pub by_service: bool,
}

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The user of the client allowed it.
    AllowedByUser,
    /// A person allowed it in an earlier request for permission.
    AllowedByPermission,
    /// The user of the client denied it.
    DeniedByUser,
    /// It was cancelled.
    Cancelled,
}
