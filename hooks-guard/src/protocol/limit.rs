//! Deadlines of a hook. In: an agent, the called hook, and the timeout in its settings. Out: the
//! time within which the hook must reply.

use std::time::Duration;

use super::agent::Agent;
use super::model::AgentHook;

/// Timeout of hooks before a tool, long enough for an operator to answer.
#[cfg(feature = "cli")]
pub(crate) const BEFORE_TOOL_TIMEOUT: Duration = Duration::from_secs(600);

/// Timeout of hooks after a tool.
pub(crate) const AFTER_TOOL_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the time within which a hook must reply.
///
/// `installed` is the timeout in the agent's settings, which `install` also passes as `--timeout`
/// to the command. Without it, the timeout is unknown and a short one is assumed, because most
/// agents run the tool if a hook is late.
#[must_use]
pub fn limit(agent: Agent, hook: Option<AgentHook>, installed: Option<Duration>) -> Duration {
    let mut time = installed.unwrap_or(agent.description().manual_timeout);
    if hook.is_some_and(|hook| !hook.kind.is_before()) {
        time = time.min(AFTER_TOOL_TIMEOUT);
    }
    // The process has to start and exit in this margin, even on a busy machine.
    let margin = (time / 20).max(Duration::from_secs(1)).min(time / 2);
    time - margin
}
