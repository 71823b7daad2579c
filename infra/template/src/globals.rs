//! Merges the `Globals` section into functions and APIs the way SAM does: before any intrinsic is
//! evaluated, maps key by key, lists end to end, and anything else overridden by the resource.

use crate::error::Result;
use crate::field::Field;
use crate::node::{Entry, Kind, Node};
use crate::vocabulary;

/// Refuses sections and properties that SAM would not merge.
pub(crate) fn check(globals: &Field<'_>) -> Result {
    globals.only(&["Function", "HttpApi"])?;
    if let Some(function) = globals.get("Function")? {
        function.only(vocabulary::GLOBAL_FUNCTION)?;
    }
    if let Some(api) = globals.get("HttpApi")? {
        api.only(vocabulary::gateway::GLOBAL_HTTP_API)?;
    }
    Ok(())
}

/// The properties of a resource of type `kind` with its globals underneath.
pub(crate) fn apply(globals: Option<&Node>, kind: &str, properties: Node) -> Node {
    let section = match kind {
        "AWS::Serverless::Function" => "Function",
        "AWS::Serverless::HttpApi" => "HttpApi",
        _ => return properties,
    };
    match globals.and_then(|globals| globals.get(section)) {
        Some(global) => merge(&global.value, properties),
        None => properties,
    }
}

fn merge(global: &Node, local: Node) -> Node {
    let mark = local.mark;
    let kind = match (&global.kind, local.kind) {
        (Kind::Map(global), Kind::Map(local)) => Kind::Map(merge_entries(global, local)),
        (Kind::List(global), Kind::List(local)) => {
            Kind::List(global.iter().cloned().chain(local).collect())
        }
        (_, local) => local,
    };
    Node { mark, kind }
}

fn merge_entries(global: &[Entry], local: Vec<Entry>) -> Vec<Entry> {
    let mut merged = global.to_vec();
    for entry in local {
        match merged.iter_mut().find(|known| known.key == entry.key) {
            Some(known) => {
                known.mark = entry.mark;
                known.value = merge(&known.value, entry.value);
            }
            None => merged.push(entry),
        }
    }
    merged
}
