//! Addresses among the words of a call: words in, the other machine that they name out, and whether
//! words that are sent to it contain unknown values.

use crate::analysis::{Analysis, OutputAction};
use crate::host::{is_localhost, split_url};
use crate::model::arg::{Arg, UNKNOWN, display_text};
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

/// Requires confirmation for values of expansions that may be sent to another machine.
pub(super) fn check_exfiltration(analysis: &mut Analysis, call: &Call, whole: Span) {
    let program = &call.program;
    if program.details.offline && !program.details.sends {
        return;
    }
    // Options before the name of a command do not belong to the command.
    let global_options = call
        .options
        .iter()
        .filter(|opt| opt.index_in(call).is_none());
    let before = global_options.filter_map(|opt| opt.value.as_ref());
    let unknown_words: Vec<_> = before
        .chain(&call.args)
        .filter(|arg| !arg.is_known())
        .collect();
    let path = &call.path;
    if program.details.sends {
        for arg in unknown_words
            .into_iter()
            .filter(|arg| sends_unknown_value(arg))
        {
            let reason = format!("`{path}` sends the value of an expansion over the network");
            analysis.require_confirmation(arg.span, reason);
        }
        return;
    }
    let ask = |analysis: &mut Analysis, shows_variable: bool| {
        if let Some((span, host)) =
            recipient_of_unknown_words(call, &unknown_words, shows_variable.then_some(whole), whole)
        {
            let reason = format!("`{path}` may send the value of an expansion to `{host}`");
            analysis.require_confirmation(span, reason);
        }
        OutputAction::NONE
    };
    if program.details.shows.is_empty() {
        ask(analysis, false);
        return;
    }
    analysis.if_unknown_variable(
        program.details.shows,
        |analysis| ask(analysis, true),
        |analysis| ask(analysis, false),
    );
}

/// Returns the machine that the unknown words of a call may go to, and where the call names these
/// words or shows a variable.
fn recipient_of_unknown_words(
    call: &Call,
    unknown_words: &[&Arg],
    shows_variable: Option<Span>,
    whole: Span,
) -> Option<(Span, String)> {
    if unknown_words.is_empty() && shows_variable.is_none() {
        return None;
    }
    if let Some(host) = remote_host_of_call(call) {
        return Some((unknown_words.first().map_or(whole, |arg| arg.span), host));
    }
    // Everyday calls name a server in a variable, so inherited variables may be sent there.
    let printed = unknown_words
        .iter()
        .find(|arg| !arg.inert)
        .map(|arg| arg.span);
    let span = printed.or(shows_variable)?;
    Some((span, remote_host_of_option(call)?))
}

/// Returns the other machine that a word of a call names, as far as it is known. Commands and scripts
/// among the words have findings of their own.
fn remote_host_of_call(call: &Call) -> Option<String> {
    let is_word = |role: &Role| {
        !matches!(
            role,
            Role::Argv { .. } | Role::Shell | Role::Script(_) | Role::ScriptFile
        )
    };
    let (operands, _) = call.roles();
    let operands = operands.iter().filter(|(role, _)| is_word(role));
    let options = call.options.iter();
    let options = options.filter(|opt| is_word(&opt.spec.role));
    let values = options.filter_map(|opt| opt.value.as_ref());
    let mut words = operands.flat_map(|(_, args)| args).chain(values);
    if call.program.details.hosts
        && let Some(host) = call
            .operands
            .iter()
            .find_map(|o| host_of_remote_path(&o.arg))
    {
        return Some(host);
    }
    words.find_map(remote_host)
}

/// Returns the other machine of a place without `://`: `host:path`, `host::module`.
pub(super) fn host_of_remote_path(arg: &Arg) -> Option<String> {
    let (host, _) = arg.text.split_once(':')?;
    // A single letter is a drive.
    let named = host.len() > 1 && !host.contains('/') && !arg.text.contains("://");
    named.then(|| remote_host(&as_address(&arg.with_text(host))))?
}

/// Returns `true` if a word that is sent has unknown parts. The port of a service on this machine,
/// `http://localhost:$PORT/`, is not sent to another machine.
pub(super) fn sends_unknown_value(word: &Arg) -> bool {
    let own_port = || {
        let (scheme, authority, rest) = split_url(&word.text)?;
        let (host, port) = authority.rsplit_once(':')?;
        let is_unknown = port.chars().all(|c| c == UNKNOWN);
        let known = !scheme.contains(UNKNOWN) && !rest.contains(UNKNOWN);
        Some(word.inert && is_unknown && known && is_localhost(host))
    };
    !word.is_known() && own_port() != Some(true)
}

/// Returns the other machine that an option of a call names.
fn remote_host_of_option(call: &Call) -> Option<String> {
    let options = call.options.iter();
    let options = options.filter(|opt| opt.spec.role == Role::Host);
    let mut values = options.filter_map(|opt| opt.value.as_ref());
    values.find_map(|value| remote_host(&as_address(value)))
}

/// Returns the address of a machine with this name.
pub(super) fn as_address(host: &Arg) -> Arg {
    host.with_text(&format!("server://{}", host.text))
}

/// Returns the machine that an address names, unless it is this machine or wholly unknown.
pub(crate) fn remote_host(address: &Arg) -> Option<String> {
    let (scheme, authority, _) = split_url(&address.text)?;
    let of_scheme = |c: char| c.is_ascii_alphanumeric() || c == UNKNOWN || "+-.".contains(c);
    if !scheme.chars().all(of_scheme) || scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let authority = authority.split(char::is_whitespace).next()?;
    let host = authority.rsplit('@').next()?;
    let of_port = |c: char| c.is_ascii_digit() || c == UNKNOWN;
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.chars().all(of_port) => host,
        _ => host,
    };
    // A field of a template is not an address.
    let known = host.contains(|c: char| c.is_ascii_alphanumeric()) && !host.contains('{');
    // Libraries of databases read another host after the path.
    let another = address.text.to_ascii_lowercase().contains("host=");
    (another || known && !is_localhost(host)).then(|| display_text(&address.with_text(host)))
}
