//! Rules that are wrong, and people who are not admins.

use serde_json::json;
use tests::Lab;

use super::{RULES, assert_field, per_user, put};

#[tokio::test(start_paused = true)]
async fn a_wrong_rule_names_the_field_and_changes_nothing() {
    let lab = Lab::new();
    let path = format!("{RULES}/things");
    put(&lab, &path, &per_user("/things", 3)).await;
    let before = lab.get(&path).await;
    let many: Vec<String> = (0..21).map(|n| format!("/p{n}")).collect();
    for (change, field) in [
        (json!({ "limit": -1 }), "limit"),
        (json!({ "limit": 1_000_000_001_i64 }), "limit"),
        (json!({ "limit": "3" }), "limit"),
        (json!({ "limit": 501, "algorithm": "sliding-log" }), "limit"),
        (json!({ "windowSeconds": 0 }), "windowSeconds"),
        (json!({ "windowSeconds": 86_401 }), "windowSeconds"),
        (json!({ "burst": 5 }), "burst"),
        (json!({ "burst": 7, "algorithm": "token-bucket" }), "burst"),
        (json!({ "burst": 0, "algorithm": "leaky-bucket" }), "burst"),
        (json!({ "algorithm": "guess" }), "algorithm"),
        (json!({ "dimension": "planet" }), "dimension"),
        (json!({ "anonymousOnly": true }), "anonymousOnly"),
        (json!({ "mode": "off" }), "mode"),
        (json!({ "onFailure": "maybe" }), "onFailure"),
        (json!({ "resources": ["/a", "b"] }), "resources[1]"),
        (json!({ "resources": ["/a/{*rest}/b"] }), "resources[0]"),
        (json!({ "resources": many }), "resources"),
        (json!({ "methods": ["GET", "get"] }), "methods[1]"),
        (json!({ "description": "x".repeat(201) }), "description"),
        (json!({ "owner": "ada" }), "owner"),
    ] {
        let mut body = per_user("/things", 3);
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        assert_field(&put(&lab, &path, &body).await, field, &change.to_string());
    }
    let missing = json!({ "dimension": "user", "limit": 3 });
    assert_field(&put(&lab, &path, &missing).await, "windowSeconds", "missing");
    assert_eq!(lab.get(&path).await.body, before.body);
}

#[tokio::test(start_paused = true)]
async fn a_rule_has_a_name_of_its_own() {
    let lab = Lab::new();
    let long = "x".repeat(65);
    for id in ["Things", "1things", "-a", "th%20ings", "overrides", "usage", "top", "settings"] {
        let path = format!("{RULES}/{id}");
        let answer = put(&lab, &path, &per_user("/things", 3)).await;
        // Three of the names are other paths, which take no rule; the fourth is the settings.
        let taken = answer.status == 405 || answer.status == 422;
        assert!(taken, "{id}: {} {}", answer.status, answer.body);
        if answer.status == 422 && id != "settings" {
            assert_field(&answer, "rule", id);
        }
    }
    assert_field(&put(&lab, &format!("{RULES}/{long}"), &per_user("/a", 3)).await, "rule", "long");
    assert_eq!(lab.get(&format!("{RULES}/{long}")).await.status, 404);
    for (path, field) in [
        ("/admin/ratelimits?resource=things", "resource"),
        ("/admin/ratelimits?path=/things", "path"),
        ("/admin/ratelimits/top?limit=0", "limit"),
        ("/admin/ratelimits/top?limit=101", "limit"),
        ("/admin/ratelimits/usage?userId=ada", "resource"),
        ("/admin/ratelimits/usage?resource=things", "resource"),
        ("/admin/ratelimits/usage?resource=/a&clientIp=x", "clientIp"),
        ("/admin/ratelimits/usage?resource=/a&method=", "method"),
        ("/admin/ratelimits/overrides?dimension=planet", "dimension"),
        ("/admin/ratelimits/overrides?entity=ada", "dimension"),
        ("/admin/ratelimits/overrides?dimension=ip&entity=x", "entity"),
    ] {
        assert_field(&lab.get(path).await, field, path);
    }
    let odd = put(&lab, &format!("{RULES}/things?dryRun=perhaps"), &per_user("/a", 3)).await;
    assert_field(&odd, "dryRun", "perhaps");
}
