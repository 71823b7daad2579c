//! Lines, as the log and CloudWatch read them.

use boundary::telemetry::Unit;
use serde_json::{Value, json};

use super::*;

fn line(metrics: &RedirectMetrics) -> Option<Value> {
    metrics.take_line("test", Timestamp::UNIX_EPOCH).map(|line| serde_json::to_value(line).unwrap())
}

#[test]
fn many_requests_are_one_line_and_every_metric_has_its_value() {
    let metrics = RedirectMetrics::default();
    for n in 0..150 {
        metrics.record_request(n);
        metrics.record_lookup(n > 0);
        metrics.record_answer(Outcome::Redirect, 0.0125);
    }
    metrics.record_capacity(CapacityUsed { calls: 1, units: 0.5 });
    metrics.record_clicks(149, 1);
    let pending = Pending { requests: 150, since_ms: 0, gap_ms: Some(1) };
    assert_eq!(metrics.pending(), pending);
    let line = line(&metrics).unwrap();
    assert_eq!((&line["Redirects"], &line["CacheHits"]), (&json!(150), &json!(149)));
    assert_eq!((&line["ClicksSent"], &line["ClicksDropped"]), (&json!(149), &json!(1)));
    assert_eq!((&line["store_calls"], &line["store_units"]), (&json!(1), &json!(0.5)));
    assert_eq!(line["Latency"].as_array().unwrap().len(), 100, "the format takes no more");
    assert_eq!((&line["Operation"], &line["level"]), (&json!("redirect"), &json!("INFO")));
    for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap() {
        assert!(!line[metric["Name"].as_str().unwrap()].is_null(), "{metric}");
    }
}

#[test]
fn nothing_is_said_twice_or_about_nothing() {
    let metrics = RedirectMetrics::default();
    assert_eq!(line(&metrics), None);
    metrics.record_request(5);
    metrics.record_answer(Outcome::Fault, 1.0);
    metrics.record_fault("no table".to_owned());
    let first = line(&metrics).unwrap();
    assert_eq!((&first["level"], &first["fault"]), (&json!("ERROR"), &json!("no table")));
    assert_eq!(line(&metrics), None);
    metrics.record_request(7);
    assert_eq!(metrics.pending(), Pending { requests: 1, since_ms: 7, gap_ms: Some(2) });
}

#[test]
fn what_the_gate_measures_is_a_metric_of_the_line_and_only_then() {
    let metrics = RedirectMetrics::default();
    metrics.record_request(0);
    metrics.record_measures(&[]);
    assert_eq!(line(&metrics).unwrap()["FirewallRefused"], Value::Null);
    metrics.record_request(1);
    let one = MetricValue {
        name: "FirewallRefused",
        unit: Unit::Count,
        value: 1.0,
        dimensions: Vec::new(),
    };
    metrics.record_measures(std::slice::from_ref(&one));
    metrics.record_measures(&[one]);
    let line = line(&metrics).unwrap();
    assert_eq!(line["FirewallRefused"], 2.0);
    let metrics = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap();
    assert!(metrics.contains(&json!({ "Name": "FirewallRefused", "Unit": "Count" })));
}
