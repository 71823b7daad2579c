//! Mutations of what `ids` asks of the store.

use local::faults::Mutation;
use serde_json::{Value, json};

use super::faults;
use crate::faults::mutations::{assert_all_caught, remove_condition};
use crate::faults::run;

#[test]
fn every_mutation_of_ids_is_caught() {
    let bugs: [(&str, Mutation); 2] = [
        ("a shard is leased to every node that asks", lease_unguarded),
        ("a lease never ends for others", lease_never_ends),
    ];
    assert_all_caught(&bugs, |seed, faults| run(faults::scenario(seed, faults)).err());
}

fn lease_unguarded(operation: &str, request: &mut Value) {
    let key = request["Key"]["pk"]["S"].as_str().unwrap_or_default().to_owned();
    if operation == "UpdateItem" && key.starts_with("lane#") {
        remove_condition(request, &[":bound"]);
    }
}

fn lease_never_ends(operation: &str, request: &mut Value) {
    let key = request["Key"]["pk"]["S"].as_str().unwrap_or_default().to_owned();
    if operation == "UpdateItem" && key.starts_with("lane#") {
        // Every shard looks taken, for ever.
        request["ConditionExpression"] = json!("attribute_exists(pk) AND ended_at = :bound");
    }
}
