//! What people want, where they are, and what they have read.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{accepted, lab_with_ada, put, read, tomorrow};

const PREFERENCES: &str = "/api/v1/users/ada/preferences";

#[tokio::test(start_paused = true)]
async fn what_was_said_comes_back_with_its_version_and_history() {
    let lab = Lab::new();
    let nothing = lab.get(PREFERENCES).await;
    assert_eq!((nothing.header("etag"), &nothing.body["enabled"]), ("\"0\"", &json!(true)));
    let wanted = json!({
        "timeZone": "europe/madrid", "language": "es-mx",
        "doNotDisturb": { "start": "22:00", "end": "07:00" },
        "channels": { "sms": false }, "dailyCaps": { "email": 3 },
    });
    let saved = put(&lab, PREFERENCES, &wanted).await;
    assert_eq!(saved.header("etag"), "\"1\"");
    let found = lab.get(PREFERENCES).await;
    assert_eq!(found.body, saved.body);
    assert_eq!(found.body["timeZone"], "Europe/Madrid");
    assert_eq!(found.body["language"], "es_MX");
    assert_eq!(found.body["doNotDisturb"]["days"].as_array().unwrap().len(), 7);
    let switched = &found.body["history"][0];
    assert_eq!((&switched["what"], &switched["by"]), (&json!("channel"), &json!("preferences")));
}

#[tokio::test(start_paused = true)]
async fn a_change_of_an_older_version_is_refused() {
    let lab = Lab::new();
    put(&lab, PREFERENCES, &json!({})).await;
    for path in [PREFERENCES, "/api/v1/users/ada/contacts"] {
        let call = lab.call(Method::PUT, path).by(&root_key()).header("if-match", "\"7\"");
        assert_eq!(call.json(&json!({})).send().await.status, 412, "{path}");
    }
    let call = lab.call(Method::PUT, PREFERENCES).by(&root_key()).header("if-match", "\"1\"");
    assert_eq!(call.json(&json!({})).send().await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_taken_back_when_it_is_not_wanted_any_more() {
    let lab = lab_with_ada().await;
    let id = accepted(&lab, &tomorrow("ada")).await;
    put(&lab, PREFERENCES, &json!({ "channels": { "email": false } })).await;
    let found = read(&lab, &id).await;
    assert_eq!(found["deliveries"][0]["status"], "cancelled");
    assert_eq!(found["deliveries"][0]["why"]["rule"], "opted-out");
    assert_eq!(found["deliveries"][1]["status"], "pending");
    put(&lab, "/api/v1/users/ada/contacts", &json!({ "email": "ada@example.org" })).await;
    let found = read(&lab, &id).await;
    assert_eq!(found["deliveries"][1]["why"]["rule"], "address-gone", "{found}");
}

#[tokio::test(start_paused = true)]
async fn a_log_is_read_page_by_page_and_up_to_a_mark() {
    let lab = Lab::new();
    let mut ids = Vec::new();
    for _ in 0..5 {
        lab.advance_seconds(1);
        ids.insert(0, accepted(&lab, &tomorrow("ada")).await);
    }
    let mut seen = Vec::new();
    let mut path = "/api/v1/users/ada/notifications?limit=2".to_owned();
    for _ in 0..4 {
        let page = lab.get(&path).await.assert_status(200);
        for item in page.body["items"].as_array().unwrap() {
            assert_eq!(item["unread"], true);
            seen.push(item["notificationId"].as_str().unwrap().to_owned());
        }
        let Some(cursor) = page.body["nextCursor"].as_str() else { break };
        path = format!("/api/v1/users/ada/notifications?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, ids);
    lab.post("/api/v1/users/ada/notifications/read", &json!({})).await.assert_status(200);
    let back = json!({ "until": "2026-01-01T00:00:00Z" });
    let marked = lab.post("/api/v1/users/ada/notifications/read", &back).await;
    assert!(marked.text("readUntil").starts_with("2026-03-01T12:00:05"), "{}", marked.body);
    lab.advance_seconds(1);
    accepted(&lab, &tomorrow("ada")).await;
    let page = lab.get("/api/v1/users/ada/notifications").await;
    let unread: Vec<&Value> =
        page.body["items"].as_array().unwrap().iter().map(|item| &item["unread"]).collect();
    assert_eq!(unread, [true, false, false, false, false, false]);
}
