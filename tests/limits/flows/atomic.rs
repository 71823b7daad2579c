//! Several rules on one resource: a request passes all of them, or has taken nothing of any.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tests::{Lab, Response};

use super::{RULES, ask, check, count, per_user, put, settle, usage};

/// A lab with as many rules on one path, one for each limit.
async fn lab_with(limits: &[i64]) -> Lab {
    let lab = Lab::new();
    for limit in limits {
        let made = put(&lab, &format!("{RULES}/of-{limit}"), &per_user("/things", *limit)).await;
        assert_eq!(made.status, 201);
    }
    settle(&lab, 6).await;
    lab
}

/// What the shared counters say was debited under each rule.
async fn debited(lab: &Lab, limits: &[i64]) -> Vec<i64> {
    let mut all = Vec::new();
    for limit in limits {
        let used: Value = usage(lab, "ada", "/things", &format!("of-{limit}")).await;
        all.push(used["leased"].as_i64().unwrap());
    }
    all
}

/// A hundred callers at once, each on a node of its own.
async fn race(lab: &Lab) -> Vec<Response> {
    let answers = join_all((0..100).map(|_| ask(lab, "ada", "/things"))).await;
    assert_eq!(count(&answers, 200) + count(&answers, 429), 100);
    lab.cloud.functions.quiesce().await;
    answers
}

#[tokio::test(start_paused = true)]
async fn of_a_hundred_who_race_as_many_pass_as_the_tightest_of_five_rules_lets() {
    const LIMITS: [i64; 5] = [7, 20, 40, 60, 90];
    for round in 0..3 {
        let lab = lab_with(&LIMITS).await;
        let answers = race(&lab).await;
        assert_eq!(count(&answers, 200), 7, "round {round}");
        assert_eq!(debited(&lab, &LIMITS).await, [7; 5], "round {round}");
        let refused = answers.iter().filter(|answer| answer.status == 429);
        assert!(refused.clone().all(|answer| answer.body["retryAfter"].as_i64().unwrap() >= 1));
    }
}

#[tokio::test(start_paused = true)]
async fn of_a_hundred_who_race_none_takes_of_what_nodes_hold_unless_it_passes() {
    const LIMITS: [i64; 5] = [7, 50, 1_000, 5_000, 20_000];
    let lab = lab_with(&LIMITS).await;
    let answers = race(&lab).await;
    assert_eq!(count(&answers, 200), 7);
    assert_eq!(debited(&lab, &LIMITS).await[..2], [7, 7]);
    // Every node gives back what it holds, so what is left is what was spent.
    lab.cloud.functions.retire(Duration::ZERO).await;
    assert_eq!(debited(&lab, &LIMITS).await, [7; 5]);
}

#[tokio::test(start_paused = true)]
async fn one_node_refused_by_the_last_rule_has_taken_nothing_of_the_others() {
    const LIMITS: [i64; 3] = [3, 150, 1_000];
    let lab = lab_with(&LIMITS).await;
    for n in 0..40 {
        let passed = ask(&lab, "ada", "/things").await;
        assert_eq!(passed.status, if n < 3 { 200 } else { 429 }, "{n}");
        assert_eq!(passed.text("rule"), "of-3");
    }
    lab.cloud.functions.quiesce().await;
    lab.cloud.functions.retire(Duration::ZERO).await;
    assert_eq!(debited(&lab, &LIMITS).await, [3; 3]);
}

#[tokio::test(start_paused = true)]
async fn rules_of_several_dimensions_are_taken_together_too() {
    let lab = Lab::new();
    for (dimension, limit) in [("user", 50), ("tenant", 5), ("global", 80)] {
        let mut rule = per_user("/things", limit);
        rule["dimension"] = json!(dimension);
        put(&lab, &format!("{RULES}/{dimension}-things"), &rule).await;
    }
    settle(&lab, 6).await;
    let users = ["ada", "bob", "cyd", "dee"];
    let bodies: Vec<Value> = (0..40)
        .map(|n| json!({ "userId": users[n % 4], "tenantId": "acme", "resource": "/things" }))
        .collect();
    let answers = join_all(bodies.iter().map(|body| check(&lab, body))).await;
    assert_eq!((count(&answers, 200), count(&answers, 429)), (5, 35));
    let mut by_users = 0;
    for user in users {
        let used = usage(&lab, user, "/things", "user-things").await;
        by_users += used["used"].as_i64().unwrap();
    }
    let global = usage(&lab, "eve", "/things", "global-things").await;
    assert_eq!((by_users, &global["used"]), (5, &json!(5)));
}
