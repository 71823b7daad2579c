//! What passes and what is refused: tables, and any rules against a linear oracle.

mod oracle;

use super::*;

fn rule(id: &str, action: FirewallAction) -> FirewallRule {
    FirewallRule { reason: format!("because of {id}"), ..FirewallRule::new(id, action) }
}

fn networks(list: &[&str]) -> Vec<IpNetwork> {
    list.iter().map(|text| IpNetwork::parse(text).unwrap()).collect()
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn test(name: &str, contains: Option<&str>, equals: Option<&str>, absent: bool) -> HeaderTest {
    HeaderTest {
        name: name.to_owned(),
        contains: contains.map(str::to_owned),
        equals: equals.map(str::to_owned),
        absent,
    }
}

struct Sent<'a> {
    ip: &'a str,
    method: &'a str,
    path: &'a str,
    headers: &'a [(&'a str, &'a str)],
}

const PLAIN: Sent<'_> = Sent { ip: "192.0.2.1", method: "GET", path: "/", headers: &[] };

fn judged<'f>(firewall: &'f Firewall, sent: &Sent<'_>, now_ms: i64) -> FirewallDecision<'f> {
    let header =
        |name: &str| sent.headers.iter().find(|(sent, _)| *sent == name).map(|(_, value)| *value);
    let asked = FirewallRequest {
        ip: sent.ip.parse().ok(),
        path: sent.path,
        method: sent.method,
        header: &header,
    };
    firewall.evaluate(&asked, now_ms)
}

fn refusing(rules: &[FirewallRule], sent: &Sent<'_>) -> Option<String> {
    match judged(&Firewall::compile(rules.to_vec()), sent, 0) {
        FirewallDecision::Pass => None,
        FirewallDecision::Refused { rule, .. } => Some(rule.to_owned()),
    }
}

#[test]
fn without_rules_everything_passes() {
    let firewall = Firewall::default();
    assert!(firewall.is_empty());
    assert_eq!(judged(&firewall, &PLAIN, 0), FirewallDecision::Pass);
}

#[test]
fn a_network_refuses_its_addresses_and_says_why() {
    let cidrs = networks(&["192.0.2.0/25", "2001:db8::/32"]);
    let firewall =
        Firewall::compile(vec![FirewallRule { cidrs, ..rule("x", FirewallAction::Deny) }]);
    assert!(!firewall.is_empty());
    let refused = FirewallDecision::Refused { rule: "x", reason: "because of x" };
    for (ip, ruling) in [
        ("192.0.2.0", refused),
        ("192.0.2.127", refused),
        ("192.0.2.128", FirewallDecision::Pass),
        ("192.0.1.255", FirewallDecision::Pass),
        ("::ffff:192.0.2.1", refused),
        ("2001:db8:ffff::1", refused),
        ("2001:db9::", FirewallDecision::Pass),
        ("not known", FirewallDecision::Pass),
    ] {
        assert_eq!(judged(&firewall, &Sent { ip, ..PLAIN }, 0), ruling, "{ip}");
    }
}

#[test]
fn every_list_must_match_and_any_of_its_entries_will_do() {
    let rules = [FirewallRule {
        cidrs: networks(&["10.0.0.0/8", "192.0.2.1"]),
        paths: strings(&["/admin/{*rest}", "/api/v1/jobs/{id}"]),
        methods: strings(&["PUT", "DELETE"]),
        headers: vec![test("x-a", None, None, true), test("x-a", None, Some("1"), false)],
        user_agents: strings(&["Curl/", "wget"]),
        ..rule("x", FirewallAction::Deny)
    }];
    let agent = ("user-agent", "xcURL/8");
    let headers = &[agent];
    let all = || Sent { method: "PUT", path: "/admin/a", headers, ..PLAIN };
    for (sent, refused) in [
        (all(), true),
        (Sent { ip: "10.1.2.3", ..all() }, true),
        (Sent { ip: "11.1.2.3", ..all() }, false),
        (Sent { method: "delete", ..all() }, true),
        (Sent { method: "GET", ..all() }, false),
        (Sent { path: "/api/v1/jobs/7", ..all() }, true),
        (Sent { path: "/api/v1/jobs", ..all() }, false),
        (Sent { headers: &[agent, ("x-a", "1")], ..all() }, true),
        (Sent { headers: &[agent, ("x-a", "2")], ..all() }, false),
        (Sent { headers: &[("user-agent", "Wget/1.2")], ..all() }, true),
        (Sent { headers: &[("user-agent", "Mozilla/5.0")], ..all() }, false),
        (Sent { headers: &[], ..all() }, false),
    ] {
        let (ip, method, path, headers) = (sent.ip, sent.method, sent.path, sent.headers);
        let found = refusing(&rules, &sent).is_some();
        assert_eq!(found, refused, "{ip} {method} {path} {headers:?}");
    }
}

#[test]
fn header_tests_compare_letter_for_letter() {
    for (header, sent, refused) in [
        (test("x-a", Some("bc"), None, false), Some("abcd"), true),
        (test("x-a", Some("bc"), None, false), Some("aBCd"), false),
        (test("x-a", Some("bc"), None, false), None, false),
        (test("x-a", None, Some("abc"), false), Some("abc"), true),
        (test("x-a", None, Some("abc"), false), Some("abcd"), false),
        (test("x-a", None, None, true), None, true),
        (test("x-a", None, None, true), Some(""), false),
        (test("x-a", None, None, false), None, false),
        (test("x-a", Some("a"), None, true), Some("a"), false),
    ] {
        let rules =
            [FirewallRule { headers: vec![header.clone()], ..rule("x", FirewallAction::Deny) }];
        let headers: Vec<_> = sent.map(|value| ("x-a", value)).into_iter().collect();
        let found = refusing(&rules, &Sent { headers: &headers, ..PLAIN }).is_some();
        assert_eq!(found, refused, "{header:?} {sent:?}");
    }
}

#[test]
fn an_allow_rule_wins_wherever_it_stands_and_however_wide_its_network_is() {
    let deny =
        |cidr| FirewallRule { cidrs: networks(&[cidr]), ..rule("deny", FirewallAction::Deny) };
    let allow =
        |cidr| FirewallRule { cidrs: networks(&[cidr]), ..rule("allow", FirewallAction::Allow) };
    let anywhere =
        FirewallRule { methods: strings(&["GET"]), ..rule("any", FirewallAction::Allow) };
    for (rules, refused) in [
        (vec![deny("192.0.2.0/24"), allow("192.0.2.1")], false),
        (vec![allow("192.0.0.0/8"), deny("192.0.2.1")], false),
        (vec![deny("192.0.2.1"), anywhere], false),
        (vec![deny("192.0.2.1"), allow("192.0.2.2")], true),
    ] {
        assert_eq!(refusing(&rules, &PLAIN).is_some(), refused, "{rules:?}");
    }
}

#[test]
fn of_several_rules_that_refuse_the_first_is_named() {
    let deny =
        |id, cidr| FirewallRule { cidrs: networks(&[cidr]), ..rule(id, FirewallAction::Deny) };
    let anywhere =
        |id| FirewallRule { methods: strings(&["GET"]), ..rule(id, FirewallAction::Deny) };
    let wide_first = [deny("a", "192.0.0.0/8"), deny("b", "192.0.2.1"), anywhere("c")];
    assert_eq!(refusing(&wide_first, &PLAIN).as_deref(), Some("a"));
    let narrow_first = [deny("b", "192.0.2.1"), deny("a", "192.0.0.0/8"), anywhere("c")];
    assert_eq!(refusing(&narrow_first, &PLAIN).as_deref(), Some("b"));
    let anywhere_first = [anywhere("c"), deny("a", "192.0.0.0/8"), deny("b", "192.0.2.1")];
    assert_eq!(refusing(&anywhere_first, &PLAIN).as_deref(), Some("c"));
}

#[test]
fn a_rule_matches_until_its_end_and_never_after() {
    let expires_at = Some(Timestamp::from_millisecond(1_000).unwrap());
    let cidrs = networks(&["192.0.2.1"]);
    let deny = FirewallRule { cidrs: cidrs.clone(), ..rule("deny", FirewallAction::Deny) };
    let brief = FirewallRule { expires_at, ..deny.clone() };
    let pardon = FirewallRule { cidrs, expires_at, ..rule("allow", FirewallAction::Allow) };
    for (rules, now_ms, refused) in [
        (vec![brief.clone()], 999, true),
        (vec![brief.clone()], 1_000, false),
        (vec![brief], i64::MAX, false),
        (vec![deny.clone(), pardon.clone()], 999, false),
        (vec![deny.clone(), pardon], 1_000, true),
        (vec![deny], i64::MAX - 1, true),
    ] {
        let firewall = Firewall::compile(rules);
        assert_eq!(
            judged(&firewall, &PLAIN, now_ms) != FirewallDecision::Pass,
            refused,
            "at {now_ms}"
        );
    }
}

#[test]
fn a_rule_that_could_only_match_by_mistake_matches_nothing() {
    let unreadable =
        FirewallRule { paths: strings(&["no path"]), ..rule("x", FirewallAction::Deny) };
    assert!(Firewall::compile(vec![rule("x", FirewallAction::Deny), unreadable]).is_empty());
}

#[test]
fn a_document_is_compact_and_comes_back_as_it_was() {
    let brief =
        FirewallRule { cidrs: networks(&["192.0.2.0/24"]), ..rule("x", FirewallAction::Deny) };
    assert_eq!(
        brief.to_document(),
        r#"{"id":"x","action":"deny","cidrs":["192.0.2.0/24"],"reason":"because of x","version":1}"#
    );
    let full = FirewallRule {
        cidrs: networks(&["192.0.2.0/24", "2001:db8::1"]),
        paths: strings(&["/admin/{*rest}"]),
        methods: strings(&["PUT"]),
        headers: vec![test("x-a", Some("\"é"), None, false), test("x-b", None, None, true)],
        user_agents: strings(&["curl"]),
        expires_at: Some("2030-01-02T03:04:05.678Z".parse().unwrap()),
        version: u64::MAX,
        automatic: true,
        ..rule("full", FirewallAction::Allow)
    };
    for kept in [brief, full] {
        assert_eq!(FirewallRule::from_document(&kept.to_document()), Some(kept));
    }
}

#[test]
fn a_document_that_says_more_than_is_known_is_no_rule() {
    for document in [
        "",
        "{}",
        r#"{"id":"x","action":"deny","version":1,"countries":["NL"]}"#,
        r#"{"id":"x","action":"deny","version":1,"cidrs":["192.0.2.1/24"]}"#,
        r#"{"id":"x","action":"challenge","version":1}"#,
    ] {
        assert_eq!(FirewallRule::from_document(document), None, "{document}");
    }
}
