//! A network: an address and how many of its bits are fixed, written `192.0.2.0/24`.
//!
//! Guarantee: no bit after the fixed ones is set, and an IPv4 network is never written in IPv6.

use std::fmt;
use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IpNetwork(IpNet);

/// A network's first and last address, as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IpRange {
    V4(u32, u32),
    V6(u128, u128),
}

impl IpNetwork {
    /// The network of `fixed` bits that `address` is in; more bits than it has mean all of them.
    pub fn containing(address: IpAddr, fixed: u8) -> Self {
        let network = IpNet::new(address, fixed).unwrap_or_else(|_| IpNet::from(address));
        Self::canonical(network)
    }

    /// Reads `address/bits`, or a single address. What is wrong with any other text is said as the
    /// end of a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (address, bits) = match text.split_once('/') {
            None => (text, None),
            Some((address, bits)) => (address, Some(bits)),
        };
        let address: IpAddr = address
            .parse()
            .map_err(|_| "must be an address or a network such as 192.0.2.0/24".to_owned())?;
        let single = IpNet::from(address);
        let network = match bits {
            None => single,
            // `08` is no number here, though the parser would take it.
            Some(bits) => text
                .parse()
                .ok()
                .filter(|network: &IpNet| network.prefix_len().to_string() == bits)
                .ok_or_else(|| {
                    let width = single.prefix_len();
                    format!("must have a whole number from 0 to {width} after the /")
                })?,
        };
        let canonical = Self::canonical(network);
        if network.addr() != network.network() {
            let fixed = network.prefix_len();
            return Err(format!(
                "must not have bits set after the first {fixed}: write {canonical}"
            ));
        }
        Ok(canonical)
    }

    pub(super) fn span(self) -> IpRange {
        match self.0 {
            IpNet::V4(net) => IpRange::V4(net.network().to_bits(), net.broadcast().to_bits()),
            IpNet::V6(net) => IpRange::V6(net.network().to_bits(), net.broadcast().to_bits()),
        }
    }

    /// Without the bits that aren't fixed; a network of IPv4-mapped addresses is the IPv4 network
    /// that it holds.
    fn canonical(network: IpNet) -> Self {
        let network = network.trunc();
        let mapped = match (network.addr().to_canonical(), network.prefix_len().checked_sub(96)) {
            (IpAddr::V4(first), Some(fixed)) if network.addr().is_ipv6() => {
                Ipv4Net::new(first, fixed).ok()
            }
            _ => None,
        };
        Self(mapped.map_or(network, IpNet::V4))
    }
}

impl fmt::Display for IpNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for IpNetwork {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IpNetwork {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(reader)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_single_addresses_are_read_and_written_in_one_way() {
        for (text, written) in [
            ("192.0.2.0/24", "192.0.2.0/24"),
            ("192.0.2.1", "192.0.2.1/32"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("255.255.255.255/32", "255.255.255.255/32"),
            ("2001:DB8:0::/32", "2001:db8::/32"),
            ("2001:db8::1", "2001:db8::1/128"),
            ("::/0", "::/0"),
            ("::ffff:192.0.2.0/120", "192.0.2.0/24"),
            ("::ffff:c000:201", "192.0.2.1/32"),
            ("::ffff:0:0/96", "0.0.0.0/0"),
        ] {
            assert_eq!(IpNetwork::parse(text).unwrap().to_string(), written, "{text}");
        }
    }

    #[test]
    fn what_is_no_network_is_refused_with_the_right_one_where_it_is_plain() {
        for (text, told) in [
            ("192.0.2.1/24", "write 192.0.2.0/24"),
            ("2001:db8::1/64", "write 2001:db8::/64"),
            ("::ffff:192.0.2.1/120", "write 192.0.2.0/24"),
            ("::ffff:0:0/90", "write ::ffc0:0:0/90"),
            ("192.0.2.0/33", "from 0 to 32"),
            ("::/129", "from 0 to 128"),
            ("::/256", "from 0 to 128"),
            ("10.0.0.0/+8", "from 0 to 32"),
            ("10.0.0.0/08", "from 0 to 32"),
            ("10.0.0.0/", "from 0 to 32"),
            ("10.0.0.0/8/8", "from 0 to 32"),
            ("10.0.0", "such as 192.0.2.0/24"),
            ("010.0.0.0/8", "such as 192.0.2.0/24"),
            (" 10.0.0.0/8", "such as 192.0.2.0/24"),
            ("fe80::1%eth0", "such as 192.0.2.0/24"),
            ("", "such as 192.0.2.0/24"),
        ] {
            let refusal = IpNetwork::parse(text).unwrap_err();
            assert!(refusal.contains(told), "{text}: {refusal}");
        }
    }

    #[test]
    fn the_network_around_an_address_has_its_first_bits() {
        for (address, fixed, written) in [
            ("192.0.2.77", 24, "192.0.2.0/24"),
            ("192.0.2.77", 99, "192.0.2.77/32"),
            ("2001:db8:1:2:3::", 64, "2001:db8:1:2::/64"),
            ("::ffff:192.0.2.77", 120, "192.0.2.0/24"),
            ("::1", 0, "::/0"),
        ] {
            let network = IpNetwork::containing(address.parse().unwrap(), fixed);
            assert_eq!(network.to_string(), written, "{address}");
        }
    }

    #[test]
    fn a_network_spans_its_first_to_its_last_address() {
        let span = |text: &str| IpNetwork::parse(text).unwrap().span();
        assert_eq!(span("0.0.0.0/0"), IpRange::V4(0, u32::MAX));
        assert_eq!(span("0.0.1.0/24"), IpRange::V4(0x100, 0x1ff));
        assert_eq!(span("0.0.0.7"), IpRange::V4(7, 7));
        assert_eq!(span("::/0"), IpRange::V6(0, u128::MAX));
        assert_eq!(span("::1:0/112"), IpRange::V6(0x1_0000, 0x1_ffff));
    }
}
