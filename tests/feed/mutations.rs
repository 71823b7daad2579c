//! Mutations of what `feed`, `fan-out` and `sweep-feed` ask of the store and the queues.

use local::faults::Mutation;
use serde_json::{Value, json};

use crate::faults::mutations::{
    assert_all_caught, begins, remove_condition, remove_items, transaction_items,
};
use crate::faults::run;
use crate::feed::faults;

#[test]
fn every_mutation_of_posts_is_caught() {
    let bugs: [(&str, Mutation); 6] = [
        ("a post ignores its author's row", author_ignored),
        ("a post's work is forgotten", push_forgotten),
        ("the answer to a post is not kept", answer_not_kept),
        ("an edit ignores the version", edit_ignores_version),
        ("a deletion leaves the words", deletion_forgotten),
        ("a post is not among the recent ones", recents_forgotten),
    ];
    hunt_all(&bugs);
}

#[test]
fn every_mutation_of_crossings_is_caught() {
    let bugs: [(&str, Mutation); 4] = [
        ("an author is pulled before anybody is marked", risen_at_once),
        ("a crossing leaves the counters", counters_left),
        ("a crossing's work is forgotten", crossing_forgotten),
        ("a switch to pull marks no one", marking_forgotten),
    ];
    hunt_all(&bugs);
}

#[test]
fn every_mutation_of_relationships_is_caught() {
    let bugs: [(&str, Mutation); 5] = [
        ("a block is only noted", block_forgotten),
        ("a mute is only noted", mute_forgotten),
        ("an unfollow is only noted", unfollow_forgotten),
        ("a relationship ignores the version", relationship_ignores_version),
        ("a follower is not listed", follower_unlisted),
    ];
    hunt_all(&bugs);
}

#[test]
fn every_mutation_of_timelines_is_caught() {
    let bugs: [(&str, Mutation); 2] = [
        ("a reference is forgotten", reference_forgotten),
        ("the next page is not said", next_page_forgotten),
    ];
    hunt_all(&bugs);
}

#[test]
fn every_mutation_of_counts_is_caught() {
    let bugs: [(&str, Mutation); 3] = [
        ("an act is not counted", act_uncounted),
        ("a counter is not listed", counter_unlisted),
        ("a total is cleared before it is written", total_forgotten),
    ];
    hunt_all(&bugs);
}

fn hunt_all(bugs: &[(&str, Mutation)]) {
    assert_all_caught(bugs, |seed, faults| run(faults::scenario(seed, faults)).err());
}

/// Whether a part of a transaction puts a row of that kind.
fn puts(part: &Value, kind: &str) -> bool {
    begins(&part["Item"]["pk"], kind)
}

fn is_author(part: &Value) -> bool {
    puts(part, "author#")
}

fn is_new_post(request: &Value) -> bool {
    let items = request["TransactItems"].as_array();
    items.is_some_and(|items| items.iter().any(|item| puts(&item["Put"], "post#")))
}

/// Drops the row that remembers work whose name begins so.
fn forget_work(request: &mut Value, name: &str) {
    remove_items(request, |kind, part| {
        kind == "Put" && puts(part, "work#") && begins(&part["Item"]["sk"], name)
    });
}

fn is_counter(part: &Value) -> bool {
    begins(&part["Key"]["pk"], "followers#") && begins(&part["Key"]["sk"], "#")
}

fn author_ignored(_: &str, request: &mut Value) {
    if is_new_post(request) {
        for (_, part) in transaction_items(request).filter(|(_, part)| is_author(part)) {
            remove_condition(part, &[":before"]);
        }
    }
}

fn push_forgotten(_: &str, request: &mut Value) {
    forget_work(request, "push#");
}

fn answer_not_kept(_: &str, request: &mut Value) {
    remove_items(request, |_, part| puts(part, "once#") || begins(&part["Key"]["pk"], "once#"));
}

fn edit_ignores_version(_: &str, request: &mut Value) {
    for (_, part) in
        transaction_items(request).filter(|(_, part)| begins(&part["Key"]["pk"], "post#"))
    {
        if part["ConditionExpression"] == "v = :before" {
            remove_condition(part, &[":before"]);
        }
    }
}

fn deletion_forgotten(_: &str, request: &mut Value) {
    for (_, part) in
        transaction_items(request).filter(|(_, part)| begins(&part["Key"]["pk"], "post#"))
    {
        part["ExpressionAttributeValues"][":deleted"] = json!({ "NULL": true });
    }
}

fn recents_forgotten(_: &str, request: &mut Value) {
    if is_new_post(request) {
        for (_, part) in transaction_items(request).filter(|(_, part)| is_author(part)) {
            part["Item"].as_object_mut().and_then(|row| row.remove("posts"));
        }
    }
}

fn risen_at_once(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request).filter(|(_, part)| is_author(part)) {
        if part["Item"]["reach"]["S"] == "rising" {
            part["Item"]["reach"] = json!({ "S": "pulled" });
        }
    }
}

fn counters_left(_: &str, request: &mut Value) {
    remove_items(request, |_, part| {
        is_counter(part) && part["UpdateExpression"] == "SET epoch = :epoch"
    });
}

fn crossing_forgotten(_: &str, request: &mut Value) {
    forget_work(request, "mark#");
}

fn marking_forgotten(operation: &str, request: &mut Value) {
    if operation == "UpdateItem" && request["UpdateExpression"] == "ADD authors :mark" {
        request["Key"]["pk"] = json!({ "S": "reader#unknown" });
    }
}

fn reference_forgotten(operation: &str, request: &mut Value) {
    if operation == "BatchWriteItem" {
        for writes in
            request["RequestItems"].as_object_mut().into_iter().flat_map(|all| all.values_mut())
        {
            let Some(writes) = writes.as_array_mut() else { continue };
            if writes.len() > 1 && puts(&writes[0]["PutRequest"], "timeline#") {
                writes.pop();
            }
        }
    }
}

fn next_page_forgotten(operation: &str, request: &mut Value) {
    let is_next = |body: &str| body.contains("FanOutPage") && body.contains("\"after\"");
    let lost = json!(r#"{"type":"ReaderSeen","v":1,"reader":"unknown"}"#);
    if operation == "SendMessageBatch" {
        for entry in request["Entries"].as_array_mut().into_iter().flatten() {
            if entry["MessageBody"].as_str().is_some_and(is_next) {
                entry["MessageBody"] = lost.clone();
            }
        }
    }
    if operation == "SendMessage" && request["MessageBody"].as_str().is_some_and(is_next) {
        request["MessageBody"] = lost;
    }
}

/// The rows of what is between two people that a transaction writes.
fn relationships(request: &mut Value) -> impl Iterator<Item = &mut Value> {
    transaction_items(request).map(|(_, part)| part).filter(|part| puts(part, "tie#"))
}

fn never(request: &mut Value, what: &str) {
    for relationship in relationships(request) {
        for side in ["lesser", "greater"] {
            relationship["Item"][side]["M"][what] = json!({ "BOOL": false });
        }
    }
}

fn block_forgotten(_: &str, request: &mut Value) {
    never(request, "blocks");
}

fn mute_forgotten(_: &str, request: &mut Value) {
    never(request, "mutes");
}

fn unfollow_forgotten(_: &str, request: &mut Value) {
    remove_items(request, |kind, part| {
        kind == "Delete"
            && (begins(&part["Key"]["pk"], "followers#")
                || begins(&part["Key"]["pk"], "following#"))
    });
}

fn relationship_ignores_version(_: &str, request: &mut Value) {
    relationships(request).for_each(|relationship| remove_condition(relationship, &[":before"]));
}

fn follower_unlisted(_: &str, request: &mut Value) {
    remove_items(request, |kind, part| kind == "Put" && puts(part, "followers#"));
}

fn act_uncounted(_: &str, request: &mut Value) {
    remove_items(request, |_, part| {
        begins(&part["Key"]["pk"], "count#")
            && part["UpdateExpression"].to_string().contains("unlikes")
    });
}

fn counter_unlisted(_: &str, request: &mut Value) {
    for (_, part) in
        transaction_items(request).filter(|(_, part)| begins(&part["Key"]["pk"], "count#"))
    {
        part["ExpressionAttributeValues"][":list"] = json!({ "S": "nothing" });
    }
}

fn total_forgotten(operation: &str, request: &mut Value) {
    let expression = request["UpdateExpression"].as_str().unwrap_or_default();
    if operation == "UpdateItem" && expression.starts_with("SET counts = :counts") {
        request["Key"]["pk"] = json!({ "S": "post#nothing" });
    }
}
