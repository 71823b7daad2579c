//! Quotas: how many links an address and a user may make, and what a refusal costs.

use std::net::IpAddr;

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, Response};

use super::{SHORTEN, assert_problem, plain, post, rows};

async fn from(lab: &Lab, address: &str, body: &Value) -> Response {
    let source: IpAddr = address.parse().unwrap();
    lab.call(Method::POST, SHORTEN).from_ip(source).json(body).send().await
}

#[tokio::test(start_paused = true)]
async fn an_address_makes_a_hundred_links_a_day_and_what_is_refused_is_not_one_of_them() {
    let lab = Lab::new();
    let body = plain("https://example.org/");
    for n in 0..100 {
        assert_eq!(from(&lab, "192.0.2.1", &body).await.status, 201, "{n}");
        if n % 10 == 0 {
            assert_eq!(from(&lab, "192.0.2.1", &plain("ftp://no")).await.status, 422);
        }
    }
    let refused = from(&lab, "192.0.2.1", &body).await;
    assert_problem(&refused, 429, "quota-exceeded");
    let wait: i64 = refused.header("retry-after").parse().unwrap();
    assert!(wait >= 1, "{wait}");
    assert_eq!(rows(&lab, "link#").await, 100);
    assert_eq!(from(&lab, "192.0.2.2", &body).await.status, 201, "a neighbour");
    lab.advance_seconds(3_600);
    assert_eq!(from(&lab, "192.0.2.1", &body).await.status, 429, "a day, not an hour");
    // The test begins at noon, and a day's weight falls as the next one passes.
    lab.advance_seconds(11 * 3_600);
    let refused = from(&lab, "192.0.2.1", &body).await;
    assert_eq!(refused.status, 429, "midnight makes nothing new");
    let wait: i64 = refused.header("retry-after").parse().unwrap();
    assert!((864..=865).contains(&wait), "a hundredth of a day: {wait}");
    lab.advance_seconds(wait);
    assert_eq!(from(&lab, "192.0.2.1", &body).await.status, 201, "a hundredth of a day later");
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_waits_for_retry_after_is_admitted() {
    let lab = Lab::new();
    let body = plain("https://example.org/");
    for _ in 0..100 {
        from(&lab, "192.0.2.1", &body).await;
    }
    let refused = from(&lab, "192.0.2.1", &body).await;
    lab.advance_seconds(refused.header("retry-after").parse().unwrap());
    assert_eq!(from(&lab, "192.0.2.1", &body).await.status, 201);
}

#[tokio::test(start_paused = true)]
async fn a_subnet_of_ipv6_is_one_caller() {
    let lab = Lab::new();
    let body = plain("https://example.org/");
    for n in 0..100 {
        let address = format!("2001:db8:1:2:{n:x}::{n:x}");
        assert_eq!(from(&lab, &address, &body).await.status, 201, "{address}");
    }
    assert_eq!(from(&lab, "2001:db8:1:2:ffff::1", &body).await.status, 429);
    assert_eq!(from(&lab, "2001:db8:1:3::1", &body).await.status, 201);
}

#[tokio::test(start_paused = true)]
async fn a_made_up_header_is_no_other_address() {
    let lab = Lab::new();
    let body = plain("https://example.org/");
    for _ in 0..100 {
        from(&lab, "192.0.2.1", &body).await;
    }
    for header in ["cloudfront-viewer-address", "x-forwarded-for", "x-real-ip", "forwarded"] {
        let call = lab.call(Method::POST, SHORTEN).from_ip("192.0.2.1".parse().unwrap());
        let answer = call.header(header, "198.51.100.7:443").json(&body).send().await;
        assert_eq!(answer.status, 429, "{header}");
    }
}

#[tokio::test(start_paused = true)]
async fn behind_cloudfront_the_viewer_is_the_caller() {
    let lab = Lab::with_parameters(tests::Setup::default(), &[("ViewerHeaders", "cloudfront")]);
    let body = plain("https://example.org/");
    let from = |viewer: &'static str| {
        let call = lab.call(Method::POST, SHORTEN).header("cloudfront-viewer-address", viewer);
        call.json(&body).send()
    };
    for _ in 0..100 {
        assert_eq!(from("198.51.100.7:1234").await.status, 201);
    }
    assert_eq!(from("198.51.100.7:999").await.status, 429);
    assert_eq!(from("198.51.100.8:1234").await.status, 201);
}

#[tokio::test(start_paused = true)]
async fn a_user_makes_ten_thousand_links_an_hour() {
    let lab = Lab::new();
    let (ada, eve) = (lab.user("ada", &["member"]).await, lab.user("eve", &["member"]).await);
    // Every one of them is refused for what it is and counted all the same: a thousand at a time
    // are taken before they are looked at.
    let thousand = json!({ "urls": vec![json!({}); 1_000] });
    for _ in 0..10 {
        let answer = post(&lab, "/api/v1/bulk/shorten", &ada, &thousand).await;
        assert_eq!((answer.status.as_u16(), &answer.body["failed"]), (200, &json!(1_000)));
    }
    let body = plain("https://example.org/");
    assert_problem(&post(&lab, SHORTEN, &ada, &body).await, 429, "quota-exceeded");
    let bulk = json!({ "urls": [body] });
    let refused = post(&lab, "/api/v1/bulk/shorten", &ada, &bulk).await;
    assert_problem(&refused, 429, "quota-exceeded");
    let wait: i64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=3_601).contains(&wait), "{wait}");
    assert_eq!(rows(&lab, "link#").await, 0);
    assert_eq!(post(&lab, SHORTEN, &eve, &body).await.status, 201);
    lab.advance_seconds(wait);
    assert_eq!(post(&lab, SHORTEN, &ada, &body).await.status, 201);
}

#[tokio::test(start_paused = true)]
async fn an_address_reports_twenty_links_an_hour() {
    let lab = Lab::new();
    let link = super::code(&lab, "", &plain("https://example.org/")).await;
    let path = format!("/api/v1/url/{link}/report");
    let report = json!({ "reason": "spam" });
    for _ in 0..20 {
        assert_eq!(post(&lab, &path, "", &report).await.status, 202);
    }
    assert_problem(&post(&lab, &path, "", &report).await, 429, "quota-exceeded");
    lab.advance_seconds(3_600 + 3_600 / 20);
    assert_eq!(post(&lab, &path, "", &report).await.status, 202, "one of twenty has come back");
}
