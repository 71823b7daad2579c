//! Least privilege: one role a function, with the permissions that it uses.

mod feed;
mod jobs;
mod notifications;

use std::collections::BTreeSet;

use http::Method;
use local::policy::Permission;
use serde_json::json;
use sink::Sink;
use template::{Effect, Statement, Tracing};
use tests::{Lab, Setup, root_key};

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
                let known = named
                    || is_for_connections(statement, word)
                    || is_only_for_sending(statement, word, &function.policies);
                assert!(known || !word.contains('*'), "{}: {word}", function.logical_id);
            }
        }
    }
}

/// Nor can connections, but the stage and the method can.
fn is_for_connections(statement: &Statement, word: &str) -> bool {
    let stages = stack().websockets.iter().flat_map(|api| {
        api.stages
            .iter()
            .map(|stage| format!("arn:aws:execute-api:us-east-1:000000000000:{}/{stage}/", api.id))
    });
    let mut named = stages.filter_map(|stage| word.strip_prefix(&stage));
    statement.actions == ["execute-api:ManageConnections"]
        && named.any(|rest| matches!(rest, "POST/@connections/*" | "DELETE/@connections/*"))
}

/// Which of the account's own identities sends mail is in settings that IAM can't read; and a telephone
/// has no ARN, so that everything has to be allowed and every topic forbidden.
fn is_only_for_sending(statement: &Statement, word: &str, all: &[Statement]) -> bool {
    let topics = "arn:aws:sns:*:*:*";
    let forbidden = |it: &Statement| {
        it.effect == Effect::Deny && it.actions == ["sns:Publish"] && it.resources == [topics]
    };
    match statement.actions.as_slice() {
        [action] if action == "ses:SendEmail" => {
            let name = word.strip_prefix("arn:aws:ses:us-east-1:000000000000:");
            matches!(name, Some("identity/*" | "configuration-set/*"))
        }
        [action] if action == "sns:Publish" && word == "*" => all.iter().any(forbidden),
        _ => forbidden(statement),
    }
}

/// Everything that a function may do is done by some flow; what is done without permission fails
/// there already, because the local cloud enforces the same statements.
#[tokio::test(start_paused = true)]
async fn every_permission_is_used() {
    let sink = Sink::start(sink::SinkOptions::default()).await.unwrap();
    let settings = json!({
        "ses": { "from": "us@example.com", "configurationSet": "events" },
        "sms": {},
        "rates": { "ses": 100 },
    });
    let setup = Setup { sink: Some(sink), ..Setup::default() };
    let providers = settings.to_string();
    let parameters = [("ProviderSettings", providers.as_str()), ("FeedSettings", feed::SETTINGS)];
    let lab = Lab::with_parameters(setup, &parameters);
    exercise(&lab).await;
    let mut idle: Vec<String> = Vec::new();
    for function in &stack().functions {
        let allowed: BTreeSet<Permission> = function
            .policies
            .iter()
            .filter(|statement| statement.effect == Effect::Allow)
            .flat_map(|statement| {
                statement.actions.iter().flat_map(|action| {
                    statement.resources.iter().map(|resource| Permission {
                        action: action.clone(),
                        resource: resource.clone(),
                    })
                })
            })
            .collect();
        let used = lab.cloud.functions.policy(&function.logical_id).unwrap().used();
        let unused = allowed.difference(&used).filter(|unused| !is_for_presigned_links(unused));
        let name = &function.logical_id;
        idle.extend(unused.map(|it| format!("{name}: {} on {}", it.action, it.resource)));
    }
    assert!(idle.is_empty(), "never used:\n{}", idle.join("\n"));
}

/// Presigned links carry the permissions of the function that signed them, and clients use them.
fn is_for_presigned_links(idle: &Permission) -> bool {
    let linked = ["-artifactsbucket/", "-mediabucket/"];
    idle.action.starts_with("s3:") && linked.iter().any(|bucket| idle.resource.contains(bucket))
}

/// Some calls of every system.
async fn exercise(lab: &Lab) {
    let key = lab.user("ada", &["member"]).await;
    let call = |method: Method, path: &str| lab.call(method, path).by(&root_key());
    lab.call(Method::GET, "/api/v1/me").by(&key).send().await;
    lab.call(Method::GET, "/admin/ratelimits").by(&key).send().await;
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
    jobs::exercise(lab).await;
    notifications::notify(lab).await;
    feed::exercise(lab).await;
    exercise_limits(lab).await;
    notifications::deliver(lab).await;
    // The account is disabled and its event is not published, which is left to the sweep.
    lab.cloud.faults.hang(Some(|call| call.operation == "Publish"));
    call(Method::DELETE, "/api/v1/accounts/ada").send().await;
    lab.cloud.faults.hang(None);
    assert_eq!(lab.get("/api/v1/accounts/ada").await.text("state"), "disabled");
    let dead = &stack().queues.iter().find(|queue| queue.redrive.is_some()).unwrap().name;
    let poison = queues::NewMessage::text("not json");
    lab.cloud.services.queues().send(dead, &poison).unwrap();
    lab.run_until_idle().await;
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
    lab.post("/api/v1/blocklist", &entry).await.assert_status(201);
    assert_eq!(lab.call(Method::GET, "/api/v1/urls").by(key).send().await.status, 200);
    assert_eq!(lab.call(Method::GET, "/api/v1/url/spent").by(key).send().await.status, 200);
    lab.sweep().await;
    let entry = lab.call(Method::DELETE, "/api/v1/blocklist/host:example.com").by(&root_key());
    assert_eq!(entry.send().await.status, 204);
    let clicks = stack().queues.iter().find(|queue| queue.logical_id == "ClicksQueue").unwrap();
    let poison = queues::NewMessage::text("not json");
    lab.cloud.services.queues().send(&clicks.name, &poison).unwrap();
}

/// Every function that answers requests reads rules that have changed, counts, and blocks an address.
async fn exercise_limits(lab: &Lab) {
    let put = |path: &str, body: serde_json::Value| {
        lab.call(Method::PUT, path).by(&root_key()).json(&body).send()
    };
    let settings = json!({ "autoBlock": { "denials": 1 } });
    assert_eq!(put("/admin/ratelimits/settings", settings).await.status, 200);
    let paths = [
        "/docs",
        "/api/v1/ids/1",
        "/api/v1/me",
        "/api/v1/urls",
        "/api/v1/jobs",
        "/unsubscribe",
        "/api/v1/feed",
        "/spent",
    ];
    let rule = json!({ "resources": paths, "dimension": "ip", "limit": 0, "windowSeconds": 60 });
    assert_eq!(put("/admin/ratelimits/nothing", rule).await.status, 201);
    lab.advance_seconds(6);
    for (n, path) in (1..).zip(paths) {
        let source = std::net::IpAddr::from([192, 0, 2, n]);
        let answer = lab.call(Method::GET, path).from_ip(source).send().await;
        assert_eq!(answer.status, 429, "{path}: {}", answer.body);
    }
    lab.cloud.functions.quiesce().await;
    let gone = lab.call(Method::DELETE, "/admin/ratelimits/nothing").by(&root_key()).send().await;
    assert_eq!(gone.status, 204);
    lab.advance_seconds(6);
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
        // A template says it as seen from its own folder.
        let code = function.code_uri.strip_prefix("../").unwrap_or(&function.code_uri);
        assert_eq!(code, format!("target/lambda/{}/", function.binary), "{name}");
    }
    for group in &stack().log_groups {
        assert!(group.retention_days.is_some(), "{} keeps logs for ever", group.logical_id);
    }
}
