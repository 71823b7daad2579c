//! URLs as browsers read them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::{BAD_PORTS, Target};
use crate::fetch::{FetchError, ForbiddenUrl};

#[test]
fn the_parts_of_a_url_are_those_a_browser_would_use() {
    for (url, host, port, authority, path) in [
        ("http://Example.ORG", "example.org", 80, "example.org", "/"),
        ("HTTPS://example.org:443/a?b#c", "example.org", 443, "example.org", "/a?b"),
        ("https://example.org:80", "example.org", 80, "example.org:80", "/"),
        (
            "http://bücher.example/ü",
            "xn--bcher-kva.example",
            80,
            "xn--bcher-kva.example",
            "/%C3%BC",
        ),
        ("http://[2606:4700::1]:81/", "2606:4700::1", 81, "[2606:4700::1]:81", "/"),
        ("http://example.org/a/../b", "example.org", 80, "example.org", "/b"),
    ] {
        let target = Target::parse(url).unwrap();
        let parts = (target.host(), target.port(), target.path_and_query());
        assert_eq!(parts, (host, port, path), "{url}");
        assert_eq!(target.authority(), authority, "{url}");
        assert!(!target.url().contains('#'), "{url}");
    }
}

#[test]
fn a_url_that_may_not_be_fetched_says_why() {
    for (url, why) in [
        ("", ForbiddenUrl::NotAUrl),
        ("example.org", ForbiddenUrl::NotAUrl),
        ("/relative", ForbiddenUrl::NotAUrl),
        ("http://", ForbiddenUrl::NotAUrl),
        ("http://exa mple.org/", ForbiddenUrl::NotAUrl),
        ("http://example.org:65536/", ForbiddenUrl::NotAUrl),
        ("http://1.2.3.4.5/", ForbiddenUrl::NotAUrl),
        ("http://256.0.0.1/", ForbiddenUrl::NotAUrl),
        ("http://[fe80::1%25eth0]/", ForbiddenUrl::NotAUrl),
        ("javascript:alert(1)", ForbiddenUrl::Scheme),
        ("ws://example.org/", ForbiddenUrl::Scheme),
        ("http://ada@example.org/", ForbiddenUrl::Credentials),
        ("http://:secret@example.org/", ForbiddenUrl::Credentials),
        ("http://example.org:6379/", ForbiddenUrl::Port(6379)),
        ("https://example.org:0/", ForbiddenUrl::Port(0)),
    ] {
        assert_eq!(Target::parse(url).err(), Some(FetchError::Forbidden(why)), "{url}");
    }
}

#[test]
fn the_bad_ports_are_in_order_and_spare_the_web() {
    assert!(BAD_PORTS.is_sorted_by(|one, next| one < next));
    for port in [80, 81, 443, 591, 3000, 5000, 8000, 8008, 8080, 8081, 8443, 8888, 9000, 9443] {
        assert!(Target::parse(&format!("http://example.org:{port}/")).is_ok(), "{port}");
    }
    for port in BAD_PORTS {
        let refused = Target::parse(&format!("http://example.org:{port}/")).err();
        assert_eq!(refused, Some(FetchError::Forbidden(ForbiddenUrl::Port(port))));
    }
}

/// The ways a browser lets an IPv4 address be written.
fn spellings(address: Ipv4Addr) -> Vec<String> {
    let bits = address.to_bits();
    let [a, b, c, d] = address.octets();
    vec![
        address.to_string(),
        format!("{address}."),
        bits.to_string(),
        format!("0x{bits:x}"),
        format!("0{bits:o}"),
        format!("{a}.{}", bits & 0x00ff_ffff),
        format!("{a}.{b}.{}", bits & 0xffff),
        format!("0x{a:X}.0{b:o}.{c}.0x{d:x}"),
        format!("%{:02x}{}", address.to_string().as_bytes()[0], &address.to_string()[1..]),
        address.to_string().replace('.', "。"),
    ]
}

proptest! {
    #[test]
    fn an_address_is_an_address_however_it_is_written(bits: u32) {
        let address = Ipv4Addr::from_bits(bits);
        for spelling in spellings(address) {
            let target = Target::parse(&format!("http://{spelling}/")).unwrap();
            prop_assert_eq!(target.literal(), Some(IpAddr::V4(address)), "{}", spelling);
        }
    }

    #[test]
    fn an_ipv6_address_is_the_one_in_the_brackets(bits: u128) {
        let address = Ipv6Addr::from_bits(bits);
        let target = Target::parse(&format!("http://[{address}]/")).unwrap();
        prop_assert_eq!(target.literal(), Some(IpAddr::V6(address)));
    }

    #[test]
    fn nothing_written_makes_a_target_that_is_not_http(base in "[a-z]{1,8}", written in ".{0,40}") {
        let here = Target::parse(&format!("http://{base}.test/")).unwrap();
        for target in [Target::parse(&written), here.join(&written)].into_iter().flatten() {
            let url = target.url();
            prop_assert!(url.starts_with("http://") || url.starts_with("https://"), "{}", url);
            prop_assert!(!target.host().is_empty() && !target.authority().contains('@'));
            prop_assert!(target.path_and_query().bytes().all(|byte| byte.is_ascii_graphic()));
        }
    }
}
