//! Who is asking, in each dimension that rules count by.
//!
//! Guarantee: one caller has one entity in a dimension, however its address is written. IPv6 counts by
//! /64, because the owner of one address of it has all of them.

use std::borrow::Cow;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::rule::Dimension;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallerRef<'a> {
    pub user: Option<&'a str>,
    /// The API key's id.
    pub api_key: Option<&'a str>,
    pub ip: Option<IpAddr>,
    pub tenant: Option<&'a str>,
}

/// The one entity of the global dimension.
const EVERYONE: &str = "all";

impl<'a> CallerRef<'a> {
    pub fn is_identified(&self) -> bool {
        self.user.is_some() || self.api_key.is_some()
    }

    /// Whether it has an entity in that dimension.
    pub fn has(&self, dimension: Dimension) -> bool {
        match dimension {
            Dimension::User => self.user.is_some(),
            Dimension::ApiKey => self.api_key.is_some(),
            Dimension::Ip => self.ip.is_some(),
            Dimension::Tenant => self.tenant.is_some(),
            Dimension::Global => true,
        }
    }

    /// Who it is in that dimension. Only an address is written anew; the rest is borrowed.
    pub fn entity(&self, dimension: Dimension) -> Option<Cow<'a, str>> {
        match dimension {
            Dimension::Ip => self.ip.map(|ip| {
                let mut text = String::with_capacity(24);
                write_network(ip, &mut text);
                Cow::Owned(text)
            }),
            Dimension::User | Dimension::ApiKey | Dimension::Tenant | Dimension::Global => {
                self.borrowed(dimension).map(Cow::Borrowed)
            }
        }
    }

    fn borrowed(&self, dimension: Dimension) -> Option<&'a str> {
        match dimension {
            Dimension::User => self.user,
            Dimension::ApiKey => self.api_key,
            Dimension::Ip => None,
            Dimension::Tenant => self.tenant,
            Dimension::Global => Some(EVERYONE),
        }
    }
}

/// What an address is counted as: itself, or the first address of its /64.
pub fn ip_network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// An entity as [`CallerRef::entity`] writes it, from what a person wrote: an address in any
/// notation, or a /64. `None` if no caller can be that entity.
pub fn canonical(dimension: Dimension, text: &str) -> Option<Cow<'_, str>> {
    match dimension {
        Dimension::Ip => parse_network(text)
            .and_then(|ip| CallerRef { ip: Some(ip), ..CallerRef::default() }.entity(dimension)),
        Dimension::Global => (text == EVERYONE).then_some(Cow::Borrowed(text)),
        Dimension::User | Dimension::ApiKey | Dimension::Tenant => {
            (!text.is_empty()).then_some(Cow::Borrowed(text))
        }
    }
}

/// The network that [`canonical`] writes.
pub(super) fn parse_network(text: &str) -> Option<IpAddr> {
    let Some(address) = text.strip_suffix("/64") else {
        return text.parse().ok().map(ip_network);
    };
    let network = ip_network(address.parse::<Ipv6Addr>().ok()?.into());
    network.is_ipv6().then_some(network)
}

fn write_network(ip: IpAddr, out: &mut String) {
    match ip_network(ip) {
        IpAddr::V4(v4) => write_v4(v4, out),
        IpAddr::V6(v6) => {
            // Writing to a String can't fail.
            let _ = write!(out, "{v6}/64");
        }
    }
}

/// Several times as fast as the standard library's formatting, and most addresses are IPv4.
fn write_v4(ip: Ipv4Addr, out: &mut String) {
    for (index, octet) in ip.octets().into_iter().enumerate() {
        if index > 0 {
            out.push('.');
        }
        if octet >= 100 {
            out.push(char::from(b'0' + octet / 100));
        }
        if octet >= 10 {
            out.push(char::from(b'0' + octet / 10 % 10));
        }
        out.push(char::from(b'0' + octet % 10));
    }
}

#[cfg(test)]
mod tests;
