//! The same for limits: deciding and blocking; counting in the file beside.

mod counting;

use http::Method;
use local::faults::Fault;
use serde_json::{Value, json};
use store::Limits;
use store::limits::DocumentPart;
use tests::{Lab, Response, Setup, root_key};

use crate::faults::crash_points::sweep;
use crate::limits::faults::setup;

const CHECK: &str = "/internal/ratelimit/check";
const VISITED: &str = "/api/v1/canary";
const ADDRESS: &str = "203.0.113.7";

/// A decision, and what a check is told before and after it.
#[derive(Clone, Copy)]
struct Decision {
    name: &'static str,
    method: &'static str,
    path: &'static str,
    body: &'static str,
    limits: [i64; 2],
}

const DECISIONS: [Decision; 4] = [
    Decision {
        name: "save a rule",
        method: "PUT",
        path: "/admin/ratelimits/leased",
        body: r#"{"resources":["/t/leased"],"dimension":"user","limit":30,"windowSeconds":60}"#,
        limits: [160, 30],
    },
    Decision {
        name: "delete a rule",
        method: "DELETE",
        path: "/admin/ratelimits/leased",
        body: "",
        limits: [160, 6_000],
    },
    Decision {
        name: "save an override",
        method: "PUT",
        path: "/admin/ratelimits/overrides/user/ada/leased",
        body: r#"{"limit":20}"#,
        limits: [160, 20],
    },
    Decision {
        name: "save the settings",
        method: "PUT",
        path: "/admin/ratelimits/settings",
        body: r#"{"exempt":[{"dimension":"user","entity":"ada"}]}"#,
        limits: [160, 0],
    },
];

#[test]
fn no_call_of_a_decision_can_fail_in_a_way_that_loses_it() {
    for decision in DECISIONS {
        sweep(decision.name, 3, |nth, fault| strike_decision(decision, nth, fault));
    }
    sweep("save a firewall rule", 3, strike_firewall);
}

#[test]
fn no_call_of_a_block_can_fail_in_a_way_that_lets_the_offender_go_on() {
    sweep("block an offender", 4, strike_block);
}

async fn lab(paths: &[&str]) -> Lab {
    let lab = setup::lab(Setup::default());
    setup::decide(&lab, paths).await;
    lab
}

fn limits(lab: &Lab) -> Limits {
    Limits::new(lab.aws().dynamodb(), lab.table("LimitsTable"))
}

async fn check(lab: &Lab, body: &Value) -> Response {
    lab.post(CHECK, body).await
}

fn check_body(resource: &str, tokens: i64) -> Value {
    json!({ "resource": resource, "userId": "ada", "tenantId": "acme", "tokens": tokens })
}

/// Sends a request until it has an answer; how often that took.
async fn retry(lab: &Lab, method: &str, path: &str, body: &str) -> (Response, i64) {
    let method: Method = method.parse().unwrap();
    for tries in 1.. {
        let call = lab.call(method.clone(), path).by(&root_key());
        let answer = call.bytes(body.to_owned()).send().await;
        if !answer.status.is_server_error() {
            return (answer, tries);
        }
        lab.advance_seconds(3);
    }
    unreachable!("an answer comes in the end")
}

async fn strike_decision(decision: Decision, nth: u64, fault: Fault) -> bool {
    let lab = lab(&["/t/leased"]).await;
    let asked = check_body("/t/leased", 1);
    let before = check(&lab, &asked).await;
    assert_eq!(before.body["limit"], json!(decision.limits[0]), "{}", before.body);
    let versions = limits(&lab).versions().await.unwrap();
    // Another node, which has read everything too, is still there when the first one dies.
    futures::join!(check(&lab, &asked), check(&lab, &asked));
    lab.advance_seconds(6);
    lab.cloud.faults.inject(nth, fault);
    let (answer, tries) = retry(&lab, decision.method, decision.path, decision.body).await;
    lab.cloud.functions.quiesce().await;
    let struck = lab.stop_faults();
    let context = format!("{}, call {nth}, {fault:?}: {}", decision.name, answer.body);
    // Who asks again to delete meets what the first try did.
    let gone = answer.status == 404 && fault == Fault::CrashAfter;
    assert!(answer.status.is_success() || gone, "{context}");
    let told = limits(&lab).versions().await.unwrap().rules - versions.rules;
    assert!((1..=tries.unsigned_abs()).contains(&told), "{context}: told {told} times");
    lab.advance_seconds(30);
    let nodes = futures::join!(check(&lab, &asked), check(&lab, &asked), check(&lab, &asked));
    for node in [nodes.0, nodes.1, nodes.2] {
        let limit = node.body["limit"].as_i64().unwrap_or(0);
        assert_eq!(limit, decision.limits[1], "{context}: {}", node.body);
    }
    struck
}

async fn visit(lab: &Lab) -> u16 {
    let call = lab.call(Method::GET, VISITED).from_ip(ADDRESS.parse().unwrap());
    call.send().await.status.as_u16()
}

async fn strike_firewall(nth: u64, fault: Fault) -> bool {
    let lab = lab(&[]).await;
    assert_eq!(futures::join!(visit(&lab), visit(&lab)), (404, 404));
    let body = json!({ "action": "deny", "cidrs": [format!("{ADDRESS}/32")] }).to_string();
    lab.cloud.faults.inject(nth, fault);
    let (answer, _) = retry(&lab, "PUT", "/admin/firewall/wall", &body).await;
    let struck = lab.stop_faults();
    assert!(answer.status.is_success(), "call {nth}, {fault:?}: {}", answer.body);
    lab.advance_seconds(10);
    let nodes = futures::join!(visit(&lab), visit(&lab), visit(&lab));
    assert_eq!(nodes, (403, 403, 403), "call {nth}, {fault:?}");
    struck
}

/// An offender goes on until blocked, which takes as many denials again if a node died.
async fn strike_block(nth: u64, fault: Fault) -> bool {
    let lab = lab(&[VISITED]).await;
    assert_eq!(visit(&lab).await, 404);
    let too_many = json!({ "resource": VISITED, "clientIp": ADDRESS, "tokens": 5 });
    lab.cloud.faults.inject(nth, fault);
    let mut refused = 0;
    while refused < 4 {
        // A node that could not read the rules knows them after a second.
        lab.advance_seconds(2);
        let status = check(&lab, &too_many).await.status;
        refused = if status == 429 { refused + 1 } else { 0 };
        lab.cloud.functions.quiesce().await;
    }
    let struck = lab.stop_faults();
    if matches!(fault, Fault::CrashBefore | Fault::CrashAfter) {
        // A node that dies after its answer takes what it counted along.
        for _ in 0..4 {
            check(&lab, &too_many).await;
            lab.cloud.functions.quiesce().await;
        }
    }
    let blocks = limits(&lab).documents(DocumentPart::Blocks).await.unwrap();
    let versions: Vec<u64> = blocks.iter().map(|block| block.version).collect();
    assert_eq!(versions, [1], "call {nth}, {fault:?}: blocked once");
    lab.advance_seconds(10);
    assert_eq!(visit(&lab).await, 403, "call {nth}, {fault:?}");
    struck
}
