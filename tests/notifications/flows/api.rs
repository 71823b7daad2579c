//! Notifications, by what callers, people, operators and providers see.

mod accept;
mod access;
mod callbacks;
mod dead_letters;
mod input;
mod lost;
mod templates;
mod tracking;
mod unsubscribe;
mod users;

use http::Method;
use notifications::store::Notifications;
use serde_json::{Value, json};
use tests::scripted_providers::ScriptedProviders;
use tests::{Lab, Response, Setup, assert_names, root_key, send};

const ALL: &str = "/api/v1/notifications";

/// A notification that there is not.
const UNKNOWN_ID: &str = "0000000000000000000000000000";

/// A cloud, and those who carry its notifications.
fn with_providers() -> (Lab, ScriptedProviders) {
    let providers = ScriptedProviders::new();
    (Lab::with(Setup { providers: Some(providers.clone()), ..Setup::default() }), providers)
}

/// A PUT by the bootstrap admin that must succeed.
async fn put(lab: &Lab, path: &str, body: &Value) -> Response {
    let saved = send(lab, Method::PUT, path, &root_key(), body).await;
    assert!(saved.status.is_success(), "{path} {body}: {}", saved.body);
    saved
}

/// Gives a user a mailbox and a telephone.
async fn reachable(lab: &Lab, user: &str) {
    let contacts = json!({ "email": format!("{user}@example.org"), "phone": "+34600123456" });
    put(lab, &format!("/api/v1/users/{user}/contacts"), &contacts).await;
}

async fn lab_with_ada() -> Lab {
    let lab = Lab::new();
    reachable(&lab, "ada").await;
    lab
}

/// Words for a mail and a text message, not to be sent before tomorrow.
fn tomorrow(user: &str) -> Value {
    json!({
        "userId": user,
        "category": "orders",
        "sendAt": "2026-03-02T12:00:00Z",
        "content": {
            "email": { "subject": "Hello", "text": "Your order is on its way." },
            "sms": { "text": "Your order is on its way." },
        },
    })
}

/// Accepts a notification for one person; its id.
async fn accepted(lab: &Lab, body: &Value) -> String {
    let answer = lab.post(ALL, body).await;
    assert_eq!(answer.status, 202, "{body}: {}", answer.body);
    answer.body["notifications"][0]["notificationId"].as_str().unwrap().to_owned()
}

async fn read(lab: &Lab, id: &str) -> Value {
    let found = lab.get(&format!("{ALL}/{id}")).await.assert_status(200);
    found.body
}

/// How many notifications a person has.
async fn log_length(lab: &Lab, user: &str) -> usize {
    let log = lab.get(&format!("/api/v1/users/{user}/notifications?limit=50")).await;
    assert_eq!(log.status, 200, "{}", log.body);
    log.body["items"].as_array().unwrap().len()
}

fn table(lab: &Lab) -> Notifications {
    Notifications::new(lab.aws().dynamodb(), lab.table("NotificationsTable"))
}
