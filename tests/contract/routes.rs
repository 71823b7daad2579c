//! Routes: the template, the functions' operations and the OpenAPI document agree.

use std::collections::BTreeSet;

use boundary::System;
use local::{diagram, document, systems};
use template::{Function, HttpRoute, RouteKey, Stack};
use tests::root;

use super::stack;

/// Whether a route's path takes a request's; `{proxy+}` takes one segment or more.
pub(super) fn route_matches(pattern: &str, path: &str) -> bool {
    let mut path = path.split('/');
    for wanted in pattern.split('/') {
        match path.next() {
            Some(segment) if wanted.starts_with('{') && !segment.is_empty() => {}
            Some(segment) if segment == wanted => {}
            Some(_) | None => return false,
        }
        if wanted.ends_with("+}") {
            return true;
        }
    }
    path.next().is_none()
}

/// The route that API Gateway chooses: a full match before a greedy one, and both before the default.
pub(super) fn route_for<'a>(stack: &'a Stack, path: &str) -> (&'a Function, &'a HttpRoute) {
    let rank = |route: &HttpRoute| match &route.key {
        RouteKey::Default => Some((0, 0)),
        RouteKey::Path { path: pattern, .. } if route_matches(pattern, path) => {
            let literals = pattern.split('/').filter(|segment| !segment.starts_with('{')).count();
            Some((1 + u8::from(!pattern.ends_with("+}")), literals))
        }
        RouteKey::Path { .. } => None,
    };
    let functions = stack.functions.iter();
    let routes = functions.flat_map(|it| it.routes.iter().map(move |route| (it, route)));
    let ranked = routes.filter_map(|(it, route)| Some((rank(route)?, (it, route))));
    ranked.max_by_key(|(rank, _)| *rank).unwrap().1
}

#[test]
fn every_operation_is_reached_and_no_route_is_idle() {
    let mut used = BTreeSet::new();
    for (function, operation) in systems::all().iter().flat_map(System::operations) {
        let (reached, route) = route_for(stack(), operation.path);
        assert_eq!(reached.binary, function, "{}, by {}", operation.path, route.key);
        used.insert(route.key.to_string());
    }
    for route in stack().functions.iter().flat_map(|function| &function.routes) {
        if let RouteKey::Path { method, path } = &route.key {
            assert_eq!(*method, None, "{path}: functions know their methods, so routes say ANY");
        }
        let idle = route.key != RouteKey::Default && !used.contains(&route.key.to_string());
        assert!(!idle, "no operation is at {}", route.key);
    }
}

/// A link of that name could never be followed.
#[test]
fn the_first_segment_of_a_path_is_no_valid_alias() {
    for (_, operation) in systems::all().iter().flat_map(System::operations) {
        let first = operation.path.split('/').nth(1).unwrap_or_default();
        if !first.is_empty() && !first.starts_with('{') {
            assert!(domain::links::Code::alias(first).is_err(), "{first}");
        }
    }
}

/// Default rules of a system apply only to that system's paths.
#[test]
fn a_rule_for_a_system_is_for_its_own_paths() {
    let systems = systems::all();
    for (name, rules) in domain::limits::RuleSet::defaults_by_system() {
        let Some(system) = systems.iter().find(|system| system.name == name) else {
            assert_eq!(name, "");
            continue;
        };
        for path in rules.iter().flat_map(|rule| &rule.resources) {
            let pattern = path.replace("{*rest}", "{rest+}");
            let of = |system: &System| system.operations().into_iter().map(|(_, it)| it.path);
            assert!(of(system).any(|path| route_matches(&pattern, path)), "{name}: {path}");
            let others = systems.iter().filter(|other| other.name != name).flat_map(of);
            let theirs: Vec<_> = others.filter(|path| route_matches(&pattern, path)).collect();
            assert!(theirs.is_empty(), "{name}: {path} is {theirs:?}");
        }
    }
}

#[test]
fn one_function_has_the_default_route() {
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
    let kept = std::fs::read_to_string(root().join("docs/architecture.svg")).unwrap();
    let stale = "docs/architecture.svg is out of date: run `cargo run -- diagram`";
    assert!(kept == diagram::architecture(stack()), "{stale}");
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
