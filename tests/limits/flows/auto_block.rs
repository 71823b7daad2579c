//! An address that is refused again and again is refused everywhere for a while.

use serde_json::{Value, json};
use tests::Lab;

use super::{FIREWALL, RULES, assert_problem, check, decide, delete, per_user, settle, visit};

/// Two pages a minute for each address, and a block of two minutes after five refusals in ten seconds.
async fn strict() -> Lab {
    let lab = Lab::new();
    let mut rule = per_user("/docs", 2);
    rule["dimension"] = json!("ip");
    decide(&lab, &format!("{RULES}/docs-address"), &rule).await;
    let block = json!({ "denials": 5, "withinSeconds": 10, "blockSeconds": 120 });
    decide(&lab, &format!("{RULES}/settings"), &json!({ "autoBlock": block })).await;
    lab
}

/// Asks until it was refused so many times, and lets its node tell the others.
async fn offend(lab: &Lab, address: &str, times: u32) {
    let mut refused = 0;
    while refused < times {
        let answer = visit(lab, address, "/docs").await;
        assert_ne!(answer.status, 403, "{address} was blocked after {refused}");
        refused += u32::from(answer.status == 429);
    }
    settle(lab, 6).await;
}

async fn status(lab: &Lab, address: &str, path: &str) -> u16 {
    visit(lab, address, path).await.status.as_u16()
}

#[tokio::test(start_paused = true)]
async fn an_address_that_is_refused_too_often_is_refused_everywhere_for_a_while() {
    let lab = strict().await;
    offend(&lab, "192.0.2.7", 5).await;
    for path in ["/docs", "/openapi.json", "/api/v1/me", "/api/v1/ids/1", "/api/v1/urls", "/abc"] {
        let refused = visit(&lab, "192.0.2.7", path).await;
        assert_problem(&refused, 403, "firewall");
        let detail = "Refused 5 times within 10 s: blocked for 120 s.";
        assert_eq!(refused.text("detail"), detail, "{path}");
    }
    assert_eq!(status(&lab, "192.0.2.8", "/docs").await, 200, "a neighbour");
    let listed = lab.get(FIREWALL).await.body["rules"][0].clone();
    assert_eq!((&listed["id"], &listed["automatic"]), (&json!("auto-192-0-2-7"), &json!(true)));
    assert_eq!(listed["cidrs"], json!(["192.0.2.7/32"]));
    assert_eq!(listed["changedBy"], "limits");
    settle(&lab, 113).await;
    assert_eq!(status(&lab, "192.0.2.7", "/docs").await, 403);
    settle(&lab, 1).await;
    assert_eq!(status(&lab, "192.0.2.7", "/docs").await, 200, "two minutes later");
    assert_eq!(lab.get(FIREWALL).await.body["rules"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn who_offends_again_is_blocked_again_and_an_admin_can_forgive() {
    let lab = strict().await;
    let path = format!("{FIREWALL}/auto-192-0-2-7");
    for round in 1..=2 {
        offend(&lab, "192.0.2.7", 5).await;
        assert_eq!(status(&lab, "192.0.2.7", "/docs").await, 403);
        assert_eq!(lab.get(&path).await.body["version"], round);
        settle(&lab, 120).await;
    }
    offend(&lab, "192.0.2.7", 5).await;
    assert_eq!(status(&lab, "192.0.2.7", "/docs").await, 403);
    assert_eq!(delete(&lab, &path).await.status, 204);
    settle(&lab, 60).await;
    assert_eq!(status(&lab, "192.0.2.7", "/docs").await, 200);
}

#[tokio::test(start_paused = true)]
async fn refusals_that_are_few_or_far_between_block_no_address() {
    let lab = strict().await;
    offend(&lab, "192.0.2.7", 4).await;
    settle(&lab, 5).await;
    offend(&lab, "192.0.2.7", 4).await;
    settle(&lab, 5).await;
    assert_eq!(status(&lab, "192.0.2.7", "/docs").await, 429);
    settle(&lab, 6).await;
    assert_eq!(lab.get(FIREWALL).await.body["rules"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_subnet_of_ipv6_is_one_offender() {
    let lab = strict().await;
    for host in 1..=7 {
        visit(&lab, &format!("2001:db8:1:2::{host}"), "/docs").await;
    }
    settle(&lab, 6).await;
    assert_eq!(status(&lab, "2001:db8:1:2:ffff::9", "/docs").await, 403);
    assert_eq!(status(&lab, "2001:db8:1:3::1", "/docs").await, 200);
}

#[tokio::test(start_paused = true)]
async fn no_address_is_blocked_where_that_is_switched_off() {
    let lab = strict().await;
    let off: Value = json!({ "autoBlock": { "denials": 0 } });
    decide(&lab, &format!("{RULES}/settings"), &off).await;
    offend(&lab, "192.0.2.7", 50).await;
    assert_eq!(status(&lab, "192.0.2.7", "/openapi.json").await, 200);
}

#[tokio::test(start_paused = true)]
async fn as_it_comes_a_hundred_refusals_in_a_minute_block_for_ten() {
    let lab = Lab::new();
    let mut rule = per_user("/docs", 0);
    rule["dimension"] = json!("ip");
    decide(&lab, &format!("{RULES}/docs-address"), &rule).await;
    offend(&lab, "192.0.2.7", 99).await;
    assert_eq!(status(&lab, "192.0.2.7", "/docs").await, 429);
    settle(&lab, 6).await;
    assert_eq!(status(&lab, "192.0.2.7", "/openapi.json").await, 403);
    settle(&lab, 594).await;
    assert_eq!(status(&lab, "192.0.2.7", "/openapi.json").await, 200);
}

#[tokio::test(start_paused = true)]
async fn an_address_that_others_ask_about_is_an_offender_too() {
    let lab = strict().await;
    let body = json!({ "clientIp": "192.0.2.7", "resource": "/docs" });
    for _ in 0..7 {
        check(&lab, &body).await;
    }
    settle(&lab, 6).await;
    assert_eq!(status(&lab, "192.0.2.7", "/openapi.json").await, 403);
    assert_ne!(check(&lab, &body).await.status, 403, "the caller of the check is not the offender");
}
