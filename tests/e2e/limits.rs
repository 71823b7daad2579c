//! Limits, from one end to the other: a rule made, held to, lifted for one caller, tried and taken away.

use e2e::{Response, Target, target};
use serde_json::{Value, json};

const CHECK: &str = "/internal/ratelimit/check";

/// How soon a rule holds everywhere, and how soon a block does; one more for the way.
const RULE: u64 = 31;
const BLOCK: u64 = 11;

fn put(target: &Target, path: &str, body: &Value) -> Response {
    target.send("PUT", path, &target.admin_key, &[], Some(body))
}

fn delete(target: &Target, path: &str) -> u16 {
    target.send("DELETE", path, &target.admin_key, &[], None).status
}

fn check(target: &Target, user: &str, resource: &str) -> Response {
    target.post(CHECK, &json!({ "userId": user, "resource": resource }))
}

#[test]
fn answers_say_how_the_caller_stands() {
    let target = target();
    for path in ["/api/v1/me", "/api/v1/accounts"] {
        let answer = target.get(path);
        assert_eq!(answer.status, 200, "{path} {}", answer.body);
        for name in ["ratelimit", "ratelimit-policy", "x-ratelimit-remaining"] {
            assert!(!answer.header(name).is_empty(), "{path} {name}");
        }
    }
    let ids = target.post("/api/v1/ids", &Value::Null);
    assert!(ids.header("ratelimit-policy").starts_with(r#""ids-minute";q=6000;w=60"#));
}

#[test]
fn a_rule_holds_is_lifted_for_one_caller_and_goes() {
    let target = target();
    let name = target.fresh("rule");
    let (rule, resource) = (format!("/admin/ratelimits/{name}"), format!("/e2e/{name}"));
    let body = json!({ "resources": [resource], "dimension": "user", "limit": 2, "windowSeconds": 3_600,
                       "algorithm": "sliding-log" });
    let made = put(target, &rule, &body);
    assert_eq!(made.status, 201, "{}", made.body);
    let seen = |answer: &Response| answer.text("rule") == name;
    target.within(RULE, || check(target, "warm", &resource), seen);
    let asked: Vec<u16> = (0..3).map(|_| check(target, "ada", &resource).status).collect();
    assert_eq!(asked, [200, 200, 429]);
    let refused = check(target, "ada", &resource);
    assert_eq!((refused.status, &refused.body["allowed"]), (429, &json!(false)));
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    let usage = format!("/admin/ratelimits/usage?userId=ada&resource={resource}");
    assert_eq!(target.get(&usage).body["usage"][0]["used"], 2);

    let special = format!("/admin/ratelimits/overrides/user/ada/{name}");
    let lifted = put(target, &special, &json!({ "limit": 3, "expiresAt": "2099-01-01T00:00:00Z" }));
    assert_eq!(lifted.status, 201, "{}", lifted.body);
    let passed = target.within(RULE, || check(target, "ada", &resource), |it| it.status == 200);
    assert_eq!(passed.status, 200, "{}", passed.body);
    assert_eq!(check(target, "ada", &resource).status, 429);

    let tried = put(target, &format!("{rule}?dryRun=true"), &body);
    assert_eq!((tried.status, tried.body["dryRun"].is_object()), (200, true), "{}", tried.body);
    let wrong = json!({ "dimension": "user", "limit": -1, "windowSeconds": 60 });
    let refused = put(target, &rule, &wrong);
    assert_eq!((refused.status, &refused.body["errors"][0]["field"]), (422, &json!("limit")));
    assert_eq!((delete(target, &special), delete(target, &rule)), (204, 204));
    assert_eq!((target.get(&rule).status, delete(target, &rule)), (404, 404));
}

#[test]
fn a_block_is_felt_soon_and_its_end_too() {
    let target = target();
    let name = target.fresh("block");
    let (rule, agent) = (format!("/admin/firewall/{name}"), format!("scanner {name}"));
    let visit =
        || target.send("GET", "/api/v1/me", &target.admin_key, &[("user-agent", &agent)], None);
    assert_eq!(visit().status, 200);
    let body = json!({ "action": "deny", "userAgents": [name], "reason": "Scans." });
    assert_eq!(put(target, &rule, &body).status, 201);
    let blocked = target.within(BLOCK, visit, |answer| answer.status == 403);
    assert_eq!((blocked.status, blocked.text("type")), (403, "/docs#firewall"));
    assert_eq!(delete(target, &rule), 204);
    assert_eq!(target.within(BLOCK, visit, |answer| answer.status == 200).status, 200);
}

#[test]
fn only_admins_decide_and_only_limiters_ask() {
    let target = target();
    let member = target.member();
    let body = json!({ "resource": "/x" });
    for (method, path) in [
        ("POST", CHECK),
        ("GET", "/admin/ratelimits"),
        ("PUT", "/admin/ratelimits/mine"),
        ("GET", "/admin/ratelimits/top"),
        ("GET", "/admin/firewall"),
        ("DELETE", "/admin/firewall/mine"),
    ] {
        assert_eq!(target.send(method, path, "", &[], Some(&body)).status, 401, "{method} {path}");
        let refused = target.send(method, path, &member, &[], Some(&body));
        assert_eq!(refused.status, 403, "{method} {path} {}", refused.body);
    }
}
