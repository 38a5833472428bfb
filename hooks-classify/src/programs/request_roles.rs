//! Operands that are sent to another machine: a role and its words in, the data that is sent out.

use super::addresses::{as_address, remote_host, sends_unknown_value};
use super::requests::{check_metadata_address, effect_of_method};
use crate::analysis::{Analysis, Context};
use crate::model::arg::{Arg, display_text};
use crate::model::effect::Effect;
use crate::model::role::Role;
use crate::options::request::request_members;

/// Requires confirmation for hosts that give out the keys of the machine.
pub(super) fn check_hosts(analysis: &mut Analysis, context: &Context<'_>, hosts: &[Arg]) {
    for host in hosts {
        check_metadata_address(analysis, context, host);
    }
}

/// Requires confirmation for words that are sent, and reads the files that they name.
pub(super) fn send_words(
    analysis: &mut Analysis,
    context: &Context<'_>,
    path: &str,
    role: Role,
    words: &[Arg],
) {
    for word in words.iter().filter(|word| sends_unknown_value(word)) {
        let reason = format!("`{path}` sends the value of an expansion over the network");
        analysis.require_confirmation(word.span, reason);
    }
    for word in words {
        if role == Role::Url {
            check_metadata_address(analysis, context, word);
        }
        if let Some(file) = word.text.strip_prefix("file://") {
            analysis.read_file(&word.with_text(file));
        }
        if role != Role::Url
            && let Some(file) = word.text.strip_prefix('@')
        {
            analysis.read_file(&word.with_text(file));
        }
    }
}

/// Requires confirmation for other machines that receive the credentials of the user.
pub(super) fn check_endpoints(
    analysis: &mut Analysis,
    context: &Context<'_>,
    path: &str,
    endpoints: &[Arg],
) {
    for endpoint in endpoints {
        check_metadata_address(analysis, context, endpoint);
        let address = match endpoint.text.contains("://") {
            true => endpoint.clone(),
            false => as_address(endpoint),
        };
        if let Some(host) = remote_host(&address) {
            let reason = format!("`{path}` shows the user's credentials to `{host}`");
            analysis.require_confirmation(endpoint.span, reason);
        }
    }
}

/// Notes requests in files that the words name.
pub(super) fn note_requests_in_files(analysis: &mut Analysis, path: &str, requests: &[Arg]) {
    for request in requests {
        if request_members(&request.text).is_none() {
            let reason = format!("`{path}` sends a request not visible in the command");
            analysis.add_finding(Effect::Code, request.span, reason);
        }
    }
}

/// Notes the effects of requests by their methods.
pub(super) fn note_methods(analysis: &mut Analysis, path: &str, methods: &[Arg]) {
    for arg in methods {
        let effect = effect_of_method(&arg.text);
        if effect > Effect::Read {
            let reason = format!("`{path}` sends a request `{}`", display_text(arg));
            analysis.add_finding(effect, arg.span, reason);
        }
    }
}
