//! What admins can know: usage, who is denied most, what a rule would deny, what one in shadow would.

use serde_json::{Value, json};
use tests::Lab;

use super::{RULES, ask, check, decide, metric, per_user, put, settle, usage};

/// Lets the node that answers checks report what it saw.
async fn reported(lab: &Lab) {
    settle(lab, 61).await;
    check(lab, &json!({ "resource": "/quiet" })).await;
    lab.cloud.functions.quiesce().await;
}

#[tokio::test(start_paused = true)]
async fn usage_says_what_counts_and_what_is_left() {
    let lab = Lab::new();
    decide(&lab, &format!("{RULES}/things"), &per_user("/things", 5)).await;
    for _ in 0..2 {
        ask(&lab, "ada", "/things").await;
    }
    let expected = json!({
        "rule": "things", "dimension": "user", "entity": "ada", "mode": "enforce", "limit": 5,
        "overridden": false, "windowSeconds": 60, "used": 2, "remaining": 3,
        "resetAt": "2026-03-01T12:01:00Z", "leased": 2, "leases": 2,
    });
    assert_eq!(usage(&lab, "ada", "/things", "things").await, expected);
    let other = usage(&lab, "bob", "/things", "things").await;
    assert_eq!((&other["used"], &other["remaining"]), (&json!(0), &json!(5)));
    lab.advance_seconds(60);
    let next = usage(&lab, "ada", "/things", "things").await;
    assert_eq!((&next["used"], &next["leases"]), (&json!(0), &json!(0)));
    let anonymous = lab.get(&format!("{RULES}/usage?resource=/things")).await;
    assert_eq!(
        anonymous.body["usage"],
        json!([]),
        "an anonymous caller is not counted by a rule for users"
    );
}

#[tokio::test(start_paused = true)]
async fn usage_shows_budgets_that_are_out_on_lease() {
    let lab = Lab::new();
    decide(&lab, &format!("{RULES}/many"), &per_user("/many", 1_000)).await;
    for _ in 0..2 {
        assert_eq!(ask(&lab, "ada", "/many").await.status, 200);
    }
    let used = usage(&lab, "ada", "/many", "many").await;
    let leased = used["leased"].as_i64().unwrap();
    assert!(leased > 2, "the node holds some: {used}");
    assert_eq!((&used["leases"], used["remaining"].as_i64()), (&json!(2), Some(1_000 - leased)));
}

#[tokio::test(start_paused = true)]
async fn the_most_denied_keys_and_resources_are_named_with_their_rate() {
    let lab = Lab::new();
    decide(&lab, &format!("{RULES}/things"), &per_user("/things", 3)).await;
    for (user, times) in [("ada", 13), ("bob", 5), ("cyd", 2)] {
        for _ in 0..times {
            ask(&lab, user, "/things").await;
        }
    }
    reported(&lab).await;
    let top = lab.get(&format!("{RULES}/top")).await.assert_status(200);
    let users: Vec<_> = top.body["keys"].as_array().unwrap().iter().collect();
    let users: Vec<_> = users.into_iter().filter(|key| key["dimension"] == "user").collect();
    let key = |user: &str, asked: u32, denied: u32| json!({ "dimension": "user", "entity": user, "asked": asked, "denied": denied });
    assert_eq!(users, [&key("ada", 13, 10), &key("bob", 5, 2)]);
    let resource = json!({ "resource": "GET /things", "asked": 20, "denied": 12 });
    assert_eq!(top.body["resources"], json!([resource]));
    assert_eq!(top.body["denied"], 12);
    let rate = top.body["rate"].as_f64().unwrap();
    let asked = top.body["asked"].as_f64().unwrap();
    assert!((rate - 12.0 / asked).abs() < 1e-5 && asked >= 20.0, "{}", top.body);
    let one = lab.get(&format!("{RULES}/top?limit=1")).await;
    assert_eq!(one.body["keys"].as_array().unwrap().len(), 1);
    lab.advance_seconds(3 * 3_600);
    assert_eq!(lab.get(&format!("{RULES}/top")).await.body["denied"], 0, "an hour, not more");
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_says_what_a_rule_would_have_denied_and_changes_nothing() {
    let lab = Lab::new();
    for (user, times) in [("ada", 30), ("bob", 4)] {
        for _ in 0..times {
            assert_eq!(ask(&lab, user, "/things/1").await.status, 200);
        }
    }
    ask(&lab, "ada", "/others").await;
    reported(&lab).await;
    let path = format!("{RULES}/things");
    let dry = put(&lab, &format!("{path}?dryRun=true"), &per_user("/things/{id}", 10)).await;
    assert_eq!(dry.status, 200, "{}", dry.body);
    let run = &dry.body["dryRun"];
    assert_eq!((&run["keys"], &run["keysDenied"]), (&json!(2), &json!(1)), "{run}");
    assert_eq!((&run["asked"], &run["denied"]), (&json!(34), &json!(20)), "{run}");
    assert_eq!(run["worst"], json!([{ "entity": "ada", "denied": 20 }]));
    assert!((run["share"].as_f64().unwrap() - 20.0 / 34.0).abs() < 1e-5, "{run}");
    assert_eq!(
        (&dry.body["rule"]["id"], &dry.body["rule"]["limit"]),
        (&json!("things"), &json!(10))
    );

    assert_eq!(lab.get(&path).await.status, 404, "nothing was saved");
    settle(&lab, 6).await;
    for _ in 0..15 {
        assert_eq!(ask(&lab, "ada", "/things/1").await.status, 200);
    }
    let wide = put(&lab, &format!("{path}?dryRun=true"), &per_user("/things/{id}", 100)).await;
    assert_eq!(wide.body["dryRun"]["denied"], 0);
    let wrong = put(&lab, &format!("{path}?dryRun=true"), &per_user("/things/{id}", -1)).await;
    super::assert_field(&wrong, "limit", "a dry run is as strict");
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_leaves_out_whom_the_change_does_not_touch() {
    let lab = Lab::new();
    decide(&lab, &format!("{RULES}/things"), &per_user("/things", 50)).await;
    decide(&lab, &format!("{RULES}/overrides/user/vip/things"), &json!({ "limit": 70 })).await;
    let settings = json!({ "exempt": [{ "dimension": "user", "entity": "batch" }] });
    decide(&lab, &format!("{RULES}/settings"), &settings).await;
    for user in ["ada", "vip", "batch"] {
        for _ in 0..20 {
            assert_eq!(ask(&lab, user, "/things").await.status, 200);
        }
    }
    reported(&lab).await;
    let path = format!("{RULES}/things?dryRun=true");
    let run = put(&lab, &path, &per_user("/things", 5)).await.body["dryRun"].clone();
    assert_eq!((&run["keys"], &run["denied"]), (&json!(1), &json!(15)), "{run}");
}

#[tokio::test(start_paused = true)]
async fn a_rule_in_shadow_lets_pass_and_reports_what_it_would_have_denied() {
    let lab = Lab::new();
    let mut rule = per_user("/things", 3);
    rule["mode"] = json!("shadow");
    decide(&lab, &format!("{RULES}/things"), &rule).await;
    for _ in 0..10 {
        let answer = ask(&lab, "ada", "/things").await;
        assert_eq!((answer.status.as_u16(), &answer.body["rule"]), (200, &Value::Null));
    }
    assert!((metric(&lab, "LimitsShadowDenied") - 7.0).abs() < f64::EPSILON);
    assert!(metric(&lab, "LimitsDenied").abs() < f64::EPSILON);
    assert_eq!(usage(&lab, "ada", "/things", "things").await["mode"], "shadow");
    rule["mode"] = json!("enforce");
    decide(&lab, &format!("{RULES}/things"), &rule).await;
    assert_eq!(ask(&lab, "ada", "/things").await.status, 429, "what it counted counts");
}
