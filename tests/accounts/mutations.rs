//! Mutations of what `accounts` asks of the store.

use local::faults::Mutation;
use serde_json::{Value, json};

use super::faults;
use crate::faults::mutations::{
    assert_all_caught, remove_condition, remove_items, token_forgotten, transaction_items,
};
use crate::faults::run;

#[test]
fn every_mutation_of_accounts_is_caught() {
    let bugs: [(&str, Mutation); 12] = [
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
    assert_all_caught(&bugs, |seed, faults| run(faults::scenario(seed, faults)).err());
}

fn is_claim(operation: &str, request: &Value) -> bool {
    operation == "PutItem" && request["Item"]["sk"]["S"] == "once"
}

fn claim_overwrites(operation: &str, request: &mut Value) {
    if is_claim(operation, request) {
        remove_condition(request, &[":now", ":running"]);
    }
}

fn claim_never_expires(operation: &str, request: &mut Value) {
    if is_claim(operation, request) {
        remove_condition(request, &[":now", ":running"]);
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
    remove_items(request, |_, part| part["Key"]["sk"]["S"] == "once");
}

fn creation_overwrites(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request) {
        if part["Item"]["sk"]["S"] == "account"
            && part["ConditionExpression"] == "attribute_not_exists(pk)"
        {
            remove_condition(part, &[]);
        }
    }
}

fn amendment_ignores_version(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request) {
        if part["Item"]["sk"]["S"] == "account" && part["ConditionExpression"] == "v = :before" {
            remove_condition(part, &[":before"]);
        }
    }
}

fn last_admin_goes(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request) {
        if part["Key"]["pk"]["S"] == "admins" {
            remove_condition(part, &[":single"]);
        }
    }
}

fn audit_forgotten(_: &str, request: &mut Value) {
    remove_items(request, |_, part| {
        part["Item"]["sk"]["S"].as_str().is_some_and(|sk| sk.starts_with("audit#"))
    });
}

fn sweep_blind(operation: &str, request: &mut Value) {
    let values = &mut request["ExpressionAttributeValues"];
    if operation == "Query" && values[":unpublished"].is_object() {
        values[":before"] = json!({ "S": "0" });
    }
}

fn revocation_forgotten(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request) {
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
