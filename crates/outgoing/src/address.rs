//! What kind of address an IP address is.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of address it is, by the registries of special-purpose addresses (RFC 6890 and those that update it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// Anywhere on the internet.
    Public,
    /// This machine.
    Loopback,
    /// `0.0.0.0` and `::`, which a connection takes for this machine.
    Unspecified,
    /// A network of an organisation: RFC 1918, unique local IPv6 addresses, carrier-grade NAT.
    Private,
    /// The same cable. Clouds serve credentials of the machine at 169.254.169.254.
    LinkLocal,
    /// Many receivers at once.
    Multicast,
    /// Reserved, for documentation or for measurements.
    Reserved,
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "a public address",
            Self::Loopback => "an address of this machine",
            Self::Unspecified => "the unspecified address",
            Self::Private => "a private address",
            Self::LinkLocal => "a link-local address",
            Self::Multicast => "a multicast address",
            Self::Reserved => "a reserved address",
        })
    }
}

impl AddressKind {
    /// The kind of an address. An IPv6 address that stands for an IPv4 address has the kind of that one.
    pub fn of(ip: IpAddr) -> Self {
        match embedded(ip) {
            IpAddr::V4(ip) => of_v4(ip),
            IpAddr::V6(ip) => of_v6(ip),
        }
    }
}

fn of_v4(ip: Ipv4Addr) -> AddressKind {
    let [a, b, c, _] = ip.octets();
    match (a, b, c) {
        (0, 0, 0) if ip.is_unspecified() => AddressKind::Unspecified,
        (127, ..) => AddressKind::Loopback,
        (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) => AddressKind::Private,
        (169, 254, _) => AddressKind::LinkLocal,
        (224..=239, ..) => AddressKind::Multicast,
        // "This network", protocol assignments, documentation, the former 6to4 relays, benchmarks, the rest.
        (0 | 240..=255, ..)
        | (192, 0, 0 | 2)
        | (198, 51, 100)
        | (203, 0, 113)
        | (192, 88, 99)
        | (198, 18 | 19, _) => AddressKind::Reserved,
        _ => AddressKind::Public,
    }
}

fn of_v6(ip: Ipv6Addr) -> AddressKind {
    let [first, second, ..] = ip.segments();
    match first {
        _ if ip.is_unspecified() => AddressKind::Unspecified,
        _ if ip.is_loopback() => AddressKind::Loopback,
        0xfc00..=0xfdff => AddressKind::Private,
        // NAT64 with a prefix of the network's own: the IPv4 address may be anywhere in it.
        0x0064 if second == 0xff9b => AddressKind::Private,
        // With the former site-local addresses.
        0xfe80..=0xfeff => AddressKind::LinkLocal,
        0xff00..=0xffff => AddressKind::Multicast,
        // Protocol assignments, Teredo among them, and documentation.
        0x2001 if second < 0x0200 || second == 0x0db8 => AddressKind::Reserved,
        0x3fff if second < 0x1000 => AddressKind::Reserved,
        0x2000..=0x3fff => AddressKind::Public,
        _ => AddressKind::Reserved,
    }
}

/// The address that an address stands for: the IPv4 address inside of a mapped or compatible one, of NAT64's well-known
/// prefix, or of 6to4; otherwise itself.
pub(crate) fn embedded(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip.to_canonical() else { return ip.to_canonical() };
    let [a, b, c, d, e, f, g, h] = v6.segments();
    let v4 = |high: u16, low: u16| IpAddr::V4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match (a, b) {
        (0x2002, _) => v4(b, c),
        (0x0064, 0xff9b) if [c, d, e, f] == [0; 4] => v4(g, h),
        // `::` and `::1` are addresses of their own.
        (0, 0) if [c, d, e, f] == [0; 4] && (g, h) != (0, 0) && (g, h) != (0, 1) => v4(g, h),
        _ => IpAddr::V6(v6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: AddressKind, addresses: &[&str]) {
        for text in addresses {
            assert_eq!(AddressKind::of(text.parse().unwrap()), kind, "{text}");
        }
    }

    #[test]
    fn addresses_of_the_internet_are_public() {
        check(
            AddressKind::Public,
            &["1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.128.0.1"],
        );
        check(AddressKind::Public, &["2606:4700::1111", "2a00:1450::1", "2001:4860:4860::8888"]);
        check(AddressKind::Public, &["::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:0101:0101::1"]);
    }

    #[test]
    fn this_machine_and_its_networks_are_not() {
        check(AddressKind::Loopback, &["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "::127.0.0.1"]);
        check(AddressKind::Unspecified, &["0.0.0.0", "::", "::ffff:0.0.0.0"]);
        check(
            AddressKind::Private,
            &["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"],
        );
        check(AddressKind::Private, &["fc00::1", "fd12:3456::1", "64:ff9b:1::1"]);
        check(AddressKind::LinkLocal, &["169.254.169.254", "fe80::1", "fec0::1", "::ffff:169.254.169.254"]);
        check(AddressKind::Multicast, &["224.0.0.1", "239.255.255.250", "ff02::1"]);
        check(AddressKind::Reserved, &["0.1.2.3", "192.0.0.8", "192.0.2.1", "198.18.0.1", "240.0.0.1"]);
        check(
            AddressKind::Reserved,
            &["255.255.255.255", "2001:db8::1", "2001::1", "3fff::1", "100::1", "4000::"],
        );
    }

    #[test]
    fn a_private_address_inside_of_another_is_private() {
        check(AddressKind::Private, &["64:ff9b::10.0.0.1", "2002:0a00:0001::1", "::10.0.0.1"]);
        check(AddressKind::Loopback, &["64:ff9b::127.0.0.1", "2002:7f00:0001::"]);
        check(AddressKind::LinkLocal, &["64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::"]);
    }
}
