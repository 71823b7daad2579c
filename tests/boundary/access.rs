//! Every operation of the document, met by everyone who should not get in.

use std::net::IpAddr;

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root};

struct Operation {
    method: Method,
    path: String,
    public: bool,
    /// Whether it answers without a key too.
    optional: bool,
    role: Option<String>,
}

fn operations() -> Vec<Operation> {
    let text = std::fs::read_to_string(root().join("functions/service/openapi.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            operations.push(Operation {
                method: method.to_uppercase().parse().unwrap(),
                path: filled(path),
                public: operation["security"].as_array().unwrap().is_empty(),
                optional: operation["security"].as_array().unwrap().contains(&json!({})),
                role: operation["x-role"].as_str().map(str::to_owned),
            });
        }
    }
    assert!(operations.len() >= 15);
    operations
}

/// A path with something in place of each parameter.
fn filled(path: &str) -> String {
    let values = [("{userId}", "ada"), ("{keyId}", "k1"), ("{id}", "7"), ("{file}", "abc.png")];
    let known =
        values.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
    let parts = known.split('/').map(|part| if part.starts_with('{') { "abc" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[tokio::test(start_paused = true)]
async fn without_a_valid_key_nothing_private_answers() {
    let lab = Lab::new();
    let real = lab.user("ada", &["member"]).await;
    let wrong_secret = format!("{}.{}", real.split_once('.').unwrap().0, "x".repeat(43));
    let operations = operations();
    for (n, operation) in (0_u16..).zip(operations.iter().filter(|operation| !operation.public)) {
        // Whoever is refused as often as this is blocked for a while.
        let [high, low] = n.to_be_bytes();
        let source = IpAddr::from([10, 1, high, low]);
        let call = || lab.call(operation.method.clone(), &operation.path).coming_from(source);
        let mut answers = vec![
            call().by("").send().await,
            call().by("nonsense").send().await,
            call().by("unknown.secret").send().await,
            call().by("root.wrong").send().await,
            call().by(&wrong_secret).send().await,
            call().header("authorization", "Basic cm9vdDpyb290").send().await,
        ];
        if !operation.optional {
            answers.push(call().send().await);
        }
        for answer in answers {
            assert_eq!(answer.status, 401, "{} {}", operation.method, operation.path);
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            assert_eq!(answer.header("content-type"), "application/problem+json");
        }
    }
    assert_eq!(lab.get("/api/v1/accounts/ada").await.body["version"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_known_caller_without_the_role_is_told_which_one() {
    let lab = Lab::new();
    let member = lab.user("eve", &["member"]).await;
    let roleless = lab.user("ada", &[]).await;
    for operation in operations() {
        let Some(role) = &operation.role else { continue };
        let key = if role == "member" { &roleless } else { &member };
        let answer = lab.call(operation.method.clone(), &operation.path).by(key).send().await;
        assert_eq!(answer.status, 403, "{} {}", operation.method, operation.path);
        assert!(answer.text("detail").contains(role));
    }
}

#[tokio::test(start_paused = true)]
async fn what_belongs_to_someone_else_is_not_found() {
    let lab = Lab::new();
    let eve = lab.user("eve", &["member"]).await;
    let ada = lab.user("ada", &["member"]).await;
    let ada_key = ada.split_once('.').unwrap().0;
    for (method, path) in [
        (Method::GET, "/api/v1/accounts/ada".to_owned()),
        (Method::PATCH, "/api/v1/accounts/ada".to_owned()),
        (Method::POST, "/api/v1/accounts/ada/keys".to_owned()),
        (Method::GET, "/api/v1/accounts/ada/keys".to_owned()),
        (Method::DELETE, format!("/api/v1/accounts/ada/keys/{ada_key}")),
        (Method::DELETE, format!("/api/v1/accounts/eve/keys/{ada_key}")),
        (Method::GET, "/api/v1/accounts/nobody".to_owned()),
    ] {
        let call = lab.call(method.clone(), &path).by(&eve).header("if-match", "\"1\"");
        let answer = call.json(&serde_json::json!({})).send().await;
        assert_eq!(answer.status, 404, "{method} {path}: {}", answer.body);
    }
    assert_eq!(lab.call(Method::GET, "/api/v1/me").by(&ada).send().await.status, 200);
    let own = lab.call(Method::GET, "/api/v1/accounts/eve").by(&eve).send().await;
    assert_eq!(own.status, 200);
}

#[tokio::test(start_paused = true)]
async fn users_change_their_own_name_and_nothing_else() {
    let lab = Lab::new();
    let eve = lab.user("eve", &["member"]).await;
    let patch = |body: Value| {
        lab.call(Method::PATCH, "/api/v1/accounts/eve")
            .by(&eve)
            .header("if-match", "\"1\"")
            .json(&body)
            .send()
    };
    for beyond in ["roles", "tenant", "state", "email"] {
        let value = match beyond {
            "roles" => serde_json::json!(["admin"]),
            "state" => serde_json::json!("disabled"),
            "email" => serde_json::json!("eve@example.org"),
            _ => serde_json::json!("other"),
        };
        let answer = patch(serde_json::json!({ beyond: value })).await;
        assert_eq!(answer.status, 403, "{beyond}");
    }
    assert_eq!(patch(serde_json::json!({ "name": "Eve" })).await.status, 200);
    assert_eq!(lab.get("/api/v1/accounts/eve").await.text("name"), "Eve");
}
