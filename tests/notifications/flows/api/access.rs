//! Who may do what with whose notifications.

use http::Method;
use serde_json::{Value, json};
use tests::Lab;

use super::{ALL, UNKNOWN_ID, accepted, reachable, send, tomorrow};

#[tokio::test(start_paused = true)]
async fn users_see_only_their_own() {
    let (lab, ada) = Lab::with_member().await;
    let eve = lab.user("eve", &["member"]).await;
    let notifier = lab.user("shop", &["notifier"]).await;
    reachable(&lab, "ada").await;
    let id = accepted(&lab, &tomorrow("ada")).await;
    for (method, path) in [
        (Method::GET, format!("{ALL}/{id}")),
        (Method::GET, "/api/v1/users/ada/notifications".to_owned()),
        (Method::POST, "/api/v1/users/ada/notifications/read".to_owned()),
        (Method::GET, "/api/v1/users/ada/preferences".to_owned()),
        (Method::GET, "/api/v1/users/ada/contacts".to_owned()),
    ] {
        for (key, status) in [(&eve, 404), (&ada, 200), (&notifier, 200)] {
            let answer = send(&lab, method.clone(), &path, key, &Value::Null).await;
            assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
        }
    }
    for what in ["preferences", "contacts"] {
        let path = format!("/api/v1/users/ada/{what}");
        assert_eq!(send(&lab, Method::PUT, &path, &eve, &json!({})).await.status, 404);
        assert_eq!(send(&lab, Method::PUT, &path, &ada, &json!({})).await.status, 200);
    }
}

#[tokio::test(start_paused = true)]
async fn what_there_is_not_is_not_found() {
    let lab = Lab::new();
    for path in [
        format!("{ALL}/{UNKNOWN_ID}"),
        format!("{ALL}/nonsense"),
        "/api/v1/templates/none".to_owned(),
        "/t/o/1.a.b.c".to_owned(),
        "/t/c/1.a.b.c".to_owned(),
    ] {
        assert_eq!(lab.get(&path).await.status, 404, "{path}");
    }
    let received = lab.post("/api/v1/providers/ses/events", &json!([])).await;
    assert_eq!(received.status, 404, "no provider has a secret here");
}
