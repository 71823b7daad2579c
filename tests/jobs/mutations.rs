//! Mutations of the requests that `jobs`, `dispatch`, `work` and `sweep-jobs` send to the store and the queues.

use local::faults::Mutation;
use serde_json::{Value, json};

use super::faults;
use crate::faults::mutations::{
    assert_all_caught, begins, remove_condition, remove_items, transaction_items,
};
use crate::faults::run;

#[test]
fn every_mutation_of_licences_is_caught() {
    let bugs: [(&str, Mutation); 7] = [
        ("a licence is taken without a condition", taken_without_condition),
        ("a licence is free unless exactly all are taken", taken_unless_equal),
        ("a licence is not given back", kept_for_ever),
        ("a licence is given back twice", given_twice),
        ("a bare counter without holder rows", no_holder_rows),
        ("a new limit is not written to the rows", limit_not_split),
        ("missed heartbeats are not found", missed_heartbeats_unseen),
    ];
    hunt_all(&bugs);
}

#[test]
fn every_mutation_of_the_lives_of_jobs_is_caught() {
    let bugs: [(&str, Mutation); 10] = [
        ("a change ignores the version", version_ignored),
        ("a heartbeat of any run counts", fence_missing),
        ("a job is queued again without its attempt", attempt_forgotten),
        ("a change leaves no record", record_forgotten),
        ("the answer is not stored", answer_not_stored),
        ("an end is counted as often as it is announced", edge_kept),
        ("ends count as announced at once", announced_at_once),
        ("the sweep overlooks unannounced ends", unannounced_ends_unseen),
        ("the sweep overlooks lost wake-ups", lost_wake_ups_unseen),
        ("a failure leaves no dead letter", dead_letter_forgotten),
    ];
    hunt_all(&bugs);
}

fn hunt_all(bugs: &[(&str, Mutation)]) {
    assert_all_caught(bugs, |seed, faults| run(faults::scenario(seed, faults)).err());
}

/// One holder more, or less.
fn is_count(part: &Value, update: &str) -> bool {
    part["Key"]["sk"]["S"] == "licence" && part["UpdateExpression"] == update
}

const TAKE: &str = "SET #max = if_not_exists(#max, :limit) ADD in_use :one, v :one";
const GIVE: &str = "ADD in_use :less, v :one";

fn taken_without_condition(_: &str, request: &mut Value) {
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
    remove_items(request, |job_type, part| {
        is_count(part, GIVE) || (job_type == "Delete" && begins(&part["Key"]["sk"], "holder#"))
    });
}

fn given_twice(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request).filter(|(_, part)| is_count(part, GIVE)) {
        part["ExpressionAttributeValues"][":less"] = json!({ "N": "-2" });
    }
}

fn no_holder_rows(_: &str, request: &mut Value) {
    remove_items(request, |_, part| {
        begins(&part["Item"]["sk"], "holder#") || begins(&part["Key"]["sk"], "holder#")
    });
}

fn limit_not_split(_: &str, request: &mut Value) {
    remove_items(request, |job_type, part| {
        job_type == "Update" && part["Key"]["sk"]["S"] == "licence" && {
            part["UpdateExpression"]
                .as_str()
                .is_some_and(|update| update.starts_with("SET #max = :max"))
        }
    });
}

fn missed_heartbeats_unseen(operation: &str, request: &mut Value) {
    let values = &mut request["ExpressionAttributeValues"];
    if operation == "Query" && values[":holder"].is_object() {
        values[":holder"] = json!({ "S": "none#" });
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

fn answer_not_stored(_: &str, request: &mut Value) {
    remove_items(request, |_, part| begins(&part["Item"]["pk"], "once#"));
}

fn edge_kept(_: &str, request: &mut Value) {
    remove_items(request, |job_type, part| {
        job_type == "Delete" && begins(&part["Key"]["sk"], "child#")
    });
}

fn announced_at_once(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request).filter(|(_, part)| is_job(part)) {
        if begins(&part["Item"]["gsi2pk"], "ended#") {
            part["Item"]["settled"] = json!({ "BOOL": true });
        }
    }
}

fn unannounced_ends_unseen(operation: &str, request: &mut Value) {
    blind(operation, request, "ended#");
}

fn lost_wake_ups_unseen(operation: &str, request: &mut Value) {
    if request["Select"] == "COUNT" {
        blind(operation, request, "queued#");
    }
}

/// A query of that list returns no items.
fn blind(operation: &str, request: &mut Value, list: &str) {
    let values = &mut request["ExpressionAttributeValues"];
    if operation == "Query" && begins(&values[":list"], list) {
        values[":until"] = json!({ "S": "0" });
    }
}

fn dead_letter_forgotten(operation: &str, request: &mut Value) {
    let body = request["MessageBody"].as_str().unwrap_or_default();
    if operation == "SendMessage" && body.contains("JobFailed") {
        request["MessageBody"] = json!("{}");
    }
}
