//! Which addresses may be asked.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use serde::{Deserialize, Serialize};

use crate::address::{AddressKind, embedded};

/// Which addresses requests may be sent to: public ones, and those that the operator allows. The addresses that the
/// server itself listens on are refused whatever is allowed.
///
/// ```
/// use rival_outgoing::OutgoingPolicy;
///
/// # fn main() -> Result<(), rival_outgoing::AllowError> {
/// let policy = OutgoingPolicy::public().allow("10.1.0.0/16")?.allow("billing.internal")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutgoingPolicy {
    allowed: Vec<Allowed>,
    own: Vec<SocketAddr>,
}

/// What an operator allows besides public addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Allowed {
    Network {
        address: IpAddr,
        prefix: u8,
    },
    /// Whatever this name means: the operator trusts those who decide that.
    Name(String),
}

/// An entry of the allowed addresses that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` in outgoing_allow is no network: write `10.0.0.0/8`, an address, or a host name without a port"
)]
pub struct AllowError(String);

/// The policy refuses an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressRefused {
    /// The server itself listens there.
    #[error(
        "{} is where this server itself listens, and no request may be sent there; use a child run, or a signal",
        named(.host, .address)
    )]
    Own {
        /// As the URL has it.
        host: String,
        /// What it means.
        address: IpAddr,
    },
    /// It is not public, and the operator does not allow it.
    #[error(
        "{} is {kind}, and requests go to public addresses only; the setting `outgoing_allow` allows others",
        named(.host, .address)
    )]
    NotPublic {
        /// As the URL has it.
        host: String,
        /// What it means.
        address: IpAddr,
        /// What kind of address that is.
        kind: AddressKind,
    },
}

fn named(host: &str, address: &IpAddr) -> String {
    let bare = host.trim_matches(['[', ']']);
    if bare == address.to_string() { format!("`{bare}`") } else { format!("`{bare}` ({address})") }
}

impl OutgoingPolicy {
    /// Only public addresses.
    pub fn public() -> Self {
        Self::default()
    }

    /// Also a network (`10.0.0.0/8`), an address, or whatever a host name means.
    ///
    /// # Errors
    /// If the entry is none of them.
    pub fn allow(mut self, entry: &str) -> Result<Self, AllowError> {
        self.allowed.push(Allowed::parse(entry).ok_or_else(|| AllowError(entry.to_owned()))?);
        Ok(self)
    }

    /// Also this machine: for development and tests.
    #[must_use]
    pub fn allow_loopback(mut self) -> Self {
        let v4 = Allowed::Network { address: IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), prefix: 8 };
        let v6 = Allowed::Network { address: IpAddr::V6(Ipv6Addr::LOCALHOST), prefix: 128 };
        self.allowed.extend([v4, v6]);
        self
    }

    /// Never this address, whatever else is allowed: a server on it listens to this process.
    #[must_use]
    pub fn never(mut self, own: SocketAddr) -> Self {
        self.own.push(own);
        self
    }

    /// Whether the server listens on this port somewhere.
    pub(crate) fn is_own_port(&self, port: u16) -> bool {
        self.own.iter().any(|own| own.port() == port)
    }

    /// Whether a request for `host` may be sent to an address. `own_port` says whether it goes to a port that the
    /// server listens on.
    pub(crate) fn check(&self, host: &str, address: IpAddr, own_port: bool) -> Result<(), AddressRefused> {
        if own_port && self.own.iter().any(|own| reaches(address, own.ip())) {
            return Err(AddressRefused::Own { host: host.to_owned(), address });
        }
        let kind = AddressKind::of(address);
        if kind == AddressKind::Public || self.allowed.iter().any(|allowed| allowed.covers(host, address)) {
            return Ok(());
        }
        Err(AddressRefused::NotPublic { host: host.to_owned(), address, kind })
    }
}

impl Allowed {
    fn parse(entry: &str) -> Option<Self> {
        if let Some((address, prefix)) = entry.split_once('/') {
            let (address, prefix): (IpAddr, u8) = (address.parse().ok()?, prefix.parse().ok()?);
            return (prefix <= bits(address)).then_some(Self::Network { address, prefix });
        }
        if let Ok(address) = entry.trim_matches(['[', ']']).parse::<IpAddr>() {
            return Some(Self::Network { address, prefix: bits(address) });
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        // An address that is written in a strange way is not meant as a name.
        let has_letter = entry.bytes().any(|byte| byte.is_ascii_alphabetic());
        (has_letter && entry.bytes().all(is_name)).then(|| Self::Name(bare(entry)))
    }

    fn covers(&self, host: &str, ip: IpAddr) -> bool {
        match self {
            Self::Network { address, prefix } => {
                is_within(ip, *address, *prefix) || is_within(embedded(ip), *address, *prefix)
            }
            Self::Name(name) => *name == bare(host),
        }
    }
}

/// A name as it is compared: names have no case, and may end with the dot of the root.
fn bare(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn is_within(ip: IpAddr, network: IpAddr, prefix: u8) -> bool {
    let shift = u32::from(bits(network) - prefix);
    match (ip, network) {
        (IpAddr::V4(ip), IpAddr::V4(network)) => {
            (ip.to_bits() ^ network.to_bits()).checked_shr(shift).unwrap_or(0) == 0
        }
        (IpAddr::V6(ip), IpAddr::V6(network)) => {
            (ip.to_bits() ^ network.to_bits()).checked_shr(shift).unwrap_or(0) == 0
        }
        _ => false,
    }
}

/// Whether a connection to `ip` comes to a socket that is bound to `own`.
fn reaches(ip: IpAddr, own: IpAddr) -> bool {
    let (ip, own) = (embedded(ip), embedded(own));
    if own.is_unspecified() {
        return ip.is_unspecified() || ip.is_loopback() || is_of_this_machine(ip);
    }
    // A connection to the unspecified address is one to this machine.
    ip == own || ip.is_unspecified()
}

/// Whether a socket could be bound to an address. Any answer but a plain "not here" counts as a yes.
fn is_of_this_machine(ip: IpAddr) -> bool {
    match UdpSocket::bind((ip, 0)) {
        Ok(_) => true,
        Err(error) => error.kind() != ErrorKind::AddrNotAvailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn own(text: &str) -> OutgoingPolicy {
        OutgoingPolicy::public()
            .allow("0.0.0.0/0")
            .unwrap()
            .allow("::/0")
            .unwrap()
            .never(text.parse().unwrap())
    }

    #[test]
    fn only_public_addresses_are_asked_unless_more_is_allowed() {
        let policy = OutgoingPolicy::public();
        policy.check("example.com", ip("93.184.216.34"), false).unwrap();
        let refused = policy.check("db.internal", ip("10.1.2.3"), false).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "`db.internal` (10.1.2.3) is a private address, and requests go to public addresses only; the setting \
             `outgoing_allow` allows others"
        );
        let policy = policy.allow("10.1.0.0/16").unwrap();
        policy.check("db.internal", ip("10.1.2.3"), false).unwrap();
        policy.check("db.internal", ip("64:ff9b::10.1.2.3"), false).unwrap();
        assert!(policy.check("db.internal", ip("10.2.0.1"), false).is_err());
        assert!(policy.check("localhost", ip("127.0.0.1"), false).is_err());
    }

    #[test]
    fn a_name_that_is_allowed_may_mean_anything_but_the_server_itself() {
        let policy =
            OutgoingPolicy::public().allow("Billing.internal").unwrap().never("10.0.0.1:80".parse().unwrap());
        policy.check("billing.INTERNAL.", ip("10.0.0.1"), false).unwrap();
        assert!(policy.check("billing.internal", ip("10.0.0.1"), true).is_err());
        assert!(policy.check("x.billing.internal", ip("10.0.0.1"), false).is_err());
    }

    #[test]
    fn the_server_itself_is_refused_under_all_its_addresses() {
        let on_loopback = own("127.0.0.1:7878");
        for address in
            ["127.0.0.1", "0.0.0.0", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0", "64:ff9b::127.0.0.1"]
        {
            let refused = on_loopback.check("x", ip(address), true).unwrap_err();
            assert!(matches!(refused, AddressRefused::Own { .. }), "{address}");
            on_loopback.check("x", ip(address), false).unwrap();
        }
        // Other sockets may be bound to these.
        on_loopback.check("x", ip("127.0.0.2"), true).unwrap();
        on_loopback.check("x", ip("::1"), true).unwrap();
        let everywhere = own("0.0.0.0:7878");
        for address in ["127.0.0.1", "127.0.0.2", "::1", "0.0.0.0"] {
            assert!(everywhere.check("x", ip(address), true).is_err(), "{address}");
        }
        everywhere.check("x", ip("93.184.216.34"), true).unwrap();
    }

    #[test]
    fn entries_are_networks_addresses_and_names() {
        for right in
            ["10.0.0.0/8", "0.0.0.0/0", "::/0", "fd00::/8", "10.0.0.1", "[fd00::1]", "db", "db.internal"]
        {
            OutgoingPolicy::public().allow(right).unwrap();
        }
        for wrong in
            ["", "10.0.0.0/33", "10.0.0.0/x", "http://db", "db:80", "*.internal", "2130706433", "10.1"]
        {
            assert!(OutgoingPolicy::public().allow(wrong).is_err(), "{wrong}");
        }
    }
}
