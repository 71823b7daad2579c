//! `Idempotency-Key` on `POST /api/v1/shorten`.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, Response};

use super::{SHORTEN, assert_problem, code, plain, rows};

async fn keyed(lab: &Lab, user: &str, key: &str, body: &Value) -> Response {
    let call = lab.call(Method::POST, SHORTEN).header("idempotency-key", key);
    let call = if user.is_empty() { call } else { call.by(user) };
    call.json(body).send().await
}

#[tokio::test(start_paused = true)]
async fn a_repeated_request_gets_the_first_answer_with_a_key_and_without() {
    let (lab, ada) = Lab::with_member().await;
    for user in [ada.as_str(), ""] {
        let before = rows(&lab, "link#").await;
        let body = json!({ "longUrl": "https://example.org/", "reuse": false });
        let first = keyed(&lab, user, "k1", &body).await;
        assert_eq!((first.status.as_u16(), first.header("idempotent-replayed")), (201, ""));
        let again = keyed(&lab, user, "k1", &body).await;
        assert_eq!((again.status.as_u16(), &again.body), (201, &first.body));
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!(again.header("location"), first.header("location"));
        let other = keyed(&lab, user, "k1", &plain("https://example.org/other")).await;
        assert_problem(&other, 422, "idempotency-key-reused");
        assert_eq!(rows(&lab, "link#").await, before + 1);
        assert_ne!(keyed(&lab, user, "k2", &body).await.body["shortCode"], first.body["shortCode"]);
        assert_eq!(keyed(&lab, user, "bad key", &body).await.status, 422);
    }
}

#[tokio::test(start_paused = true)]
async fn keys_of_different_callers_are_different_keys() {
    let lab = Lab::new();
    let (ada, eve) = (lab.user("ada", &["member"]).await, lab.user("eve", &["member"]).await);
    let body = plain("https://example.org/");
    let mut seen = Vec::new();
    for user in [ada.as_str(), &eve, ""] {
        let made = keyed(&lab, user, "k", &body).await.assert_status(201);
        assert!(!seen.contains(&made.body["shortCode"]));
        seen.push(made.body["shortCode"].clone());
    }
    let call = lab.call(Method::POST, SHORTEN).header("idempotency-key", "k");
    let elsewhere = call.from_ip("192.0.2.9".parse().unwrap()).json(&body).send().await;
    assert_eq!(elsewhere.status, 201, "another address is another caller");
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_gives_its_key_back() {
    let (lab, ada) = Lab::with_member().await;
    assert_eq!(keyed(&lab, &ada, "k", &plain("nonsense")).await.status, 422);
    assert_eq!(keyed(&lab, &ada, "k", &plain("https://example.org/")).await.status, 201);
    let taken = json!({ "longUrl": "https://example.org/", "customAlias": "mine" });
    assert_eq!(keyed(&lab, &ada, "k2", &taken).await.status, 201);
    assert_problem(&keyed(&lab, &ada, "k3", &taken).await, 409, "conflict");
    let other = json!({ "longUrl": "https://example.org/", "customAlias": "other" });
    assert_eq!(keyed(&lab, &ada, "k3", &other).await.status, 201);
}

#[tokio::test(start_paused = true)]
async fn a_request_for_a_link_that_was_there_can_be_repeated_too() {
    let (lab, ada) = Lab::with_member().await;
    let body = plain("https://example.org/");
    let first = code(&lab, &ada, &body).await;
    for replayed in ["", "true", "true"] {
        let had = keyed(&lab, &ada, "k", &body).await;
        assert_eq!((had.status.as_u16(), had.text("shortCode")), (200, first.as_str()));
        assert_eq!(had.header("idempotent-replayed"), replayed);
    }
    // The answer stays what it was, also after the link is deleted.
    super::delete(&lab, &format!("/api/v1/url/{first}"), &ada).await;
    let kept = keyed(&lab, &ada, "k", &body).await;
    assert_eq!((kept.status.as_u16(), kept.text("shortCode")), (200, first.as_str()));
    assert_eq!(rows(&lab, "link#").await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_found_a_link_finds_it_again_at_once() {
    let (lab, key) = Lab::with_member().await;
    let body = json!({ "longUrl": "https://example.org/page" });
    let ask = || lab.call(Method::POST, "/api/v1/shorten").by(&key).json(&body);
    let made = ask().send().await.assert_status(201);
    for _ in 0..2 {
        let again = ask().header("idempotency-key", "once").send().await.assert_status(200);
        assert_eq!(again.text("shortCode"), made.text("shortCode"));
    }
}
