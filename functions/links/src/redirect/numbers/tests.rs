//! Lines, as the log and CloudWatch read them.

use boundary::telemetry::Unit;
use serde_json::{Value, json};

use super::*;

fn line(numbers: &Numbers) -> Option<Value> {
    numbers.line("test", Timestamp::UNIX_EPOCH).map(|line| serde_json::to_value(line).unwrap())
}

#[test]
fn many_requests_are_one_line_and_every_metric_has_its_value() {
    let numbers = Numbers::default();
    for n in 0..150 {
        numbers.arrived(n);
        numbers.looked_up(n > 0);
        numbers.answered(Outcome::Redirect, 0.0125);
    }
    numbers.spent(CapacityUsed { calls: 1, units: 0.5 });
    numbers.clicks(149, 1);
    let waiting = Waiting { requests: 150, since_ms: 0, gap_ms: Some(1) };
    assert_eq!(numbers.waiting(), waiting);
    let line = line(&numbers).unwrap();
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
    let numbers = Numbers::default();
    assert_eq!(line(&numbers), None);
    numbers.arrived(5);
    numbers.answered(Outcome::Fault, 1.0);
    numbers.broke("no table".to_owned());
    let first = line(&numbers).unwrap();
    assert_eq!((&first["level"], &first["fault"]), (&json!("ERROR"), &json!("no table")));
    assert_eq!(line(&numbers), None);
    numbers.arrived(7);
    assert_eq!(numbers.waiting(), Waiting { requests: 1, since_ms: 7, gap_ms: Some(2) });
}

#[test]
fn what_the_gate_measures_is_a_metric_of_the_line_and_only_then() {
    let numbers = Numbers::default();
    numbers.arrived(0);
    numbers.measured(&[]);
    assert_eq!(line(&numbers).unwrap()["FirewallRefused"], Value::Null);
    numbers.arrived(1);
    let one = MetricValue {
        name: "FirewallRefused",
        unit: Unit::Count,
        value: 1.0,
        dimensions: Vec::new(),
    };
    numbers.measured(std::slice::from_ref(&one));
    numbers.measured(&[one]);
    let line = line(&numbers).unwrap();
    assert_eq!(line["FirewallRefused"], 2.0);
    let metrics = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap();
    assert!(metrics.contains(&json!({ "Name": "FirewallRefused", "Unit": "Count" })));
}
