//! Routes: what the template sends to a function is what the function answers, and what the
//! document says.

use std::collections::BTreeSet;

use boundary::System;
use local::{document, systems};
use template::RouteKey;
use tests::root;

use super::stack;

/// Paths by function, from the template.
fn in_template() -> BTreeSet<(String, String)> {
    let mut paths = BTreeSet::new();
    for function in &stack().functions {
        for route in &function.routes {
            if let RouteKey::Path { method, path } = &route.key {
                assert_eq!(
                    *method, None,
                    "{path}: functions know their methods, so routes say ANY"
                );
                paths.insert((function.binary.clone(), path.clone()));
            }
        }
    }
    paths
}

#[test]
fn the_template_routes_exactly_what_each_function_answers() {
    let answered: BTreeSet<(String, String)> = systems::all()
        .iter()
        .flat_map(System::operations)
        .map(|(function, operation)| (function.to_owned(), operation.path.to_owned()))
        .collect();
    assert_eq!(in_template(), answered);
}

#[test]
fn one_function_answers_for_every_path_nobody_claims() {
    let defaults: Vec<_> = stack()
        .functions
        .iter()
        .filter(|function| function.routes.iter().any(|route| route.key == RouteKey::Default))
        .map(|function| function.binary.as_str())
        .collect();
    assert_eq!(defaults, ["describe"]);
}

#[test]
fn what_is_generated_is_up_to_date() {
    const STALE: &str = "is out of date: run `cargo run -- document`";
    let kept = std::fs::read_to_string(root().join("functions/service/openapi.json")).unwrap();
    let fresh = serde_json::to_string_pretty(&document::openapi()).unwrap() + "\n";
    assert!(kept == fresh, "functions/service/openapi.json {STALE}");
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let fresh = document::routed(&manifest).unwrap();
    assert!(manifest == fresh, "Cargo.toml {STALE}");
}

#[test]
fn the_roles_in_the_document_are_the_domain_s() {
    let document = document::openapi();
    let documented: Vec<&str> = document["components"]["schemas"]["RoleName"]["enum"]
        .as_array()
        .unwrap()
        .iter()
        .map(|role| role.as_str().unwrap())
        .collect();
    let known: Vec<&str> = domain::accounts::Role::ALL.iter().map(|role| role.name()).collect();
    assert_eq!(documented, known);
}
