//! Who may do what: every operation without a key, with the wrong role, and on what is not there.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{assert_problem, code, plain, post, send};

/// Every operation that needs a key: method, path, body. `CODE` stands for a link of Ada's, `NONE`
/// for one that is not there.
fn operations() -> Vec<(Method, &'static str, Value)> {
    let block = json!({ "reason": "x" });
    let entry = json!({ "host": "evil.example", "reason": "x" });
    vec![
        (Method::POST, "/api/v1/bulk/shorten", json!({ "urls": [plain("https://a.example")] })),
        (Method::GET, "/api/v1/url/CODE", Value::Null),
        (Method::PATCH, "/api/v1/url/CODE", json!({ "note": "x" })),
        (Method::DELETE, "/api/v1/url/CODE", Value::Null),
        (Method::POST, "/api/v1/url/CODE/restore", Value::Null),
        (Method::GET, "/api/v1/urls", Value::Null),
        (Method::GET, "/api/v1/url/CODE/analytics", Value::Null),
        (Method::POST, "/api/v1/domains", json!({ "domain": "go.example" })),
        (Method::GET, "/api/v1/domains", Value::Null),
        (Method::GET, "/api/v1/domains/go.example", Value::Null),
        (Method::DELETE, "/api/v1/domains/go.example", Value::Null),
        (Method::POST, "/api/v1/domains/go.example/verify", Value::Null),
        (Method::POST, "/api/v1/import?from=csv", json!("url\nhttps://a.example\n")),
        (Method::GET, "/api/v1/export", Value::Null),
        (Method::GET, "/api/v1/reports", Value::Null),
        (Method::DELETE, "/api/v1/reports/1-1", Value::Null),
        (Method::POST, "/api/v1/url/CODE/block", block),
        (Method::POST, "/api/v1/url/CODE/unblock", Value::Null),
        (Method::GET, "/api/v1/blocklist", Value::Null),
        (Method::POST, "/api/v1/blocklist", entry),
        (Method::DELETE, "/api/v1/blocklist/host:evil.example", Value::Null),
    ]
}

const ADMINS_ONLY: usize = 7;

#[tokio::test(start_paused = true)]
async fn without_a_key_or_with_the_wrong_role_nothing_is_done() {
    let lab = Lab::new();
    let ada = lab.user("ada", &["member"]).await;
    let nobody = lab.user("nil", &[]).await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    let all = operations();
    for (index, (method, path, body)) in all.iter().enumerate() {
        let path = path.replace("CODE", &link);
        for wrong in ["", "root.wrong", "nonsense"] {
            let answer = send(&lab, method.clone(), &path, wrong, body).await;
            assert_problem(&answer, 401, "unauthenticated");
        }
        let roleless = send(&lab, method.clone(), &path, &nobody, body).await;
        assert_problem(&roleless, 403, "forbidden");
        if index >= all.len() - ADMINS_ONLY {
            let member = send(&lab, method.clone(), &path, &ada, body).await;
            assert_problem(&member, 403, "forbidden");
        }
    }
    let read = super::get(&lab, &format!("/api/v1/url/{link}"), &ada).await;
    assert_eq!((&read.body["version"], read.text("state")), (&json!(1), "live"));
    assert_eq!(super::rows(&lab, "link#").await, 1);
    assert_eq!(super::rows(&lab, "blocklist").await, 0);
    assert_eq!(super::rows(&lab, "domain#").await, 0);
}

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
async fn what_is_someone_elses_is_not_found_and_what_is_not_there_neither() {
    let lab = Lab::new();
    let ada = lab.user("ada", &["member"]).await;
    let eve = lab.user("eve", &["member"]).await;
    let link = code(&lab, &ada, &plain("https://example.org/")).await;
    let nobodys = code(&lab, "", &plain("https://example.org/")).await;
    for (method, path, body) in operations() {
        if !path.contains("CODE") || path.ends_with("block") {
            continue;
        }
        for (name, key) in
            [(link.as_str(), &eve), (&nobodys, &eve), ("nothing", &ada), ("a!b", &ada)]
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
    // Admins see everyone's, and nobody's.
    for name in [&link, &nobodys] {
        let seen = super::get(&lab, &format!("/api/v1/url/{name}"), &root_key()).await;
        assert_eq!(seen.text("longUrl"), "https://example.org/");
    }
}
