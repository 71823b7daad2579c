//! A network: an address and how many of its bits are fixed, written `192.0.2.0/24`.
//!
//! Guarantee: no bit after the fixed ones is set, and an IPv4 network is never written in IPv6.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A network of IPv4 or IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Network {
    first: IpAddr,
    fixed: u8,
}

/// A network's first and last address, as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    V4(u32, u32),
    V6(u128, u128),
}

impl Network {
    /// The network of `fixed` bits that `address` is in; more bits than it has mean all of them.
    pub fn around(address: IpAddr, fixed: u8) -> Self {
        Self::masked(address, fixed).plain()
    }

    /// Reads `address/bits`, or a single address. What is wrong with any other text is said as the
    /// end of a sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        let (address, fixed) = match text.split_once('/') {
            None => (text, None),
            Some((address, bits)) => (address, Some(bits)),
        };
        let address: IpAddr = address
            .parse()
            .map_err(|_| "must be an address or a network such as 192.0.2.0/24".to_owned())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let fixed = match fixed {
            None => width,
            Some(bits) => read_bits(bits, width)
                .ok_or_else(|| format!("must have a whole number from 0 to {width} after the /"))?,
        };
        let network = Self::masked(address, fixed);
        if network.first != address {
            let right = network.plain();
            return Err(format!("must not have bits set after the first {fixed}: write {right}"));
        }
        Ok(network.plain())
    }

    pub(super) fn span(self) -> Span {
        match self.first {
            IpAddr::V4(first) => Span::V4(first.to_bits(), first.to_bits() | rest_v4(self.fixed)),
            IpAddr::V6(first) => Span::V6(first.to_bits(), first.to_bits() | rest_v6(self.fixed)),
        }
    }

    fn masked(address: IpAddr, fixed: u8) -> Self {
        match address {
            IpAddr::V4(v4) => {
                let fixed = fixed.min(32);
                Self { first: Ipv4Addr::from_bits(v4.to_bits() & !rest_v4(fixed)).into(), fixed }
            }
            IpAddr::V6(v6) => {
                let fixed = fixed.min(128);
                Self { first: Ipv6Addr::from_bits(v6.to_bits() & !rest_v6(fixed)).into(), fixed }
            }
        }
    }

    /// A network of IPv4-mapped addresses is the IPv4 network it holds.
    fn plain(self) -> Self {
        match (self.first.to_canonical(), self.fixed.checked_sub(96)) {
            (IpAddr::V4(first), Some(fixed)) if self.first.is_ipv6() => {
                Self { first: first.into(), fixed }
            }
            _ => self,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.fixed)
    }
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        Self::read(&String::deserialize(reader)?).map_err(de::Error::custom)
    }
}

/// Digits alone: the standard library would take `+8` and `008` too.
fn read_bits(text: &str, width: u8) -> Option<u8> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let padded = text.len() > 1 && text.starts_with('0');
    let bits: u8 = text.parse().ok().filter(|_| plain && !padded)?;
    (bits <= width).then_some(bits)
}

/// The bits that aren't fixed.
fn rest_v4(fixed: u8) -> u32 {
    u32::MAX.checked_shr(fixed.into()).unwrap_or(0)
}

fn rest_v6(fixed: u8) -> u128 {
    u128::MAX.checked_shr(fixed.into()).unwrap_or(0)
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
            assert_eq!(Network::read(text).unwrap().to_string(), written, "{text}");
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
            let refusal = Network::read(text).unwrap_err();
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
            let network = Network::around(address.parse().unwrap(), fixed);
            assert_eq!(network.to_string(), written, "{address}");
        }
    }

    #[test]
    fn a_network_spans_its_first_to_its_last_address() {
        let span = |text: &str| Network::read(text).unwrap().span();
        assert_eq!(span("0.0.0.0/0"), Span::V4(0, u32::MAX));
        assert_eq!(span("0.0.1.0/24"), Span::V4(0x100, 0x1ff));
        assert_eq!(span("0.0.0.7"), Span::V4(7, 7));
        assert_eq!(span("::/0"), Span::V6(0, u128::MAX));
        assert_eq!(span("::1:0/112"), Span::V6(0x1_0000, 0x1_ffff));
    }
}
