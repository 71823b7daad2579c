//! People: they opt out, move, and read.

use domain::Timestamp;
use domain::accounts::UserId;
use domain::notifications::token::{KeyRing, TokenClaim, TokenKey};
use domain::notifications::{Category, Channel, Reason, Status};
use http::Method;
use local::faults::Fault;
use serde_json::{Value, json};
use tests::Response;

use super::{Scene, contents, strike_all};

#[test]
fn no_call_of_an_opt_out_can_fail_in_a_way_that_something_follows_it() {
    strike_all("save preferences", 8, |nth, fault| strike_opt_out(false, nth, fault));
    strike_all("unsubscribe", 8, |nth, fault| strike_opt_out(true, nth, fault));
}

#[test]
fn no_call_about_contacts_or_what_was_read_can_fail_in_a_way_that_lasts() {
    strike_all("save contacts", 8, strike_contacts);
    strike_all("mark as read", 3, strike_read);
}

async fn waiting() -> Scene {
    let scene = Scene::new(&["ada"]).await;
    let mut body = contents("ada");
    body["sendAt"] = json!("2026-03-01T12:05:00Z");
    scene.accept(&body).await;
    scene
}

/// By a mail's link, as mail programs do it; until there is an answer.
async fn unsubscribe(scene: &Scene) -> Response {
    let ring = KeyRing::new(TokenKey::new("test", &[7; 32]).unwrap(), Vec::new());
    let claim = TokenClaim::Unsubscribe {
        user: UserId::outside("ada"),
        channel: Channel::Email,
        category: Category::parse("orders").unwrap(),
    };
    let until = Timestamp::from_second(scene.now().as_second() + 86_400).unwrap();
    let path = format!("/unsubscribe?token={}", ring.sign(&claim, until));
    loop {
        let call = scene.lab.call(Method::POST, &path);
        let answer = call.bytes("List-Unsubscribe=One-Click").send().await;
        if !answer.status.is_server_error() {
            return answer;
        }
        scene.lab.advance_seconds(3);
    }
}

async fn strike_opt_out(by_link: bool, nth: u64, fault: Fault) -> bool {
    let scene = waiting().await;
    scene.strike(nth, fault);
    let answer = if by_link {
        unsubscribe(&scene).await
    } else {
        let off = json!({ "channels": { "email": false } });
        scene.persist(Method::PUT, "/api/v1/users/ada/preferences", &off).await
    };
    let struck = scene.lab.stop_faults();
    let context = format!("opt out, by link: {by_link}, call {nth}, {fault:?}: {}", answer.body);
    assert_eq!(answer.status, 200, "{context}");
    // No sweep and no minute is needed for what was answered.
    scene.settle().await;
    let mail = scene.delivery(Channel::Email).await;
    assert_eq!(mail.status, Status::Cancelled, "{context}: {mail:?}");
    assert!(matches!(mail.reason, Some(Reason::OptedOut { .. })), "{context}: {mail:?}");
    let history = scene.lab.get("/api/v1/users/ada/preferences").await.body["history"].clone();
    assert_eq!(history.as_array().unwrap().len(), 1, "{context}: {history}");
    let deliveries = scene.check(&context).await;
    for delivery in deliveries.iter().filter(|it| it.channel() != Channel::Email) {
        assert_eq!(delivery.status, Status::Delivered, "{context}");
    }
    assert!(scene.providers.sends().iter().all(|it| it.provider != "mail"), "{context}");
    struck
}

async fn strike_contacts(nth: u64, fault: Fault) -> bool {
    let scene = waiting().await;
    let without = json!({ "phone": "+34600123450" });
    scene.strike(nth, fault);
    let answer = scene.persist(Method::PUT, "/api/v1/users/ada/contacts", &without).await;
    let struck = scene.lab.stop_faults();
    let context = format!("contacts, call {nth}, {fault:?}: {}", answer.body);
    assert_eq!(answer.status, 200, "{context}");
    for delivery in scene.check(&context).await {
        let stays = delivery.channel() == Channel::Sms;
        assert_eq!(delivery.status == Status::Delivered, stays, "{context}: {delivery:?}");
        assert_eq!(delivery.reason == Some(Reason::AddressGone), !stays, "{context}: {delivery:?}");
    }
    assert_eq!(scene.providers.sends().len(), 1, "{context}");
    struck
}

async fn strike_read(nth: u64, fault: Fault) -> bool {
    let scene = Scene::new(&["ada"]).await;
    scene.accept(&contents("ada")).await;
    scene.strike(nth, fault);
    let path = "/api/v1/users/ada/notifications/read";
    let answer = scene.persist(Method::POST, path, &Value::Null).await;
    let struck = scene.lab.stop_faults();
    let context = format!("read, call {nth}, {fault:?}: {}", answer.body);
    assert_eq!(answer.status, 200, "{context}");
    let log = scene.lab.get("/api/v1/users/ada/notifications").await;
    assert_eq!(log.body["items"][0]["unread"], json!(false), "{context}: {}", log.body);
    struck
}
