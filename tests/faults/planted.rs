//! A harness that catches nothing proves nothing: each of these bugs must be found.
//!
//! A bug is planted where it would show in real life: in what a function asks of the store. Each
//! takes a condition, an item or a field out of the request that the product really sends.

mod feed;
mod limits;
mod links;
mod notifications;

use local::faults::{Faults, Sabotage};
use serde_json::{Value, json};

use super::{accounts, ids, run};

/// Seeds tried before a bug counts as missed.
const PATIENCE: u64 = 400;

#[test]
fn every_bug_planted_in_accounts_is_caught() {
    let bugs: [(&str, Sabotage); 12] = [
        ("a claim overwrites another claim", claim_overwrites),
        ("a claim is never released by its deadline", claim_never_expires),
        ("a lost claim can't be told from our own", claim_unrecognised),
        ("the answer is not kept", answer_not_kept),
        ("a creation overwrites an account", creation_overwrites),
        ("an amendment ignores the version", amendment_ignores_version),
        ("the last admin can go", last_admin_goes),
        ("a change is not audited", audit_forgotten),
        ("each try is a new request", token_forgotten),
        ("the sweep finds nothing", sweep_blind),
        ("a revocation is only noted", revocation_forgotten),
        ("retired keys are not marked", retirement_forgotten),
    ];
    for (name, bug) in bugs {
        hunt(name, |seed| run(accounts::scenario(seed, Faults::sabotaged(seed, 120, bug))).err());
    }
}

#[test]
fn every_bug_planted_in_ids_is_caught() {
    let bugs: [(&str, Sabotage); 2] = [
        ("a lane is leased to whoever asks", lease_unguarded),
        ("a lease never ends for others", lease_never_ends),
    ];
    for (name, bug) in bugs {
        hunt(name, |seed| run(ids::scenario(seed, Faults::sabotaged(seed, 120, bug))).err());
    }
}

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

fn is_claim(operation: &str, request: &Value) -> bool {
    operation == "PutItem" && request["Item"]["sk"]["S"] == "once"
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

fn claim_overwrites(operation: &str, request: &mut Value) {
    if is_claim(operation, request) {
        unconditional(request, &[":now", ":running"]);
    }
}

fn claim_never_expires(operation: &str, request: &mut Value) {
    if is_claim(operation, request) {
        unconditional(request, &[":now", ":running"]);
        request["ConditionExpression"] = json!("attribute_not_exists(pk)");
        request["ReturnValuesOnConditionCheckFailure"] = json!("ALL_OLD");
    }
}

fn claim_unrecognised(operation: &str, request: &mut Value) {
    if is_claim(operation, request) {
        request["ReturnValuesOnConditionCheckFailure"] = json!("NONE");
    }
}

fn answer_not_kept(_: &str, request: &mut Value) {
    without(request, |_, part| part["Key"]["sk"]["S"] == "once");
}

fn creation_overwrites(_: &str, request: &mut Value) {
    for (_, part) in parts(request) {
        if part["Item"]["sk"]["S"] == "account"
            && part["ConditionExpression"] == "attribute_not_exists(pk)"
        {
            unconditional(part, &[]);
        }
    }
}

fn amendment_ignores_version(_: &str, request: &mut Value) {
    for (_, part) in parts(request) {
        if part["Item"]["sk"]["S"] == "account" && part["ConditionExpression"] == "v = :before" {
            unconditional(part, &[":before"]);
        }
    }
}

fn last_admin_goes(_: &str, request: &mut Value) {
    for (_, part) in parts(request) {
        if part["Key"]["pk"]["S"] == "admins" {
            unconditional(part, &[":single"]);
        }
    }
}

fn audit_forgotten(_: &str, request: &mut Value) {
    without(request, |_, part| {
        part["Item"]["sk"]["S"].as_str().is_some_and(|sk| sk.starts_with("audit#"))
    });
}

fn token_forgotten(operation: &str, request: &mut Value) {
    if operation == "TransactWriteItems" {
        request["ClientRequestToken"] = Value::Null;
    }
}

fn sweep_blind(operation: &str, request: &mut Value) {
    let values = &mut request["ExpressionAttributeValues"];
    if operation == "Query" && values[":unpublished"].is_object() {
        values[":before"] = json!({ "S": "0" });
    }
}

fn revocation_forgotten(_: &str, request: &mut Value) {
    for (_, part) in parts(request) {
        if part["UpdateExpression"] == "SET revoked_at = :now, expires = :later" {
            part["UpdateExpression"] = json!("SET expires = :later, noted_at = :now");
        }
    }
}

fn retirement_forgotten(operation: &str, request: &mut Value) {
    if operation == "UpdateItem"
        && request["UpdateExpression"] == "SET revoked_at = :at, expires = :later"
    {
        request["UpdateExpression"] = json!("SET noted_at = :at, expires = :later");
    }
}

fn lease_unguarded(operation: &str, request: &mut Value) {
    let key = request["Key"]["pk"]["S"].as_str().unwrap_or_default().to_owned();
    if operation == "UpdateItem" && key.starts_with("lane#") {
        unconditional(request, &[":bound"]);
    }
}

fn lease_never_ends(operation: &str, request: &mut Value) {
    let key = request["Key"]["pk"]["S"].as_str().unwrap_or_default().to_owned();
    if operation == "UpdateItem" && key.starts_with("lane#") {
        // Every lane looks taken, for ever.
        request["ConditionExpression"] = json!("attribute_exists(pk) AND ended_at = :bound");
    }
}
