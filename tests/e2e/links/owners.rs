//! The calls around links: domains, reports, blocklist, undo, races.

use e2e::{Response, target};
use serde_json::{Value, json};

use super::{fresh_url, shorten, visit};

const DOMAINS: &str = "/api/v1/domains";

#[test]
fn any_user_claims_a_domain_and_the_one_who_proves_it_uses_it() {
    let target = target();
    let (ada, eve) = (target.member(), target.member());
    let name = format!("{}.example.com", target.fresh("go"));
    let call = |method: &str, path: &str, key: &str, body: Option<&Value>| {
        target.send(method, path, key, &[], body)
    };
    let wanted = json!({ "domain": name });
    let claimed = call("POST", DOMAINS, &ada, Some(&wanted));
    assert_eq!((claimed.status, &claimed.body["verified"]), (201, &json!(false)));
    assert_eq!(claimed.body["record"]["name"], format!("_switchyard.{name}"));
    let again = call("POST", DOMAINS, &ada, Some(&wanted));
    assert_eq!((again.status, &again.body["record"]), (200, &claimed.body["record"]));
    let one = format!("{DOMAINS}/{name}");
    assert_eq!(call("GET", &one, &ada, None).status, 200);
    assert_eq!(call("GET", &one, &eve, None).status, 404);
    assert_eq!(call("POST", &format!("{one}/verify"), &ada, None).status, 409, "no such record");
    let link = json!({ "longUrl": fresh_url(target), "domain": name });
    assert_eq!(call("POST", "/api/v1/shorten", &ada, Some(&link)).status, 404, "not proven");
    let listed = target.within(
        10,
        || call("GET", DOMAINS, &ada, None),
        |list: &Response| list.body["items"].to_string().contains(&name),
    );
    assert!(listed.body["items"].to_string().contains(&name), "{}", listed.body);
    assert_eq!(call("POST", DOMAINS, &ada, Some(&json!({ "domain": "127.0.0.1" }))).status, 422);
    assert_eq!(call("DELETE", &one, &eve, None).status, 404);
    assert_eq!(call("DELETE", &one, &ada, None).status, 204);
    assert_eq!(call("GET", &one, &ada, None).status, 404);
}

#[test]
fn abuse_is_reported_without_a_key_and_handled_by_admins() {
    let target = target();
    let eve = target.member();
    let code = shorten(target, &json!({ "longUrl": fresh_url(target) }));
    let report = format!("/api/v1/url/{code}/report");
    let send = |body: &Value| target.send("POST", &report, "", &[], Some(body)).status;
    assert_eq!(send(&json!({ "reason": "phishing", "details": code })), 202);
    assert_eq!(send(&json!({ "reason": "boring" })), 422);
    assert_eq!(target.send("GET", "/api/v1/reports", &eve, &[], None).status, 403);
    let has = |list: &Response| list.body["items"].to_string().contains(&code);
    let listed = target.eventually("/api/v1/reports", has);
    let reports = listed.body["items"].as_array().unwrap();
    let mine = reports.iter().find(|report| report["shortCode"] == code.as_str()).unwrap();
    let one = format!("/api/v1/reports/{}", mine["reportId"].as_str().unwrap());
    assert_eq!(target.send("DELETE", &one, &target.admin_key, &[], None).status, 204);

    let block = format!("/api/v1/url/{code}/block");
    let blocked = target.post(&block, &json!({ "reason": "phishing" }));
    assert_eq!((blocked.status, blocked.text("state")), (200, "blocked"));
    let unblocked = target.post(&format!("/api/v1/url/{code}/unblock"), &json!({}));
    assert_eq!((unblocked.status, unblocked.text("state")), (200, "live"));
    assert_eq!(target.send("POST", &block, &eve, &[], Some(&json!({}))).status, 403);
}

#[test]
fn a_blocked_destination_is_refused_and_let_in_again() {
    let target = target();
    let host = format!("{}.example.net", target.fresh("evil"));
    let entry = json!({ "host": host, "reason": "malware" });
    assert_eq!(target.post("/api/v1/blocklist", &entry).status, 201);
    assert_eq!(target.post("/api/v1/blocklist", &json!({ "reason": "x" })).status, 422);
    assert!(target.get("/api/v1/blocklist").body["items"].to_string().contains(&host));
    let link = json!({ "longUrl": format!("https://deep.{host}/x") });
    // Another node may trust its copy of the list for a minute.
    let refused = || target.post("/api/v1/shorten", &link);
    let refused = target.within(65, refused, |answer| answer.status == 403);
    assert_eq!(refused.status, 403, "{}", refused.body);
    let one = format!("/api/v1/blocklist/host:{host}");
    assert_eq!(target.send("DELETE", &one, &target.admin_key, &[], None).status, 204);
    assert!(!target.get("/api/v1/blocklist").body["items"].to_string().contains(&host));
}

#[test]
fn a_deletion_is_undone() {
    let target = target();
    let url = fresh_url(target);
    let code = shorten(target, &json!({ "longUrl": url }));
    let one = format!("/api/v1/url/{code}");
    let restore = format!("{one}/restore");
    assert_eq!(target.post(&restore, &json!({})).status, 409, "nothing to undo");
    assert_eq!(target.send("DELETE", &one, &target.admin_key, &[], None).status, 204);
    assert_eq!(target.get(&one).text("state"), "deleted");
    assert_eq!(target.post(&restore, &json!({})).status, 200);
    let back = target.within(6, || visit(target, &code), |answer| answer.status == 302);
    assert_eq!((back.status, back.location), (302, url));
}

#[test]
fn of_a_hundred_who_want_an_alias_one_gets_it() {
    let target = target();
    let (alias, key) = (target.fresh("alias"), target.member());
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..100)
            .map(|n| {
                let (alias, key) = (&alias, &key);
                scope.spawn(move || {
                    let url = format!("https://example.org/{n}");
                    let body = json!({ "longUrl": url, "customAlias": alias });
                    target.send("POST", "/api/v1/shorten", key, &[], Some(&body)).status
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    let count = |status| statuses.iter().filter(|&&it| it == status).count();
    assert_eq!((count(201), count(409)), (1, 99), "{statuses:?}");
}
