//! Reads the hosts that stand in words of a command as the `url` crate does, and more widely where
//! programs differ. Code that allows more for this machine must not use it: it compares the plain
//! form alone.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Host;

/// Returns a host in lower case, without the user before it, brackets, a zone and a final dot.
///
/// Characters are decoded and mapped as in an address (`%31`, `１６９`, `。`); an IPv4 address has four
/// decimal parts. A text that is no host is returned in lower case.
pub(crate) fn plain(host: &str) -> String {
    let host = decoded(host);
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

/// Returns the address that a plain host is. An IPv4 address within an IPv6 address is an IPv4 address.
pub(crate) fn address(host: &str) -> Option<IpAddr> {
    if let Ok(six) = host.parse::<Ipv6Addr>() {
        return Some(embedded(six).map_or(IpAddr::V6(six), IpAddr::V4));
    }
    match Host::parse(host) {
        Ok(Host::Ipv4(four)) => Some(IpAddr::V4(four)),
        _ => None,
    }
}

/// Returns the host of an address, with or without a scheme, as it is written.
pub(crate) fn of_address(address: &str) -> &str {
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

/// Returns the parts of a word that may be hosts, wherever they stand in it: `a:80:b:443`,
/// `--proxy=http://a`.
pub(crate) fn candidates(word: &str) -> impl Iterator<Item = &str> {
    let separates = |c: char| !(c.is_alphanumeric() || ".-_%:。．｡".contains(c));
    word.split(separates).flat_map(|token| {
        let six = token.matches(':').count() > 1;
        token.split(':').chain(six.then_some(token))
    })
}

/// Returns the IPv4 address that machines reach by an IPv6 address: mapped, compatible, translated
/// (`64:ff9b::/96`) or tunnelled (`2002::/16`).
fn embedded(six: Ipv6Addr) -> Option<Ipv4Addr> {
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
pub(crate) fn decoded(host: &str) -> String {
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
    use super::{address, candidates, of_address, plain};

    #[test]
    fn every_spelling_of_an_address_is_that_address() {
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
            let read = address(&plain(spelling)).map(|address| address.to_string());
            assert_eq!(read.as_deref(), Some("169.254.169.254"), "{spelling}");
        }
        assert_eq!(
            plain("Metadata.Google.Internal."),
            "metadata.google.internal"
        );
        assert_eq!(
            plain("ｍetadata.google.internal"),
            "metadata.google.internal"
        );
        assert_eq!(address("example.com"), None);
        assert_eq!(address("::1").map(|a| a.is_loopback()), Some(true));
    }

    #[test]
    fn the_host_of_an_address_is_found() {
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
            assert_eq!(of_address(address), "a.b", "{address}");
        }
        assert_eq!(of_address("http://[::1]:80/"), "::1");
    }

    #[test]
    fn hosts_are_found_anywhere_in_a_word() {
        let found: Vec<&str> = candidates("--connect-to=a.b:80:10.0.0.1:443").collect();
        assert!(found.contains(&"a.b") && found.contains(&"10.0.0.1"));
        let found: Vec<&str> = candidates("x:443:[::1]").collect();
        assert!(found.contains(&"::1"));
    }
}
