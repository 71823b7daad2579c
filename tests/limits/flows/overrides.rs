//! `/admin/ratelimits/overrides`: another limit for one entity, perhaps for a while.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{RULES, ask, assert_field, check, count, decide, delete, per_user, put, usage};

const ADA: &str = "/admin/ratelimits/overrides/user/ada/things";

/// How many of ten checks pass.
async fn passed(lab: &Lab, user: &str) -> usize {
    let mut answers = Vec::new();
    for _ in 0..10 {
        answers.push(ask(lab, user, "/things").await);
    }
    count(&answers, 200)
}

async fn lab_with_a_rule() -> Lab {
    let lab = Lab::new();
    decide(&lab, &format!("{RULES}/things"), &per_user("/things", 3)).await;
    lab
}

#[tokio::test(start_paused = true)]
async fn an_override_is_made_read_listed_replaced_and_deleted() {
    let lab = lab_with_a_rule().await;
    assert_eq!(lab.get(ADA).await.status, 404);
    let made = put(&lab, ADA, &json!({ "limit": 5, "reason": "Pays for it." })).await;
    assert_eq!((made.status.as_u16(), made.header("location")), (201, ADA));
    let expected = json!({
        "dimension": "user", "entity": "ada", "rule": "things", "limit": 5, "burst": null,
        "expiresAt": null, "reason": "Pays for it.", "version": 1, "changedBy": "root",
        "changedAt": "2026-03-01T12:00:06Z",
    });
    assert_eq!((made.header("etag"), &made.body), ("\"1\"", &expected));
    assert_eq!(lab.get(ADA).await.body, expected);
    let block = "/admin/ratelimits/overrides/ip/2001:db8:1:2::7/address-minute";
    assert_eq!(put(&lab, block, &json!({ "limit": 1 })).await.body["entity"], "2001:db8:1:2::/64");
    for (query, count) in [
        ("", 2),
        ("?dimension=user", 1),
        ("?dimension=user&entity=ada", 1),
        ("?dimension=user&entity=bob", 0),
        ("?dimension=ip&entity=2001:db8:1:2::9", 1),
    ] {
        let list = lab.get(&format!("{RULES}/overrides{query}")).await;
        assert_eq!(list.body["overrides"].as_array().unwrap().len(), count, "{query}");
    }
    let replaced = put(&lab, ADA, &json!({ "limit": 6 })).await;
    assert_eq!((replaced.status.as_u16(), replaced.header("etag")), (200, "\"2\""));
    let stale = lab.call(Method::DELETE, ADA).by(&root_key()).header("if-match", "\"1\"");
    assert_eq!(stale.send().await.status, 412);
    assert_eq!(delete(&lab, ADA).await.status, 204);
    assert_eq!(delete(&lab, ADA).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn an_override_holds_for_its_entity_alone() {
    let lab = lab_with_a_rule().await;
    decide(&lab, ADA, &json!({ "limit": 5 })).await;
    assert_eq!((passed(&lab, "ada").await, passed(&lab, "bob").await), (5, 3));
    let used = usage(&lab, "ada", "/things", "things").await;
    assert_eq!((&used["limit"], &used["overridden"]), (&json!(5), &json!(true)));
    assert_eq!(usage(&lab, "bob", "/things", "things").await["overridden"], false);
    decide(&lab, ADA, &json!({ "limit": 0, "reason": "Blocked." })).await;
    lab.advance_seconds(60);
    assert_eq!((passed(&lab, "ada").await, passed(&lab, "bob").await), (0, 3));
    assert_eq!(delete(&lab, ADA).await.status, 204);
    lab.advance_seconds(60);
    assert_eq!(passed(&lab, "ada").await, 3, "the rule's own again");
}

#[tokio::test(start_paused = true)]
async fn an_override_ends_by_itself_to_the_second() {
    let lab = lab_with_a_rule().await;
    // It is 12:00:06, and nothing is changed from here on.
    decide(&lab, ADA, &json!({ "limit": 8, "expiresAt": "2026-03-01T12:02:30Z" })).await;
    assert_eq!(passed(&lab, "ada").await, 8);
    lab.advance_seconds(60);
    assert_eq!(passed(&lab, "ada").await, 8);
    lab.advance_seconds(60);
    let until = lab.clock.now_ms() % 60_000;
    assert_eq!(until, 12_000, "twelve seconds into its last minute");
    for _ in 0..4 {
        assert_eq!(ask(&lab, "ada", "/things").await.status, 200);
    }
    lab.clock.advance_ms(17_999);
    assert_eq!(ask(&lab, "ada", "/things").await.status, 200, "five of eight");
    lab.clock.advance_ms(1);
    assert_eq!(ask(&lab, "ada", "/things").await.status, 429, "five are more than three");
    assert_eq!(lab.get(ADA).await.status, 404, "what has expired is not found");
    let list = lab.get(&format!("{RULES}/overrides")).await;
    assert_eq!(list.body["overrides"], json!([]));
    assert_eq!(delete(&lab, ADA).await.status, 404);
    let again = put(&lab, ADA, &json!({ "limit": 9 })).await;
    assert_eq!((again.status.as_u16(), again.header("etag")), (201, "\"2\""));
}

#[tokio::test(start_paused = true)]
async fn a_wrong_override_names_the_field_and_changes_nothing() {
    let lab = lab_with_a_rule().await;
    put(&lab, ADA, &json!({ "limit": 5 })).await;
    for (body, field) in [
        (json!({}), "limit"),
        (json!({ "limit": -1 }), "limit"),
        (json!({ "limit": 1.5 }), "limit"),
        (json!({ "limit": 1, "burst": 2 }), "burst"),
        (json!({ "limit": 1, "expiresAt": "2026-03-01T12:00:06Z" }), "expiresAt"),
        (json!({ "limit": 1, "expiresAt": "soon" }), "expiresAt"),
        (json!({ "limit": 1, "reason": "x".repeat(201) }), "reason"),
        (json!({ "limit": 1, "until": "2027-01-01T00:00:00Z" }), "until"),
    ] {
        assert_field(&put(&lab, ADA, &body).await, field, &body.to_string());
    }
    for (place, field) in [
        ("planet/earth/things", "dimension"),
        ("ip/192.0.2.1/things", "dimension"),
        ("ip/ada/address-minute", "entity"),
        ("global/some/things", "entity"),
    ] {
        let path = format!("{RULES}/overrides/{place}");
        assert_field(&put(&lab, &path, &json!({ "limit": 1 })).await, field, place);
    }
    let nowhere = format!("{RULES}/overrides/user/ada/nothing");
    assert_eq!(put(&lab, &nowhere, &json!({ "limit": 1 })).await.status, 404);
    assert_eq!(lab.get(ADA).await.body["limit"], 5);
    let list = lab.get(&format!("{RULES}/overrides")).await.body["overrides"].clone();
    assert_eq!(list.as_array().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_a_tenant_and_everyone_can_have_one_too() {
    let lab = Lab::new();
    for (dimension, entity, who) in [
        ("apiKey", "k1", json!({ "apiKey": "k1.secret" })),
        ("tenant", "acme", json!({ "tenantId": "acme" })),
        ("global", "all", json!({})),
        ("ip", "192.0.2.7", json!({ "clientIp": "192.0.2.7" })),
    ] {
        let name = dimension.to_lowercase();
        let path = format!("/of-{name}");
        let mut rule = per_user(&path, 3);
        rule["dimension"] = json!(dimension);
        decide(&lab, &format!("{RULES}/{name}"), &rule).await;
        let place = format!("{RULES}/overrides/{dimension}/{entity}/{name}");
        decide(&lab, &place, &json!({ "limit": 1 })).await;
        let mut body = who;
        body["resource"] = Value::from(path);
        let answers = [check(&lab, &body).await, check(&lab, &body).await];
        assert_eq!((count(&answers, 200), count(&answers, 429)), (1, 1), "{dimension}");
        assert_eq!(answers[1].body["limit"], 1);
    }
}
