//! Which addresses belong to the public internet, and so may be linked to or called.
//!
//! Guarantee: no address that means "this machine", "this network" or "this cloud's metadata" is
//! public, nor one that hides an IPv4 address in a translation prefix. Absent: names and look-ups; a
//! client checks the very address that it is about to connect to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Whether an address can be reached from the whole internet.
///
/// IPv6 starts from refusal: only global unicast (`2000::/3`) counts, less what is set aside in it.
/// An IPv4-mapped address (`::ffff:a.b.c.d`) is the IPv4 address it holds; every other way to carry
/// one (compatible, NAT64, 6to4, Teredo) is refused, since where it ends up depends on the network.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or_else(|| is_public_v6(v6), is_public_v4),
    }
}

/// Set aside in IPv4.
const RESERVED_V4: [Ipv4Net; 16] = [
    // "This network", unspecified.
    v4([0, 0, 0, 0], 8),
    // Private.
    v4([10, 0, 0, 0], 8),
    // Carrier-grade NAT; one cloud keeps its metadata at 100.100.100.200.
    v4([100, 64, 0, 0], 10),
    // Loopback.
    v4([127, 0, 0, 0], 8),
    // Azure's host agent, which answers every machine there although the block is public.
    v4([168, 63, 129, 16], 32),
    // Link-local, where most clouds keep their metadata.
    v4([169, 254, 0, 0], 16),
    // Private.
    v4([172, 16, 0, 0], 12),
    // Protocol assignments; another cloud's metadata is at 192.0.0.192.
    v4([192, 0, 0, 0], 24),
    // Documentation.
    v4([192, 0, 2, 0], 24),
    // Relays of 6to4, withdrawn.
    v4([192, 88, 99, 0], 24),
    // Private.
    v4([192, 168, 0, 0], 16),
    // Benchmarks.
    v4([198, 18, 0, 0], 15),
    // Documentation.
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    // Multicast.
    v4([224, 0, 0, 0], 4),
    // Reserved, broadcast.
    v4([240, 0, 0, 0], 4),
];

/// Set aside within global unicast.
const RESERVED_V6: [Ipv6Net; 4] = [
    // Protocol assignments: Teredo, benchmarks, ORCHID.
    v6([0x2001, 0], 23),
    // Documentation.
    v6([0x2001, 0xdb8], 32),
    // 6to4.
    v6([0x2002, 0], 16),
    // Documentation.
    v6([0x3fff, 0], 20),
];

const fn v4([a, b, c, d]: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6([a, b]: [u16; 2], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), prefix)
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !RESERVED_V4.iter().any(|network| network.contains(&address))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let global_unicast = address.to_bits() >> 125 == 0b001;
    global_unicast && !RESERVED_V6.iter().any(|network| network.contains(&address))
}

#[cfg(test)]
mod tests;
