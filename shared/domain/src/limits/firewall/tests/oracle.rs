//! Any rules and any requests: the firewall says what reading the rules one by one says.

use std::net::IpAddr;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// Addresses close together, at both ends of their family, so that networks often cover them; now and
/// then one that differs from those in a single bit.
fn address() -> impl Strategy<Value = IpAddr> {
    let v4 = (select(vec![0, 0x0a00_0000, u32::MAX - 3]), 0_u32..4, one_bit(32));
    let v6 = (select(vec![0, 0x2001_0db8_u128 << 96, u128::MAX - 3]), 0_u128..4, one_bit(128));
    prop_oneof![
        v4.prop_map(|(base, low, bit)| {
            IpAddr::V4(((base | low) ^ bit.map_or(0, |bit| 1 << bit)).into())
        }),
        v6.prop_map(|(base, low, bit)| {
            IpAddr::V6(((base | low) ^ bit.map_or(0, |bit| 1 << bit)).into())
        }),
    ]
}

fn one_bit(width: u32) -> impl Strategy<Value = Option<u32>> {
    prop::option::weighted(0.3, 0..width)
}

fn some<T: Clone + std::fmt::Debug + 'static>(of: &[T]) -> impl Strategy<Value = Vec<T>> + use<T> {
    let of = of.to_vec();
    prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(select(of), 1..3)]
}

fn any_rule() -> impl Strategy<Value = FirewallRule> {
    let fixed = prop_oneof![0_u8..=128, 24_u8..=32, 124_u8..=128];
    let network = (address(), fixed).prop_map(|(ip, fixed)| IpNetwork::containing(ip, fixed));
    let cidrs = prop_oneof![1 => Just(Vec::new()), 3 => prop::collection::vec(network, 1..6)];
    let headers = [
        test("x-a", Some("1"), None, false),
        test("x-a", None, Some("12"), false),
        test("x-a", None, None, true),
    ];
    (
        prop_oneof![1 => Just(FirewallAction::Allow), 4 => Just(FirewallAction::Deny)],
        cidrs,
        some(&strings(&["/a", "/a/{x}", "/a/{*rest}", "/b/{x}/c"])),
        some(&strings(&["GET", "PUT"])),
        some(&headers),
        some(&strings(&["Curl", "bot"])),
        prop::option::of(0_i64..4),
    )
        .prop_map(|(action, cidrs, paths, methods, headers, user_agents, end)| FirewallRule {
            cidrs,
            paths,
            methods,
            headers,
            user_agents,
            expires_at: end.map(|end| Timestamp::from_millisecond(end).unwrap()),
            ..rule("unnamed", action)
        })
}

#[derive(Debug)]
struct Request {
    ip: Option<IpAddr>,
    path: &'static str,
    method: &'static str,
    agent: Option<&'static str>,
    x_a: Option<&'static str>,
    now_ms: i64,
}

fn any_request() -> impl Strategy<Value = Request> {
    (
        prop::option::weighted(0.9, address()),
        select(vec!["/a", "/a/", "/a/b", "/a/b/c", "/b/x/c"]),
        select(vec!["GET", "PUT", "POST"]),
        select(vec![None, Some("curl/8"), Some("A CURL BOT"), Some("Mozilla")]),
        select(vec![None, Some("1"), Some("12"), Some("2")]),
        0_i64..4,
    )
        .prop_map(|(ip, path, method, agent, x_a, now_ms)| Request {
            ip,
            path,
            method,
            agent,
            x_a,
            now_ms,
        })
}

fn bits(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => format!("{:032b}", ip.to_bits()),
        IpAddr::V6(ip) => format!("{:0128b}", ip.to_bits()),
    }
}

fn covers(network: &IpNetwork, ip: IpAddr) -> bool {
    let text = network.to_string();
    let (first, fixed) = text.split_once('/').unwrap();
    let (first, fixed): (IpAddr, usize) = (first.parse().unwrap(), fixed.parse().unwrap());
    first.is_ipv4() == ip.is_ipv4() && bits(first)[..fixed] == bits(ip)[..fixed]
}

fn path_fits(pattern: &str, path: &str) -> bool {
    match pattern {
        "/a/{x}" => path == "/a/b",
        "/a/{*rest}" => path == "/a/b" || path == "/a/b/c",
        "/b/{x}/c" => path == "/b/x/c",
        plain => plain == path,
    }
}

fn header_fits(test: &HeaderTest, sent: Option<&str>) -> bool {
    if test.absent {
        return sent.is_none();
    }
    let sent = sent.unwrap_or("nothing");
    test.equals.as_deref() == Some(sent)
        || test.contains.as_ref().is_some_and(|part| sent.contains(part))
}

fn fits(rule: &FirewallRule, request: &Request) -> bool {
    let agent = request.agent.unwrap_or_default().to_lowercase();
    let ip = request.ip.map(|ip| ip.to_canonical());
    rule.has_conditions()
        && rule.expires_at.is_none_or(|end| end.as_millisecond() > request.now_ms)
        && (rule.cidrs.is_empty()
            || ip.is_some_and(|ip| rule.cidrs.iter().any(|network| covers(network, ip))))
        && (rule.paths.is_empty() || rule.paths.iter().any(|path| path_fits(path, request.path)))
        && (rule.methods.is_empty() || rule.methods.iter().any(|method| method == request.method))
        && (rule.headers.is_empty()
            || rule.headers.iter().any(|test| header_fits(test, request.x_a)))
        && (rule.user_agents.is_empty()
            || rule.user_agents.iter().any(|part| agent.contains(&part.to_lowercase())))
}

/// The id of the rule that refuses.
fn read_one_by_one(rules: &[FirewallRule], request: &Request) -> Option<String> {
    let fitting = || rules.iter().filter(|rule| fits(rule, request));
    if fitting().any(|rule| rule.action == FirewallAction::Allow) {
        return None;
    }
    fitting().next().map(|rule| rule.id.clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_firewall_says_what_reading_the_rules_one_by_one_says(
        mut rules in prop::collection::vec(any_rule(), 0..12),
        requests in prop::collection::vec(any_request(), 1..12),
    ) {
        for (at, rule) in rules.iter_mut().enumerate() {
            rule.id = format!("rule-{at}");
        }
        let firewall = Firewall::compile(rules.clone());
        for request in requests {
            let header = |name: &str| match name {
                "user-agent" => request.agent,
                "x-a" => request.x_a,
                _ => None,
            };
            let Request { ip, path, method, now_ms, .. } = request;
            let ruling = match firewall.evaluate(&FirewallRequest { ip, path, method, header: &header }, now_ms) {
                FirewallDecision::Pass => None,
                FirewallDecision::Refused { rule, .. } => Some(rule.to_owned()),
            };
            prop_assert_eq!(ruling, read_one_by_one(&rules, &request), "{:?}", request);
        }
    }

    #[test]
    fn any_rule_survives_its_document(rule in any_rule()) {
        prop_assert_eq!(FirewallRule::from_document(&rule.to_document()), Some(rule));
    }
}
