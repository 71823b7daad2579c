//! Reports of abuse: users and visitors make them, admins read and dismiss them, the sweep makes some.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{assert_names, assert_problem, code, delete, get, plain, post, rows, shorten};

const REPORTS: &str = "/api/v1/reports";

#[tokio::test(start_paused = true)]
async fn a_report_is_listed_newest_first_until_it_is_dismissed() {
    let (lab, ada) = Lab::with_member().await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    let path = format!("/api/v1/url/{link}/report");
    for (key, reason) in [("", "phishing"), (ada.as_str(), "malware"), ("", "spam"), ("", "other")]
    {
        let body = json!({ "reason": reason, "details": "Look <here>\nand there" });
        let answer = post(&lab, &path, key, &body).await;
        assert_eq!((answer.status.as_u16(), answer.bytes.len()), (202, 0));
        lab.advance_seconds(1);
    }
    let first = get(&lab, &format!("{REPORTS}?limit=3"), &root_key()).await;
    let reasons: Vec<_> = first.body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["reason"].as_str().unwrap())
        .collect();
    assert_eq!(reasons, ["other", "spam", "malware"]);
    let item = &first.body["items"][0];
    assert_eq!(
        (&item["shortCode"], &item["reportedAt"]),
        (&json!(link), &json!("2026-03-01T12:00:03Z"))
    );
    assert_eq!(item["details"], "Look <here>\nand there");
    let rest = format!("{REPORTS}?limit=3&cursor={}", first.text("nextCursor"));
    assert_eq!(get(&lab, &rest, &root_key()).await.body["items"][0]["reason"], "phishing");

    let one = format!("{REPORTS}/{}", item["reportId"].as_str().unwrap());
    assert_eq!(delete(&lab, &one, &root_key()).await.status, 204);
    assert_problem(&delete(&lab, &one, &root_key()).await, 404, "not-found");
    let left = get(&lab, REPORTS, &root_key()).await;
    assert_eq!(left.body["items"].as_array().unwrap().len(), 3);
    assert_eq!(get(&lab, &format!("/api/v1/url/{link}"), &ada).await.body["version"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_wrong_report_names_the_field_and_is_not_kept() {
    let lab = Lab::new();
    let link = code(&lab, "", &plain("https://example.org/")).await;
    let path = format!("/api/v1/url/{link}/report");
    for (body, field) in [
        (json!({}), "reason"),
        (json!({ "reason": "boring" }), "reason"),
        (json!({ "reason": "spam", "details": "x".repeat(1_001) }), "details"),
        (json!({ "reason": "spam", "who": "me" }), "who"),
    ] {
        assert_names(&post(&lab, &path, "", &body).await, field, &body);
    }
    let spam = json!({ "reason": "spam" });
    assert_problem(&post(&lab, "/api/v1/url/unknown/report", "", &spam).await, 404, "not-found");
    assert_eq!(get(&lab, REPORTS, &root_key()).await.body["items"], json!([]));
    for (query, field) in [("limit=0", "limit"), ("cursor=x", "cursor"), ("a=b", "a")] {
        let wrong = get(&lab, &format!("{REPORTS}?{query}"), &root_key()).await;
        assert_names(&wrong, field, &json!(query));
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_needs_a_reason_and_is_the_admins_word() {
    let (lab, ada) = Lab::with_member().await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    let one = format!("/api/v1/url/{link}");
    let block = format!("{one}/block");
    for (body, field) in [
        (json!({}), "reason"),
        (json!({ "reason": " " }), "reason"),
        (json!({ "reason": "x".repeat(201) }), "reason"),
        (json!({ "reason": "a\r\nb" }), "reason"),
        (json!({ "reason": "x", "until": "tomorrow" }), "until"),
    ] {
        assert_names(&post(&lab, &block, &root_key(), &body).await, field, &body);
    }
    let unblocked = post(&lab, &format!("{one}/unblock"), &root_key(), &Value::Null).await;
    assert_eq!(unblocked.body["version"], 1, "there was nothing to unblock");
    post(&lab, &block, &root_key(), &json!({ "reason": "Because." })).await;
    let seen = get(&lab, &one, &ada).await;
    assert_eq!((seen.text("state"), seen.text("blockReason")), ("blocked", "Because."));
    // Its owner can neither unblock it nor get around it by deleting and restoring.
    delete(&lab, &one, &ada).await;
    post(&lab, &format!("{one}/restore"), &ada, &Value::Null).await;
    assert_eq!(super::redirect_of(&lab, &link).await.0, 451);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_that_shortens_one_destination_is_reported_once_a_day_even_if_dismissed() {
    let lab = Lab::new();
    for n in 0..100_u8 {
        let call = lab.call(Method::POST, super::SHORTEN);
        let call = call.from_ip([198, 51, 100, n].into());
        assert_eq!(call.json(&plain("https://spam.example/")).send().await.status, 201);
    }
    for _ in 0..99 {
        shorten(&lab, &root_key(), &json!({ "longUrl": "https://fine.example/", "reuse": false }))
            .await;
    }
    for _ in 0..3 {
        lab.sweep().await;
        lab.advance_seconds(60);
    }
    let list = get(&lab, REPORTS, &root_key()).await;
    let items = list.body["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["reason"]), (1, &json!("spam")), "{}", list.body);
    assert!(items[0]["details"].as_str().unwrap().contains("100"), "{}", items[0]);
    let one = format!("{REPORTS}/{}", items[0]["reportId"].as_str().unwrap());
    assert_eq!(delete(&lab, &one, &root_key()).await.status, 204);
    lab.sweep().await;
    assert_eq!(get(&lab, REPORTS, &root_key()).await.body["items"], json!([]));
    assert_eq!(rows(&lab, "link#").await, 199 + 1, "links and what is left of the report");
}

#[tokio::test(start_paused = true)]
async fn twenty_accounts_are_a_crowd_too() {
    let lab = Lab::new();
    for n in 0..20 {
        let key = lab.user(&format!("user-{n}"), &["member"]).await;
        shorten(&lab, &key, &plain("https://spam.example/")).await;
        lab.sweep().await;
        let reported =
            get(&lab, REPORTS, &root_key()).await.body["items"].as_array().unwrap().len();
        assert_eq!(reported, usize::from(n == 19), "{n}");
    }
}
