//! Mutations of what nodes and `limits` ask of the store.

use local::faults::Mutation;
use serde_json::{Value, json};

use crate::faults::mutations::{
    assert_all_caught, remove_condition, remove_items, token_forgotten, transaction_items,
};
use crate::faults::run;
use crate::limits::faults;

#[test]
fn every_mutation_of_counters_is_caught() {
    let bugs: [(&str, Mutation); 11] = [
        ("a debit has no condition", debit_unguarded),
        ("a debit does not look at what is used", used_ignored),
        ("a debit does not look at the window", window_ignored),
        ("a bucket gives every unit that is asked", bucket_bottomless),
        ("a log is overwritten by a stale write", log_unversioned),
        ("a first debit overwrites a row", first_overwrites),
        ("a new window carries nothing over", carry_forgotten),
        ("of two debits that go together one is made", transaction_halved),
        ("a debit counts twice", debit_doubled),
        ("units are given back twice", credit_doubled),
        ("who is refused is not shown the row", refusal_hidden),
    ];
    hunt_all(&bugs);
}

#[test]
fn every_mutation_of_decisions_is_caught() {
    let bugs: [(&str, Mutation); 9] = [
        ("nodes are not told of a change", change_untold),
        ("a change ignores the version", change_ignores_version),
        ("a deletion ignores the version", deletion_ignores_version),
        ("a deletion is only told of", deletion_forgotten),
        ("each try is a new request", token_forgotten),
        ("an override never ends", override_endless),
        ("a block is not written", block_forgotten),
        ("a block never ends", block_endless),
        ("the firewall's rules are written among the others", firewall_misplaced),
    ];
    hunt_all(&bugs);
}

fn hunt_all(bugs: &[(&str, Mutation)]) {
    assert_all_caught(bugs, |seed, faults| run(faults::scenario(seed, faults)).err());
}

/// The writes of counters in a request, alone or in a transaction.
fn counters(request: &mut Value) -> Vec<&mut Value> {
    let writes = if request["TransactItems"].is_array() {
        transaction_items(request).map(|(_, part)| part).collect()
    } else {
        vec![request]
    };
    writes.into_iter().filter(|write| pk_of(write).starts_with("count#")).collect()
}

fn pk_of(write: &Value) -> &str {
    let pk = write["Item"]["pk"]["S"].as_str().or_else(|| write["Key"]["pk"]["S"].as_str());
    pk.unwrap_or_default()
}

/// Makes the test that begins with `start` hold for every row.
fn loosen(request: &mut Value, start: &str) {
    for write in counters(request) {
        let condition = write["ConditionExpression"].as_str().unwrap_or_default().to_owned();
        let loose = condition.split(" AND ").map(|test| match test.contains(start) {
            true if test.starts_with("attribute_not_exists") => test.to_owned(),
            true => format!("({test} OR attribute_exists(pk))"),
            false => test.to_owned(),
        });
        let loose = loose.collect::<Vec<_>>().join(" AND ");
        write["ConditionExpression"] = json!(loose);
    }
}

fn debit_unguarded(_: &str, request: &mut Value) {
    for write in counters(request) {
        let condition = write["ConditionExpression"].as_str().unwrap_or_default();
        let always = "attribute_exists(pk) OR attribute_not_exists(pk)";
        write["ConditionExpression"] = json!(format!("({condition}) OR {always}"));
    }
}

fn used_ignored(_: &str, request: &mut Value) {
    loosen(request, "#used <= ");
}

fn window_ignored(_: &str, request: &mut Value) {
    loosen(request, "#window = ");
}

fn bucket_bottomless(_: &str, request: &mut Value) {
    loosen(request, "#full_at <= ");
}

fn log_unversioned(_: &str, request: &mut Value) {
    loosen(request, "#leases = ");
}

fn first_overwrites(_: &str, request: &mut Value) {
    for write in counters(request) {
        if write["ConditionExpression"] == "attribute_not_exists(pk)" {
            remove_condition(write, &[]);
        }
    }
}

fn carry_forgotten(_: &str, request: &mut Value) {
    for write in counters(request) {
        let update = write["UpdateExpression"].as_str().unwrap_or_default();
        let update = update.replace("#before = #used + ", "#before = ");
        write["UpdateExpression"] = json!(update);
    }
}

fn transaction_halved(_: &str, request: &mut Value) {
    if counters(request).len() == 2
        && let Some(items) = request["TransactItems"].as_array_mut()
    {
        items.truncate(1);
    }
}

/// Doubles what is added to `used`, if it `fits`.
fn double(request: &mut Value, fits: impl Fn(i64) -> bool) {
    for write in counters(request) {
        let update = write["UpdateExpression"].as_str().unwrap_or_default();
        let (_, added) = update.split_once(" ADD ").unwrap_or_default();
        let alias = added.split(", ").find_map(|part| part.strip_prefix("#used "));
        let Some(alias) = alias.map(str::to_owned) else { continue };
        let value = &mut write["ExpressionAttributeValues"][&alias]["N"];
        let number: i64 = value.as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
        if fits(number) {
            *value = json!((2 * number).to_string());
        }
    }
}

fn debit_doubled(_: &str, request: &mut Value) {
    double(request, |number| number > 0);
}

fn credit_doubled(_: &str, request: &mut Value) {
    double(request, |number| number < 0);
}

fn refusal_hidden(_: &str, request: &mut Value) {
    for write in counters(request) {
        write["ReturnValuesOnConditionCheckFailure"] = json!("NONE");
    }
}

fn change_untold(_: &str, request: &mut Value) {
    remove_items(request, |_, part| pk_of(part) == "config");
}

/// Whether a part of a transaction is a document.
fn is_document(part: &Value) -> bool {
    ["rules", "firewall", "blocks"].contains(&pk_of(part))
}

fn change_ignores_version(_: &str, request: &mut Value) {
    for (kind, part) in transaction_items(request) {
        if kind == "Put" && is_document(part) {
            remove_condition(part, &[":before"]);
        }
    }
}

fn deletion_ignores_version(_: &str, request: &mut Value) {
    for (kind, part) in transaction_items(request) {
        if kind == "Delete" && is_document(part) {
            remove_condition(part, &[":v"]);
        }
    }
}

fn deletion_forgotten(_: &str, request: &mut Value) {
    remove_items(request, |kind, part| kind == "Delete" && is_document(part));
}

/// Takes a member out of the documents of a part.
fn strip(request: &mut Value, pk: &str, member: &str) {
    for (_, part) in transaction_items(request).filter(|(_, part)| pk_of(part) == pk) {
        let body = part["Item"]["body"]["S"].as_str().unwrap_or_default();
        let Ok(mut body) = serde_json::from_str::<Value>(body) else { continue };
        if let Some(members) = body.as_object_mut() {
            members.remove(member);
        }
        part["Item"]["body"]["S"] = json!(body.to_string());
    }
}

fn override_endless(_: &str, request: &mut Value) {
    strip(request, "rules", "expires_at");
}

fn block_forgotten(_: &str, request: &mut Value) {
    remove_items(request, |_, part| pk_of(part) == "blocks");
}

fn block_endless(_: &str, request: &mut Value) {
    strip(request, "blocks", "expiresAt");
}

fn firewall_misplaced(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request).filter(|(_, part)| pk_of(part) == "firewall") {
        if part["Item"].is_object() {
            part["Item"]["pk"]["S"] = json!("rules");
        }
    }
}
