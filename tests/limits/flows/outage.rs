//! The limits table is gone, or says nothing: what is still known holds, and every rule does its own.

use std::cell::Cell;
use std::time::Duration;

use http::Method;
use local::faults::{Faults, ServiceCall};
use serde_json::{Value, json};
use tests::{Lab, Setup};
use tokio::time::Instant;

use super::{FIREWALL, RULES, ask, assert_problem, check, decide, metric, per_user, settle, visit};

fn about_limits(call: &ServiceCall) -> bool {
    String::from_utf8_lossy(&call.body).contains("LimitsTable")
}

/// Lets the table answer nothing more.
fn silence(lab: &Lab) {
    lab.cloud.faults.hang(Some(about_limits));
}

/// Lets no node count any more, whereas rules can be read.
fn silence_counters(lab: &Lab) {
    lab.cloud.faults.hang(Some(|call| call.operation == "UpdateItem" && about_limits(call)));
}

/// A lab in which no node waits longer for a counter than a tenth of a second.
fn hasty() -> Lab {
    Lab::with_parameters(Setup::default(), &[("LimitsDeadlineMs", "100")])
}

fn is(lab: &Lab, name: &str, value: f64) -> bool {
    (metric(lab, name) - value).abs() < f64::EPSILON
}

fn closed(path: &str, limit: i64) -> Value {
    let mut rule = per_user(path, limit);
    rule["onFailure"] = json!("closed");
    rule
}

/// Two rules of five, one open on failure and one closed, that the node of the checks knows.
async fn lab_with_rules(lab: Lab) -> Lab {
    decide(&lab, &format!("{RULES}/open"), &per_user("/open", 5)).await;
    decide(&lab, &format!("{RULES}/closed"), &closed("/closed", 5)).await;
    for path in ["/open", "/closed"] {
        assert_eq!(ask(&lab, "ada", path).await.status, 200);
    }
    // The node comes to hold something of the quota that the checks themselves are held to.
    for _ in 0..12 {
        ask(&lab, "ada", "/elsewhere").await;
    }
    lab.cloud.functions.quiesce().await;
    lab
}

#[tokio::test(start_paused = true)]
async fn an_open_rule_lets_pass_what_one_node_would_and_counts_it() {
    let lab = lab_with_rules(Lab::new()).await;
    silence(&lab);
    for _ in 0..5 {
        assert_eq!(ask(&lab, "ada", "/open").await.status, 200);
    }
    assert_eq!((metric(&lab, "LimitsOpen"), metric(&lab, "LimitsUnasked")), (5.0, 1.0));
    let refused = ask(&lab, "ada", "/open").await;
    assert_eq!(refused.status, 429, "a node alone holds callers to the whole quota");
    assert!(refused.body["retryAfter"].as_i64().unwrap() >= 1);
    lab.cloud.faults.hang(None);
    lab.advance_seconds(2);
    for left in [3, 2, 1, 0] {
        assert_eq!(ask(&lab, "ada", "/open").await.body["remaining"], left, "counted together");
    }
    assert_eq!(ask(&lab, "ada", "/open").await.status, 429);
    assert!(is(&lab, "LimitsOpen", 5.0));
}

#[tokio::test(start_paused = true)]
async fn a_closed_rule_answers_that_it_can_not_say() {
    let lab = lab_with_rules(Lab::new()).await;
    silence(&lab);
    for _ in 0..3 {
        let answer = ask(&lab, "ada", "/closed").await;
        assert_problem(&answer, 503, "unavailable");
        assert_eq!(answer.header("retry-after"), "1");
    }
    assert!(is(&lab, "LimitsClosed", 3.0) && is(&lab, "LimitsOpen", 0.0));
    assert!(is(&lab, "LimitsDenied", 0.0), "no caller was over a quota");
    lab.cloud.faults.hang(None);
    lab.advance_seconds(2);
    let answer = ask(&lab, "ada", "/closed").await;
    assert_eq!((answer.status.as_u16(), &answer.body["remaining"]), (200, &json!(3)));
}

#[tokio::test(start_paused = true)]
async fn anonymous_links_are_closed_and_those_of_accounts_open() {
    let (lab, key) = Lab::with_member().await;
    let body = json!({ "longUrl": "https://example.org/" });
    let shorten = || lab.call(Method::POST, "/api/v1/shorten").json(&body);
    assert_eq!(shorten().send().await.status, 201);
    lab.cloud.functions.quiesce().await;
    silence(&lab);
    assert_problem(&shorten().send().await, 503, "unavailable");
    assert_eq!(shorten().by(&key).send().await.status, 201);
    lab.call(Method::GET, "/api/v1/me").by(&key).send().await.assert_status(200);
    lab.cloud.functions.go_cold();
    assert_problem(&shorten().send().await, 503, "unavailable");
    assert_eq!(shorten().by(&key).send().await.status, 200, "a new node has the usual rules");
}

#[tokio::test(start_paused = true)]
async fn a_caller_waits_for_a_silent_store_once_a_second_at_most() {
    let lab = lab_with_rules(hasty()).await;
    silence_counters(&lab);
    let mut waits = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        ask(&lab, "ada", "/open").await;
        waits.push(began.elapsed().as_millis());
        lab.cloud.functions.quiesce().await;
        lab.clock.advance_ms(300);
    }
    assert_eq!(waits, [100, 0, 0, 0, 100]);
    lab.advance_seconds(60);
    silence(&lab);
    let began = Instant::now();
    ask(&lab, "ada", "/open").await;
    // A second for the rules, which are old, and a tenth for the counter.
    assert_eq!(began.elapsed().as_millis(), 1_100);
    lab.cloud.functions.quiesce().await;
    let began = Instant::now();
    ask(&lab, "ada", "/open").await;
    assert_eq!(began.elapsed().as_millis(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_a_node_holds_is_spent_before_a_rule_gives_up() {
    let lab = hasty();
    decide(&lab, &format!("{RULES}/many"), &closed("/many", 1_000)).await;
    for _ in 0..8 {
        ask(&lab, "ada", "/many").await;
    }
    let leased = super::usage(&lab, "ada", "/many", "many").await["leased"].as_i64().unwrap();
    let held = leased - 8;
    assert!(held >= 5, "{held}");
    lab.cloud.functions.quiesce().await;
    silence_counters(&lab);
    // Held units cost no call, so the outage shows nowhere. More than that can't be had.
    let many = json!({ "userId": "ada", "resource": "/many", "tokens": held + 1 });
    assert_eq!(check(&lab, &many).await.status, 503);
    for _ in 0..held - 3 {
        assert_eq!(ask(&lab, "ada", "/many").await.status, 200);
    }
    assert!(is(&lab, "LimitsFrozen", 0.0));
    // The minute ends within the second in which the store is left alone.
    lab.clock.advance_ms(60_000 - lab.clock.now_ms() % 60_000 - 400);
    assert_eq!(check(&lab, &many).await.status, 503);
    lab.cloud.functions.quiesce().await;
    lab.clock.advance_ms(500);
    for _ in 0..3 {
        assert_eq!(ask(&lab, "ada", "/many").await.status, 200);
        lab.cloud.functions.quiesce().await;
    }
    // The quota of the caller of the checks may be spent late too.
    assert!(metric(&lab, "LimitsFrozen") >= 3.0, "what was held outlives its minute");
    assert_problem(&ask(&lab, "ada", "/many").await, 503, "unavailable");
}

#[tokio::test(start_paused = true)]
async fn health_answers_at_once_even_without_the_store() {
    let lab = Lab::new();
    visit(&lab, "192.0.2.1", "/docs").await;
    settle(&lab, 3_600).await;
    silence(&lab);
    for _ in 0..3 {
        let began = Instant::now();
        let health = visit(&lab, "192.0.2.1", "/health").await;
        assert_eq!((health.status.as_u16(), began.elapsed()), (200, Duration::ZERO));
        settle(&lab, 61).await;
    }
    lab.cloud.functions.go_cold();
    assert_eq!(visit(&lab, "192.0.2.1", "/health").await.status, 200, "a new node too");
}

#[tokio::test(start_paused = true)]
async fn the_firewall_and_the_rules_that_are_known_still_hold() {
    let lab = Lab::new();
    let block = json!({ "action": "deny", "cidrs": ["192.0.2.0/24"] });
    decide(&lab, &format!("{FIREWALL}/office"), &block).await;
    decide(&lab, &format!("{RULES}/never"), &per_user("/never", 0)).await;
    let paths = ["/docs", "/api/v1/me", "/abc"];
    for path in paths {
        assert_eq!(visit(&lab, "192.0.2.9", path).await.status, 403);
    }
    assert_eq!(ask(&lab, "ada", "/never").await.status, 429);
    lab.cloud.functions.quiesce().await;
    silence(&lab);
    for _ in 0..3 {
        settle(&lab, 600).await;
        for path in paths {
            assert_eq!(visit(&lab, "192.0.2.9", path).await.status, 403, "{path}");
            // A node that is still busy would leave the next request to a new one, which knows less.
            lab.cloud.functions.quiesce().await;
        }
        assert_eq!(visit(&lab, "198.51.100.1", "/docs").await.status, 200);
        assert_eq!(ask(&lab, "ada", "/never").await.status, 429);
    }
    lab.cloud.functions.retire(Duration::ZERO).await;
    assert!(metric(&lab, "LimitsUnread") >= 9.0, "all of them noticed");
}

thread_local! {
    /// Whether the table is gone at the moment; a test has its thread to itself.
    static GONE: Cell<bool> = const { Cell::new(false) };
}

#[tokio::test(start_paused = true)]
async fn a_store_that_refuses_is_like_one_that_is_silent_and_costs_no_wait() {
    let faults = Faults::mutated(1, 0, |_, body| {
        let ours = body["TableName"].as_str().is_some_and(|name| name.contains("LimitsTable"));
        if GONE.get() && ours {
            body["TableName"] = json!("nowhere");
        }
    });
    let lab = lab_with_rules(Lab::with(Setup { faults, ..Setup::default() })).await;
    GONE.set(true);
    let began = Instant::now();
    assert_eq!(ask(&lab, "ada", "/open").await.status, 200);
    assert_problem(&ask(&lab, "ada", "/closed").await, 503, "unavailable");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert!(is(&lab, "LimitsOpen", 1.0) && is(&lab, "LimitsClosed", 1.0));
    lab.cloud.functions.quiesce().await;
    GONE.set(false);
    lab.advance_seconds(2);
    assert_eq!(ask(&lab, "ada", "/closed").await.status, 200);
}
