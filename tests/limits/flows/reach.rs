//! How soon every node knows what was decided, a node that slept included.

use http::Method;
use serde_json::json;
use tests::{Lab, Response, root_key};

use super::{FIREWALL, RULES, count, on_each, per_user, put, settle};

const NODES: usize = 4;

/// One path of each function that answers requests.
const PATHS: [&str; 6] =
    ["/docs", "/api/v1/me", "/api/v1/ids/1", "/api/v1/urls", "/admin/firewall", "/abc"];

async fn visit(lab: &Lab, path: &str) -> Response {
    super::visit(lab, "192.0.2.9", path).await
}

async fn block(lab: &Lab) {
    let body = json!({ "action": "deny", "cidrs": ["192.0.2.0/24"] });
    assert_eq!(put(lab, &format!("{FIREWALL}/office"), &body).await.status, 201);
    lab.cloud.functions.quiesce().await;
}

#[tokio::test(start_paused = true)]
async fn a_block_reaches_every_node_of_every_function_within_ten_seconds_under_constant_traffic() {
    for path in PATHS {
        let lab = Lab::new();
        for _ in 0..4 {
            let answers = on_each(&lab, NODES, || visit(&lab, path)).await;
            assert_eq!(count(&answers, 403), 0, "{path}");
            lab.clock.advance_ms(700);
        }
        block(&lab).await;
        let decided_ms = lab.clock.now_ms();
        let mut passed = 0;
        loop {
            let answers = on_each(&lab, NODES, || visit(&lab, path)).await;
            let through = NODES - count(&answers, 403);
            let age_ms = lab.clock.now_ms() - decided_ms;
            assert!(through == 0 || age_ms < 10_000, "{path}: passed after {age_ms} ms");
            passed += through;
            if age_ms >= 12_000 {
                break;
            }
            lab.clock.advance_ms(250);
        }
        assert!(passed > 0, "{path}: nodes never used what they knew");
        super::delete(&lab, &format!("{FIREWALL}/office")).await.assert_status(204);
        settle(&lab, 10).await;
        let answers = on_each(&lab, NODES, || visit(&lab, path)).await;
        assert_eq!(count(&answers, 403), 0, "{path}: and so does the end of a block");
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_request_of_a_node_that_slept_for_an_hour_meets_the_block() {
    let lab = Lab::new();
    for path in PATHS {
        let answers = on_each(&lab, NODES, || visit(&lab, path)).await;
        assert_eq!(count(&answers, 403), 0, "{path}");
    }
    block(&lab).await;
    lab.advance_seconds(3_600);
    for path in PATHS {
        let answers = on_each(&lab, NODES, || visit(&lab, path)).await;
        assert_eq!(count(&answers, 403), NODES, "{path}");
    }
    lab.cloud.functions.go_cold();
    for path in PATHS {
        assert_eq!(visit(&lab, path).await.status, 403, "{path}: and a new node's");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_reaches_every_node_within_thirty_seconds_under_constant_traffic() {
    let lab = Lab::new();
    let me = || lab.call(Method::GET, "/api/v1/me").by(&root_key()).send();
    for _ in 0..4 {
        assert_eq!(count(&on_each(&lab, NODES, me).await, 200), NODES);
        lab.clock.advance_ms(700);
    }
    let closed = per_user("/api/v1/me", 0);
    assert_eq!(put(&lab, &format!("{RULES}/closed"), &closed).await.status, 201);
    let decided_ms = lab.clock.now_ms();
    let mut passed = 0;
    loop {
        let through = count(&on_each(&lab, NODES, me).await, 200);
        let age_ms = lab.clock.now_ms() - decided_ms;
        assert!(through == 0 || age_ms < 30_000, "passed after {age_ms} ms");
        passed += through;
        if age_ms >= 35_000 {
            break;
        }
        lab.clock.advance_ms(500);
    }
    assert!(passed > 0, "nodes never used what they knew");
    assert_eq!(super::delete(&lab, &format!("{RULES}/closed")).await.status, 204);
    settle(&lab, 30).await;
    assert_eq!(count(&on_each(&lab, NODES, me).await, 200), NODES);
}

#[tokio::test(start_paused = true)]
async fn the_first_request_of_a_node_that_slept_for_an_hour_is_held_to_the_new_rule() {
    let lab = Lab::new();
    let me = || lab.call(Method::GET, "/api/v1/me").by(&root_key()).send();
    assert_eq!(count(&on_each(&lab, NODES, me).await, 200), NODES);
    put(&lab, &format!("{RULES}/closed"), &per_user("/api/v1/me", 0)).await;
    settle(&lab, 3_600).await;
    assert_eq!(count(&on_each(&lab, NODES, me).await, 429), NODES);
}

#[tokio::test(start_paused = true)]
async fn a_busy_node_looks_for_new_rules_only_after_its_answers() {
    let lab = Lab::new();
    visit(&lab, "/docs").await;
    lab.cloud.functions.quiesce().await;
    let before = lab.lines().len();
    lab.record_calls();
    for _ in 0..100 {
        lab.clock.advance_ms(500);
        visit(&lab, "/openapi.json").await;
        lab.cloud.functions.quiesce().await;
    }
    let waited: u64 = lab.lines()[before..]
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["store_calls"].as_u64().unwrap())
        .sum();
    let versions = lab.cloud.faults.recorded();
    let versions = versions.iter().filter(|call| call.operation == "GetItem").count();
    assert!((12..=17).contains(&versions), "{versions} looks in fifty seconds");
    let debits = lab.count_calls_to("LimitsTable") - versions;
    assert!(waited <= u64::try_from(debits).unwrap(), "{waited} calls were waited for");
}
