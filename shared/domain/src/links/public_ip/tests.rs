//! Every block that is set aside, at both its ends, and the addresses next to it.

use proptest::prelude::*;

use super::*;

fn public(text: &str) -> bool {
    is_public(text.parse().unwrap_or_else(|_| panic!("{text} is no address")))
}

#[test]
fn reserved_blocks_are_refused_at_both_ends() {
    let blocks = [
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("168.63.129.16", "168.63.129.16"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.0.2.0", "192.0.2.255"),
        ("192.88.99.0", "192.88.99.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"),
        ("203.0.113.0", "203.0.113.255"),
        ("224.0.0.0", "239.255.255.255"),
        ("240.0.0.0", "255.255.255.255"),
        // Unspecified, loopback, IPv4-compatible.
        ("::", "::1"),
        ("::2", "::ffff:ffff"),
        ("::8.8.8.8", "::127.0.0.1"),
        // IPv4-mapped, by what is in them.
        ("::ffff:0.0.0.0", "::ffff:127.0.0.1"),
        ("::ffff:10.0.0.1", "::ffff:a9fe:a9fe"),
        // IPv4-translated.
        ("::ffff:0:0:0", "::ffff:0:ffff:ffff"),
        // NAT64.
        ("64:ff9b::", "64:ff9b::ffff:ffff"),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
        // Discard-only, dummy prefix.
        ("100::", "100::ffff:ffff:ffff:ffff"),
        ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"),
        // Protocol assignments with Teredo, benchmarks, ORCHID.
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        // 6to4, here of 127.0.0.1 and 8.8.8.8.
        ("2002:7f00:1::", "2002:808:808::"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
        // Segment routing.
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        // Never handed out.
        ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        // Unique local, with two clouds' metadata.
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fd00:ec2::254", "fd20:ce::254"),
        // Link-local, site-local, multicast.
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ];
    for (first, last) in blocks {
        assert!(!public(first), "{first} is public");
        assert!(!public(last), "{last} is public");
    }
}

#[test]
fn the_neighbours_of_reserved_blocks_are_public() {
    let neighbours = [
        "1.0.0.0",
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
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "::ffff:8.8.8.8",
        "2000::",
        "2001:200::",
        "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:db9::",
        "2001:4860:4860::8888",
        "2003::",
        "2606:4700:4700::1111",
        "2a00:1450:4001:81b::200e",
        "3fff:1000::",
    ];
    for neighbour in neighbours {
        assert!(public(neighbour), "{neighbour} is refused");
    }
}

proptest! {
    #[test]
    fn a_mapped_address_is_as_public_as_what_it_holds(bits in any::<u32>()) {
        let v4 = Ipv4Addr::from_bits(bits);
        prop_assert_eq!(is_public(v4.into()), is_public(v4.to_ipv6_mapped().into()));
    }

    #[test]
    fn nothing_the_standard_library_calls_special_is_public(bits in any::<u32>()) {
        let v4 = Ipv4Addr::from_bits(bits);
        let special = v4.is_loopback()
            || v4.is_private()
            || v4.is_link_local()
            || v4.is_multicast()
            || v4.is_broadcast()
            || v4.is_documentation()
            || v4.is_unspecified();
        prop_assert!(!(special && is_public(v4.into())));
    }

    #[test]
    fn only_global_unicast_and_mapped_addresses_are_public(bits in any::<u128>()) {
        let v6 = Ipv6Addr::from_bits(bits);
        let possible = v6.segments()[0] >> 13 == 1 || v6.to_ipv4_mapped().is_some();
        prop_assert!(possible || !is_public(v6.into()));
    }
}
