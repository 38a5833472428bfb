//! The service's endpoint for hooks. In: a handler of a settings file. Out: whether it calls the
//! endpoint.

use jsonc_parser::ast::Object;

use crate::http::AGENT_HOOK_PATH;
use crate::protocol::Agent;

/// Returns `true` if a handler calls the service's endpoint for the agent, at any address.
pub(super) fn is_called(handler: &Object<'_>, agent: Agent) -> bool {
    let text = |field: &str| handler.get_string(field).map(|text| text.value.as_ref());
    text("type") == Some("http") && text("url").is_some_and(|url| is_endpoint(url, agent))
}

/// Returns `true` if a URL is that of the service's endpoint for the agent.
fn is_endpoint(url: &str, agent: Agent) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.split_once(AGENT_HOOK_PATH).map(|(_, name)| name);
    name.is_some_and(|name| name.parse() == Ok(agent))
}
