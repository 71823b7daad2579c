//! What alarms watch is what functions measure.

use std::path::Path;

use serde_json::Value;

use tests::root;

use super::stack;

/// Metrics of ours that alarms watch, and the operation that each is of.
fn watched() -> Vec<(String, String)> {
    let mut watched = Vec::new();
    for alarm in stack().resources_of("AWS::CloudWatch::Alarm") {
        let properties = serde_json::to_value(&alarm.properties).unwrap();
        let many = properties["Metrics"].as_array().cloned().unwrap_or_default();
        let many = many.into_iter().map(|metric| metric["MetricStat"]["Metric"].clone());
        for metric in many.chain([properties.clone()]).filter(|it| it["Namespace"] == "Switchyard")
        {
            let dimensions = metric["Dimensions"].as_array().cloned().unwrap_or_default();
            let of = dimensions.iter().find(|it| it["Name"] == "Operation");
            let of = of.and_then(|it| it["Value"].as_str()).unwrap_or_else(|| {
                panic!("{}: no operation, so nothing is ever measured", alarm.logical_id)
            });
            watched.push((text(&metric["MetricName"]), of.to_owned()));
        }
    }
    watched
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Everything that functions are made of, in one text.
fn sources(folder: &Path, into: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|it| it == "rs") {
            into.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_metric_that_is_watched_is_measured_by_an_operation_that_there_is() {
    let (mut functions, mut all) = (String::new(), String::new());
    sources(&root().join("functions"), &mut functions);
    sources(&root().join("shared"), &mut all);
    all.push_str(&functions);
    let watched = watched();
    assert!(watched.len() > 20, "{watched:?}");
    for (metric, operation) in watched {
        assert!(all.contains(&format!("\"{metric}\"")), "nothing measures {metric}");
        assert!(functions.contains(&format!("\"{operation}\"")), "{metric}: no {operation}");
    }
}
