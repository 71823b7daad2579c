//! What belongs to another caller is not found: the response is that of a service without it.

use boundary::http::Access;
use domain::accounts::Role;
use http::Method;
use serde_json::{Value, json};
use tests::{Lab, Response};

use super::{SampledOperation, sampled_operations};

/// Operations on what every caller with the role may name.
const SHARED: &[&str] = &[
    "GET /api/v1/ids/",
    "GET /api/v1/job-types/",
    // A person's profile, posts and followers are for others; blocks and visibility decide.
    "GET /api/v1/users/{userId}",
    "PUT /api/v1/users/{userId}/",
    "DELETE /api/v1/users/{userId}/",
    " /api/v1/posts/",
    // People report what others made.
    "POST /api/v1/url/{code}/report",
    // Members read profiles, and write their own.
    "PUT /api/v1/users/{userId}",
];

/// Paths beneath those of [`SHARED`] that belong to their owner.
const PRIVATE: [&str; 4] = ["/notifications", "/notifications/read", "/preferences", "/contacts"];

/// Whether an operation is for the owner of what its path names.
fn is_owned(it: &SampledOperation) -> bool {
    let for_owners = matches!(
        it.operation.access,
        Access::Key | Access::Role(Role::Member | Role::JobSubmitter)
    );
    let private = PRIVATE.iter().any(|end| it.operation.path.ends_with(end));
    let shared = SHARED.iter().any(|path| it.name().contains(path));
    for_owners && it.operation.path.contains('{') && (private || !shared)
}

async fn made(lab: &Lab, key: &str, method: Method, path: &str, body: Value) -> Response {
    let answer = lab.call(method, path).by(key).json(&body).send().await;
    assert!(answer.status.is_success(), "{path}: {}", answer.body);
    answer
}

/// Makes one of each thing that has an owner, and says by what each is named in a path.
async fn belongings(lab: &Lab, owner: &str) -> Vec<(&'static str, String)> {
    let link = json!({ "longUrl": "https://example.com/" });
    let link = made(lab, owner, Method::POST, "/api/v1/shorten", link).await;
    let job = json!({ "jobType": "echo", "notBefore": "2026-03-02T12:00:00Z" });
    let job = made(lab, owner, Method::POST, "/api/v1/jobs", job).await;
    let domain = json!({ "domain": "go.example.com" });
    made(lab, owner, Method::POST, "/api/v1/domains", domain).await;
    let notification = json!({
        "userId": "ada", "category": "orders",
        "content": { "email": { "subject": "Hello", "text": "It is on its way." } },
    });
    let contacts = json!({ "email": "ada@example.org" });
    made(lab, owner, Method::PUT, "/api/v1/users/ada/contacts", contacts).await;
    let sent =
        made(lab, &tests::root_key(), Method::POST, "/api/v1/notifications", notification).await;
    vec![
        ("{code}", link.text("shortCode").to_owned()),
        ("{jobId}", job.text("jobId").to_owned()),
        ("{domain}", "go.example.com".to_owned()),
        ("{notificationId}", sent.text("notificationId").to_owned()),
        ("{userId}", "ada".to_owned()),
        ("{keyId}", owner.split_once('.').unwrap().0.to_owned()),
    ]
}

#[tokio::test(start_paused = true)]
async fn what_belongs_to_another_caller_is_answered_like_what_never_existed() {
    const ROLES: [&str; 2] = ["member", "job-submitter"];
    let (full, empty) = (Lab::new(), Lab::new());
    let ada = full.user("ada", &ROLES).await;
    let names = belongings(&full, &ada).await;
    let (eve, eve_alone) = (full.user("eve", &ROLES).await, empty.user("eve", &ROLES).await);
    let mut tried = Vec::new();
    for it in sampled_operations().iter().filter(|it| is_owned(it)) {
        let path = names
            .iter()
            .fold(it.operation.path.to_owned(), |path, (name, value)| path.replace(name, value));
        assert!(!path.contains('{'), "{}: nothing is made for it", it.name());
        let ask = async |lab: &Lab, key: &str| {
            let mut call = lab.call(it.method(), &path).by(key).header("if-match", "\"1\"");
            if let Some(body) = it.object() {
                call = call.json(&body);
            }
            call.send().await
        };
        let (there, never) = (ask(&full, &eve).await, ask(&empty, &eve_alone).await);
        assert_eq!(there.status, 404, "{}: {}", it.name(), there.body);
        assert_eq!(there.text("type"), "/docs#not-found", "{}", it.name());
        assert_eq!(there.body, never.body, "{}", it.name());
        tried.push(it.name());
    }
    assert!(tried.len() >= 20, "{tried:#?}");
}
