//! Every call of the feed, without permission, with invalid input, and about unknown ids.

use e2e::target;
use serde_json::{Value, json};

use super::User;

const UNKNOWN_ID: &str = "000000000000ffffffffffffffff";

/// A call: its method, its path (with `POST` for a post and `USER` for a person) and a body that is wrong,
/// if it takes one.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    let none = Value::Null;
    vec![
        ("GET", "/api/v1/feed?order=best", none.clone()),
        ("GET", "/api/v1/feed/realtime", none.clone()),
        ("POST", "/api/v1/posts", json!({ "text": "" })),
        ("GET", "/api/v1/posts/POST", none.clone()),
        ("PATCH", "/api/v1/posts/POST", json!({ "privacy": "NOBODY" })),
        ("DELETE", "/api/v1/posts/POST", none.clone()),
        ("POST", "/api/v1/media", json!({ "contentType": "text/html", "bytes": 1 })),
        ("PUT", "/api/v1/posts/POST/like", none.clone()),
        ("DELETE", "/api/v1/posts/POST/like", none.clone()),
        ("POST", "/api/v1/posts/POST/comments", json!({ "text": "" })),
        ("GET", "/api/v1/posts/POST/comments?limit=0", none.clone()),
        ("DELETE", "/api/v1/posts/POST/comments/000000000000ffffffffffffffff", none.clone()),
        ("POST", "/api/v1/posts/POST/share", json!({ "privacy": "NOBODY" })),
        ("POST", "/api/v1/posts/POST/report", json!({ "reason": "RUDE" })),
        ("GET", "/api/v1/users/USER", none.clone()),
        ("GET", "/api/v1/users/USER/posts?limit=0", none.clone()),
        ("GET", "/api/v1/users/USER/followers?limit=0", none.clone()),
        ("GET", "/api/v1/users/USER/following?limit=0", none.clone()),
        ("PUT", "/api/v1/users/USER/follow", none.clone()),
        ("GET", "/api/v1/trending?limit=0", none),
    ]
}

/// Everything about a post that is not theirs to see is not there for them.
#[test]
fn every_call_keeps_strangers_out_and_says_what_is_wrong() {
    let target = target();
    let (ada, eve) = (User::new(target, "ada"), User::new(target, "eve"));
    let private = ada.post(&json!({ "text": "mine", "privacy": "PRIVATE" }));
    let public = ada.post(&json!({ "text": "public" }));
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let role = json!({ "userId": target.fresh("viewer"), "name": "v", "roles": ["job-viewer"] });
    let viewer = target.post("/api/v1/accounts", &role).text("userId").to_owned();
    let viewer = target.post(&format!("/api/v1/accounts/{viewer}/keys"), &json!({}));
    for (method, path, wrong) in calls() {
        let body = (!wrong.is_null()).then_some(&wrong);
        let own = path.replace("USER", &ada.id).replace("POST", &name(&public));
        let anonymous = target.send(method, &own, "", &[], body);
        assert_eq!(anonymous.status, 401, "{method} {path}: {}", anonymous.body);
        let small = target.send(method, &own, viewer.text("key"), &[], body);
        assert_eq!(small.status, 403, "{method} {path}: {}", small.body);
        if body.is_some() || path.contains('?') {
            // The refusal to change another's post comes before the validation of the body.
            let by = if method == "PATCH" { &ada } else { &eve };
            let refused = by.call(method, &own, body);
            assert!([400, 422].contains(&refused.status), "{method} {path}: {}", refused.body);
            assert_eq!(refused.media_type, "application/problem+json", "{method} {path}");
        }
        let right = json!({ "text": "right", "reason": "SPAM" });
        let fitting = match path.rsplit('/').next() {
            Some("report") => Some(json!({ "reason": "SPAM" })),
            _ if body.is_some() => Some(json!({ "text": right["text"] })),
            _ => None,
        };
        for hidden in [name(&private), UNKNOWN_ID.to_owned()] {
            if path.contains("POST") {
                let path = path.replace("?limit=0", "").replace("POST", &hidden);
                let found = eve.call(method, &path, fitting.as_ref());
                assert_eq!(found.status, 404, "{method} {path}: {}", found.body);
            }
        }
        if path.contains("USER") {
            let path = path.replace("?limit=0", "").replace("USER", &target.fresh("unknown"));
            let found = eve.call(method, &path, None);
            assert_eq!(found.status, 404, "{method} {path}: {}", found.body);
        }
    }
}

#[test]
fn what_belongs_to_another_user_is_not_changed() {
    let target = target();
    let (ada, eve) = (User::new(target, "ada"), User::new(target, "eve"));
    let post = ada.post(&json!({ "text": "mine" }));
    let edit = json!({ "text": "yours" });
    assert_eq!(eve.call("PATCH", &post, Some(&edit)).status, 403);
    assert_eq!(eve.call("DELETE", &post, None).status, 403);
    assert_eq!(ada.get(&post).text("text"), "mine");
    let profile = json!({ "name": "Eve was here" });
    let saved = eve.call("PUT", &format!("/api/v1/users/{}", ada.id), Some(&profile));
    assert!([403, 404].contains(&saved.status), "{}", saved.body);
    let ruling = format!("/api/v1/moderation/{}/ruling", post.trim_start_matches("/api/v1/"));
    let ruled = eve.call("POST", &ruling, Some(&json!({ "ruling": "UPHELD" })));
    assert_eq!(ruled.status, 403, "{}", ruled.body);
}
