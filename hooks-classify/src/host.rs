//! Hosts: words of a command in, the hosts that they name out, as the `url` crate reads them, and more
//! widely where programs differ.
//!
//! The wide reading finds every host that a word may name. It must not decide that a host is this machine
//! in order to allow more; the crate compares the plain spelling for that.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Host;

/// Largest number of hosts that a pattern is expanded to.
const MAX_HOSTS: usize = 1024;

/// Returns a host in lower case, without the user before it, brackets, a zone and a final dot.
///
/// Characters are decoded and mapped as in an address (`%31`, `１６９`, `。`); an IPv4 address has four
/// decimal parts. A text that is not a host is returned in lower case.
pub fn normalize(host: &str) -> String {
    let host = percent_decoded(host);
    let host = host.rsplit('@').next().unwrap_or("");
    let host = host.trim_matches(['[', ']']);
    let host = host.split('%').next().unwrap_or(host);
    if let Ok(six) = host.parse::<Ipv6Addr>() {
        return six.to_string();
    }
    match Host::parse(host) {
        Ok(Host::Domain(domain)) => domain.trim_end_matches('.').to_owned(),
        Ok(address) => address.to_string(),
        Err(_) => {
            let host = host.replace(['。', '．', '｡'], ".");
            host.trim_end_matches('.').to_lowercase()
        }
    }
}

/// Returns the address if a normalized host is one. An IPv4 address within an IPv6 address is an IPv4
/// address.
pub fn ip_address(host: &str) -> Option<IpAddr> {
    if let Ok(six) = host.parse::<Ipv6Addr>() {
        return Some(embedded_ipv4(six).map_or(IpAddr::V6(six), IpAddr::V4));
    }
    match Host::parse(host) {
        Ok(Host::Ipv4(four)) => Some(IpAddr::V4(four)),
        _ => None,
    }
}

/// Returns the host of an address, with or without a scheme, as it is written.
pub fn of_url(address: &str) -> &str {
    let rest = match address.split_once(':') {
        // `http:/host` and `http:\\host` are accepted by some clients.
        Some((_, rest)) if rest.starts_with(['/', '\\']) => rest,
        _ => address,
    };
    let rest = rest.trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or("");
    let host = authority.rsplit('@').next().unwrap_or("");
    match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or(""),
        None if host.matches(':').count() > 1 => host,
        None => host.split(':').next().unwrap_or(""),
    }
}

/// Returns the host of a place on another machine without a scheme: `user@host:path`, `host::module`.
pub fn of_remote_path(place: &str) -> Option<&str> {
    let (authority, _) = place.split_once(':')?;
    // A single letter is a drive.
    let names = authority.len() > 1 && !authority.contains('/') && !place.contains("://");
    names.then(|| of_url(authority))
}

/// Returns the host of a device of the shell that opens a connection: `/dev/tcp/host/port`.
pub fn of_dev_tcp_path(path: &str) -> Option<&str> {
    let device = |folder: &str| path.strip_prefix(folder);
    let rest = device("/dev/tcp/").or_else(|| device("/dev/udp/"))?;
    rest.split('/').next()
}

/// Splits an address at its host: the scheme, the authority and the rest.
pub(crate) fn split_url(address: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = address.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    Some((scheme, authority, rest))
}

/// Returns `true` if a host is this machine in its normalized form: `localhost`, or a loopback or
/// unspecified address. Other spellings of this machine return `false`, because programs may read
/// them differently and more is allowed for this machine.
#[must_use]
pub fn is_localhost(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback() || address.is_unspecified())
}

/// Returns a word without the paths, queries and fragments of the addresses in it. Those of a
/// server on the local network remain: it may fetch the resources that they name.
pub fn without_url_paths(word: &str) -> String {
    let separates = |c: char| c.is_whitespace() || "'\",".contains(c);
    let without_paths = word.split_inclusive(separates).map(|piece| {
        let slashes = |at: &usize| piece[at + 1..].starts_with(['/', '\\']);
        let scheme = piece.match_indices(':').map(|(at, _)| at).find(slashes);
        let start = scheme.map_or(0, |at| at + 1);
        let rest = piece[start..].trim_start_matches(['/', '\\']);
        let start = piece.len() - rest.len();
        let authority = rest.split('/').next().unwrap_or("");
        let end = match authority.find(['?', '#']) {
            // Some programs read the text before the `@` as the name of a user.
            Some(at) if !authority[at..].contains('@') => at,
            _ => authority.len(),
        };
        match start + end == piece.len() || is_on_local_network(&authority[..end]) {
            true => piece,
            false => &piece[..start + end],
        }
    });
    without_paths.collect::<Vec<_>>().join(" ")
}

/// Returns `true` if an authority names a server on the local network: this machine, a private
/// address, a name without a dot.
fn is_on_local_network(authority: &str) -> bool {
    let host = normalize(of_url(authority));
    match ip_address(&host) {
        Some(IpAddr::V4(four)) => four.is_loopback() || four.is_private() || four.is_unspecified(),
        Some(IpAddr::V6(six)) => six.is_loopback() || six.is_unspecified(),
        None => !host.is_empty() && !host.contains('.'),
    }
}

/// Expands a host pattern of `curl`: `10.0.0.[1-9:2]`, `{a,b}.example`. A host without a pattern is
/// returned alone. Returns `None` if there are more than `MAX_HOSTS`.
pub fn expand_pattern(pattern: &str) -> Option<Vec<String>> {
    let mut hosts = vec![String::new()];
    let mut rest = pattern;
    while !rest.is_empty() {
        let start = rest.find(['{', '[']).unwrap_or(rest.len());
        let (head, pattern) = rest.split_at(start);
        hosts.iter_mut().for_each(|host| host.push_str(head));
        let close = if pattern.starts_with('{') { '}' } else { ']' };
        let Some(end) = pattern.find(close) else {
            hosts.iter_mut().for_each(|host| host.push_str(pattern));
            break;
        };
        let (inner, whole) = (&pattern[1..end], &pattern[..=end]);
        let choices = match close {
            '}' => inner.split(',').map(str::to_owned).collect(),
            _ => expand_range(inner).unwrap_or_else(|| vec![whole.to_owned()]),
        };
        if hosts.len() * choices.len() > MAX_HOSTS {
            return None;
        }
        let longer = |host: &String| {
            let choices = choices.iter();
            choices.map(|choice| format!("{host}{choice}")).collect()
        };
        hosts = hosts.iter().flat_map::<Vec<_>, _>(longer).collect();
        rest = &pattern[end + 1..];
    }
    Some(hosts)
}

/// Expands a range of `curl`: `1-9`, `01-10:2`, `a-z`.
fn expand_range(inner: &str) -> Option<Vec<String>> {
    let (ends, step) = inner.split_once(':').unwrap_or((inner, "1"));
    let (first, last) = ends.split_once('-')?;
    let step = step.parse::<usize>().ok().filter(|step| *step > 0)?;
    if let (Ok(from), Ok(to)) = (first.parse::<u64>(), last.parse::<u64>()) {
        let width = first.len();
        let numbers = (from..=to).step_by(step).take(MAX_HOSTS + 1);
        return Some(numbers.map(|number| format!("{number:0width$}")).collect());
    }
    let letter = |text: &str| text.parse::<char>().ok().filter(char::is_ascii_alphabetic);
    let letters = (letter(first)?..=letter(last)?).step_by(step);
    Some(letters.map(String::from).collect())
}

/// Returns `true` if programs differ in how they read a host of digits, or refuse it: `0100.1`,
/// `4294967296`.
pub fn is_ambiguous(host: &str) -> bool {
    let numeric = |part: &str| {
        let hex = part.strip_prefix("0x").or(part.strip_prefix("0X"));
        match hex {
            Some(hex) => hex.chars().all(|c| c.is_ascii_hexdigit()),
            None => !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()),
        }
    };
    let mut parts = host.trim_end_matches('.').split('.');
    parts.all(numeric) && Host::parse(host).is_err()
}

/// Returns the parts of a word that may be hosts, at any place: `a:80:b:443`,
/// `--proxy=http://a`.
pub fn candidates(word: &str) -> impl Iterator<Item = &str> {
    let separates = |c: char| !(c.is_alphanumeric() || ".-_%:。．｡".contains(c));
    word.split(separates).flat_map(|token| {
        let six = token.matches(':').count() > 1;
        token.split(':').chain(six.then_some(token))
    })
}

/// Returns the IPv4 address that machines reach by an IPv6 address: mapped, compatible, translated
/// (`64:ff9b::/96`) or tunnelled (`2002::/16`).
fn embedded_ipv4(six: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = six.segments();
    let four = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match parts {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(four(high, low)),
        [0x2002, high, low, ..] => Some(four(high, low)),
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        _ => six.to_ipv4(),
    }
}

/// Returns a text with its percent signs decoded.
pub fn percent_decoded(host: &str) -> String {
    if !host.contains('%') {
        return host.to_owned();
    }
    let bytes = host.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%')
            .then(|| host.get(at + 1..at + 3))
            .flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{
        candidates, expand_pattern, ip_address, is_ambiguous, normalize, of_url, without_url_paths,
    };

    #[test]
    fn every_spelling_of_an_ip_address_is_normalized() {
        let spellings = [
            "169.254.169.254",
            "169.254.169.254.",
            "2852039166",
            "0xa9fea9fe",
            "0XA9.0xFE.0xa9.0xfe",
            "0251.0376.0251.0376",
            "169.254.43518",
            "169.16689662",
            "x@169.254.169.254",
            "１６９.２５４.１６９.２５４",
            "169。254。169。254",
            "①⑥⑨.②⑤④.169.254",
            "%31%36%39.254.169.254",
            "::ffff:169.254.169.254",
            "[::ffff:a9fe:a9fe]",
            "[::a9fe:a9fe]",
            "[64:ff9b::a9fe:a9fe]",
            "[::ffff:a9fe:a9fe%25eth0]",
            "2002:a9fe:a9fe::1",
        ];
        for spelling in spellings {
            let read = ip_address(&normalize(spelling)).map(|address| address.to_string());
            assert_eq!(read.as_deref(), Some("169.254.169.254"), "{spelling}");
        }
        assert_eq!(
            normalize("Metadata.Google.Internal."),
            "metadata.google.internal"
        );
        assert_eq!(
            normalize("ｍetadata.google.internal"),
            "metadata.google.internal"
        );
        assert_eq!(ip_address("example.com"), None);
        assert_eq!(ip_address("::1").map(|a| a.is_loopback()), Some(true));
    }

    #[test]
    fn the_host_of_a_url_is_found() {
        for address in [
            "http://a.b/c",
            "HTTP://a.b",
            "http:/a.b/",
            "http:\\\\a.b\\c",
            "//a.b:80/c",
            "a.b:80",
            "a.b?c",
            "http://u:p@a.b:80#c",
            "a.b",
        ] {
            assert_eq!(of_url(address), "a.b", "{address}");
        }
        assert_eq!(of_url("http://[::1]:80/"), "::1");
    }

    #[test]
    fn url_paths_are_removed_unless_the_host_is_local() {
        for (word, kept) in [
            ("http://a.b/10.0.0.1", "http://a.b"),
            ("https://a.b?h=10.0.0.1", "https://a.b"),
            ("a.b/10.0.0.1", "a.b"),
            ("--proxy=http://a.b:80/c", "--proxy=http://a.b:80"),
            ("http://a.b#@10.0.0.1/", "http://a.b#@10.0.0.1"),
            ("http:\\\\a.b\\c", "http:\\\\a.b\\c"),
            (
                "http://localhost:80/?u=http://c.d",
                "http://localhost:80/?u=http://c.d",
            ),
            (
                "http://10.0.0.1/c.d http://a.b/",
                "http://10.0.0.1/c.d  http://a.b",
            ),
        ] {
            assert_eq!(without_url_paths(word), kept, "{word}");
        }
    }

    #[test]
    fn patterns_of_hosts_are_expanded() {
        let hosts = |pattern| expand_pattern(pattern).unwrap_or_default();
        assert_eq!(hosts("a.b"), ["a.b"]);
        assert_eq!(
            hosts("10.0.[1-3:2].{4,5}"),
            ["10.0.1.4", "10.0.1.5", "10.0.3.4", "10.0.3.5"]
        );
        assert_eq!(hosts("[a-c].d"), ["a.d", "b.d", "c.d"]);
        assert_eq!(hosts("[08-10]"), ["08", "09", "10"]);
        assert_eq!(hosts("[::1]"), ["[::1]"]);
        assert_eq!(hosts("a{b"), ["a{b"]);
        assert_eq!(expand_pattern("[1-100].[1-100]"), None);
    }

    #[test]
    fn numbers_that_programs_parse_differently_are_ambiguous() {
        for host in ["7147006462", "0169.254.1.1", "256.1.1.1", "1.2.3.4.5"] {
            assert!(is_ambiguous(host), "{host}");
        }
        for host in ["16909060", "0x7f.1", "1.2.3.4", "a.b", "0251.1", ""] {
            assert!(!is_ambiguous(host), "{host}");
        }
    }

    #[test]
    fn hosts_are_found_anywhere_in_a_word() {
        let found: Vec<&str> = candidates("--connect-to=a.b:80:10.0.0.1:443").collect();
        assert!(found.contains(&"a.b") && found.contains(&"10.0.0.1"));
        let found: Vec<&str> = candidates("x:443:[::1]").collect();
        assert!(found.contains(&"::1"));
    }
}
