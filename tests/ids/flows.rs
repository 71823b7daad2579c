//! `POST /api/v1/ids` and `GET /api/v1/ids/{id}`.

use std::collections::BTreeSet;

use http::Method;
use tests::{Lab, root_key};

fn ids(answer: &tests::Response) -> Vec<u64> {
    let ids = answer.body["ids"].as_array().unwrap();
    ids.iter().map(|id| id.as_str().unwrap().parse().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn ids_come_in_order_and_never_twice_across_cold_starts() {
    let lab = Lab::new();
    let mut seen = BTreeSet::new();
    for count in [1, 3, 5_000, 10_000] {
        let answer = lab.post(&format!("/api/v1/ids?count={count}"), &serde_json::json!({})).await;
        assert_eq!(answer.status, 200);
        let ids = ids(&answer);
        assert_eq!(ids.len(), count);
        assert!(ids.is_sorted_by(|a, b| a < b));
        for id in ids {
            assert!(seen.insert(id), "{id} was given out twice");
        }
        lab.cloud.functions.go_cold();
    }
}

#[tokio::test(start_paused = true)]
async fn an_id_tells_when_it_was_made_in_both_spellings() {
    let lab = Lab::new();
    let made = lab.post("/api/v1/ids?format=base62", &serde_json::json!({})).await;
    let base62 = made.body["ids"][0].as_str().unwrap().to_owned();
    assert_eq!(base62.len(), 11);
    let read = lab.get(&format!("/api/v1/ids/{base62}")).await;
    assert_eq!(read.text("base62"), base62);
    assert!(read.text("time").starts_with("2026-03-01T12:00:0"), "{}", read.body);
    let again = lab.get(&format!("/api/v1/ids/{}", read.text("id"))).await;
    assert_eq!(again.body, read.body);
}

#[tokio::test(start_paused = true)]
async fn one_lease_serves_many_requests_and_a_thawed_node_renews_it() {
    let lab = Lab::new();
    lab.record_calls();
    for _ in 0..5 {
        lab.post("/api/v1/ids", &serde_json::json!({})).await;
    }
    assert_eq!(lab.count_calls_to("IdsTable"), 1);
    lab.advance_seconds(3600);
    assert_eq!(lab.post("/api/v1/ids", &serde_json::json!({})).await.status, 200);
    assert_eq!(lab.count_calls_to("IdsTable"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_steps_back_is_waited_for_or_refused() {
    let lab = Lab::new();
    let first = ids(&lab.post("/api/v1/ids", &serde_json::json!({})).await)[0];
    lab.clock.advance_ms(-4);
    let second = ids(&lab.post("/api/v1/ids", &serde_json::json!({})).await)[0];
    assert!(second > first);
    lab.advance_seconds(-30);
    let refused = lab.post("/api/v1/ids", &serde_json::json!({})).await;
    assert_eq!((refused.status.as_u16(), refused.text("type")), (503, "/docs#unavailable"));
    assert!((30..=31).contains(&refused.header("retry-after").parse::<u32>().unwrap()));
}

#[tokio::test(start_paused = true)]
async fn wrong_input_names_the_field_and_leases_nothing() {
    let lab = Lab::new();
    lab.record_calls();
    for (query, field) in [
        ("count=0", "count"),
        ("count=10001", "count"),
        ("count=-1", "count"),
        ("count=three", "count"),
        ("format=hex", "format"),
        ("cuont=3", "cuont"),
    ] {
        let answer = lab.post(&format!("/api/v1/ids?{query}"), &serde_json::json!({})).await;
        assert_eq!(answer.status, 422, "{query}");
        assert_eq!(answer.body["errors"][0]["field"], field, "{query}: {}", answer.body);
    }
    for id in ["abc", "99999999999999999999", "12%2034", "-1"] {
        let answer = lab.get(&format!("/api/v1/ids/{id}")).await;
        assert_eq!(answer.status, 422, "{id}");
    }
    assert_eq!(lab.count_calls_to("IdsTable"), 0);
}

#[tokio::test(start_paused = true)]
async fn head_is_get_without_a_body() {
    let lab = Lab::new();
    let made = lab.post("/api/v1/ids", &serde_json::json!({})).await;
    let path = format!("/api/v1/ids/{}", made.body["ids"][0].as_str().unwrap());
    let head = lab.call(Method::HEAD, &path).by(&root_key()).send().await;
    assert_eq!((head.status.as_u16(), &head.body), (200, &serde_json::Value::Null));
    assert_eq!(head.header("content-type"), "application/json");
}
