//! Every call of every operation on accounts, each met by every fault, one at a time.
//!
//! The client repeats its request until it has an answer. Then the effect must be there exactly
//! once, no matter which call went wrong.

use http::Method;
use local::faults::Fault;
use serde_json::{Value, json};
use tests::{Lab, Response, root_key};

use crate::faults::crash_points::FAULTS;
use crate::faults::run;

struct Operation {
    name: &'static str,
    method: Method,
    path: &'static str,
    body: Value,
    status: u16,
    /// How often this entry is in the audit trail of `ada` in the end.
    change: &'static str,
}

fn operations() -> Vec<Operation> {
    vec![
        Operation {
            name: "create an account",
            method: Method::POST,
            path: "/api/v1/accounts",
            body: json!({ "userId": "ada", "name": "Ada" }),
            status: 201,
            change: "AccountCreated",
        },
        Operation {
            name: "create a key",
            method: Method::POST,
            path: "/api/v1/accounts/ada/keys",
            body: json!({ "name": "ci" }),
            status: 201,
            change: "KeyCreated",
        },
        Operation {
            name: "disable an account",
            method: Method::DELETE,
            path: "/api/v1/accounts/ada",
            body: Value::Null,
            status: 204,
            change: "AccountDisabled",
        },
        Operation {
            name: "revoke a key",
            method: Method::DELETE,
            path: "/api/v1/accounts/ada/keys/KEY",
            body: Value::Null,
            status: 204,
            change: "KeyRevoked",
        },
    ]
}

#[test]
fn no_call_can_fail_in_a_way_that_loses_or_doubles_an_effect() {
    let mut points = 0;
    for operation in operations() {
        for fault in FAULTS {
            let mut nth = 0;
            while run(strike(&operation, nth, fault)) {
                nth += 1;
                points += 1;
            }
            assert!(nth >= 2, "{} makes {nth} calls", operation.name);
        }
    }
    println!("crash points: {points} swept");
    assert!(points > 60);
}

/// The same for what runs behind the answer: the queue function and the sweep.
#[test]
fn no_call_behind_the_answer_can_fail_in_a_way_that_lasts() {
    let mut points = 0;
    for fault in FAULTS {
        let mut nth = 0;
        while run(strike_behind(nth, fault)) {
            nth += 1;
            points += 1;
        }
        assert!(nth >= 3, "only {nth} calls");
    }
    println!("crash points behind the answer: {points} swept");
}

/// Disables an account whose event was not published, then strikes the sweep or what it causes.
async fn strike_behind(nth: u64, fault: Fault) -> bool {
    let lab = Lab::new();
    lab.user("ada", &[]).await;
    // The account is read, the transaction written; then the function dies before it publishes.
    lab.cloud.faults.inject(2, Fault::CrashBefore);
    lab.call(Method::DELETE, "/api/v1/accounts/ada").by(&root_key()).send().await;
    assert_eq!(changes(&lab, "AccountDisabled").await, 1);
    lab.advance_seconds(66);
    lab.cloud.faults.inject(nth, fault);
    lab.sweep().await;
    lab.cloud.settle().await;
    let struck = lab.stop_faults();
    lab.run_until_idle().await;
    let keys = lab.get("/api/v1/accounts/ada/keys").await;
    let revoked = keys.body["items"][0]["revokedAt"].is_string();
    assert!(revoked, "call {nth}, {fault:?}: {}", keys.body);
    struck
}

/// Runs the operation with `fault` at its `nth` call; false once there are no more calls.
async fn strike(operation: &Operation, nth: u64, fault: Fault) -> bool {
    let lab = Lab::new();
    let mut path = operation.path.to_owned();
    if operation.change != "AccountCreated" {
        let key = lab.user("ada", &[]).await;
        path = path.replace("KEY", key.split_once('.').unwrap().0);
    }
    let before = changes(&lab, operation.change).await;
    lab.cloud.faults.inject(nth, fault);
    let answer = retry(&lab, operation, &path).await;
    let struck = lab.stop_faults();
    let context = format!("{}, call {nth}, {fault:?}", operation.name);
    assert_eq!(answer.status, operation.status, "{context}: {}", answer.body);
    lab.run_until_idle().await;
    assert_eq!(changes(&lab, operation.change).await, before + 1, "{context}");
    if operation.change == "AccountDisabled" {
        let keys = lab.get("/api/v1/accounts/ada/keys").await;
        assert!(keys.body["items"][0]["revokedAt"].is_string(), "{context}: {}", keys.body);
    }
    struck
}

async fn retry(lab: &Lab, operation: &Operation, path: &str) -> Response {
    let call = lab.call(operation.method.clone(), path).by(&root_key()).json(&operation.body);
    call.header("idempotency-key", "once").send_until_answered().await
}

async fn changes(lab: &Lab, change: &str) -> usize {
    let trail = lab.get("/api/v1/accounts/ada/audit").await;
    let entries = trail.body["items"].as_array().cloned().unwrap_or_default();
    entries.iter().filter(|entry| entry["change"] == change).count()
}
