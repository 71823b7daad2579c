//! Drafts that become rules, and drafts that are refused by name.

use serde_json::{Value, json};

use super::*;

const NOW: &str = "2030-01-01T00:00:00Z";

fn made(id: &str, draft: Value) -> Result<FirewallRule, (String, String)> {
    let draft: FirewallDraft = serde_json::from_value(draft).unwrap();
    draft.into_rule(id, 7, NOW.parse().unwrap())
}

#[test]
fn a_draft_becomes_a_rule_in_its_one_written_form() {
    let rule = made(
        "no-scrapers-2",
        json!({
            "action": "deny",
            "cidrs": ["192.0.2.1", "::ffff:198.51.100.0/120", "2001:DB8::/32"],
            "paths": ["/admin/{*rest}"],
            "methods": ["get", "PUT"],
            "headers": [{"name": "X-Probe", "contains": "Zz"}, {"name": "Accept", "absent": true}],
            "userAgents": ["Scrapy"],
            "reason": "Scrapers, again.",
            "expiresAt": "2030-01-01T00:00:00.001Z",
        }),
    )
    .unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&rule.to_document()).unwrap(),
        json!({
            "id": "no-scrapers-2",
            "action": "deny",
            "cidrs": ["192.0.2.1/32", "198.51.100.0/24", "2001:db8::/32"],
            "paths": ["/admin/{*rest}"],
            "methods": ["GET", "PUT"],
            "headers": [{"name": "x-probe", "contains": "Zz"}, {"name": "accept", "absent": true}],
            "userAgents": ["Scrapy"],
            "reason": "Scrapers, again.",
            "expiresAt": "2030-01-01T00:00:00.001Z",
            "version": 7,
        })
    );
}

#[test]
fn what_is_wrong_with_a_draft_is_named_by_field_and_place() {
    let long = |count: usize| "x".repeat(count);
    let header = |test: Value| json!({"headers": [{"name": "a", "absent": true}, test]});
    for (fields, field, told) in [
        (json!({}), "cidrs", "hold for everyone"),
        (json!({"cidrs": [], "reason": "x"}), "cidrs", "hold for everyone"),
        (json!({"cidrs": ["::1", "10.0.0.1/8"]}), "cidrs[1]", "write 10.0.0.0/8"),
        (json!({"cidrs": vec!["::1"; 5_001]}), "cidrs", "at most 5000"),
        (json!({"paths": ["/a", "b"]}), "paths[1]", "start with /"),
        (json!({"paths": [format!("/{}", long(256))]}), "paths[0]", "at most 256"),
        (json!({"paths": vec!["/a"; 51]}), "paths", "at most 50"),
        (json!({"methods": ["GET", ""]}), "methods[1]", "such as GET"),
        (json!({"methods": ["G T"]}), "methods[0]", "such as GET"),
        (json!({"methods": vec!["GET"; 51]}), "methods", "at most 50"),
        (header(json!({"name": "x y", "absent": true})), "headers[1].name", "name of a header"),
        (header(json!({"name": long(257), "absent": true})), "headers[1].name", "of a header"),
        (header(json!({"name": "x"})), "headers[1]", "exactly one"),
        (header(json!({"name": "x", "absent": false})), "headers[1]", "exactly one"),
        (header(json!({"name": "x", "contains": "a", "equals": "a"})), "headers[1]", "exactly"),
        (header(json!({"name": "x", "contains": "a", "absent": true})), "headers[1]", "exactly"),
        (header(json!({"name": "x", "contains": ""})), "headers[1].contains", "1 to 256"),
        (header(json!({"name": "x", "equals": long(257)})), "headers[1].equals", "1 to 256"),
        (
            json!({"headers": vec![json!({"name": "x", "absent": true}); 51]}),
            "headers",
            "at most 50",
        ),
        (json!({"userAgents": ["a", ""]}), "userAgents[1]", "1 to 256"),
        (json!({"userAgents": ["ä"]}), "userAgents[0]", "printable ASCII"),
        (json!({"userAgents": vec!["a"; 51]}), "userAgents", "at most 50"),
        (json!({"methods": ["GET"], "reason": long(201)}), "reason", "at most 200"),
        (json!({"methods": ["GET"], "reason": "a\nb"}), "reason", "one line"),
        (json!({"methods": ["GET"], "expiresAt": NOW}), "expiresAt", "in the future"),
    ] {
        for action in ["allow", "deny"] {
            let mut draft = fields.clone();
            draft["action"] = json!(action);
            let (named, rule) = made("x", draft).unwrap_err();
            assert_eq!(named, field, "{rule}");
            assert!(rule.contains(told), "{field}: {rule}");
        }
    }
}

#[test]
fn what_is_just_small_enough_is_accepted() {
    let reason = "é".repeat(200);
    let full = json!({
        "action": "allow",
        "cidrs": vec!["2001:db8:1111:2222:3333:4444:5555:6666"; 5_000],
        "paths": vec![format!("/{}", "x".repeat(255)); 50],
        "methods": vec!["GET"; 50],
        "headers": vec![json!({"name": "x".repeat(256), "contains": "\"".repeat(256)}); 50],
        "userAgents": vec!["\"".repeat(256); 50],
        "reason": reason,
    });
    let rule = made(&"x".repeat(64), full).unwrap();
    // A row of the store holds 400 KB.
    assert!(rule.to_document().len() < 350_000, "{}", rule.to_document().len());
}

#[test]
fn ids_are_short_and_plain() {
    let draft = json!({"action": "deny", "methods": ["TRACE"]});
    for id in ["a", "a-1", "auto-192-0-2-1"] {
        assert!(made(id, draft.clone()).is_ok(), "{id}");
    }
    for id in ["", "1a", "-a", "A", "a_b", "a b", "ä", &"a".repeat(65)] {
        assert_eq!(made(id, draft.clone()).unwrap_err().0, "id", "{id}");
    }
}

#[test]
fn a_field_that_is_not_known_is_refused() {
    for draft in [
        json!({"action": "deny", "cidr": ["::1"]}),
        json!({"action": "deny", "headers": [{"name": "x", "present": true}]}),
        json!({"action": "block", "cidrs": ["::1"]}),
        json!({"cidrs": ["::1"]}),
    ] {
        assert!(serde_json::from_value::<FirewallDraft>(draft.clone()).is_err(), "{draft}");
    }
}
