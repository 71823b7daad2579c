//! Authorization: every operation with a valid request, from every kind of caller without permission. None of
//! them changes anything.

use std::net::IpAddr;

use boundary::http::Access;
use domain::accounts::Role;
use tests::{Lab, RequestBuilder};

use super::{SampledOperation, sampled_operations};

/// The tables of what callers make.
const TABLES: [&str; 4] = ["LinksTable", "JobsTable", "NotificationsTable", "FeedTable"];

async fn rows(lab: &Lab) -> usize {
    let client = lab.aws().dynamodb();
    let mut count = 0;
    for table in TABLES {
        let scanned = client.scan().table_name(lab.table(table)).send().await.unwrap();
        count += scanned.items().len();
    }
    count
}

/// The sample with this key, from an address of its own, since one that is refused too often is blocked.
fn call_by<'l>(
    it: &SampledOperation,
    number: usize,
    lab: &'l Lab,
    key: Option<&str>,
) -> RequestBuilder<'l> {
    let [.., high, low] = number.to_be_bytes();
    let source = IpAddr::from([10, 1, high, low]);
    let call = lab.call(it.method(), &it.target()).from_ip(source);
    let call = match it.event["body"].as_str() {
        Some(body) => call.bytes(body.to_owned()),
        None => call,
    };
    match key {
        Some(key) => call.header("authorization", key),
        None => call,
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_valid_key_nothing_private_answers() {
    let (lab, real) = Lab::with_member().await;
    let wrong_secret = format!("Bearer {}.{}", real.split_once('.').unwrap().0, "x".repeat(43));
    let wrong = [
        "Bearer ",
        "Bearer nonsense",
        "Bearer unknown.secret",
        "Bearer root.wrong",
        &wrong_secret,
        "Basic cm9vdDpyb290",
    ];
    let mut tried = 0;
    for (number, it) in sampled_operations().iter().enumerate() {
        let mut keys: Vec<_> = wrong.iter().copied().map(Some).collect();
        match it.operation.access {
            Access::Public => continue,
            Access::Optional(_) => {}
            Access::Key | Access::Role(_) => keys.push(None),
        }
        for key in keys {
            let answer = call_by(it, number, &lab, key).send().await;
            assert_eq!(answer.status, 401, "{} by {key:?}: {}", it.name(), answer.body);
            assert_eq!(answer.text("type"), "/docs#unauthenticated");
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            assert_eq!(answer.header("content-type"), "application/problem+json");
        }
        tried += 1;
    }
    assert!(tried >= 100, "{tried}");
    assert_eq!(rows(&lab).await, 0);
    assert_eq!(lab.get("/api/v1/accounts/ada").await.body["version"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_known_caller_with_every_other_role_is_told_which_one_it_takes() {
    let lab = Lab::new();
    let mut without = Vec::new();
    for role in Role::ALL {
        let others: Vec<_> =
            Role::ALL.into_iter().filter(|it| ![role, Role::Admin].contains(it)).collect();
        let names: Vec<_> = others.iter().map(|role| role.name()).collect();
        without.push((role, lab.user(&format!("not-{}", role.name()), &names).await));
    }
    let mut tried = 0;
    for (number, it) in sampled_operations().iter().enumerate() {
        let (Access::Role(role) | Access::Optional(role)) = it.operation.access else { continue };
        let (_, key) = without.iter().find(|(other, _)| *other == role).unwrap();
        let answer = call_by(it, number, &lab, Some(&format!("Bearer {key}"))).send().await;
        assert_eq!(answer.status, 403, "{}: {}", it.name(), answer.body);
        assert_eq!(answer.text("type"), "/docs#forbidden");
        assert!(answer.text("detail").contains(role.name()), "{}: {}", it.name(), answer.body);
        tried += 1;
    }
    assert!(tried >= 80, "{tried}");
    assert_eq!(rows(&lab).await, 0);
}
