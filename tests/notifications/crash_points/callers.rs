//! Who sends: accepts, takes back, writes templates, replays; and what providers say of it later.

use domain::notifications::{Channel, Class, Status};
use http::Method;
use local::faults::Fault;
use serde_json::{Value, json};
use tests::callbacks::{SECRET, signed};
use tests::scripted_providers::ScriptedOutcome;

use super::{ALL, Scene, contents, strike_all};

#[test]
fn no_call_of_an_acceptance_can_fail_in_a_way_that_loses_or_doubles_a_notification() {
    strike_all("accept for one", 4, |nth, fault| strike_acceptance(&["ada"], nth, fault));
    strike_all("accept for three", 7, |nth, fault| {
        strike_acceptance(&["ada", "bob", "cyd"], nth, fault)
    });
}

#[test]
fn no_call_of_a_cancellation_or_a_replay_can_fail_in_a_way_that_lasts() {
    strike_all("cancel", 5, strike_cancel);
    strike_all("replay", 4, strike_replay);
}

#[test]
fn no_call_of_a_provider_can_fail_in_a_way_that_lasts() {
    strike_all("a bounce", 4, |nth, fault| strike_callback("bounced", nth, fault));
    strike_all("a complaint", 6, |nth, fault| strike_callback("complained", nth, fault));
    strike_all("an arrival", 3, |nth, fault| strike_callback("delivered", nth, fault));
}

#[test]
fn no_call_about_a_template_can_fail_in_a_way_that_lasts() {
    strike_all("publish a template", 3, |nth, fault| strike_template(1, nth, fault));
    strike_all("publish another version", 3, |nth, fault| strike_template(2, nth, fault));
    strike_all("activate a version", 3, |nth, fault| strike_template(3, nth, fault));
}

async fn strike_acceptance(people: &[&str], nth: u64, fault: Fault) -> bool {
    let scene = Scene::new(people).await;
    let mut body = contents("ada");
    if people.len() > 1 {
        body["userId"] = Value::Null;
        body["userIds"] = json!(people);
    }
    scene.strike(nth, fault);
    let answer = scene.persist(Method::POST, ALL, &body).await;
    let struck = scene.lab.stop_faults();
    let context = format!("accept for {people:?}, call {nth}, {fault:?}: {}", answer.body);
    assert_eq!(answer.status, 202, "{context}");
    let again = scene.persist(Method::POST, ALL, &body).await;
    assert_eq!((again.status, &again.body), (answer.status, &answer.body), "{context}");
    let deliveries = scene.check(&context).await;
    assert_eq!(deliveries.len(), 3 * people.len(), "{context}");
    assert!(deliveries.iter().all(|it| it.status == Status::Delivered), "{context}");
    assert_eq!(scene.providers.sends().len(), deliveries.len(), "{context}");
    for told in answer.body["notifications"].as_array().unwrap() {
        let id = told["notificationId"].as_str().unwrap();
        let known = |it: &&domain::notifications::Delivery| it.id.notification_id.as_str() == id;
        assert_eq!(deliveries.iter().filter(known).count(), 3, "{context}");
    }
    struck
}

async fn strike_cancel(nth: u64, fault: Fault) -> bool {
    let scene = Scene::new(&["ada"]).await;
    let id = scene.accept(&contents("ada")).await;
    scene.strike(nth, fault);
    let answer = scene.persist(Method::DELETE, &format!("{ALL}/{id}"), &Value::Null).await;
    let struck = scene.lab.stop_faults();
    let context = format!("cancel, call {nth}, {fault:?}: {}", answer.body);
    assert_eq!(answer.text("status"), "cancelled", "{context}");
    let deliveries = scene.check(&context).await;
    assert!(deliveries.iter().all(|it| it.status == Status::Cancelled), "{context}");
    assert!(scene.providers.sends().is_empty(), "{context}");
    struck
}

async fn strike_replay(nth: u64, fault: Fault) -> bool {
    let scene = Scene::new(&["ada"]).await;
    scene.providers.script_always("text", ScriptedOutcome::refuse(Class::Content));
    let mut body = contents("ada");
    body["channels"] = json!(["sms"]);
    scene.accept(&body).await;
    scene.settle().await;
    assert_eq!(scene.delivery(Channel::Sms).await.status, Status::Failed);
    scene.providers.accept_all();
    scene.strike(nth, fault);
    let replay = json!({ "name": "r", "channel": "sms" });
    let answer = scene.persist(Method::POST, "/api/v1/dead-letters/replay", &replay).await;
    let struck = scene.lab.stop_faults();
    let context = format!("replay, call {nth}, {fault:?}: {}", answer.body);
    assert_eq!(answer.status, 200, "{context}");
    let deliveries = scene.check(&context).await;
    let [delivery] = deliveries.as_slice() else { panic!("{context}: {deliveries:?}") };
    assert_eq!((delivery.status, delivery.attempt), (Status::Delivered, 2), "{context}");
    struck
}

/// What a provider says of a mail that it had accepted; it repeats what it got no answer to.
async fn strike_callback(kind: &str, nth: u64, fault: Fault) -> bool {
    let scene = Scene::new(&["ada"]).await;
    let draft = json!({
        "defaultLocale": "en", "required": [],
        "texts": { "en": { "email": { "subject": "Hello", "text": "Hello" } } },
    });
    scene.persist(Method::PUT, "/api/v1/templates/order", &draft).await;
    let body = json!({ "userId": "ada", "category": "orders", "template": { "id": "order" } });
    scene.accept(&body).await;
    scene.settle().await;
    let mut later = contents("ada");
    later["channels"] = json!(["email"]);
    later["sendAt"] = json!("2026-03-01T12:10:00Z");
    scene.accept(&later).await;
    let key = scene.providers.sends()[0].message.key.clone();
    let mut events = json!({ "reference": format!("mail:{key}"), "kind": kind });
    events["at"] = json!("2026-03-01T12:00:00Z");
    if kind == "bounced" {
        events["hard"] = json!(true);
    }
    scene.strike(nth, fault);
    let answer = loop {
        let bytes = json!([events]).to_string();
        let mut call = scene.lab.call(Method::POST, "/api/v1/providers/mail/events");
        for (name, value) in signed(&SECRET, scene.now().as_second(), bytes.as_bytes()) {
            call = call.header(name, &value);
        }
        let answer = call.bytes(bytes).send().await;
        if !answer.status.is_server_error() {
            break answer;
        }
        scene.lab.advance_seconds(3);
    };
    let struck = scene.lab.stop_faults();
    let context = format!("{kind}, call {nth}, {fault:?}: {}", answer.body);
    assert_eq!((answer.status.as_u16(), &answer.body["noted"]), (200, &json!(1)), "{context}");
    let deliveries = scene.check(&context).await;
    let of = |key: &str| deliveries.iter().find(|it| it.id.key() == key).unwrap();
    let other = deliveries.iter().find(|it| it.id.key() != key).unwrap();
    let ends = match kind {
        "bounced" => (Status::Failed, Status::Suppressed),
        "complained" => (Status::Delivered, Status::Cancelled),
        _ => (Status::Delivered, Status::Delivered),
    };
    assert_eq!((of(&key).status, other.status), ends, "{context}");
    let shown = scene.lab.get("/api/v1/templates/order").await;
    let results = &shown.body["versions"][0]["results"][0];
    let arrived = u64::from(kind == "delivered");
    assert_eq!(results["delivered"], json!(arrived), "{context}: {results}");
    struck
}

/// Publishes a first version, or a second one, or activates that.
async fn strike_template(step: u32, nth: u64, fault: Fault) -> bool {
    const ORDER: &str = "/api/v1/templates/order";
    let draft = |text: &str| {
        json!({
            "defaultLocale": "en", "required": [],
            "texts": { "en": { "email": { "subject": "Hello", "text": text } } },
        })
    };
    let scene = Scene::new(&["ada"]).await;
    for version in 1..step {
        let body = draft(&format!("version {version}"));
        scene.persist(Method::PUT, ORDER, &body).await;
    }
    scene.strike(nth, fault);
    let answer = if step == 3 {
        let path = format!("{ORDER}/versions/2/activate");
        scene.persist(Method::POST, &path, &Value::Null).await
    } else {
        scene.persist(Method::PUT, ORDER, &draft(&format!("version {step}"))).await
    };
    let struck = scene.lab.stop_faults();
    let context = format!("template, step {step}, call {nth}, {fault:?}: {}", answer.body);
    assert!(answer.status.is_success(), "{context}");
    let shown = scene.lab.get(ORDER).await;
    let (latest, active) = (step.min(2), if step == 3 { 2 } else { 1 });
    assert_eq!(shown.body["latestVersion"], json!(latest), "{context}");
    assert_eq!(shown.body["activeVersion"], json!(active), "{context}");
    let body = json!({ "userId": "ada", "category": "orders", "template": { "id": "order" } });
    scene.lab.advance_seconds(6);
    let id = scene.accept(&body).await;
    let told = scene.lab.get(&format!("{ALL}/{id}")).await;
    assert_eq!(told.body["template"]["version"], json!(active), "{context}");
    struck
}
