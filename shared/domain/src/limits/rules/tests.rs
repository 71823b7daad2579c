use super::*;
use crate::limits::rule::RuleDraft;

const NOW: i64 = 1_900_000_000_000;

fn rule(id: &str, dimension: Dimension, resources: &[&str], limit: i64, seconds: i64) -> Rule {
    let draft = RuleDraft {
        resources: resources.iter().map(ToString::to_string).collect(),
        methods: vec![],
        dimension,
        anonymous_only: false,
        algorithm: None,
        limit,
        window_seconds: seconds,
        burst: None,
        mode: None,
        on_failure: None,
        description: String::new(),
    };
    draft.into_rule(id, 1).unwrap()
}

fn limit_override(entity: &str, rule: &Rule, limit: i64, version: u64) -> Override {
    Override {
        dimension: rule.dimension,
        entity: entity.into(),
        rule: rule.id.clone(),
        limit,
        burst: None,
        expires_at: None,
        reason: String::new(),
        version,
    }
}

fn user(name: &str) -> CallerRef<'_> {
    CallerRef { user: Some(name), ip: Some([192, 0, 2, 1].into()), ..CallerRef::default() }
}

fn anonymous() -> CallerRef<'static> {
    CallerRef { ip: Some([192, 0, 2, 1].into()), ..CallerRef::default() }
}

fn ids(set: &RuleSet, caller: &CallerRef<'_>, path: &str, method: &str) -> Vec<String> {
    set.matching(caller, path, method, NOW).iter().map(|applied| applied.rule.id.clone()).collect()
}

fn limit(set: &RuleSet, caller: &CallerRef<'_>, now_ms: i64) -> i64 {
    set.matching(caller, "/", "GET", now_ms)[0].quota.limit
}

#[test]
fn a_fresh_deployment_is_held_to_its_rules() {
    let set = RuleSet::new(RuleSet::defaults(), vec![], Exemptions::default());
    let key = CallerRef { api_key: Some("k1"), ..user("ada") };
    for (caller, method, path, expected) in [
        (anonymous(), "POST", "/api/v1/shorten", "anonymous-links-day anonymous-links-hour"),
        (anonymous(), "GET", "/api/v1/shorten", "address-minute"),
        (anonymous(), "POST", "/api/v1/url/abc/report", "reports-hour"),
        (anonymous(), "GET", "/docs", "address-minute"),
        (anonymous(), "GET", "/qr/abc.png", "address-minute"),
        (anonymous(), "GET", "/abc", ""),
        (user("ada"), "POST", "/api/v1/shorten", "links-hour"),
        (user("ada"), "POST", "/api/v1/bulk/shorten", "links-hour"),
        (user("ada"), "POST", "/api/v1/import", "links-hour"),
        (user("ada"), "GET", "/api/v1/shorten", "user-minute"),
        (user("ada"), "POST", "/api/v1/url/abc/report", "user-reports-hour"),
        (user("ada"), "POST", "/api/v1/posts", "posts-day"),
        (user("ada"), "HEAD", "/api/v1/feed", "feed-hour"),
        (user("ada"), "POST", "/api/v1/notifications", "user-minute"),
        (key, "POST", "/api/v1/notifications", "notifications-minute user-minute"),
        (user("ada"), "GET", "/api/v1/ids", "ids-minute"),
        (user("ada"), "GET", "/api/v1/ids/1", "ids-minute"),
        (user("ada"), "POST", "/api/v1/jobs/1/heartbeat", "jobs-minute"),
        (user("ada"), "GET", "/api/v1/job-types", "jobs-minute"),
        (user("ada"), "GET", "/api/v1/me", "accounts-minute"),
        (user("ada"), "PUT", "/api/v1/accounts/ada/keys/k1", "accounts-minute"),
        (user("ada"), "GET", "/health", ""),
        (CallerRef::default(), "GET", "/abc", ""),
    ] {
        assert_eq!(ids(&set, &caller, path, method).join(" "), expected, "{method} {path}");
    }
}

#[test]
fn every_default_could_have_been_sent_and_explains_itself() {
    let rules = RuleSet::defaults();
    assert_eq!(rules.len(), 13);
    for rule in &rules {
        let draft = RuleDraft {
            resources: rule.resources.clone(),
            methods: rule.methods.clone(),
            dimension: rule.dimension,
            anonymous_only: rule.anonymous_only,
            algorithm: Some(rule.quota.algorithm),
            limit: rule.quota.limit,
            window_seconds: rule.quota.window_ms / 1_000,
            burst: rule.quota.burst,
            mode: Some(rule.mode),
            on_failure: Some(rule.on_failure),
            description: rule.description.clone(),
        };
        assert_eq!(draft.into_rule(&rule.id, rule.version).as_ref(), Ok(rule));
        assert!(!rule.description.is_empty());
        assert_eq!(rules.iter().filter(|other| other.id == rule.id).count(), 1, "{}", rule.id);
    }
}

#[test]
fn the_most_specific_pattern_wins_in_each_dimension_apart() {
    let (user_, ip) = (Dimension::User, Dimension::Ip);
    let mut posts = rule("posts", user_, &["/api/v1/{what}"], 1, 5);
    posts.methods = vec!["POST".into()];
    let set = RuleSet::new(
        vec![
            rule("all", user_, &["/api/{*rest}"], 1, 1),
            rule("all-ip", ip, &["/{*rest}"], 1, 2),
            rule("one", user_, &["/api/v1/shorten"], 1, 3),
            rule("one-too", user_, &["/api/v1/shorten", "/api/{*all}"], 1, 4),
            posts,
            rule("default", user_, &[], 1, 6),
            rule("default-ip", ip, &[], 1, 7),
        ],
        vec![],
        Exemptions::default(),
    );
    for (method, path, expected) in [
        ("GET", "/api/v1/shorten", "one-too one all-ip"),
        ("POST", "/api/v1/other", "posts all-ip"),
        ("GET", "/api/v1/other", "one-too all-ip all"),
        ("GET", "/other", "default all-ip"),
        ("GET", "/", "default-ip default"),
    ] {
        assert_eq!(ids(&set, &user("ada"), path, method).join(" "), expected, "{method} {path}");
    }
}

#[test]
fn an_override_replaces_the_limit_for_its_entity_until_it_expires() {
    let rule = rule("all", Dimension::User, &[], 10, 1);
    let ending = Override {
        expires_at: Some(crate::Timestamp::from_millisecond(NOW).unwrap()),
        ..limit_override("ada", &rule, 99, 1)
    };
    let set = RuleSet::new(vec![rule], vec![ending], Exemptions::default());
    assert_eq!(limit(&set, &user("ada"), NOW - 1), 99);
    assert_eq!(limit(&set, &user("ada"), NOW), 10);
    assert_eq!(limit(&set, &user("bob"), NOW - 1), 10);
}

#[test]
fn an_override_holds_for_its_rule_alone_and_the_latest_of_two_holds() {
    let (user_, tenant) = (Dimension::User, Dimension::Tenant);
    let (all, paths) = (rule("all", user_, &[], 10, 1), rule("paths", user_, &["/a"], 20, 1));
    let stray = Override { dimension: tenant, ..limit_override("ada", &all, 3, 9) };
    let lost = Override { rule: "gone".into(), ..limit_override("ada", &all, 4, 9) };
    let overrides =
        vec![limit_override("ada", &all, 5, 2), limit_override("ada", &all, 6, 1), stray, lost];
    let set = RuleSet::new(vec![all, paths], overrides, Exemptions::default());
    assert_eq!(limit(&set, &user("ada"), NOW), 5);
    assert_eq!(set.matching(&user("ada"), "/a", "GET", NOW)[0].quota.limit, 20);
}

#[test]
fn an_override_of_an_address_holds_for_its_whole_network_and_reorders_the_rules() {
    let (ip, global) = (Dimension::Ip, Dimension::Global);
    let (address, everyone) = (rule("address", ip, &[], 10, 1), rule("all", global, &[], 50, 1));
    let more = limit_override("2001:db8::1", &address, 100, 1);
    let set = RuleSet::new(vec![address, everyone], vec![more], Exemptions::default());
    let at = |ip: &str| CallerRef { ip: Some(ip.parse().unwrap()), ..CallerRef::default() };
    assert_eq!(ids(&set, &at("2001:db8::ffff"), "/", "GET"), ["all", "address"]);
    assert_eq!(ids(&set, &at("2001:db9::ffff"), "/", "GET"), ["address", "all"]);
}

#[test]
fn an_override_without_a_burst_has_a_bucket_of_its_limit() {
    let mut bucket = rule("all", Dimension::User, &[], 10, 1);
    (bucket.quota.algorithm, bucket.quota.burst) =
        (crate::limits::Algorithm::TokenBucket, Some(20));
    let fewer = limit_override("ada", &bucket, 5, 1);
    let set = RuleSet::new(vec![bucket], vec![fewer], Exemptions::default());
    assert_eq!(set.matching(&user("ada"), "/", "GET", NOW)[0].quota.capacity(), 5);
}

#[test]
fn the_exempt_are_held_to_nothing() {
    let rules = vec![rule("all", Dimension::Global, &[], 10, 1)];
    let listed = [
        (Dimension::User, "ada"),
        (Dimension::ApiKey, "k1"),
        (Dimension::Tenant, "acme"),
        (Dimension::Ip, "2001:db8::/64"),
        (Dimension::Ip, "::ffff:198.51.100.1"),
        (Dimension::Ip, "nowhere"),
        (Dimension::Global, "all"),
    ];
    let exempt = listed.into_iter().map(|(dimension, entity)| (dimension, entity.to_owned()));
    let set = RuleSet::new(rules, vec![], exempt.collect());
    let at = |ip: &str| CallerRef { ip: Some(ip.parse().unwrap()), ..CallerRef::default() };
    for (caller, is_exempt) in [
        (user("ada"), true),
        (CallerRef { api_key: Some("k1"), ..user("bob") }, true),
        (CallerRef { tenant: Some("acme"), ..user("bob") }, true),
        (at("2001:db8::9"), true),
        (at("198.51.100.1"), true),
        (user("bob"), false),
        (user("k1"), false),
        (at("2001:db8:0:1::9"), false),
        (CallerRef::default(), false),
    ] {
        let free = set.matching(&caller, "/", "GET", NOW).is_empty();
        assert_eq!(free, is_exempt, "{caller:?}");
    }
}

#[test]
fn a_resource_that_no_draft_would_pass_matches_nothing() {
    let mut odd = rule("odd", Dimension::User, &["/a"], 1, 1);
    odd.resources = vec!["/{".into(), "{x}".into(), "/{*rest}/a".into()];
    let set = RuleSet::new(vec![odd], vec![], Exemptions::default());
    for path in ["/{", "{x}", "/a", "/b/a", ""] {
        assert_eq!(ids(&set, &user("ada"), path, "GET"), [""; 0], "{path}");
    }
}

#[test]
fn rules_are_found_by_their_slots() {
    let rules = RuleSet::defaults();
    let set = RuleSet::new(rules.clone(), vec![], Exemptions::default());
    assert!(set.rules().map(|rule| &**rule).eq(rules.iter()));
}
