//! A harness that catches nothing proves nothing: each of these bugs must be found.
//!
//! A bug is planted where it would show in real life: in what a function asks of the store. Each
//! takes a condition, an item or a field out of the request that the product really sends.

use serde_json::Value;

/// Seeds tried before a bug counts as missed.
const PATIENCE: u64 = 400;

pub(crate) fn hunt(name: &str, violation: impl Fn(u64) -> Option<String>) {
    let caught = (0..PATIENCE).find_map(|seed| violation(seed).map(|how| (seed, how)));
    let Some((seed, how)) = caught else { panic!("not caught: {name}") };
    println!("caught with seed {seed}: {name}: {}", how.chars().take(100).collect::<String>());
}

/// Takes the condition away, and the values that only it used.
pub(crate) fn unconditional(request: &mut Value, values: &[&str]) {
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

/// The parts of a transaction, each with its request.
pub(crate) fn parts(request: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    let items = request["TransactItems"].as_array_mut().into_iter().flatten();
    items.filter_map(|item| item.as_object_mut()?.iter_mut().next())
}

/// Drops the parts of a transaction that `unwanted` picks.
pub(crate) fn without(request: &mut Value, unwanted: impl Fn(&str, &Value) -> bool) {
    if let Some(items) = request["TransactItems"].as_array_mut() {
        items.retain(|item| {
            !item.as_object().is_some_and(|item| item.iter().any(|(kind, r)| unwanted(kind, r)))
        });
    }
}
