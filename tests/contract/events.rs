//! Sample events: each one is accepted by its function.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use boundary::System;
use local::systems;
use serde_json::Value;
use template::{Function, RouteKey, Stack};
use tests::{Lab, root};

use super::list_folder;
use super::routes::route_matches;

/// Where the samples of each function are.
fn folders() -> BTreeMap<String, PathBuf> {
    let of = |system: &System| {
        let folder = root().join("events").join(system.name);
        let functions = system.functions().iter();
        functions.map(|it| (it.name.to_owned(), folder.join(it.name))).collect::<Vec<_>>()
    };
    systems::all().iter().flat_map(of).collect()
}

#[test]
fn every_function_has_sample_events() {
    let mut sampled = BTreeSet::new();
    for system in list_folder(&root().join("events")) {
        let folder = root().join("events").join(system);
        sampled.extend(list_folder(&folder).into_iter().map(|name| folder.join(name)));
    }
    assert_eq!(folders().into_values().collect::<BTreeSet<_>>(), sampled);
}

#[tokio::test(start_paused = true)]
async fn every_sample_event_is_accepted() {
    assert!(accept_samples(&Lab::new()).await >= 90);
}

/// Sends every function of a cloud its samples, and says how many there were.
pub(super) async fn accept_samples(lab: &Lab) -> usize {
    let folders = folders();
    let mut accepted = 0;
    for function in &lab.cloud.stack.functions {
        let folder = &folders[&function.binary];
        for name in list_folder(folder) {
            let path = folder.join(&name);
            let text = std::fs::read_to_string(&path).unwrap();
            let event: Value = serde_json::from_str(&text).unwrap();
            let answer = lab.cloud.functions.invoke(&function.logical_id, text.into_bytes()).await;
            let context = path.display().to_string();
            let answer = answer.unwrap_or_else(|error| panic!("{context}: {error}"));
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            check(&context, &lab.cloud.stack, function, &event, &answer);
            accepted += 1;
        }
    }
    accepted
}

/// An HTTP event names a route of the template and is answered; so does one of a WebSocket; a batch has no
/// failures.
fn check(context: &str, stack: &Stack, function: &Function, event: &Value, answer: &Value) {
    if let Some(key) = event["routeKey"].as_str() {
        let route = function.routes.iter().find(|route| route.key.to_string() == key);
        let route = route.unwrap_or_else(|| panic!("{context}: {key} is not a route of it"));
        let path = event["rawPath"].as_str().unwrap();
        if let RouteKey::Path { path: pattern, .. } = &route.key {
            assert!(route_matches(pattern, path), "{context}: {path} is not {pattern}");
        }
        assert_eq!(event["requestContext"]["http"]["path"], path, "{context}");
        let status = answer["statusCode"].as_u64().unwrap();
        // What a sample refers to need not be there, but it must be understood and let in.
        let understood = matches!(status, 200 | 201 | 202 | 204 | 302 | 404 | 409 | 412);
        assert!(understood, "{context}: {answer}");
    }
    if event["requestContext"]["eventType"].is_string() {
        let key = event["requestContext"]["routeKey"].as_str().unwrap();
        let mut routes = stack.websockets.iter().filter_map(|api| api.route(key));
        let known = routes.any(|route| route.function == function.logical_id);
        assert!(known, "{context}: {key} is not a route of it");
        assert_eq!(answer["statusCode"], 200, "{context}: {answer}");
    }
    if event["Records"].is_array() {
        assert_eq!(answer["batchItemFailures"], serde_json::json!([]), "{context}");
    }
}
