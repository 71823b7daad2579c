//! What is generated from the systems' operations: the OpenAPI document, and the routes of `cargo lambda watch`.

use boundary::openapi::Document;
use serde_json::Value;

use crate::systems;

/// The OpenAPI document.
pub fn openapi() -> Value {
    let mut document = Document::default();
    for system in systems::all() {
        system.describe(&mut document);
    }
    document.finish(env!("CARGO_PKG_VERSION"))
}

/// What the workspace's `Cargo.toml` says where `cargo lambda watch` looks for routes.
const ROUTER: &str = "[workspace.metadata.lambda.watch.router]\n";

/// The text of a `Cargo.toml`, with the routes of today.
pub fn routed(manifest: &str) -> Option<String> {
    let (before, rest) = manifest.split_once(ROUTER)?;
    let (_, after) = rest.split_once("\n\n")?;
    let mut routes: Vec<String> = Vec::new();
    for (function, operation) in systems::all().iter().flat_map(boundary::System::operations) {
        let route = format!("\"{}\" = \"{function}\"", operation.path);
        if !routes.contains(&route) {
            routes.push(route);
        }
    }
    // What no operation claims, as the API's default route.
    routes.push("\"/{code}/{*unclaimed}\" = \"describe\"".to_owned());
    Some(format!("{before}{ROUTER}{}\n\n{after}", routes.join("\n")))
}
