//! Addresses that a server may connect to on behalf of an untrusted user: input is an IP address,
//! output is `true` if it is public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns `true` if an address belongs to the public internet. Returns `false` for addresses of
/// this machine, for private, carrier-grade, link-local and multicast networks, for the metadata
/// services of clouds, for addresses that embed another address, and for reserved ranges.
///
/// ```
/// use hooks_script::is_public_address;
///
/// assert!(is_public_address("93.184.215.14".parse()?));
/// assert!(!is_public_address("169.254.169.254".parse()?));
/// assert!(!is_public_address("::ffff:93.184.215.14".parse()?));
/// # Ok::<_, std::net::AddrParseError>(())
/// ```
pub fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Blocks of the IANA special-purpose IPv4 registry, by prefix and length.
const SPECIAL_V4: [([u8; 4], u32); 16] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
    // A public address that one cloud reserves for requests from its own machines.
    ([168, 63, 129, 16], 32),
];

/// Special-purpose IPv6 blocks within the allocated global range `2000::/3`.
const SPECIAL_V6: [([u16; 8], u32); 4] = [
    // IETF protocol assignments; Teredo addresses embed an IPv4 address.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    ([0x2001, 0x0db8, 0, 0, 0, 0, 0, 0], 32),
    // 6to4; embeds an IPv4 address.
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|&(prefix, length)| {
        let differing = u32::from(address) ^ u32::from(Ipv4Addr::from(prefix));
        differing.leading_zeros() >= length
    })
}

/// Upper 32 bits of an ISATAP interface identifier, whose lower 32 bits are an IPv4 address. The
/// universal/local bit may be set or clear.
const ISATAP: (u32, u32) = (0x0000_5efe, 0xfdff_ffff);

fn is_public_v6(address: Ipv6Addr) -> bool {
    let begins_with = |prefix: [u16; 8], length| {
        let differing = u128::from(address) ^ u128::from(Ipv6Addr::from(prefix));
        differing.leading_zeros() >= length
    };
    let [.., high, low, _, _] = address.segments();
    let (marker, mask) = ISATAP;
    let is_isatap = (u32::from(high) << 16 | u32::from(low)) & mask == marker;
    begins_with([0x2000, 0, 0, 0, 0, 0, 0, 0], 3)
        && !is_isatap
        && !SPECIAL_V6
            .iter()
            .any(|&(prefix, length)| begins_with(prefix, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_01_nonpublic_addresses_are_detected() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2001:470:1f0b::5efe:169.254.169.254",
            "2a00:1450::200:5efe:8.8.8.8",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public_address(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn s_01_neighbours_of_nonpublic_ranges_are_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2606:4700::1111",
            "2a00:1450::1",
            "2a00:1450::100:5efe:8.8.8.8",
            "2a00:1450::5eff:8.8.8.8",
        ] {
            assert!(is_public_address(address.parse().unwrap()), "{address}");
        }
    }
}
