//! What holds for every operation, with a sample event of each as its valid request: methods, callers, bodies,
//! unknown fields, pages, repetitions, and what belongs to another caller.

mod access;
mod bodies;
mod ownership;
mod paging;
mod repetition;

use std::collections::{BTreeMap, BTreeSet};

use boundary::System;
use boundary::http::Operation;
use http::Method;
use local::{document, systems};
use serde_json::Value;
use tests::{Lab, RequestBuilder, root};

/// An operation with its sample.
struct SampledOperation {
    operation: Operation,
    /// What the document says of it.
    entry: Value,
    event: Value,
}

impl SampledOperation {
    /// `GET /api/v1/jobs`.
    fn name(&self) -> String {
        format!("{} {}", self.operation.method, self.operation.path)
    }

    fn method(&self) -> Method {
        self.operation.method.parse().unwrap()
    }

    /// The path of the sample, with its query.
    fn target(&self) -> String {
        let path = self.event["rawPath"].as_str().unwrap();
        match self.event["rawQueryString"].as_str() {
            Some("") | None => path.to_owned(),
            Some(query) => format!("{path}?{query}"),
        }
    }

    /// The sample with the headers that mean something, and without its body.
    fn call<'l>(&self, lab: &'l Lab) -> RequestBuilder<'l> {
        let mut call = lab.call(self.method(), &self.target());
        for (name, value) in self.event["headers"].as_object().unwrap() {
            if matches!(name.as_str(), "accept" | "authorization" | "content-type" | "if-match") {
                call = call.header(name, value.as_str().unwrap());
            }
        }
        call
    }

    /// The sample's body, if it is an object in JSON.
    fn object(&self) -> Option<Value> {
        let body: Value = serde_json::from_str(self.event["body"].as_str()?).ok()?;
        body.is_object().then_some(body)
    }

    /// The parameter of that name in that place.
    fn parameter(&self, place: &str, name: &str) -> Option<&Value> {
        let mut parameters = self.entry["parameters"].as_array()?.iter();
        parameters.find(|it| it["in"] == place && it["name"] == name)
    }
}

fn all() -> Vec<Operation> {
    systems::all().iter().flat_map(System::operations).map(|(_, operation)| operation).collect()
}

/// Every operation with the first of its samples in the order of their files.
fn sampled_operations() -> Vec<SampledOperation> {
    let operations = all();
    let mut events: BTreeMap<(&str, &str), Value> = BTreeMap::new();
    for file in super::files(&root().join("events")) {
        let event: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let Some(method) = event["requestContext"]["http"]["method"].as_str() else { continue };
        let path = event["rawPath"].as_str().unwrap();
        let fits =
            operations.iter().filter(|it| it.method == method && path_matches(it.path, path));
        if let Some(found) = fits.min_by_key(|it| it.path.matches('{').count()) {
            events.entry((found.method, found.path)).or_insert(event);
        }
    }
    let document = document::openapi();
    let of = |operation: &Operation| {
        let event = events.get(&(operation.method, operation.path)).cloned();
        let event = event.unwrap_or_else(|| {
            panic!("no sample event of {} {}", operation.method, operation.path)
        });
        let entry = &document["paths"][operation.path][operation.method.to_lowercase()];
        SampledOperation { operation: *operation, entry: entry.clone(), event }
    };
    operations.iter().map(of).collect()
}

/// Whether a path matches a pattern.
fn path_matches(pattern: &str, path: &str) -> bool {
    let same = |(part, wanted): (&str, &str)| part == wanted || wanted.starts_with('{');
    pattern.split('/').count() == path.split('/').count()
        && path.split('/').zip(pattern.split('/')).all(same)
}

#[test]
fn every_operation_has_a_sample_event() {
    assert!(sampled_operations().len() >= 120);
}

#[tokio::test(start_paused = true)]
async fn a_method_that_a_path_lacks_is_answered_with_those_it_has() {
    let lab = Lab::new();
    let mut methods: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for operation in all() {
        methods.entry(operation.path).or_default().insert(operation.method);
    }
    for it in sampled_operations() {
        let has = &methods[it.operation.path];
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            if has.contains(method) {
                continue;
            }
            let call = lab.call(method.parse().unwrap(), it.event["rawPath"].as_str().unwrap());
            let answer = call.by(&tests::root_key()).send().await;
            let context = format!("{method} {}: {}", it.operation.path, answer.body);
            assert_eq!(answer.status, 405, "{context}");
            assert_eq!(answer.header("content-type"), "application/problem+json", "{context}");
            let mut allowed: BTreeSet<_> = answer.header("allow").split(", ").collect();
            allowed.remove("HEAD");
            assert_eq!(allowed, *has, "{context}");
        }
    }
}
