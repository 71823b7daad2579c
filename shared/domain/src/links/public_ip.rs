//! Which addresses belong to the public internet, and so may be linked to or called.
//!
//! Guarantee: no address that means "this machine", "this network" or "this cloud's metadata" is
//! public, nor one that hides an IPv4 address in a translation prefix. Absent: names and look-ups;
//! whoever connects asks about the very address they are about to connect to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// True for an address anyone on the internet could reach.
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

/// Set aside in IPv4: the first address of each block and how many bits it fixes.
const RESERVED_V4: [([u8; 4], u32); 16] = [
    // "This network", unspecified.
    ([0, 0, 0, 0], 8),
    // Private.
    ([10, 0, 0, 0], 8),
    // Carrier-grade NAT; one cloud keeps its metadata at 100.100.100.200.
    ([100, 64, 0, 0], 10),
    // Loopback.
    ([127, 0, 0, 0], 8),
    // Azure's host agent, which answers every machine there although the block is public.
    ([168, 63, 129, 16], 32),
    // Link-local, where most clouds keep their metadata.
    ([169, 254, 0, 0], 16),
    // Private.
    ([172, 16, 0, 0], 12),
    // Protocol assignments; another cloud's metadata is at 192.0.0.192.
    ([192, 0, 0, 0], 24),
    // Documentation.
    ([192, 0, 2, 0], 24),
    // Relays of 6to4, withdrawn.
    ([192, 88, 99, 0], 24),
    // Private.
    ([192, 168, 0, 0], 16),
    // Benchmarks.
    ([198, 18, 0, 0], 15),
    // Documentation.
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    // Multicast.
    ([224, 0, 0, 0], 4),
    // Reserved, broadcast.
    ([240, 0, 0, 0], 4),
];

/// Set aside within global unicast.
const RESERVED_V6: [(Ipv6Addr, u32); 4] = [
    // Protocol assignments: Teredo, benchmarks, ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation.
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    // Documentation.
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !RESERVED_V4.iter().any(|(start, fixed)| {
        let differing = bits ^ u32::from_be_bytes(*start);
        differing.leading_zeros() >= *fixed
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let global_unicast = address.to_bits() >> 125 == 0b001;
    global_unicast
        && !RESERVED_V6.iter().any(|(start, fixed)| {
            let differing = address.to_bits() ^ start.to_bits();
            differing.leading_zeros() >= *fixed
        })
}

#[cfg(test)]
mod tests;
