use proptest::prelude::*;

use super::*;

fn at(ip: &str) -> CallerRef<'static> {
    CallerRef { ip: Some(ip.parse().unwrap()), ..CallerRef::default() }
}

#[test]
fn an_address_is_written_in_one_way() {
    for (ip, entity) in [
        ("192.0.2.1", "192.0.2.1"),
        ("0.0.0.0", "0.0.0.0"),
        ("255.100.99.10", "255.100.99.10"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"),
        ("2001:db8:0:1::", "2001:db8:0:1::/64"),
        ("2001:DB8::1", "2001:db8::/64"),
        ("::1", "::/64"),
        ("fe80::1:ffff:0:1", "fe80::/64"),
    ] {
        assert_eq!(at(ip).entity(Dimension::Ip).as_deref(), Some(entity), "{ip}");
    }
}

#[test]
fn every_dimension_has_its_own_entity() {
    let caller = CallerRef {
        user: Some("ada"),
        api_key: Some("k1"),
        ip: Some(Ipv4Addr::LOCALHOST.into()),
        tenant: Some("acme"),
    };
    let entities = Dimension::ALL.map(|dimension| caller.entity(dimension).unwrap());
    assert_eq!(entities, ["ada", "k1", "127.0.0.1", "acme", "all"]);
    let anonymous = CallerRef::default();
    let entities = Dimension::ALL.map(|dimension| anonymous.entity(dimension));
    assert_eq!(entities, [None, None, None, None, Some(Cow::Borrowed("all"))]);
}

#[test]
fn a_user_or_a_key_makes_a_subject_known_and_an_address_or_a_tenant_does_not() {
    assert!(CallerRef { user: Some("ada"), ..at("::1") }.is_identified());
    assert!(CallerRef { api_key: Some("k1"), ..at("::1") }.is_identified());
    assert!(!CallerRef { tenant: Some("acme"), ..at("::1") }.is_identified());
}

#[test]
fn what_people_write_becomes_what_is_counted() {
    for (dimension, text, entity) in [
        (Dimension::Ip, "192.0.2.1", Some("192.0.2.1")),
        (Dimension::Ip, "::ffff:192.0.2.1", Some("192.0.2.1")),
        (Dimension::Ip, "2001:DB8:0:0:1::7", Some("2001:db8::/64")),
        (Dimension::Ip, "2001:db8::/64", Some("2001:db8::/64")),
        (Dimension::Ip, "2001:db8::/48", None),
        (Dimension::Ip, "192.0.2.0/64", None),
        (Dimension::Ip, "::ffff:192.0.2.1/64", None),
        (Dimension::Ip, "", None),
        (Dimension::Global, "all", Some("all")),
        (Dimension::Global, "ada", None),
        (Dimension::User, "ada", Some("ada")),
        (Dimension::User, "", None),
    ] {
        assert_eq!(canonical(dimension, text).as_deref(), entity, "{text}");
    }
}

proptest! {
    #[test]
    fn ipv4_is_written_as_the_standard_library_does(ip: Ipv4Addr) {
        let caller = CallerRef { ip: Some(ip.into()), ..CallerRef::default() };
        prop_assert_eq!(caller.entity(Dimension::Ip).unwrap(), ip.to_string());
    }

    #[test]
    fn two_addresses_are_one_entity_exactly_if_they_share_a_64(
        network: u64, other in any::<u64>(), hosts: (u64, u64)
    ) {
        let ip = |network: u64, host: u64| {
            IpAddr::V6(Ipv6Addr::from_bits((u128::from(network) << 64) | u128::from(host)))
        };
        let entity = |ip| CallerRef { ip: Some(ip), ..CallerRef::default() }.entity(Dimension::Ip);
        // Network 0 holds the mapped IPv4 addresses, which count one by one.
        prop_assume!(network != 0 && other != 0);
        prop_assert_eq!(entity(ip(network, hosts.0)), entity(ip(network, hosts.1)));
        prop_assert_eq!(ip_network(ip(network, hosts.0)), ip(network, 0));
        let same = entity(ip(network, hosts.0)) == entity(ip(other, hosts.1));
        prop_assert_eq!(same, network == other);
    }

    #[test]
    fn an_entity_is_canonical(ip: IpAddr, user in "[a-z]{1,9}") {
        let caller = CallerRef { ip: Some(ip), user: Some(&user), ..CallerRef::default() };
        for dimension in Dimension::ALL {
            let entity = caller.entity(dimension);
            prop_assert_eq!(entity.is_some(), caller.has(dimension));
            let entity = entity.unwrap_or_default();
            if !entity.is_empty() {
                prop_assert_eq!(canonical(dimension, &entity), Some(entity.clone()));
            }
        }
    }
}
