//! What is known of single agents. In: the name that an agent reports. Out: the response that denies a
//! permission request.

/// Names of agents that continue after an error, and whose model reads its message. claude-agent-acp
/// 0.101.0, seen when run: after `reject_once` its model reads only that the user refused. Other agents
/// tell their model no reason in both cases, and most end the turn.
const READ_ERRORS: &[&str] = &["@agentclientprotocol/claude-agent-acp"];

/// Returns `true` if an error denies a permission request better than the option that rejects, for the
/// agent with this name.
pub(super) fn reads_errors(agent: Option<&str>) -> bool {
    agent.is_some_and(|name| READ_ERRORS.contains(&name))
}
