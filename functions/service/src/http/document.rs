//! The OpenAPI document, less the systems that are not deployed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::response::IntoResponse;
use boundary::Switches;
use boundary::http::{Operation, Problem, State};
use domain::{Failure, Result};
use http::header;
use serde::Deserialize;
use serde_json::Value;

use super::App;

/// The document of all systems.
const FULL_DOCUMENT: &str = include_str!("../../openapi.json");

/// Only a deployment changes it.
pub(super) const CACHE_CONTROL_VALUE: &str = "public, max-age=300";

/// The systems that are deployed.
#[derive(Debug, Default)]
pub(super) struct Deployed(pub(super) Switches);

/// A tag of the document.
#[derive(Debug, Deserialize)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) description: String,
    #[serde(rename = "x-system")]
    pub(super) system: String,
}

impl Deployed {
    /// The tags of the deployed systems.
    pub(super) fn tags(&self) -> Result<Vec<Tag>> {
        #[derive(Deserialize)]
        struct Tags {
            tags: Vec<Tag>,
        }
        let read = serde_json::from_str::<Tags>(FULL_DOCUMENT);
        let mut tags = read.map_err(|error| Failure::new("read the document", error))?.tags;
        tags.retain(|tag| !self.0.is_off(&tag.system));
        Ok(tags)
    }

    fn document(&self) -> Result<Cow<'static, str>> {
        if self.0.are_all_on() {
            return Ok(Cow::Borrowed(FULL_DOCUMENT));
        }
        let mut document = full_document()?;
        self.remove_switched_off(&mut document);
        Ok(Cow::Owned(document.to_string()))
    }

    /// The switched-off system that has `path`.
    fn switched_off_at(&self, path: &str) -> Result<Option<String>> {
        if self.0.are_all_on() {
            return Ok(None);
        }
        let document = full_document()?;
        let paths = document["paths"].as_object().into_iter().flatten();
        let fitting =
            paths.filter_map(|(pattern, item)| Some((literal_segments(pattern, path)?, item)));
        let Some((_, item)) = fitting.max_by_key(|(literals, _)| *literals) else {
            return Ok(None);
        };
        let tag_name = item.as_object().and_then(|item| item.values().next());
        let tag_name = tag_name.map(|operation| &operation["tags"][0]);
        let mut tags = document["tags"].as_array().into_iter().flatten();
        let system = tags.find(|tag| Some(&tag["name"]) == tag_name);
        let system = system.and_then(|tag| tag["x-system"].as_str());
        Ok(system.filter(|system| self.0.is_off(system)).map(str::to_owned))
    }

    fn remove_switched_off(&self, document: &mut Value) {
        let is_off = |tag: &Value| tag["x-system"].as_str().is_some_and(|it| self.0.is_off(it));
        let Some(tags) = document["tags"].as_array_mut() else { return };
        let gone: Vec<Value> = tags.extract_if(.., |tag| is_off(tag)).collect();
        let is_gone =
            |operation: &Value| gone.iter().any(|tag| tag["name"] == operation["tags"][0]);
        if let Some(paths) = document["paths"].as_object_mut() {
            for path in paths.values_mut() {
                if let Some(operations) = path.as_object_mut() {
                    operations.retain(|_, operation| !is_gone(operation));
                }
            }
            paths.retain(|_, path| path.as_object().is_some_and(|path| !path.is_empty()));
        }
        let mut referenced = BTreeSet::new();
        collect_schemas(&document["paths"], document, &mut referenced);
        if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
            schemas.retain(|name, _| referenced.contains(name));
        }
    }
}

fn full_document() -> Result<Value> {
    serde_json::from_str(FULL_DOCUMENT).map_err(|error| Failure::new("read the document", error))
}

/// How many segments of `pattern` the path has word for word, if it fits.
fn literal_segments(pattern: &str, path: &str) -> Option<usize> {
    let (pattern, path) = (pattern.split('/'), path.split('/'));
    if pattern.clone().count() != path.clone().count() {
        return None;
    }
    let mut literals = 0;
    for (wanted, segment) in pattern.zip(path) {
        if wanted == segment {
            literals += 1;
        } else if !wanted.starts_with('{') || segment.is_empty() {
            return None;
        }
    }
    Some(literals)
}

/// The problem at a path that no operation of a deployed system takes.
pub(super) fn not_found(app: &App, path: &str) -> Problem {
    match app.deployed.switched_off_at(path) {
        Ok(Some(system)) => {
            let (first, rest) = system.split_at(1);
            Problem::not_deployed(&(first.to_uppercase() + rest))
        }
        Ok(None) => Problem::unknown_path(path),
        Err(failure) => failure.into(),
    }
}

/// Collects every schema that `part` refers to, directly or through others.
fn collect_schemas(part: &Value, document: &Value, referenced: &mut BTreeSet<String>) {
    match part {
        Value::Object(members) => {
            let reference = members.get("$ref").and_then(Value::as_str);
            if let Some(name) =
                reference.and_then(|path| path.strip_prefix("#/components/schemas/"))
                && referenced.insert(name.to_owned())
            {
                collect_schemas(&document["components"]["schemas"][name], document, referenced);
            }
            for member in members.values() {
                collect_schemas(member, document, referenced);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect_schemas(item, document, referenced);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(super) const DOCUMENT: Operation =
    Operation::get("/openapi.json", "readDocument", "This document").media(&["application/json"]);

pub(super) async fn document(
    State(app): State<Arc<App>>,
) -> Result<axum::response::Response, Problem> {
    let headers =
        [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, CACHE_CONTROL_VALUE)];
    let answer = match app.deployed.document()? {
        Cow::Borrowed(text) => (headers, text).into_response(),
        Cow::Owned(text) => (headers, text).into_response(),
    };
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switched(switches: &str) -> Deployed {
        Deployed(Switches::parse(switches))
    }

    #[test]
    fn a_path_belongs_to_the_system_with_most_literal_segments() {
        let off = switched("links=off jobs=off notifications=off");
        for (path, system) in [
            ("/api/v1/jobs", Some("jobs")),
            ("/api/v1/jobs/1/explain", Some("jobs")),
            ("/api/v1/users/ada/contacts", Some("notifications")),
            ("/anything", Some("links")),
            ("/unsubscribe", Some("notifications")),
            ("/health", None),
            ("/api/v1/nothing", None),
            ("/", None),
        ] {
            assert_eq!(off.switched_off_at(path).unwrap().as_deref(), system, "{path}");
        }
    }

    #[test]
    fn what_is_switched_off_is_left_out_and_the_rest_is_complete() {
        let whole: Value = serde_json::from_str(FULL_DOCUMENT).unwrap();
        let without_jobs = switched("links=on jobs=off").document().unwrap();
        let narrowed: Value = serde_json::from_str(&without_jobs).unwrap();
        assert!(whole["paths"]["/api/v1/jobs"].is_object());
        assert!(narrowed["paths"]["/api/v1/jobs"].is_null());
        assert!(whole["components"]["schemas"]["JobView"].is_object());
        assert!(narrowed["components"]["schemas"]["JobView"].is_null());
        assert_eq!(whole["paths"]["/{code}"], narrowed["paths"]["/{code}"]);
        assert!(!without_jobs.contains("\"Jobs\""));
        for path in narrowed["paths"].as_object().unwrap().values() {
            let mut referenced = BTreeSet::new();
            collect_schemas(path, &narrowed, &mut referenced);
            for name in referenced {
                assert!(narrowed["components"]["schemas"][&name].is_object(), "{name}");
            }
        }
    }

    #[test]
    fn with_everything_on_the_document_is_the_one_that_is_kept() {
        let on = switched("links=on jobs=on");
        assert!(matches!(on.document().unwrap(), Cow::Borrowed(_)));
        assert!(on.tags().unwrap().iter().any(|tag| tag.name == "Jobs"));
        assert!(!switched("jobs=off").tags().unwrap().iter().any(|t| t.name == "Jobs"));
    }
}
