//! Hosts as some program or other reads them, for whoever must not miss one. Who must not be
//! fooled, because a host that is this machine is allowed more, asks for the plain form alone.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host in lower case, without a user before it, brackets and a zone, percent signs before
/// characters, other scripts' dots, and a dot at its end.
pub(crate) fn plain(host: &str) -> String {
    let host = decoded(host).replace(['。', '．', '｡'], ".");
    let host = host.rsplit('@').next().unwrap_or("");
    let host = host.trim_matches(['[', ']']);
    let host = host.split('%').next().unwrap_or(host);
    host.trim_end_matches('.').to_lowercase()
}

/// The address that a plain host is: also as one number, in hexadecimal, in octal, with parts left
/// out.
pub(crate) fn address(host: &str) -> Option<IpAddr> {
    if let Ok(six) = host.parse::<Ipv6Addr>() {
        return Some(six.to_ipv4_mapped().map_or(IpAddr::V6(six), IpAddr::V4));
    }
    let mut values = Vec::new();
    for part in host.split('.') {
        let value = if let Some(hex) = part.strip_prefix("0x") {
            u64::from_str_radix(hex, 16).ok()?
        } else if part.len() > 1 && part.starts_with('0') {
            u64::from_str_radix(part, 8).ok()?
        } else {
            part.parse().ok()?
        };
        values.push(value);
    }
    let (last, first) = values.split_last()?;
    if first.len() > 3 || first.iter().any(|part| *part > 255) {
        return None;
    }
    let room = 8 * (4 - first.len());
    if *last >= 1 << room {
        return None;
    }
    let mut all = *last;
    for (at, part) in first.iter().enumerate() {
        all |= part << (24 - 8 * at);
    }
    Some(IpAddr::V4(Ipv4Addr::from(u32::try_from(all).ok()?)))
}

/// A host without percent signs before characters.
fn decoded(host: &str) -> String {
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
