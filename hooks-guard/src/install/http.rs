//! The entries of an agent that calls its hooks over HTTP. In: an agent, and the address of the
//! service. Out: the entries by event, and the reason why they cannot be installed.
//!
//! The entries name the variable with the agent's token, and not the token: other users may read
//! settings, and a project may share them.

use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use serde_json::{Value, json};

use super::error::InstallError;
use super::plan::Plan;
use super::version::claude_ignores_lateness;
use crate::http::AGENT_HOOK_PATH;
use crate::protocol::{AFTER_TOOL_TIMEOUT, Agent, BEFORE_TOOL_TIMEOUT, ToolMatcher};

/// Variable of the agent's environment with its token.
pub(crate) const TOKEN_VARIABLE: &str = "HOOKS_GUARD_AGENT_TOKEN";

/// Variables that tell whether a user is at the keyboard, and which directory `~` means.
const VARIABLES: &[&str] = &["CLAUDE_CODE_ENTRYPOINT", "HOME", "HOOKS_GUARD_UNATTENDED"];

/// Returns the entries with which an agent calls the service at an address.
///
/// # Errors
/// If the agent cannot call hooks over HTTP, or the service has no loopback address.
pub(crate) fn plan(
    agent: Agent,
    service: SocketAddr,
    unattended: bool,
) -> Result<Plan, InstallError> {
    if agent != Agent::ClaudeCode {
        return Err(InstallError::HttpUnsupported { agent });
    }
    let address = loopback(service).ok_or(InstallError::HttpAddress { address: service })?;
    let mut headers = json!({"Authorization": format!("Bearer ${TOKEN_VARIABLE}")});
    for name in VARIABLES {
        let header = format!("X-Hooks-Guard-Env-{}", name.replace('_', "-"));
        headers[header] = format!("${name}").into();
    }
    let allowed = [&[TOKEN_VARIABLE], VARIABLES].concat();
    let description = agent.description();
    let events = description.events.iter();
    let registered = events.filter(|event| event.matcher == Some(ToolMatcher::Any));
    let entries = registered.map(|event| {
        let is_before = event.kind.is_before();
        let time = match is_before {
            true => BEFORE_TOOL_TIMEOUT,
            false => AFTER_TOOL_TIMEOUT,
        };
        let seconds = time.as_secs();
        let query = match unattended {
            true => format!("timeout={seconds}&unattended=true"),
            false => format!("timeout={seconds}"),
        };
        let mut handler = json!({
            "type": "http",
            "url": format!("http://{address}{AGENT_HOOK_PATH}{agent}?{query}"),
            "timeout": seconds,
            "headers": headers,
            "allowedEnvVars": allowed,
        });
        if let Some((key, value)) = description.fail_closed().filter(|_| is_before) {
            handler[key] = value.to_json();
        }
        let entry = json!({"matcher": "*", "hooks": [handler]});
        (event.name.to_owned(), entry)
    });
    Ok(Plan {
        agent,
        root: Vec::new(),
        entries: entries.collect(),
    })
}

/// Checks that the agent that a shell with this `PATH` would run denies the tool if the service does
/// not respond.
pub(super) fn check_version(path: Option<&OsStr>) -> Result<(), InstallError> {
    match claude_ignores_lateness(path) {
        Some(what) => Err(InstallError::HttpVersion { what }),
        None => Ok(()),
    }
}

/// Returns the loopback address at which a service that listens on `address` is reached.
fn loopback(address: SocketAddr) -> Option<SocketAddr> {
    let ip = match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    (ip.is_loopback() && address.port() != 0).then(|| SocketAddr::new(ip, address.port()))
}

/// Returns `true` if an entry calls a hook over HTTP.
pub(crate) fn is_http(entry: &Value) -> bool {
    entry["hooks"][0]["type"] == "http"
}

/// Steps left to the user.
pub(super) const TO_DO: &[&str] = &[
    "Start Claude Code with its token: put `export HOOKS_GUARD_AGENT_TOKEN=\"$(hooks-guard token \
     claude-code)\"` into the start file of your shell. Without the token, the service denies \
     every tool.",
    "Claude Code runs no tool while `hooks-guard serve` does not run.",
];
