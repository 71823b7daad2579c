use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn draft(with: Value) -> RuleDraft {
    let mut json = json!({ "dimension": "ip", "limit": 100, "windowSeconds": 60 });
    let Value::Object(with) = with else { panic!("an object") };
    json.as_object_mut().unwrap().extend(with);
    serde_json::from_value(json).unwrap()
}

fn field(refusal: Rejected) -> String {
    let Rejected::Field { field, .. } = refusal else { panic!("a field: {refusal}") };
    field
}

fn refused(with: Value) -> Option<String> {
    draft(with).into_rule("a", 1).err().map(field)
}

#[test]
fn the_least_draft_has_the_usual_values() {
    let rule = draft(json!({})).into_rule("a-1", 7).unwrap();
    let expected = Rule {
        id: "a-1".into(),
        resources: vec![],
        methods: vec![],
        dimension: Dimension::Ip,
        anonymous_only: false,
        quota: Quota::new(Algorithm::SlidingWindow, 100, 60_000),
        mode: RuleMode::Enforce,
        on_failure: OnFailure::Open,
        description: String::new(),
        version: 7,
    };
    assert_eq!(rule, expected);
}

#[test]
fn the_fullest_draft_keeps_everything() {
    let full = json!({
        "resources": ["/a/{x}", "/b/{*rest}"], "methods": ["POST", "GET"], "anonymousOnly": true,
        "algorithm": "leaky-bucket", "burst": 200, "mode": "shadow", "onFailure": "closed",
        "description": "Why."
    });
    let rule = draft(full).into_rule("a", 1).unwrap();
    assert_eq!(rule.resources, ["/a/{x}", "/b/{*rest}"]);
    assert_eq!(rule.methods, ["POST", "GET"]);
    assert!(rule.anonymous_only);
    assert_eq!((rule.quota.algorithm, rule.quota.burst), (Algorithm::LeakyBucket, Some(200)));
    assert_eq!((rule.mode, rule.on_failure), (RuleMode::Shadow, OnFailure::Closed));
    assert_eq!(rule.description, "Why.");
}

#[test]
fn a_burst_makes_a_token_bucket() {
    let rule = draft(json!({ "burst": 1 })).into_rule("a", 1).unwrap();
    assert_eq!(rule.quota.algorithm, Algorithm::TokenBucket);
}

#[test]
fn each_bound_is_kept_on_both_sides_and_its_field_named() {
    let text = |length: usize| "ü".repeat(length);
    let path = |length: usize| format!("/{}", text(length - 1));
    for (field, good, bad) in [
        ("limit", json!({ "limit": 0 }), json!({ "limit": -1 })),
        ("limit", json!({ "limit": MAX_LIMIT }), json!({ "limit": MAX_LIMIT + 1 })),
        (
            "limit",
            json!({ "limit": MAX_LOG_LENGTH, "algorithm": "sliding-log" }),
            json!({ "limit": MAX_LOG_LENGTH + 1, "algorithm": "sliding-log" }),
        ),
        ("windowSeconds", json!({ "windowSeconds": 1 }), json!({ "windowSeconds": 0 })),
        ("windowSeconds", json!({ "windowSeconds": 86_400 }), json!({ "windowSeconds": 86_401 })),
        ("windowSeconds", json!({}), json!({ "windowSeconds": i64::MAX })),
        ("burst", json!({ "burst": 1 }), json!({ "burst": 0 })),
        ("burst", json!({ "burst": 200 }), json!({ "burst": 201 })),
        ("burst", json!({ "limit": 0 }), json!({ "limit": 0, "burst": 1 })),
        (
            "burst",
            json!({ "burst": 9, "algorithm": "token-bucket" }),
            json!({ "burst": 9, "algorithm": "fixed-window" }),
        ),
        ("resources", json!({ "resources": vec!["/"; 20] }), json!({ "resources": vec!["/"; 21] })),
        ("resources[0]", json!({ "resources": [path(256)] }), json!({ "resources": [path(257)] })),
        ("resources[1]", json!({ "resources": ["/", "/a"] }), json!({ "resources": ["/", "a"] })),
        ("resources[0]", json!({ "resources": ["/{a}"] }), json!({ "resources": ["/{a"] })),
        ("methods", json!({ "methods": vec!["GET"; 9] }), json!({ "methods": vec!["GET"; 10] })),
        ("methods[1]", json!({ "methods": ["GET", "HEAD"] }), json!({ "methods": ["GET", "get"] })),
        (
            "anonymousOnly",
            json!({ "anonymousOnly": true }),
            json!({ "anonymousOnly": true, "dimension": "user" }),
        ),
        ("description", json!({ "description": text(200) }), json!({ "description": text(201) })),
    ] {
        assert_eq!(refused(good.clone()), None, "{good}");
        assert_eq!(refused(bad.clone()).as_deref(), Some(field), "{bad}");
    }
}

#[test]
fn an_id_is_short_and_plain() {
    let long = "a".repeat(64);
    for id in ["a", "links-hour", "a1-", &long] {
        assert!(draft(json!({})).into_rule(id, 1).is_ok(), "{id}");
    }
    let long = "a".repeat(65);
    for id in ["", "1a", "-a", "A", "a_b", "a b", "é", "a\"", &long] {
        let refusal = draft(json!({})).into_rule(id, 1).unwrap_err();
        assert!(refusal.to_string().starts_with("`id` must be 1 to 64 of "), "{id}");
    }
}

#[test]
fn unknown_fields_and_values_are_no_draft() {
    for json in [
        json!({ "dimension": "ip", "limit": 1, "windowSeconds": 1, "window_seconds": 1 }),
        json!({ "dimension": "planet", "limit": 1, "windowSeconds": 1 }),
        json!({ "dimension": "ip", "limit": 1, "windowSeconds": 1, "algorithm": "dice" }),
        json!({ "dimension": "ip", "limit": 1 }),
    ] {
        assert!(serde_json::from_value::<RuleDraft>(json.clone()).is_err(), "{json}");
    }
    assert!(serde_json::from_value::<OverrideDraft>(json!({ "limit": 1, "burts": 1 })).is_err());
}

#[test]
fn dimensions_have_the_names_that_json_has() {
    for dimension in Dimension::ALL {
        assert_eq!(json!(dimension), dimension.name());
        assert_eq!(Dimension::parse(dimension.name()), Some(dimension));
    }
    assert_eq!(Dimension::parse("apikey"), None);
}

fn overriding(
    rule: Value,
    dimension: Dimension,
    entity: &str,
    with: Value,
) -> Result<Override, String> {
    let now: Timestamp = "2030-01-01T00:00:00Z".parse().unwrap();
    let rule = draft(rule).into_rule("the-rule", 1).unwrap();
    let draft: OverrideDraft = serde_json::from_value(with).unwrap();
    draft.into_override(dimension, entity, &rule, 3, now).map_err(field)
}

#[test]
fn an_override_keeps_what_it_was_given_and_writes_the_entity_as_it_is_counted() {
    let with = json!({ "limit": 7, "expiresAt": "2030-01-01T00:00:01Z", "reason": "They asked." });
    let made = overriding(json!({}), Dimension::Ip, "2001:db8::9", with).unwrap();
    let expected = Override {
        dimension: Dimension::Ip,
        entity: "2001:db8::/64".into(),
        rule: "the-rule".into(),
        limit: 7,
        burst: None,
        expires_at: Some("2030-01-01T00:00:01Z".parse().unwrap()),
        reason: "They asked.".into(),
        version: 3,
    };
    assert_eq!(made, expected);
}

#[test]
fn an_override_keeps_the_bounds_of_its_rule() {
    let (ip, user) = (Dimension::Ip, Dimension::User);
    let one = || json!({ "limit": 1 });
    let long = "u".repeat(257);
    for (rule, dimension, entity, with, field) in [
        (json!({}), user, "ada", one(), "dimension"),
        (json!({}), ip, "ada", one(), "entity"),
        (json!({ "dimension": "user" }), user, "", one(), "entity"),
        (json!({ "dimension": "user" }), user, &*long, one(), "entity"),
        (json!({ "dimension": "global" }), Dimension::Global, "ada", one(), "entity"),
        (json!({}), ip, "::1", json!({ "limit": -1 }), "limit"),
        (json!({}), ip, "::1", json!({ "limit": MAX_LIMIT + 1 }), "limit"),
        (json!({ "algorithm": "sliding-log" }), ip, "::1", json!({ "limit": 501 }), "limit"),
        (json!({}), ip, "::1", json!({ "limit": 1, "burst": 1 }), "burst"),
        (json!({ "burst": 1 }), ip, "::1", json!({ "limit": 1, "burst": 3 }), "burst"),
        (json!({}), ip, "::1", json!({ "limit": 1, "reason": "x".repeat(201) }), "reason"),
        (
            json!({}),
            ip,
            "::1",
            json!({ "limit": 1, "expiresAt": "2030-01-01T00:00:00Z" }),
            "expiresAt",
        ),
    ] {
        assert_eq!(overriding(rule, dimension, entity, with.clone()).unwrap_err(), field, "{with}");
    }
    let bucket = overriding(json!({ "burst": 1 }), ip, "::1", json!({ "limit": 1, "burst": 2 }));
    assert_eq!(bucket.unwrap().burst, Some(2));
}

proptest! {
    #[test]
    fn no_draft_makes_a_rule_out_of_bounds(
        id in "[a-z0-9-]{0,3}", limit: i64, window: i64, burst: Option<i64>, small in 0..2_000_i64,
        resources in proptest::collection::vec("[/a{}*?]{0,8}", 0..3),
    ) {
        for (limit, window) in [(limit, window), (small, small)] {
            let mut draft = draft(json!({ "limit": limit, "windowSeconds": window }));
            (draft.burst, draft.resources) = (burst, resources.clone());
            let Ok(rule) = draft.into_rule(&id, 1) else { continue };
            prop_assert!((0..=MAX_LIMIT).contains(&rule.quota.limit));
            prop_assert!((1_000..=86_400_000).contains(&rule.quota.window_ms));
            prop_assert!(rule.quota.capacity() <= 2 * rule.quota.limit);
            prop_assert!(rule.resources.iter().all(|path| matchit::Router::new().insert(path, ()).is_ok()));
        }
    }
}
