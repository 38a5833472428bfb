//! Protects the guard's address. In: a part of a command. Out: whether the part may connect to the
//! guard.

use std::net::IpAddr;

use hooks_classify::host;

use super::super::context::{name_of, sets_variables};
use super::protection::{Protected, Protection, active};
use crate::classify::{ClientAddress, OutputSource, Part, Tables, UNKNOWN};

pub(super) fn protection(part: &Part, places: &Protected) -> Option<Protection> {
    let name = name_of(part);
    let tables = Tables::embedded();
    let address = tables.client_address(name);
    let client = address.is_some();
    let connects = part.calls.iter().any(|call| call.connects);
    let redirected = part.redirections.iter().map(|touch| &touch.path);
    let mut sockets = redirected.filter(|path| host::of_dev_tcp_path(&path.text).is_some());
    let words = || {
        let words = part.words.iter().skip(1).chain(&part.here_documents);
        words.map(|word| word.text.as_str())
    };
    let listen = places.listen?;
    let port = listen.port();
    // If the guard listens on every address, each address may belong to this machine.
    let anywhere = listen.ip().is_unspecified();
    let own = |host: &str| host_owner(host, listen.ip(), anywhere);
    if sockets.any(|path| {
        let mut parts = path.text.split('/').skip(3);
        let (host, to) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        own(host) != HostOwner::Other && (to.contains(UNKNOWN) || to.parse() == Ok(port))
    }) {
        return Some(Protection::Port);
    }
    if !client && !connects && (!active(part) || has_only_text(part)) {
        return None;
    }
    if tables.output_source(name) == Some(OutputSource::Words) {
        return None;
    }
    if connects && has_separate_host_and_port(part, port, own) {
        return Some(Protection::Port);
    }
    // Host and port as two words: `nc localhost 3000`.
    if client {
        let ports = words().any(|word| covers(word, port));
        let hosts = words().filter(|word| !word.starts_with('-'));
        let mut strong = hosts.filter(|word| !covers(word, port)).map(own);
        let two = address != Some(ClientAddress::OneWord);
        // Without ports, a scanner takes the usual ones; `-p-` means all.
        let scans = address == Some(ClientAddress::ScannedHost)
            && !words().any(|word| word.starts_with("-p") && word != "-p-" || word == "-sn");
        if two && (ports || scans) && strong.any(|who| who != HostOwner::Other) {
            return Some(Protection::Port);
        }
        // `--proxy localhost`, `--connect-to`: the host is a separate word.
    }
    let least = if client {
        HostOwner::Unknown
    } else {
        HostOwner::Guard
    };
    let input = part
        .input
        .iter()
        .flatten()
        .map(String::as_str)
        .filter(|_| active(part));
    let values = part.assignments.iter().map(|one| one.value.text.as_str());
    let texts = words().chain(input).chain(values);
    for text in texts {
        if addresses(text, port)
            .into_iter()
            .any(|(host, sure)| own(host) >= if sure { least } else { HostOwner::Guard })
        {
            return Some(Protection::Port);
        }
        if client && whole_url_unknown(text) {
            return Some(Protection::Unknown);
        }
        // Code may contain host and port separately.
        let code = active(part) && text.contains(['(', '\'', '"', '\n']);
        if code && numbers(text).any(|number| number == u64::from(port)) && names_loopback(text) {
            return Some(Protection::Port);
        }
    }
    None
}

/// Returns `true` if addresses among the words of a part are only text: by their tables its programs
/// connect to none, and it runs no code, such as `git commit -m 'serve on localhost:3000'`.
fn has_only_text(part: &Part) -> bool {
    let runs_code = part.is_opaque
        || part.runs_input
        || part.unseen_code.is_some()
        || !part.code_files.is_empty()
        || !part.package_scripts.is_empty();
    !runs_code && part.is_understood() && part.calls.iter().all(|call| call.offline)
}

/// Returns `true` if a command sets a variable to the guard's address, and one of its parts may
/// connect to it: `export http_proxy=…; npm view x`.
pub(super) fn by_variable(parts: &[Part], places: &Protected) -> Option<String> {
    let listen = places.listen?;
    let anywhere = listen.ip().is_unspecified();
    let own = |host: &str| host_owner(host, listen.ip(), anywhere) == HostOwner::Guard;
    let connects = |part: &Part| {
        Tables::embedded().client_address(name_of(part)).is_some()
            || part.calls.iter().any(|call| call.connects)
    };
    if !parts.iter().any(connects) {
        return None;
    }
    let assigned = parts.iter().flat_map(|part| &part.assignments);
    let assigned = assigned.map(|one| one.value.text.as_str());
    let sets = |part: &&Part| sets_variables(part);
    let words = parts
        .iter()
        .filter(sets)
        .flat_map(|part| part.words.iter().skip(1));
    let words = words.filter_map(|word| word.text.split_once('=').map(|(_, value)| value));
    let mut values = assigned.chain(words);
    let hit = |text: &&str| {
        let hosts = addresses(text, listen.port());
        hosts.into_iter().any(|(host, _)| own(host))
    };
    values.find(hit).map(str::to_owned)
}

/// Returns `true` if host and port of the guard are separate words of a part, as in
/// `-h localhost -p 3000`. Without a host, a program with an option for one defaults to this
/// machine.
fn has_separate_host_and_port(part: &Part, port: u16, own: impl Fn(&str) -> HostOwner) -> bool {
    let words = part.words.iter().skip(1).map(|word| &word.text);
    let values = part.assignments.iter().map(|one| &one.value.text);
    let options = part.calls.iter().flat_map(|call| &call.options);
    let given = options
        .clone()
        .filter_map(|(_, value)| Some(&value.as_ref()?.text));
    let tokens: Vec<&str> = words
        .chain(values)
        .chain(given)
        .flat_map(|text| text.split(|c: char| c.is_whitespace() || "=;".contains(c)))
        // `host::module`, `host:path`
        .flat_map(|token| [token, token.split(':').next().unwrap_or(token)])
        .collect();
    let is_port = |token: &&str| token.parse() == Ok(port);
    if !tokens.iter().any(is_port) {
        return false;
    }
    // A number without dots is seldom an address.
    let is_here = |token: &&str| token.parse::<u16>().is_err() && own(token) == HostOwner::Guard;
    if tokens.iter().any(is_here) {
        return true;
    }
    let names = ["-p", "-P", "--port", "-port"];
    let is_option = |(name, value): &(String, Option<crate::classify::Word>)| {
        let value = value.as_ref().map(|value| value.text.as_str());
        names.contains(&name.as_str()) && value.is_some_and(|value| value.parse() == Ok(port))
    };
    let elsewhere = tokens
        .iter()
        .any(|token| token.contains("://") || token.contains('@'));
    let here = part.calls.iter().any(|call| call.connects_to_localhost);
    here && !elsewhere && options.clone().any(is_option)
}

/// Whose address a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HostOwner {
    Other,
    /// A name that may mean any address.
    Unknown,
    Guard,
}

fn host_owner(host: &str, listen: IpAddr, anywhere: bool) -> HostOwner {
    let host = host::normalize(host);
    if host.is_empty() || host.contains(UNKNOWN) || host.contains(['{', '*', '$']) {
        return HostOwner::Unknown;
    }
    let is_ours =
        |address: IpAddr| address.is_loopback() || address.is_unspecified() || address == listen;
    if is_local_name(&host) || addresses_in(&host).any(is_ours) {
        return HostOwner::Guard;
    }
    match host::ip_address(&host) {
        Some(address) => match is_ours(address) {
            true => HostOwner::Guard,
            false if anywhere => HostOwner::Unknown,
            false => HostOwner::Other,
        },
        None => HostOwner::Unknown,
    }
}

/// Returns `true` if a name means this machine, by itself or by its domain's name server.
fn is_local_name(host: &str) -> bool {
    LOCAL.iter().any(|name| {
        let above = host.strip_suffix(name);
        above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
    })
}

/// Names of this machine, including all names below them.
const LOCAL: &[&str] = &[
    "localhost",
    "localhost.localdomain",
    "localhost6",
    "localhost6.localdomain6",
    "ip6-localhost",
    "ip6-loopback",
    "localtest.me",
    "lvh.me",
    "lacolhost.com",
    "vcap.me",
    "fuf.me",
    "local.gd",
    "localho.st",
    "yoogle.com",
    "traefik.me",
    "127-0-0-1.org.uk",
    "local-ip.co",
];

/// Returns the addresses in the labels of a name that some name servers resolve to these addresses:
/// `127.0.0.1.nip.io`, `app-7f000001.nip.io`, `--1.sslip.io`.
fn addresses_in(host: &str) -> impl Iterator<Item = IpAddr> {
    let mut found = Vec::new();
    if host::ip_address(host).is_none() {
        let labels: Vec<&str> = host.split(['.', '-']).collect();
        for four in labels.windows(4) {
            if let Ok(address) = four.join(".").parse() {
                found.push(IpAddr::V4(address));
            }
        }
        for label in labels.iter().filter(|label| label.len() == 8) {
            if let Ok(bits) = u32::from_str_radix(label, 16) {
                found.push(IpAddr::V4(bits.into()));
            }
        }
        for label in host.split('.').filter(|label| label.contains("--")) {
            if let Ok(address) = label.replace('-', ":").parse() {
                found.push(IpAddr::V6(address));
            }
        }
    }
    found.into_iter()
}

/// Returns the hosts before the port in a text, or hosts without a port if the port is the default
/// one, each with `true` if the text can only be a host.
fn addresses(text: &str, port: u16) -> Vec<(&str, bool)> {
    let mut hosts = Vec::new();
    for (at, _) in text.match_indices([':', ',', '/']) {
        let after = &text[at + 1..];
        let digits = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        let hit = match &text[at..=at] {
            // The ports of `300{0,1}` are not expanded.
            ":" if digits > 0 && after[digits..].starts_with(['{', '[']) => true,
            ":" => after[..digits].parse() == Ok(port) || covers_list(after, port),
            // `TCP:localhost,port=3000`, `localhost/3000` also `localhost,3000`
            "," => {
                after
                    .strip_prefix("port=")
                    .unwrap_or(&after[..digits])
                    .parse()
                    == Ok(port)
            }
            _ => digits > 0 && after[..digits].parse() == Ok(port) && !text.contains("://"),
        };
        let unknown = after.starts_with(UNKNOWN);
        if hit || (unknown && &text[at..=at] == ":") {
            let sure = &text[at..=at] == ":" || after.starts_with("port=");
            hosts.push((host_before_port(&text[..at]), sure));
        }
    }
    for (scheme, usual) in [
        ("http://", 80),
        ("ws://", 80),
        ("https://", 443),
        ("wss://", 443),
    ] {
        if usual == port
            && let Some((_, rest)) = text.split_once(scheme)
        {
            hosts.push((host::of_url(rest), true));
        }
    }
    hosts
}

fn host_before_port(text: &str) -> &str {
    if let Some(inner) = text.strip_suffix(']') {
        return inner.rsplit('[').next().unwrap_or(inner);
    }
    let part = |c: char| c.is_alphanumeric() || ".-_%@*{}$。．｡".contains(c) || c == UNKNOWN;
    let start = text.rfind(|c: char| !part(c)).map_or(0, |at| {
        at + text[at..].chars().next().map_or(1, char::len_utf8)
    });
    &text[start..]
}

/// Returns `true` if a list or range contains the port: `{3000,3001}`, `[2999-3001]`.
fn covers_list(text: &str, port: u16) -> bool {
    let inner = text
        .strip_prefix(['{', '['])
        .and_then(|rest| rest.split([']', '}']).next());
    inner.is_some_and(|inner| inner.split(',').any(|one| covers(one, port)))
}

/// Returns `true` if a word is the port, or a range that contains it.
fn covers(word: &str, port: u16) -> bool {
    if word.parse() == Ok(port) {
        return true;
    }
    word.split_once('-').is_some_and(|(from, to)| {
        let (Ok(from), Ok(to)) = (from.parse::<u16>(), to.parse::<u16>()) else {
            return false;
        };
        (from..=to).contains(&port)
    })
}

/// Returns `true` if nothing of an address is known.
fn whole_url_unknown(text: &str) -> bool {
    let rest = text.split("://").nth(1).unwrap_or(text);
    rest.starts_with(UNKNOWN)
}

fn names_loopback(text: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || ".-_:".contains(c);
    text.split(|c| !part(c)).any(|token| {
        let token = token.trim_matches(':').to_lowercase();
        is_local_name(&token)
            || token.starts_with("127.")
            || addresses_in(&token).any(|address| address.is_loopback())
            || matches!(token.as_str(), "0.0.0.0" | "1")
                && (token == "0.0.0.0" || text.contains("::1"))
    })
}

fn numbers(text: &str) -> impl Iterator<Item = u64> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
}
