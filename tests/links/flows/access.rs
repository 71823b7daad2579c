//! Access where no key is needed, and to anonymous links.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{assert_problem, code, plain, post};

#[tokio::test(start_paused = true)]
async fn where_no_key_is_needed_a_wrong_one_is_refused_all_the_same() {
    let lab = Lab::new();
    let roleless = lab.user("nil", &[]).await;
    let link = code(&lab, &root_key(), &plain("https://example.org/")).await;
    let report = json!({ "reason": "spam" });
    let paths = [
        ("/api/v1/shorten".to_owned(), plain("https://a.example/")),
        (format!("/api/v1/url/{link}/report"), report),
    ];
    for (path, body) in &paths {
        assert_problem(&post(&lab, path, "root.wrong", body).await, 401, "unauthenticated");
        assert_problem(&post(&lab, path, &roleless, body).await, 403, "forbidden");
    }
    assert_eq!(super::rows(&lab, "link#").await, 1);
}

#[tokio::test(start_paused = true)]
async fn another_users_link_is_not_found_like_one_that_does_not_exist() {
    let (lab, ada) = Lab::with_member().await;
    let eve = lab.user("eve", &["member"]).await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    let anonymous = code(&lab, "", &plain("https://example.org/")).await;
    for (method, path, body) in [
        (Method::GET, "/api/v1/url/CODE", Value::Null),
        (Method::PATCH, "/api/v1/url/CODE", json!({ "note": "x" })),
        (Method::DELETE, "/api/v1/url/CODE", Value::Null),
        (Method::POST, "/api/v1/url/CODE/restore", Value::Null),
        (Method::GET, "/api/v1/url/CODE/analytics", Value::Null),
    ] {
        for (name, key) in
            [(link.as_str(), &eve), (&anonymous, &eve), ("nothing", &ada), ("a!b", &ada)]
        {
            let call = lab.call(method.clone(), &path.replace("CODE", name)).by(key);
            let call = call.header("if-match", "\"1\"").json(&body);
            let answer = call.send().await;
            assert_problem(&answer, 404, "not-found");
        }
    }
    for path in ["block", "unblock"] {
        let path = format!("/api/v1/url/nothing/{path}");
        let answer = post(&lab, &path, &root_key(), &json!({ "reason": "x" })).await;
        assert_problem(&answer, 404, "not-found");
    }
    let read = super::get(&lab, &format!("/api/v1/url/{link}"), &ada).await;
    assert_eq!(read.body["version"], 1);
    // Admins see all users' links, and anonymous ones.
    for name in [&link, &anonymous] {
        let seen = super::get(&lab, &format!("/api/v1/url/{name}"), &root_key()).await;
        assert_eq!(seen.text("longUrl"), "https://example.org/");
    }
}
