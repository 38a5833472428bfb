//! What is known of single agents. In: the name that an agent reports. Out: how it is told a denial.

/// Response that denies a permission request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The option that rejects. Agents tell their model no reason, and most end the turn.
    Option,
    /// An error. The agent continues, and its model reads the message.
    Error,
}

/// Names of agents that go on after an error. claude-agent-acp 0.101.0, seen when run: after
/// `reject_once` its model reads that the user refused, after an error the message, and after both it
/// continues.
const GO_ON_AFTER_ERROR: &[&str] = &["@agentclientprotocol/claude-agent-acp"];

/// Returns the response that denies a permission request of the agent with this name.
pub(super) fn refusal(agent: Option<&str>) -> Refusal {
    match agent.is_some_and(|name| GO_ON_AFTER_ERROR.contains(&name)) {
        true => Refusal::Error,
        false => Refusal::Option,
    }
}
