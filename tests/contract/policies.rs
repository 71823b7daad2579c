//! One role a function, as narrow as its job.

use std::collections::BTreeSet;

use http::Method;
use local::policy::Use;
use serde_json::json;
use template::{Effect, Tracing};
use tests::{Lab, root_key};

use super::stack;

#[test]
fn no_statement_allows_everything() {
    for function in &stack().functions {
        assert!(function.managed_policies.is_empty(), "{}", function.logical_id);
        assert!(function.policy_templates.is_empty(), "{}", function.logical_id);
        for statement in &function.policies {
            let words = statement.actions.iter().chain(&statement.resources);
            for word in words {
                // A bucket's objects can't be named one by one, but their folder can.
                let folder =
                    word.strip_prefix("arn:aws:s3:::").and_then(|it| it.strip_suffix("/*"));
                let named = folder.is_some_and(|it| it.contains('/') && !it.contains('*'));
                assert!(named || !word.contains('*'), "{}: {word}", function.logical_id);
            }
        }
    }
}

/// Everything that a function may do is done by some flow; what is done without permission fails
/// there already, because the local cloud enforces the same statements.
#[tokio::test(start_paused = true)]
async fn every_permission_is_used() {
    let lab = Lab::new();
    exercise(&lab).await;
    for function in &stack().functions {
        let allowed: BTreeSet<Use> = function
            .policies
            .iter()
            .filter(|statement| statement.effect == Effect::Allow)
            .flat_map(|statement| {
                statement.actions.iter().flat_map(|action| {
                    statement
                        .resources
                        .iter()
                        .map(|resource| Use { action: action.clone(), resource: resource.clone() })
                })
            })
            .collect();
        let used = lab.cloud.functions.policy(&function.logical_id).unwrap().used();
        let idle: Vec<_> = allowed.difference(&used).collect();
        assert!(idle.is_empty(), "{} never uses {idle:?}", function.logical_id);
    }
}

/// A little of everything.
async fn exercise(lab: &Lab) {
    let key = lab.user("ada", &["member"]).await;
    let call = |method: Method, path: &str| lab.call(method, path).by(&root_key());
    lab.call(Method::GET, "/api/v1/me").by(&key).send().await;
    lab.cloud.functions.go_cold();
    lab.call(Method::POST, "/api/v1/ids").by(&key).send().await;
    for path in ["", "/ada", "/ada/keys", "/ada/audit"] {
        call(Method::GET, &format!("/api/v1/accounts{path}")).send().await;
    }
    let refused = call(Method::POST, "/api/v1/accounts").header("idempotency-key", "refused");
    refused.json(&json!({ "name": "" })).send().await;
    let created = call(Method::POST, "/api/v1/accounts").header("idempotency-key", "created");
    created.json(&json!({ "name": "Eve", "roles": ["admin"] })).send().await;
    exercise_links(lab, &key).await;
    lab.cloud.faults.strike(3, local::faults::Fault::CrashBefore);
    call(Method::DELETE, "/api/v1/accounts/ada").send().await;
    lab.cloud.faults.stop();
    call(Method::DELETE, "/api/v1/accounts/ada").send().await;
    let dead = &stack().queues.iter().find(|queue| queue.redrive.is_some()).unwrap().name;
    let poison = queues::NewMessage::text("not json");
    lab.cloud.services.queues().send(dead, &poison).unwrap();
    lab.come_to_rest().await;
}

async fn exercise_links(lab: &Lab, key: &str) {
    let post = |path: &str, body: serde_json::Value| {
        lab.call(Method::POST, path).by(key).json(&body).send()
    };
    let spent =
        json!({ "longUrl": "https://example.com/", "customAlias": "spent", "maxClicks": 1 });
    assert_eq!(post("/api/v1/shorten", spent).await.status, 201);
    assert_eq!(
        lab.call(Method::GET, "/spent").header("user-agent", BROWSER).send().await.status,
        302
    );
    lab.cloud.settle().await;
    let reused = json!({ "longUrl": "https://example.com/", "note": "x" });
    assert_eq!(post("/api/v1/shorten", reused).await.status, 201);
    let entry = json!({ "host": "example.com", "reason": "no" });
    let blocked = lab.post("/api/v1/blocklist", &entry).await;
    assert_eq!(blocked.status, 201);
    assert_eq!(lab.call(Method::GET, "/api/v1/urls").by(key).send().await.status, 200);
    assert_eq!(lab.call(Method::GET, "/api/v1/url/spent").by(key).send().await.status, 200);
    lab.sweep().await;
    let entry = lab.call(Method::DELETE, "/api/v1/blocklist/host:example.com").by(&root_key());
    assert_eq!(entry.send().await.status, 204);
    let clicks = stack().queues.iter().find(|queue| queue.logical_id == "ClicksQueue").unwrap();
    let poison = queues::NewMessage::text("not json");
    lab.cloud.services.queues().send(&clicks.name, &poison).unwrap();
}

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

#[test]
fn every_function_is_traced_logged_and_alike() {
    for function in &stack().functions {
        let name = &function.logical_id;
        assert_eq!(function.tracing, Tracing::Active, "{name}");
        assert_eq!(function.runtime.as_deref(), Some("provided.al2023"), "{name}");
        assert_eq!(function.handler.as_deref(), Some("bootstrap"), "{name}");
        assert!(function.log_group.is_some(), "{name}");
        assert_eq!(function.code_uri, format!("target/lambda/{}/", function.binary), "{name}");
    }
    for group in &stack().log_groups {
        assert!(group.retention_days.is_some(), "{} keeps logs for ever", group.logical_id);
    }
}
