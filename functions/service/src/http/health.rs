//! Is it up?

use std::sync::Arc;

use boundary::http::{Json, Operation, State};
use schemars::JsonSchema;
use serde::Serialize;

use super::App;

/// The service is up.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Health {
    /// `ok`.
    status: &'static str,
    stage: String,
    version: &'static str,
}

pub(super) const HEALTH: Operation = Operation::get("/health", "readHealth", "Is it up?");

pub(super) async fn health(State(app): State<Arc<App>>) -> Json<Health> {
    Json(Health { status: "ok", stage: app.stage.clone(), version: env!("CARGO_PKG_VERSION") })
}
