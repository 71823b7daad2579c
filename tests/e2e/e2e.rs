//! One walk through everything that is deployed, by what an API client with an admin key can see.

mod feed;
mod jobs;
mod limits;
mod links;
mod notifications;

use e2e::target;
use serde_json::{Value, json};

#[test]
fn the_service_is_up_and_describes_itself() {
    let target = target();
    let health = target.send("GET", "/health", "", &[], None);
    assert_eq!((health.status, health.text("status")), (200, "ok"));
    let document = target.send("GET", "/openapi.json", "", &[], None);
    assert_eq!(document.text("openapi"), "3.1.0");
    let docs = target.send("GET", "/docs", "", &[], None);
    assert_eq!((docs.status, docs.media_type.as_str()), (200, "text/html; charset=utf-8"));
    let head = target.send("HEAD", "/health", "", &[], None);
    assert_eq!((head.status, head.body), (200, Value::Null));
}

#[test]
fn ids_come_in_order_and_tell_when_they_were_made() {
    let target = target();
    let made = target.post("/api/v1/ids?count=500", &Value::Null);
    let ids: Vec<u64> = made.body["ids"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!(ids.len(), 500);
    assert!(ids.is_sorted_by(|a, b| a < b));
    let read = target.get(&format!("/api/v1/ids/{}", ids[0]));
    assert_eq!(read.text("id"), ids[0].to_string());
    assert!(read.text("time").starts_with("20"));
}

#[test]
fn an_account_and_its_key_live_and_die() {
    let target = target();
    let user = target.fresh("ada");
    let account = format!("/api/v1/accounts/{user}");
    let created = target
        .post("/api/v1/accounts", &json!({ "userId": user, "name": "Ada", "roles": ["member"] }));
    assert_eq!(created.status, 201, "{}", created.body);
    let taken = target.post("/api/v1/accounts", &json!({ "userId": user, "name": "Eve" }));
    assert_eq!(taken.status, 409);

    let made = target.post(&format!("{account}/keys"), &json!({ "name": "ci" }));
    let key = made.text("key").to_owned();
    let me = target.send("GET", "/api/v1/me", &key, &[], None);
    assert_eq!((me.status, me.text("userId")), (200, user.as_str()));
    let refused = target.send("GET", "/api/v1/accounts", &key, &[], None);
    assert_eq!((refused.status, refused.text("type")), (403, "/docs#forbidden"));
    let listed = target.eventually(&format!("{account}/keys"), |answer| {
        answer.body["items"][0]["lastUsedAt"].is_string()
    });
    assert!(listed.body["items"][0]["lastUsedAt"].is_string(), "{}", listed.body);

    let etag = target.get(&account).etag;
    let rename = json!({ "name": "Ada L." });
    let amend = |etag: &str| {
        let headers = [("if-match", etag)];
        target.send("PATCH", &account, &target.admin_key, &headers, Some(&rename)).status
    };
    assert_eq!((amend(&etag), amend(&etag)), (200, 412));

    assert_eq!(target.send("DELETE", &account, &target.admin_key, &[], None).status, 204);
    let retired = target.eventually(&format!("{account}/keys"), |answer| {
        answer.body["items"][0]["revokedAt"].is_string()
    });
    assert!(retired.body["items"][0]["revokedAt"].is_string(), "{}", retired.body);
    let trail = target.get(&format!("{account}/audit"));
    assert_eq!(trail.body["items"].as_array().unwrap().len(), 4, "{}", trail.body);
}

#[test]
fn a_repeated_request_changes_nothing_twice() {
    let target = target();
    let key = target.fresh("once");
    let headers = [("idempotency-key", key.as_str())];
    let create = |name: &str| {
        let body = json!({ "name": name });
        target.send("POST", "/api/v1/accounts", &target.admin_key, &headers, Some(&body))
    };
    let (first, second, other) = (create("Ada"), create("Ada"), create("Bob"));
    assert_eq!((first.status, second.status, other.status), (201, 201, 422));
    assert_eq!(first.body, second.body);
}

#[test]
fn what_is_wrong_is_a_problem_that_names_what_to_do() {
    let target = target();
    let admin = target.admin_key.as_str();
    let body = json!({ "nmae": "Ada" });
    let post = Some(&body);
    for (method, path, key, body, status, kind) in [
        ("GET", "/no/such/path", "", None, 404, "/docs#not-found"),
        ("PUT", "/api/v1/ids", admin, None, 405, "/docs#wrong-method"),
        ("GET", "/api/v1/me", "", None, 401, "/docs#unauthenticated"),
        ("GET", "/api/v1/me", "root.wrong", None, 401, "/docs#unauthenticated"),
        ("POST", "/api/v1/ids?count=0", admin, None, 422, "/docs#invalid"),
        ("POST", "/api/v1/accounts", admin, post, 422, "/docs#invalid"),
        ("GET", "/api/v1/accounts/unknown-user", admin, None, 404, "/docs#not-found"),
    ] {
        let answer = target.send(method, path, key, &[], body);
        assert_eq!((answer.status, answer.text("type")), (status, kind), "{method} {path}");
        assert_eq!(answer.media_type, "application/problem+json");
        assert!(!answer.text("detail").is_empty());
    }
}
