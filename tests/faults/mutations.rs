//! Mutation testing of the fault tests: a harness that catches nothing proves nothing.
//!
//! A mutation changes what a function asks of the store: it takes a condition, an item or a field out
//! of the request that the product really sends. Some seed must then violate an invariant.

use std::sync::Arc;

use local::faults::{Faults, Mutation};
use serde_json::Value;

/// Seeds tried before a mutation counts as missed.
const MAX_SEEDS: u64 = 400;

/// Tries each bug by itself; `violation` runs a scenario with it.
pub(crate) fn assert_all_caught(
    bugs: &[(&str, Mutation)],
    violation: impl Fn(u64, Arc<Faults>) -> Option<String>,
) {
    for (name, bug) in bugs {
        assert_caught(name, |seed| violation(seed, Faults::mutated(seed, 120, *bug)));
    }
}

fn assert_caught(name: &str, violation: impl Fn(u64) -> Option<String>) {
    let caught = (0..MAX_SEEDS).find_map(|seed| violation(seed).map(|how| (seed, how)));
    let Some((seed, how)) = caught else { panic!("not caught: {name}") };
    println!("caught with seed {seed}: {name}: {}", how.chars().take(100).collect::<String>());
}

/// Whether a string attribute starts with `start`.
pub(crate) fn begins(value: &Value, start: &str) -> bool {
    value["S"].as_str().is_some_and(|text| text.starts_with(start))
}

/// Takes the condition away, and the values that only it used.
pub(crate) fn remove_condition(request: &mut Value, values: &[&str]) {
    let Some(request) = request.as_object_mut() else { return };
    request.remove("ConditionExpression");
    request.remove("ReturnValuesOnConditionCheckFailure");
    if let Some(all) = request.get_mut("ExpressionAttributeValues").and_then(Value::as_object_mut) {
        for value in values {
            all.remove(*value);
        }
        if all.is_empty() {
            request.remove("ExpressionAttributeValues");
        }
    }
}

/// The items of a transaction: the action of each, and its request.
pub(crate) fn transaction_items(
    request: &mut Value,
) -> impl Iterator<Item = (&String, &mut Value)> {
    let items = request["TransactItems"].as_array_mut().into_iter().flatten();
    items.filter_map(|item| item.as_object_mut()?.iter_mut().next())
}

/// Each try of a transaction is a new request.
pub(crate) fn token_forgotten(operation: &str, request: &mut Value) {
    if operation == "TransactWriteItems" {
        request["ClientRequestToken"] = Value::Null;
    }
}

/// Removes the items of a transaction that `unwanted` picks.
pub(crate) fn remove_items(request: &mut Value, unwanted: impl Fn(&str, &Value) -> bool) {
    if let Some(items) = request["TransactItems"].as_array_mut() {
        items.retain(|item| {
            !item.as_object().is_some_and(|item| item.iter().any(|(kind, r)| unwanted(kind, r)))
        });
    }
}
