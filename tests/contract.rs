//! Contracts: templates, schema, routes, OpenAPI document, sample events and crates agree.

mod crates;
mod events;
mod metrics;
mod operations;
mod policies;
mod queues;
mod routes;
mod stacks;
mod tables;
mod websockets;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use template::Stack;

/// The templates with everything switched on, read once.
fn stack() -> &'static Stack {
    static STACK: OnceLock<Stack> = OnceLock::new();
    STACK.get_or_init(|| {
        template::load(&tests::root().join("template.yaml"), &tests::parameters()).unwrap()
    })
}

/// The names of everything in a folder.
fn list_folder(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Every file under a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for name in list_folder(folder) {
        let path = folder.join(name);
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all
}
