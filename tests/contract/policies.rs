//! One role a function, as narrow as its job.

mod notifications;

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use http::Method;
use local::policy::Use;
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
                let known = named || is_only_for_sending(statement, word, &function.policies);
                assert!(known || !word.contains('*'), "{}: {word}", function.logical_id);
            }
        }
    }
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
    let sink = Sink::start(sink::Options::default()).await.unwrap();
    let settings = json!({
        "ses": { "from": "us@example.com", "configurationSet": "events" },
        "sms": {},
        "rates": { "ses": 100 },
    });
    let setup = Setup { sink: Some(sink), ..Setup::default() };
    let lab = Lab::with_parameters(setup, &[("ProviderSettings", settings.to_string().as_str())]);
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
        let idle: Vec<_> = allowed.difference(&used).filter(|idle| !is_for_links(idle)).collect();
        assert!(idle.is_empty(), "{} never uses {idle:?}", function.logical_id);
    }
}

/// Links to objects carry the permissions of whoever signed them, and others use them.
fn is_for_links(idle: &Use) -> bool {
    idle.action.starts_with("s3:") && idle.resource.contains("-artifactsbucket/")
}

/// A little of everything.
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
    exercise_jobs(lab).await;
    notifications::notify(lab).await;
    exercise_limits(lab).await;
    notifications::deliver(lab).await;
    // Whichever call it is: the account is disabled and nobody is told, which is left to the sweep.
    for nth in 2..20 {
        lab.cloud.faults.strike(nth, local::faults::Fault::CrashBefore);
        call(Method::DELETE, "/api/v1/accounts/ada").send().await;
        lab.cloud.faults.stop();
        if lab.get("/api/v1/accounts/ada").await.text("state") == "disabled" {
            break;
        }
    }
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

/// Jobs that wait for others, that fail, that are claimed, and a licence that was left behind.
async fn exercise_jobs(lab: &Lab) {
    let key = lab.user("sub", &["job-submitter"]).await;
    let submit = |body: serde_json::Value| {
        lab.call(Method::POST, "/api/v1/jobs").by(&key).json(&body).send()
    };
    let kind = json!({ "delivery": "poll", "maxConcurrent": 1 });
    let saved = lab.call(Method::PUT, "/api/v1/job-types/polled").by(&root_key()).json(&kind);
    assert_eq!(saved.send().await.status, 201);
    let polled = submit(json!({ "jobType": "polled" })).await;
    let waits = json!({ "jobType": "echo", "dependencies": [polled.text("jobId")] });
    let waits = submit(waits).await;
    assert_eq!(waits.status, 201, "{}", waits.body);
    let explain = format!("/api/v1/jobs/{}/explain", waits.text("jobId"));
    assert_eq!(lab.call(Method::GET, &explain).by(&key).send().await.status, 200);
    let trail = format!("/api/v1/jobs/{}/events", waits.text("jobId"));
    assert_eq!(lab.call(Method::GET, &trail).by(&key).send().await.status, 200);
    for who in [&key, &root_key()] {
        assert_eq!(lab.call(Method::GET, "/api/v1/jobs").by(who).send().await.status, 200);
    }
    let word = json!({ "workerId": "w", "attempt": 1 });
    lab.post("/api/v1/job-types/polled/claim", &json!({ "workerId": "w" })).await;
    for step in ["start", "heartbeat", "complete"] {
        let path = format!("/api/v1/jobs/{}/{step}", polled.text("jobId"));
        let answer = lab.post(&path, &word).await;
        assert_eq!(answer.status, 200, "{step}: {}", answer.body);
    }
    submit(json!({ "jobType": "echo", "payload": "x".repeat(300_000) })).await;
    let hashed = submit(json!({ "jobType": "hash-file", "payload": { "content": "x" } })).await;
    submit(json!({ "jobType": "fail-n-times", "payload": 1 })).await;
    lab.cloud.settle().await;
    let again = json!({ "jobId": hashed.text("jobId"), "artifact": "sha256.txt" });
    submit(json!({ "jobType": "hash-file", "payload": again })).await;
    let left = lab.aws().dynamodb().put_item().table_name(lab.table("JobsTable"));
    let left = left
        .item("pk", AttributeValue::S("licence#echo#0".to_owned()))
        .item("sk", AttributeValue::S(format!("holder#{}", hashed.text("jobId"))));
    left.send().await.unwrap();
    let later = json!({ "jobType": "echo", "notBefore": "2026-12-01T00:00:00Z" });
    let later = submit(later).await;
    submit(json!({ "jobType": "echo", "dependencies": [later.text("jobId")] })).await;
    for queue in ["DispatchQueue", "WorkQueue"] {
        let poison = queues::NewMessage::text("not json");
        let queue = stack().queues.iter().find(|it| it.logical_id == queue).unwrap();
        lab.cloud.services.queues().send(&queue.name, &poison).unwrap();
    }
    lab.cloud.settle().await;
    lab.sweep().await;
    lab.cloud.settle().await;
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
        "/spent",
    ];
    let rule = json!({ "resources": paths, "dimension": "ip", "limit": 0, "windowSeconds": 60 });
    assert_eq!(put("/admin/ratelimits/nothing", rule).await.status, 201);
    lab.advance_seconds(6);
    for (n, path) in (1..).zip(paths) {
        let source = std::net::IpAddr::from([192, 0, 2, n]);
        let answer = lab.call(Method::GET, path).coming_from(source).send().await;
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
        assert_eq!(function.code_uri, format!("target/lambda/{}/", function.binary), "{name}");
    }
    for group in &stack().log_groups {
        assert!(group.retention_days.is_some(), "{} keeps logs for ever", group.logical_id);
    }
}
