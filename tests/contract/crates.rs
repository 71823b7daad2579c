//! The crates' dependency rule, and how small a `main.rs` stays.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use boundary::SystemFunction;
use local::systems;
use serde_json::Value;
use tests::root;

use super::{list_folder, stack};

#[test]
fn crates_depend_only_on_the_layers_below() {
    let packages = packages();
    let ours: BTreeSet<&str> = packages.iter().map(name).collect();
    let functions: BTreeSet<String> = systems_folders().into_iter().collect();
    let mut allowed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::from([
        ("domain", BTreeSet::new()),
        ("rest", BTreeSet::new()),
        ("store", BTreeSet::from(["domain", "rest"])),
        ("messaging", BTreeSet::from(["domain"])),
        ("egress", BTreeSet::from(["domain"])),
        // Its tests send to the sink.
        ("providers", BTreeSet::from(["domain", "egress", "rest", "sink"])),
        ("sink", BTreeSet::from(["domain", "egress"])),
        // It makes the adapters that functions ask their host for.
        (
            "boundary",
            BTreeSet::from(["domain", "messaging", "egress", "providers", "rest", "store"]),
        ),
        ("worker", BTreeSet::new()),
        ("queues", BTreeSet::new()),
        ("template", BTreeSet::new()),
    ]);
    for function in &functions {
        allowed.insert(
            function,
            BTreeSet::from([
                "boundary",
                "domain",
                "messaging",
                "egress",
                "providers",
                "rest",
                "store",
                "worker",
            ]),
        );
    }
    for package in &packages {
        let name = name(package);
        let Some(allowed) = allowed.get(name) else { continue };
        for dependency in dependencies(package) {
            let permitted = !ours.contains(dependency) || allowed.contains(dependency);
            assert!(permitted, "{name} must not depend on {dependency}");
        }
    }
}

/// It is for people's own workers; tests use the API.
#[test]
fn only_functions_depend_on_the_worker_library() {
    let packages = packages();
    assert!(packages.iter().any(|package| name(package) == "worker"));
    let functions = systems_folders();
    for package in &packages {
        let name = name(package);
        let is_free = !dependencies(package).any(|dependency| dependency == "worker");
        assert!(is_free || functions.iter().any(|f| f == name), "{name} must not depend on worker");
    }
}

/// The workspace's own crates, as cargo describes them.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let mut metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(metadata["packages"].take()).unwrap()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap()
}

fn dependencies(package: &Value) -> impl Iterator<Item = &str> {
    let dependencies = package["dependencies"].as_array().unwrap().iter();
    dependencies.map(|dependency| dependency["name"].as_str().unwrap())
}

/// With two of them a plain `cargo run` is ambiguous.
#[test]
fn only_the_local_cloud_is_what_cargo_run_runs() {
    let mut found = Vec::new();
    for folder in [
        "bench",
        "infra/local",
        "infra/queues",
        "infra/sink",
        "infra/template",
        "tests",
        "tests/e2e",
    ] {
        let text = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        if text.contains("default-run") {
            found.push(folder);
        }
    }
    assert_eq!(found, ["infra/local"]);
}

/// The packages of the systems; beside them lies a list of their functions.
fn systems_folders() -> Vec<String> {
    let functions = root().join("functions");
    list_folder(&functions).into_iter().filter(|name| functions.join(name).is_dir()).collect()
}

/// Every binary, with its package.
fn binaries() -> BTreeSet<(String, String)> {
    let mut binaries = BTreeSet::new();
    for package in systems_folders() {
        for file in list_folder(&root().join("functions").join(&package).join("src/bin")) {
            let name = file.strip_suffix(".rs").unwrap().to_owned();
            binaries.insert((package.clone(), name));
        }
    }
    binaries
}

#[test]
fn every_function_is_in_the_template_and_in_the_local_cloud() {
    let mut deployed: Vec<_> = stack().functions.iter().map(|f| f.binary.clone()).collect();
    deployed.sort();
    let mut built: Vec<_> = binaries().into_iter().map(|(_, name)| name).collect();
    built.sort();
    assert_eq!(built, deployed);
    let registered: BTreeSet<(String, String)> = systems::all()
        .iter()
        .flat_map(|system| {
            let name = |member: &SystemFunction| (system.name.to_owned(), member.name.to_owned());
            system.functions().iter().map(name).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(binaries(), registered);
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

/// In `functions/README.md` a row names a function, and the first of a system its system too.
#[test]
fn the_list_of_functions_for_people_is_complete() {
    let text = std::fs::read_to_string(root().join("functions/README.md")).unwrap();
    let mut listed = BTreeSet::new();
    let mut system = "";
    for row in text.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, named, function, _, file, ..] = cells[..] else { continue };
        if !file.starts_with('[') {
            continue;
        }
        system = if named.is_empty() { system } else { named };
        listed.insert((system.to_owned(), function.trim_matches('`').to_owned()));
        let path = file.split_once('(').unwrap().1.trim_end_matches(')');
        assert!(root().join("functions").join(path).is_file(), "{path}");
    }
    assert_eq!(listed, binaries());
}

#[test]
fn every_main_is_wiring_only() {
    for (package, name) in binaries() {
        let path = format!("functions/{package}/src/bin/{name}.rs");
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        assert!(text.lines().count() <= 10, "{path}");
        assert!(!text.contains("system()"), "{path}: it would link every handler of the system");
    }
}
