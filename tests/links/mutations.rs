//! Mutations of the requests that `shorten`, `count-clicks` and `redirect` send to the store.

use local::faults::Mutation;
use serde_json::{Value, json};

use crate::faults::mutations::{
    assert_all_caught, remove_condition, remove_items, token_forgotten, transaction_items,
};
use crate::faults::run;
use crate::links::faults;

#[test]
fn every_mutation_of_links_is_caught() {
    let bugs: [(&str, Mutation); 8] = [
        ("a creation overwrites a link", creation_overwrites),
        ("a creation does not know its own success", creation_unsigned),
        ("the same destination is not remembered", same_overwrites),
        ("the answer is not kept", answer_not_kept),
        ("an amendment ignores the version", amendment_ignores_version),
        ("each lease is of the same numbers", lease_repeats),
        ("a deletion is only noted", deletion_forgotten),
        ("a block is only noted", block_forgotten),
    ];
    hunt_all(&bugs);
}

#[test]
fn every_mutation_of_clicks_is_caught() {
    let bugs: [(&str, Mutation); 8] = [
        ("a batch has no name", name_forgotten),
        ("a batch's name is no condition", name_overwrites),
        ("a batch's name is no condition, and each try is a new request", name_and_token),
        ("totals are not counted", totals_forgotten),
        ("visitors overwrite each other", visitors_overwrite),
        ("a link is spent again and again", spent_unguarded),
        ("a spent link is not marked", spent_forgotten),
        ("a batch gets a new name with each try", batch_renamed),
    ];
    hunt_all(&bugs);
}

fn hunt_all(bugs: &[(&str, Mutation)]) {
    assert_all_caught(bugs, |seed, faults| run(faults::scenario(seed, faults)).err());
}

/// The writes of a request: its own, or those of its transaction.
fn writes(request: &mut Value) -> Vec<&mut Value> {
    if request["TransactItems"].is_array() {
        return transaction_items(request).map(|(_, part)| part).collect();
    }
    vec![request]
}

fn pk_starts(part: &Value, start: &str) -> bool {
    let pk = part["Item"]["pk"]["S"].as_str().or_else(|| part["Key"]["pk"]["S"].as_str());
    pk.is_some_and(|pk| pk.starts_with(start))
}

fn is_link(part: &Value) -> bool {
    part["Item"]["sk"]["S"] == "link"
}

fn creation_overwrites(_: &str, request: &mut Value) {
    for part in writes(request) {
        if is_link(part) && part["ConditionExpression"] == "attribute_not_exists(pk)" {
            remove_condition(part, &[]);
        }
    }
}

fn creation_unsigned(_: &str, request: &mut Value) {
    for part in writes(request).into_iter().filter(|part| is_link(part)) {
        part["Item"]["made_by"]["S"] = json!("anyone");
    }
}

fn same_overwrites(_: &str, request: &mut Value) {
    for part in writes(request) {
        if pk_starts(part, "same#") {
            remove_condition(part, &[":replaced"]);
        }
    }
}

fn answer_not_kept(_: &str, request: &mut Value) {
    remove_items(request, |_, part| part["Key"]["sk"]["S"] == "once");
}

fn amendment_ignores_version(_: &str, request: &mut Value) {
    for part in writes(request) {
        if is_link(part) && part["ConditionExpression"] == "v = :before" {
            remove_condition(part, &[":before"]);
        }
    }
}

fn lease_repeats(operation: &str, request: &mut Value) {
    if operation == "UpdateItem" && request["Key"]["pk"]["S"] == "codes" {
        remove_condition(request, &[":zero", ":last"]);
        request["UpdateExpression"] =
            json!("SET code_key = if_not_exists(code_key, :fresh), next_number = :lease");
    }
}

fn deletion_forgotten(operation: &str, request: &mut Value) {
    rename(operation, request, "deleted_at");
}

fn block_forgotten(operation: &str, request: &mut Value) {
    rename(operation, request, "blocked_at");
}

/// Writes an attribute of a link under a name that is never read.
fn rename(operation: &str, request: &mut Value, attribute: &str) {
    if operation == "PutItem"
        && is_link(request)
        && let Some(value) = request["Item"].as_object_mut().and_then(|row| row.remove(attribute))
    {
        request["Item"]["noted_at"] = value;
    }
}

fn name_forgotten(_: &str, request: &mut Value) {
    remove_items(request, |_, part| pk_starts(part, "batch#"));
}

fn name_overwrites(_: &str, request: &mut Value) {
    for part in writes(request) {
        if pk_starts(part, "batch#") {
            remove_condition(part, &[]);
        }
    }
}

fn name_and_token(operation: &str, request: &mut Value) {
    name_overwrites(operation, request);
    token_forgotten(operation, request);
}

fn totals_forgotten(_: &str, request: &mut Value) {
    remove_items(request, |_, part| {
        part["Key"]["sk"]["S"].as_str().is_some_and(|sk| sk.starts_with("total#"))
    });
}

fn visitors_overwrite(operation: &str, request: &mut Value) {
    let sk = request["Key"]["sk"]["S"].as_str().unwrap_or_default();
    if operation == "UpdateItem" && sk.starts_with("visitors#") {
        remove_condition(request, &[":before"]);
    }
}

fn is_marking(operation: &str, request: &Value) -> bool {
    let expression = request["UpdateExpression"].as_str().unwrap_or_default();
    operation == "UpdateItem" && expression.starts_with("SET spent_at")
}

fn spent_unguarded(operation: &str, request: &mut Value) {
    if is_marking(operation, request) {
        remove_condition(request, &[":max"]);
    }
}

fn spent_forgotten(operation: &str, request: &mut Value) {
    if is_marking(operation, request) {
        request["UpdateExpression"] = json!("SET noted_at = :now, updated_at = :now, v = v + :one");
    }
}

/// A name that follows from the request and not from the batch, so a copy is another batch.
fn batch_renamed(operation: &str, request: &mut Value) {
    let token = request["ClientRequestToken"].as_str().unwrap_or_default().to_owned();
    if operation == "TransactWriteItems" {
        for part in writes(request).into_iter().filter(|part| pk_starts(part, "batch#")) {
            part["Item"]["pk"]["S"] = json!(format!("batch#{token}"));
        }
    }
}
