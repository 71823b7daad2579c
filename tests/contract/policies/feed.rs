//! What the functions of the feed may do, done once.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, Response, root_key};

use crate::contract::stack;

/// So small that everything happens: pages of one follower, and authors who are pulled from the third on.
pub(super) const SETTINGS: &str = r#"{"pullFrom":3,"pushBelow":2,"page":1}"#;

/// Users write, follow and connect; messages get lost and the sweep sends them again; users block each
/// other, and an admin decides about a report.
pub(super) async fn exercise(lab: &Lab) {
    let (ann, ben) = (lab.user("ann", &["member"]).await, lab.user("ben", &["member"]).await);
    let (cat, dan) = (lab.user("cat", &["member"]).await, lab.user("dan", &["member"]).await);
    let post = write(lab, &ann, "first").await;
    set_relationship(lab, &ben, Method::PUT, "ann/follow").await;
    lab.cloud.settle().await;
    // This one is fanned out by the sweep alone.
    write(lab, &ann, "second").await;
    lab.advance_seconds(30);
    lab.sweep().await;
    lab.cloud.settle().await;
    let feed = send(lab, &ben, Method::GET, "/api/v1/feed", None).await;
    assert_eq!(feed.body["items"].as_array().map(Vec::len), Some(2), "{}", feed.body);
    engage(lab, &ben, &post).await;
    set_relationship(lab, &cat, Method::PUT, "ann/follow").await;
    lab.cloud.settle().await;
    // The use of a key is reported once an hour.
    lab.advance_seconds(3_700);
    connect(lab, &ben).await;
    // A connected user is sent it.
    write(lab, &ann, "third").await;
    lab.cloud.settle().await;
    set_relationship(lab, &dan, Method::PUT, "ann/follow").await;
    lab.cloud.settle().await;
    connect(lab, &ben).await;
    for path in ["ann/posts", "ann/followers", "ben/following", "ann"] {
        send(lab, &ben, Method::GET, &format!("/api/v1/users/{path}"), None).await;
    }
    let edit = json!({ "text": "First." });
    let post = format!("/api/v1/posts/{post}");
    send(lab, &ann, Method::PATCH, &post, Some(edit)).await;
    send(lab, &ann, Method::DELETE, &post, None).await;
    // A reference that leads to nothing goes with the page that finds it.
    send(lab, &ben, Method::GET, "/api/v1/feed", None).await;
    set_relationship(lab, &ben, Method::PUT, "ann/mute").await;
    set_relationship(lab, &ben, Method::DELETE, "ann/follow").await;
    set_relationship(lab, &ann, Method::PUT, "ben/block").await;
    let poison = queues::NewMessage::text("not json");
    lab.cloud.services.queues().send(&queue(), &poison).unwrap();
    lab.cloud.settle().await;
    // A reader returns after a week.
    lab.advance_seconds(8 * 86_400);
    send(lab, &ben, Method::GET, "/api/v1/feed", None).await;
    lab.cloud.settle().await;
}

/// Likes, comments, shares and reports of a post, and a ruling.
async fn engage(lab: &Lab, key: &str, post: &str) {
    let path = format!("/api/v1/posts/{post}");
    let words = || Some(json!({ "text": "Well said." }));
    send(lab, key, Method::GET, &path, None).await;
    send(lab, key, Method::PUT, &format!("{path}/like"), None).await;
    send(lab, key, Method::POST, &format!("{path}/comments"), words()).await;
    send(lab, key, Method::GET, &format!("{path}/comments"), None).await;
    send(lab, key, Method::POST, &format!("{path}/share"), words()).await;
    // The sweep alone adds up what they did.
    lab.cloud.services.queues().purge(&queue()).unwrap();
    lab.advance_seconds(61);
    lab.sweep().await;
    lab.cloud.settle().await;
    send(lab, key, Method::GET, "/api/v1/trending", None).await;
    let profile = json!({ "name": "Ben" });
    send(lab, key, Method::PUT, "/api/v1/users/ben", Some(profile)).await;
    let spam = json!({ "reason": "SPAM" });
    send(lab, key, Method::POST, &format!("{path}/report"), Some(spam)).await;
    send(lab, &root_key(), Method::GET, "/api/v1/moderation/reports", None).await;
    let ruling = json!({ "ruling": "DISMISSED" });
    let path = format!("/api/v1/moderation/posts/{post}/ruling");
    send(lab, &root_key(), Method::POST, &path, Some(ruling)).await;
}

fn queue() -> String {
    let queue = stack().queues.iter().find(|it| it.logical_id == "FanOutQueue").unwrap();
    queue.name.clone()
}

/// Connects more often than is allowed, resumes, and disconnects. No client is at the other end.
async fn connect(lab: &Lab, key: &str) {
    let event = async |connection: String, kind: &str, route: &str, body: Option<Value>| {
        let event = json!({
            "headers": { "Authorization": format!("Bearer {key}") },
            "requestContext": {
                "routeKey": route, "eventType": kind, "connectionId": connection, "stage": "live",
                "connectedAt": lab.cloud.now_ms(),
            },
            "body": body.map(|body| body.to_string()),
        });
        let answer = lab.cloud.functions.invoke("FeedSocket", event.to_string().into_bytes()).await;
        let answer: Value = serde_json::from_slice(&answer.unwrap()).unwrap();
        assert_eq!(answer["statusCode"], 200, "{answer}");
    };
    for n in 0..22 {
        event(format!("c{n}="), "CONNECT", "$connect", None).await;
        lab.advance_seconds(1);
    }
    let resume = json!({ "type": "resume", "position": "2026-03-01T00:00:00Z" });
    event("c21=".to_owned(), "MESSAGE", "$default", Some(resume)).await;
    event("c20=".to_owned(), "DISCONNECT", "$disconnect", None).await;
}

async fn write(lab: &Lab, key: &str, text: &str) -> String {
    let call = lab.call(Method::POST, "/api/v1/posts").by(key).header("idempotency-key", text);
    let answer = call.json(&json!({ "text": text })).send().await.assert_status(201);
    answer.text("postId").to_owned()
}

async fn set_relationship(lab: &Lab, key: &str, method: Method, path: &str) {
    send(lab, key, method, &format!("/api/v1/users/{path}"), None).await.assert_status(200);
}

async fn send(lab: &Lab, key: &str, method: Method, path: &str, body: Option<Value>) -> Response {
    let call = lab.call(method, path).by(key);
    let call = if let Some(body) = body { call.json(&body) } else { call };
    let answer = call.send().await;
    assert!(!answer.status.is_server_error(), "{path}: {}", answer.body);
    answer
}
