//! Bugs planted in what `jobs`, `dispatch`, `work` and `sweep-jobs` ask of the store and the queues.

use local::faults::{Faults, Mutation};
use serde_json::{Value, json};

use super::faults;
use crate::faults::mutations::{assert_caught, remove_condition, remove_items, transaction_items};
use crate::faults::run;

#[test]
fn every_bug_planted_in_licences_is_caught() {
    let bugs: [(&str, Mutation); 7] = [
        ("a licence is taken without asking", taken_without_asking),
        ("a licence is free unless exactly all are taken", taken_unless_equal),
        ("a licence is not given back", kept_for_ever),
        ("a licence is given back twice", given_twice),
        ("a bare counter, nobody is noted", nobody_noted),
        ("a new limit is not told to the rows", limit_untold),
        ("a silent worker keeps its licence", silence_unseen),
    ];
    hunt_all(&bugs);
}

#[test]
fn every_bug_planted_in_the_lives_of_jobs_is_caught() {
    let bugs: [(&str, Mutation); 10] = [
        ("a change ignores the version", version_ignored),
        ("a heartbeat of any run counts", fence_missing),
        ("a job is queued again without its attempt", attempt_forgotten),
        ("a change leaves no record", record_forgotten),
        ("the answer is not kept", answer_not_kept),
        ("an end is counted as often as it is told", edge_kept),
        ("ends count as told when they come", settled_at_once),
        ("the sweep overlooks untold ends", untold_ends_unseen),
        ("the sweep overlooks lost wake-ups", lost_wake_ups_unseen),
        ("a failure leaves no letter", letter_forgotten),
    ];
    hunt_all(&bugs);
}

fn hunt_all(bugs: &[(&str, Mutation)]) {
    for (name, bug) in bugs {
        assert_caught(name, |seed| {
            run(faults::scenario(seed, Faults::mutated(seed, 120, *bug))).err()
        });
    }
}

fn begins(value: &Value, start: &str) -> bool {
    value["S"].as_str().is_some_and(|text| text.starts_with(start))
}

/// One holder more, or less.
fn is_count(part: &Value, update: &str) -> bool {
    part["Key"]["sk"]["S"] == "licence" && part["UpdateExpression"] == update
}

const TAKE: &str = "SET #max = if_not_exists(#max, :limit) ADD in_use :one, v :one";
const GIVE: &str = "ADD in_use :less, v :one";

fn taken_without_asking(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request).filter(|(_, part)| is_count(part, TAKE)) {
        remove_condition(part, &[]);
    }
}

fn taken_unless_equal(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request).filter(|(_, part)| is_count(part, TAKE)) {
        part["ConditionExpression"] = json!("attribute_not_exists(in_use) OR in_use <> #max");
    }
}

fn kept_for_ever(_: &str, request: &mut Value) {
    remove_items(request, |kind, part| {
        is_count(part, GIVE) || (kind == "Delete" && begins(&part["Key"]["sk"], "holder#"))
    });
}

fn given_twice(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request).filter(|(_, part)| is_count(part, GIVE)) {
        part["ExpressionAttributeValues"][":less"] = json!({ "N": "-2" });
    }
}

fn nobody_noted(_: &str, request: &mut Value) {
    remove_items(request, |_, part| {
        begins(&part["Item"]["sk"], "holder#") || begins(&part["Key"]["sk"], "holder#")
    });
}

fn limit_untold(_: &str, request: &mut Value) {
    remove_items(request, |kind, part| {
        kind == "Update" && part["Key"]["sk"]["S"] == "licence" && {
            part["UpdateExpression"]
                .as_str()
                .is_some_and(|update| update.starts_with("SET #max = :max"))
        }
    });
}

fn silence_unseen(operation: &str, request: &mut Value) {
    let values = &mut request["ExpressionAttributeValues"];
    if operation == "Query" && values[":holder"].is_object() {
        values[":holder"] = json!({ "S": "nobody#" });
    }
}

fn is_job(part: &Value) -> bool {
    part["Item"]["sk"]["S"] == "job"
}

fn version_ignored(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request) {
        let is_record = begins(&part["Item"]["sk"], "event#");
        if is_job(part) || is_record {
            remove_condition(part, &[":v", ":beat"]);
        }
    }
}

fn fence_missing(operation: &str, request: &mut Value) {
    let update = request["UpdateExpression"].as_str().unwrap_or_default();
    if operation == "UpdateItem" && update.starts_with("SET beat_at") {
        remove_condition(request, &[":running", ":attempt", ":worker"]);
        request.as_object_mut().and_then(|request| request.remove("ExpressionAttributeNames"));
    }
}

fn attempt_forgotten(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request) {
        if is_job(part) && part["Item"]["status"]["S"] == "QUEUED" {
            part["Item"]["attempt"] = json!({ "N": "1" });
        }
    }
}

fn record_forgotten(_: &str, request: &mut Value) {
    remove_items(request, |_, part| begins(&part["Item"]["sk"], "event#"));
}

fn answer_not_kept(_: &str, request: &mut Value) {
    remove_items(request, |_, part| begins(&part["Item"]["pk"], "once#"));
}

fn edge_kept(_: &str, request: &mut Value) {
    remove_items(request, |kind, part| kind == "Delete" && begins(&part["Key"]["sk"], "child#"));
}

fn settled_at_once(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request).filter(|(_, part)| is_job(part)) {
        if begins(&part["Item"]["gsi2pk"], "ended#") {
            part["Item"]["settled"] = json!({ "BOOL": true });
        }
    }
}

fn untold_ends_unseen(operation: &str, request: &mut Value) {
    blind(operation, request, "ended#");
}

fn lost_wake_ups_unseen(operation: &str, request: &mut Value) {
    if request["Select"] == "COUNT" {
        blind(operation, request, "queued#");
    }
}

/// A query of that list finds nothing.
fn blind(operation: &str, request: &mut Value, list: &str) {
    let values = &mut request["ExpressionAttributeValues"];
    if operation == "Query" && begins(&values[":list"], list) {
        values[":until"] = json!({ "S": "0" });
    }
}

fn letter_forgotten(operation: &str, request: &mut Value) {
    let body = request["MessageBody"].as_str().unwrap_or_default();
    if operation == "SendMessage" && body.contains("JobFailed") {
        request["MessageBody"] = json!("{}");
    }
}
