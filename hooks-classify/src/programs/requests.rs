//! Requests: words in, the metadata hosts of clouds among them, which give out the keys of the machine,
//! and the effect of headers that change the method out.

use super::deletion::is_deleting_word;
use super::graphql::note_statement;
use crate::analysis::{Analysis, Context};
use crate::host;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::role::Role;
use crate::options::call::Call;

/// Headers that replace the method of a request for some servers; also as fields of a query or a form.
/// Servers read `_` in the name of a header as `-`.
const METHOD_HEADERS: &[&str] = &[
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-request-method",
    "x-original-method",
];

/// Fields that replace the method in a query or a form.
const METHOD_FIELDS: &[&str] = &["_method", "httpmethod", "_httpmethod", "_http_method"];

/// Notes the deletion that the address of a request which changes something states: as the operation
/// at its end, which begins or ends with such a word (`/_delete_by_query`, `/volumes/prune`,
/// `/chat.delete`), or as a statement in its query.
pub(super) fn note_address(analysis: &mut Analysis, path: &str, address: &Arg) {
    let (_, _, rest) = host::split_url(&address.text).unwrap_or_else(|| {
        let start = address.text.find(['/', '?']);
        ("", "", start.map_or("", |at| &address.text[at..]))
    });
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let place = place.split('#').next().unwrap_or("");
    let operation = place.trim_end_matches('/').rsplit('/').next().unwrap_or("");
    let mut words = operation
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let first = words.next().unwrap_or("");
    if is_deleting_word(first) || is_deleting_word(words.next_back().unwrap_or("")) {
        let reason = format!("`{path}` calls `{operation}`, which deletes");
        analysis.add_finding(Effect::Delete, address.span, reason);
    }
    note_statement(analysis, path, &address.with_text(query));
}

/// Returns the effect of a request by its method.
pub(super) fn effect_of_method(name: &str) -> Effect {
    match name.to_ascii_uppercase().as_str() {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PROPFIND" | "REPORT" => Effect::Read,
        "PUT" | "PATCH" => Effect::Update,
        // `PURGE` removes from a cache.
        "DELETE" | "PURGE" => Effect::Delete,
        _ => Effect::Create,
    }
}

/// Notes methods and hosts of keys in the words of a call, at any place.
pub(super) fn note_requests(analysis: &mut Analysis, context: &Context<'_>, call: &Call) {
    if call.program.details.offline && !call.program.details.sends {
        return;
    }
    let values = || {
        let options = call.options.iter();
        options.filter_map(|opt| {
            let value = opt.value.as_ref()?;
            Some((opt.index_in(call), value, opt.spec.role))
        })
    };
    let before = values().filter(|(index, ..)| index.is_none());
    let before = before.map(|(_, value, role)| (value, role));
    let words = call.args.iter().enumerate().map(|(at, word)| {
        // The value is a part of the word of its option, or the word after it.
        let value = |(index, value, _): &(Option<usize>, &Arg, Role)| {
            index.is_some_and(|index| index == at || index + 1 == at)
                && word.text.ends_with(&value.text)
                && !value.text.is_empty()
        };
        values()
            .find(value)
            .map_or((word, Role::Text), |(_, value, role)| match role {
                Role::Header | Role::Send | Role::Format => (value, role),
                _ => (word, role),
            })
    });
    for (word, role) in before.chain(words) {
        match role {
            Role::Format => continue,
            Role::Header if !is_host_header(&word.text) => {}
            Role::Send => {}
            _ if call.program.details.probes && !word.text.starts_with('@') => {}
            _ if word.text.contains("://") => check_metadata_address(analysis, context, word),
            _ => check_metadata_hosts(analysis, context, word),
        }
        let overridden = match role {
            Role::Header => method_of_headers(&word.text),
            _ => method_of_word(&word.text),
        };
        if let Some(effect) = overridden
            && effect > Effect::Read
        {
            let reason = format!("`{}` has the server use another method", call.path);
            analysis.add_finding(effect, word.span, reason);
        }
    }
}

/// Requires confirmation for an address from which a machine in a cloud gets its own keys.
pub(super) fn check_metadata_address(
    analysis: &mut Analysis,
    context: &Context<'_>,
    address: &Arg,
) {
    check_metadata_hosts(analysis, context, address);
    let written = host::of_url(&address.text).to_ascii_lowercase();
    // A host in brackets is an IPv6 address, unless it is a pattern.
    let authority = host::without_url_paths(&address.text);
    let authority = authority.rsplit("//").next().unwrap_or("");
    let authority = authority.rsplit('@').next().unwrap_or("");
    let Some(hosts) = host::expand_pattern(&authority.to_ascii_lowercase()) else {
        analysis.require_confirmation(address.span, "the pattern stands for too many hosts");
        return;
    };
    let hosts = hosts
        .iter()
        .map(|host| host::of_url(host))
        .chain([written.as_str()]);
    for host in hosts {
        let normalized = host::normalize(host);
        // Some programs ignore leading zeros.
        let parts = host.split('.').map(|part| part.trim_start_matches('0'));
        let decimal = host::normalize(&parts.collect::<Vec<_>>().join("."));
        if let Some(host) = [normalized, decimal]
            .into_iter()
            .find(|host| context.tables.is_metadata_host(host))
        {
            require_metadata_confirmation(analysis, address, &host);
            return;
        }
        if host::is_ambiguous(host) {
            analysis
                .require_confirmation(address.span, "programs differ in how they read this host");
            return;
        }
    }
    if address.has_guessed_number && written.contains(|c: char| c.is_ascii_digit()) {
        analysis.require_confirmation(address.span, "the host is only known when it runs");
    }
}

/// Requires confirmation for hosts in a word from which a machine in a cloud gets its own keys.
fn check_metadata_hosts(analysis: &mut Analysis, context: &Context<'_>, word: &Arg) {
    // A name of one word may be anything else.
    let keys = |host: &str| host.contains(['.', ':']) && context.tables.is_metadata_host(host);
    let read = |host| {
        let host = host::normalize(host);
        host::ip_address(&host).map_or(host, |address| address.to_string())
    };
    // A plain word is no address, and stays a plain word when it is normalized.
    let may_be_address = |host: &&str| {
        let is_special = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b':' | b'%');
        !host.is_ascii() || host.bytes().any(is_special)
    };
    let word_hosts = host::without_url_paths(&word.text);
    let mut hosts = host::candidates(&word_hosts)
        .filter(may_be_address)
        .map(read);
    let found = hosts.find(|host| keys(host));
    let text = host::percent_decoded(&word_hosts).to_ascii_lowercase();
    let found = found.or_else(|| context.tables.find_metadata_host(&text).map(str::to_owned));
    if let Some(host) = found {
        require_metadata_confirmation(analysis, word, &host);
    }
}

/// Requires confirmation for a host that gives out the keys of the machine.
fn require_metadata_confirmation(analysis: &mut Analysis, word: &Arg, host: &str) {
    let reason = format!("`{host}` gives out the keys of the machine");
    analysis.require_confirmation(word.span, reason);
}

/// Returns `true` if a header names the host that a proxy passes the request to.
fn is_host_header(header: &str) -> bool {
    let name = header.split(':').next().unwrap_or("");
    name.trim().eq_ignore_ascii_case("host")
}

/// Returns the effect of the method that header lines set in addition to the method of the request.
pub(super) fn method_of_headers(head: &str) -> Option<Effect> {
    head.split(['\r', '\n']).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let name = name.trim().to_ascii_lowercase().replace('_', "-");
        METHOD_HEADERS
            .contains(&name.as_str())
            .then(|| effect_of_method(value.trim()))
    })
}

/// Returns the effect of the method that a word sets in addition to the method of its request.
fn method_of_word(word: &str) -> Option<Effect> {
    let word = match word.split_once('#') {
        // The fragment of an address is not sent.
        Some((address, _)) if is_one_address(word, address) => address,
        _ => word,
    };
    let text = host::percent_decoded(word).to_ascii_lowercase();
    // A part of all names.
    if !text.contains("method") {
        return None;
    }
    let headers = text.replace('_', "-");
    let separates = |c: char| c.is_whitespace() || "'\"]:=>".contains(c);
    let names = METHOD_HEADERS.iter().map(|name| (name, &headers));
    let mut names = names.chain(METHOD_FIELDS.iter().map(|name| (name, &text)));
    names.find_map(|(name, text)| {
        let header = name.starts_with('x');
        let (at, _) = text.match_indices(name).find(|(at, _)| {
            let before = text[..*at].chars().next_back();
            // `-HX-…`, but not `payment_method`.
            header || !before.is_some_and(char::is_alphanumeric)
        })?;
        let rest = text[at + name.len()..].strip_prefix(separates)?;
        let rest = rest.trim_start_matches(separates);
        if rest.starts_with(UNKNOWN) {
            return Some(Effect::Create);
        }
        let end = rest.find(|c: char| !c.is_ascii_alphabetic());
        let value = &rest[..end.unwrap_or(rest.len())];
        // A field may have that name by chance.
        let known = ["post", "put", "patch", "delete", "merge", "purge"];
        (header && !value.is_empty() || known.contains(&value)).then(|| effect_of_method(value))
    })
}

/// Returns `true` if a word is one address: with a scheme, or with a host and a path.
fn is_one_address(word: &str, address: &str) -> bool {
    let host = address.split('/').next().unwrap_or("");
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-:".contains(c);
    let schemeless = host.len() < address.len() && host.contains('.') && host.chars().all(plain);
    !word.contains(char::is_whitespace) && (address.contains("://") || schemeless)
}
