//! Who may know whom, and how small a `main.rs` stays.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;
use tests::root;

use super::{listed, stack};

#[test]
fn crates_know_only_what_is_beneath_them() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let ours: BTreeSet<&str> = packages.iter().map(|p| p["name"].as_str().unwrap()).collect();
    let functions: BTreeSet<String> = listed(&root().join("functions")).into_iter().collect();
    let mut allowed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::from([
        ("domain", BTreeSet::new()),
        ("store", BTreeSet::from(["domain"])),
        ("messaging", BTreeSet::from(["domain"])),
        ("outside", BTreeSet::from(["domain"])),
        ("boundary", BTreeSet::from(["domain", "messaging", "outside", "store"])),
        ("queues", BTreeSet::new()),
        ("template", BTreeSet::new()),
    ]);
    for function in &functions {
        allowed.insert(
            function,
            BTreeSet::from(["boundary", "domain", "messaging", "outside", "store"]),
        );
    }
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let Some(allowed) = allowed.get(name) else { continue };
        for dependency in package["dependencies"].as_array().unwrap() {
            let dependency = dependency["name"].as_str().unwrap();
            let known = !ours.contains(dependency) || allowed.contains(dependency);
            assert!(known, "{name} must not know {dependency}");
        }
    }
}

/// Two would make a plain `cargo run` ask which one is meant.
#[test]
fn only_the_local_cloud_is_what_cargo_run_runs() {
    let mut found = Vec::new();
    for folder in ["bench", "infra/local", "infra/queues", "infra/template", "tests", "tests/e2e"] {
        let text = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        if text.contains("default-run") {
            found.push(folder);
        }
    }
    assert_eq!(found, ["infra/local"]);
}

#[test]
fn every_function_is_in_the_template_and_in_the_local_cloud() {
    let folders = listed(&root().join("functions"));
    let mut deployed: Vec<_> = stack().functions.iter().map(|f| f.binary.clone()).collect();
    deployed.sort();
    assert_eq!(folders, deployed);
    assert_eq!(folders, local::functions::KNOWN);
}

#[test]
fn a_variable_means_the_same_to_every_function() {
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    for function in &stack().functions {
        for (name, value) in &function.environment {
            let first = values.entry(name).or_insert(value);
            assert_eq!(first, value, "{}: {name}", function.logical_id);
        }
    }
}

#[test]
fn every_main_is_wiring_only() {
    for function in listed(&root().join("functions")) {
        let path = root().join("functions").join(&function).join("src/main.rs");
        let lines = std::fs::read_to_string(path).unwrap().lines().count();
        assert!(lines <= 30, "{function}/src/main.rs has {lines} lines");
    }
}
