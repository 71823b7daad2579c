//! The link in a mail: it asks, then ends; and only for whom, what and when it was made.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::token::{KeyRing, TokenClaim, TokenKey};
use domain::notifications::{Category, Channel, DeliveryId, Endpoint, NotificationId};
use http::Method;
use serde_json::{Value, json};
use tests::{Lab, Response, Setup};

use super::{accepted, lab_with_ada, read, tomorrow};

const FORM: &str = "List-Unsubscribe=One-Click";

fn key_ring(id: &str, byte: u8) -> KeyRing {
    KeyRing::new(TokenKey::new(id, &[byte; 32]).unwrap(), Vec::new())
}

fn claim() -> TokenClaim {
    TokenClaim::Unsubscribe {
        user: UserId::outside("ada"),
        channel: Channel::Email,
        category: Category::parse("orders").unwrap(),
    }
}

fn in_days(days: i64) -> Timestamp {
    Timestamp::from_second(1_772_366_400 + days * 86_400).unwrap()
}

async fn visit(lab: &Lab, method: Method, token: &str) -> Response {
    let path = format!("/unsubscribe?token={token}");
    let call = lab.call(method, &path).header("accept", "text/html");
    call.header("content-type", "application/x-www-form-urlencoded").bytes(FORM).send().await
}

async fn history(lab: &Lab) -> Value {
    lab.get("/api/v1/users/ada/preferences").await.body["history"].clone()
}

#[tokio::test(start_paused = true)]
async fn looking_changes_nothing_and_one_post_ends_it() {
    let lab = lab_with_ada().await;
    let id = accepted(&lab, &tomorrow("ada")).await;
    let token = key_ring("test", 7).sign(&claim(), in_days(30));
    let page = visit(&lab, Method::GET, &token).await.assert_status(200);
    let text = String::from_utf8_lossy(&page.bytes);
    assert!(text.contains("<form method=\"post\"") && text.contains("orders"), "{text}");
    assert!(page.header("content-security-policy").contains("form-action 'self'"));
    assert_eq!(history(&lab).await, json!([]));
    for _ in 0..2 {
        assert_eq!(visit(&lab, Method::POST, &token).await.status, 200);
        let switched = history(&lab).await;
        assert_eq!(switched.as_array().unwrap().len(), 1);
        assert_eq!(switched[0]["by"], "unsubscribe");
    }
    let found = read(&lab, &id).await;
    assert_eq!(found["deliveries"][0]["status"], "cancelled", "{found}");
    assert_eq!(found["deliveries"][1]["status"], "pending", "text messages go on");
}

#[tokio::test(start_paused = true)]
async fn a_post_that_is_not_one_click_changes_nothing() {
    let lab = Lab::new();
    let token = key_ring("test", 7).sign(&claim(), in_days(30));
    let path = format!("/unsubscribe?token={token}");
    let answer = lab.call(Method::POST, &path).send().await;
    super::assert_names(&answer, "List-Unsubscribe");
    assert_eq!(history(&lab).await, json!([]));
}

#[tokio::test(start_paused = true)]
async fn forged_expired_and_other_tokens_prove_nothing() {
    let lab = Lab::new();
    let delivery = DeliveryId {
        notification_id: NotificationId::parse(super::UNKNOWN_ID).unwrap(),
        endpoint: Endpoint::Email,
    };
    let good = key_ring("test", 7).sign(&claim(), in_days(30));
    for (token, status) in [
        (String::new(), 403),
        ("nonsense".to_owned(), 403),
        (key_ring("test", 8).sign(&claim(), in_days(30)), 403),
        (key_ring("other", 7).sign(&claim(), in_days(30)), 403),
        (good[..good.len() - 2].to_owned(), 403),
        (key_ring("test", 7).sign(&TokenClaim::Open { delivery }, in_days(30)), 403),
        (key_ring("test", 7).sign(&claim(), in_days(-1)), 410),
    ] {
        for method in [Method::GET, Method::POST] {
            let answer = visit(&lab, method, &token).await;
            assert_eq!(answer.status, status, "{token}");
            assert!(answer.header("content-type").starts_with("text/html"));
        }
        let path = format!("/unsubscribe?token={token}");
        let plain = lab.call(Method::POST, &path).bytes(FORM).send().await;
        assert_eq!(plain.header("content-type"), "application/problem+json");
    }
    assert_eq!(history(&lab).await, json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_token_of_an_older_key_is_good_as_long_as_the_key_is_there() {
    let key = |byte: u8| STANDARD.encode([byte; 32]);
    let keys = format!("new:{},test:{}", key(9), key(7));
    let lab = Lab::with_parameters(Setup::default(), &[("TokenKeys", &keys)]);
    for (id, byte) in [("test", 7), ("new", 9)] {
        let token = key_ring(id, byte).sign(&claim(), in_days(30));
        assert_eq!(visit(&lab, Method::GET, &token).await.status, 200, "{id}");
    }
    let without = format!("new:{}", key(9));
    let lab = Lab::with_parameters(Setup::default(), &[("TokenKeys", &without)]);
    let token = key_ring("test", 7).sign(&claim(), in_days(30));
    assert_eq!(visit(&lab, Method::GET, &token).await.status, 403);
}
