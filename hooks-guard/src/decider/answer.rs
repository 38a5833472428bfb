//! The answer of this process to an agent's question. In: a decision of this process, and the failure
//! of the service. Out: the answer.

use crate::protocol::{AgentDecision, DecisionRequest};
use crate::request::PermissionDecision;
use crate::tool_call::without_decision;

/// Returns `false` if a decision of this process rests on an earlier approval that does not count:
/// beside a service that did not decide. The service may have refused this trail, and a new process
/// cannot know its earlier state.
#[must_use]
pub fn approval_counts(permission: &PermissionDecision, failure: Option<&str>) -> bool {
    !permission.approved || failure.is_none()
}

/// Returns the answer to an agent's question that this process has decided. `failure` is the reason
/// why the service's decision was not used, if a service is there.
#[must_use]
pub fn local_answer(
    question: &DecisionRequest,
    permission: &PermissionDecision,
    failure: Option<&str>,
) -> AgentDecision {
    let Some(why) = failure else {
        return AgentDecision::of(question, permission);
    };
    if !approval_counts(permission, failure) {
        return without_decision(question, format!("{}; {why}", permission.reasoning));
    }
    match AgentDecision::of(question, permission) {
        AgentDecision::Ask(reason) => without_decision(question, format!("{reason}; {why}")),
        answer => answer,
    }
}
