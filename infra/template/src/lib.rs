//! Reads a SAM template into a typed [`Stack`]: what the local cloud starts from, and what the
//! contract tests hold the code against.
//!
//! A template may nest others, which are read with it: the `Stack` is one flat list of what all of
//! them describe, and [`Stack::nested`] shows each by itself.
//!
//! Every intrinsic is evaluated as it would be in an account that is only local, so a `Stack` holds
//! plain values: names, ARNs, URLs. A mistake in the template is a [`TemplateError`] that
//! points at the line; nothing that is misspelt is skipped in silence.

mod conditions;
mod cycles;
mod declare;
mod error;
mod field;
mod globals;
mod names;
mod node;
mod parameters;
mod resolve;
mod source;
mod stack;
mod suggest;
#[cfg(test)]
mod tests;
mod vocabulary;
mod yaml;

use std::collections::BTreeMap;
use std::path::Path;

pub use declare::DeletionPolicy;
pub(crate) use error::Result;
pub use error::TemplateError;
pub use names::{ACCOUNT, REGION};
pub use stack::api::{Cors, HttpApi};
pub use stack::events::{HttpRoute, QueueEvent, RouteKey, TopicEvent};
pub use stack::function::{Function, Tracing};
pub use stack::gateway::websocket::{WebSocketApi, WebSocketRoute};
pub use stack::nested::Nested;
pub use stack::policies::{Effect, PolicyTemplate, Statement};
pub use stack::queue::{Queue, Redrive};
pub use stack::schedule::{Expression, Schedule};
pub use stack::storage::{Bucket, LogGroup};
pub use stack::table::{
    Attribute, AttributeType, Billing, Index, IndexScope, Key, Projection, StreamView, Table,
};
pub use stack::topic::{FilterScope, Subscription, Topic};
pub use stack::{Resource, Stack};

use error::Mark;
use source::{Files, Source};

/// What a stack is called unless the caller says otherwise; physical names begin with it.
pub const DEFAULT_STACK_NAME: &str = "switchyard-local";

/// Reads the template at `path` under the default stack name. `parameters` override defaults.
pub fn load(path: &Path, parameters: &BTreeMap<String, String>) -> Result<Stack> {
    load_as(DEFAULT_STACK_NAME, path, parameters)
}

/// Reads the template at `path` as the stack `name`.
pub fn load_as(name: &str, path: &Path, parameters: &BTreeMap<String, String>) -> Result<Stack> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        TemplateError::new(Mark::START, "", format!("cannot be read: {error}")).in_file(path)
    })?;
    parse(name, path, &text, parameters)
}

/// Reads a template that is already in memory; `path` is what errors call it, and what nested
/// templates are relative to.
pub fn parse(
    name: &str,
    path: &Path,
    text: &str,
    parameters: &BTreeMap<String, String>,
) -> Result<Stack> {
    parse_among(&|path| std::fs::read_to_string(path), name, path, text, parameters)
}

/// The same, where `files` gives the text of nested templates.
fn parse_among(
    files: &Files<'_>,
    name: &str,
    path: &Path,
    text: &str,
    parameters: &BTreeMap<String, String>,
) -> Result<Stack> {
    let source = Source { file: path, parent: None, files };
    yaml::parse(text)
        .and_then(|root| stack::build::template(&root, name, &source, parameters))
        .and_then(stack::merge::merge)
        .map_err(|error| error.in_file(path))
}
