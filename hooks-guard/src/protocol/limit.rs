//! How long a hook may take. In: an agent, the hook that it called, and the time in its settings. Out:
//! the time in which the hook must have been answered.

use std::time::Duration;

use super::agent::Agent;
use super::model::Hook;

/// How long an agent is told to wait before a tool is used: somebody may have to be found.
#[cfg(feature = "cli")]
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// How long it is told to wait afterwards.
pub(crate) const AFTERWARDS: Duration = Duration::from_secs(10);

/// How long settings that somebody wrote by hand are taken to wait.
pub(super) const BY_HAND: Duration = Duration::from_secs(10);

/// The same for Gemini, which counts in milliseconds.
pub(super) const BY_HAND_GEMINI: Duration = Duration::from_secs(5);

/// The time in which a hook must have been answered.
///
/// `installed` is the time that the agent's settings give it, which `install` writes as
/// `--timeout` of the command it registers. Without it, nobody knows what the settings say, and a
/// short time is assumed: most agents go on when a hook is late.
#[must_use]
pub fn limit(agent: Agent, hook: Option<Hook>, installed: Option<Duration>) -> Duration {
    let by_hand = match agent {
        Agent::Gemini => BY_HAND_GEMINI,
        _ => BY_HAND,
    };
    let mut time = installed.unwrap_or(by_hand);
    if hook.is_some_and(|hook| !hook.kind.is_before()) {
        time = time.min(AFTERWARDS);
    }
    // The process has to start and to end in it, on a machine that may be busy.
    let margin = (time / 20).max(Duration::from_secs(1)).min(time / 2);
    time - margin
}
