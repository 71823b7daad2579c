//! Mutations of what `notify`, `deliver` and `sweep-notifications` ask of the store and the queues.

use local::faults::Mutation;
use serde_json::{Value, json};

use crate::faults::mutations::{
    assert_all_caught, begins, remove_condition, remove_items, transaction_items,
};
use crate::faults::run;
use crate::notifications::faults;

#[test]
fn every_mutation_of_acceptance_is_caught() {
    let bugs: [(&str, Mutation); 6] = [
        ("the answer is not kept", answer_not_kept),
        ("a key can be claimed twice", key_overwritten),
        ("an endpoint is forgotten", endpoint_forgotten),
        ("one of several people is forgotten", person_forgotten),
        ("its time is forgotten", time_forgotten),
        ("its expiry is forgotten", expiry_forgotten),
    ];
    hunt_all(&bugs);
}

#[test]
fn every_mutation_of_claims_is_caught() {
    let bugs: [(&str, Mutation); 8] = [
        ("a claim ignores the version", claim_ignores_version),
        ("a claim ignores the person", claim_ignores_person),
        ("a claim ignores suppressions", claim_ignores_suppressions),
        ("a claim is not counted", claim_uncounted),
        ("a claim leaves no trail", claim_untraced),
        ("an opt-out leaves the stamp as it was", stamp_forgotten),
        ("do-not-disturb is not written down", quiet_forgotten),
        ("an open breaker is not seen", breaker_unseen),
    ];
    hunt_all(&bugs);
}

#[test]
fn every_mutation_of_what_follows_is_caught() {
    let bugs: [(&str, Mutation); 10] = [
        ("a refusal's pause is not kept", pause_forgotten),
        ("a doubt is not counted", doubt_uncounted),
        ("a text message is sent again in doubt", text_repeated),
        ("a refusal for good is tried again", refusal_repeated),
        ("a withdrawal is forgotten by the claim", withdrawal_forgotten),
        ("a dead letter is not listed", letter_unlisted),
        ("a failure raises no alarm", alarm_forgotten),
        ("a replay has no name", replay_unnamed),
        ("a provider's name for it is forgotten", reference_forgotten),
        ("a trial can be claimed twice", trial_unguarded),
    ];
    hunt_all(&bugs);
}

#[test]
fn every_mutation_of_the_sweep_of_notifications_is_caught() {
    let bugs: [(&str, Mutation); 3] = [
        ("the sweep overlooks lost senders", lost_senders_unseen),
        ("the sweep overlooks lost messages", lost_messages_unseen),
        ("the sweep overlooks what comes due", due_unseen),
    ];
    hunt_all(&bugs);
}

fn hunt_all(bugs: &[(&str, Mutation)]) {
    assert_all_caught(bugs, |seed, faults| run(faults::scenario(seed, faults)).err());
}

fn is_notification(part: &Value) -> bool {
    part["Item"]["sk"]["S"] == "notification"
}

fn is_delivery(part: &Value) -> bool {
    begins(&part["Item"]["sk"], "delivery#")
}

/// The rows of deliveries in a transaction that were written for the first time, or again.
fn deliveries(request: &mut Value, new: bool) -> impl Iterator<Item = &mut Value> {
    let is_new = |part: &Value| part["ConditionExpression"] == "attribute_not_exists(pk)";
    transaction_items(request)
        .map(|(_, part)| part)
        .filter(move |part| is_delivery(part) && is_new(part) == new)
}

/// Changes of deliveries to a status.
fn became<'a>(request: &'a mut Value, status: &'static str) -> impl Iterator<Item = &'a mut Value> {
    deliveries(request, false).filter(move |part| part["Item"]["status"]["S"] == status)
}

fn answer_not_kept(_: &str, request: &mut Value) {
    remove_items(request, |_, part| begins(&part["Item"]["pk"], "once#"));
}

fn key_overwritten(_: &str, request: &mut Value) {
    for (_, part) in
        transaction_items(request).filter(|(_, part)| begins(&part["Item"]["pk"], "once#"))
    {
        remove_condition(part, &[":now", ":running"]);
    }
}

fn endpoint_forgotten(_: &str, request: &mut Value) {
    remove_items(request, |_, part| {
        part["Item"]["sk"]["S"] == "delivery#sms"
            && part["ConditionExpression"] == "attribute_not_exists(pk)"
    });
}

fn person_forgotten(_: &str, request: &mut Value) {
    if transaction_items(request).filter(|(_, part)| is_notification(part)).count() > 1 {
        remove_items(request, |_, part| {
            part["Item"]["user"]["S"] == "eve" && (is_notification(part) || is_delivery(part))
        });
    }
}

fn time_forgotten(_: &str, request: &mut Value) {
    for part in deliveries(request, true) {
        part["Item"]["ready_at"] = part["Item"]["created_at"].clone();
    }
}

fn expiry_forgotten(_: &str, request: &mut Value) {
    for (_, part) in transaction_items(request).filter(|(_, part)| is_notification(part)) {
        part["Item"].as_object_mut().and_then(|row| row.remove("expires_at"));
    }
}

fn claim_ignores_version(_: &str, request: &mut Value) {
    for part in became(request, "sending") {
        remove_condition(part, &[":before"]);
    }
}

fn claim_ignores_person(_: &str, request: &mut Value) {
    unchecked(request, "stamp");
}

fn claim_ignores_suppressions(_: &str, request: &mut Value) {
    unchecked(request, "suppression");
}

/// A check of that row always holds.
fn unchecked(request: &mut Value, sk: &str) {
    for (kind, part) in transaction_items(request) {
        if kind == "ConditionCheck" && part["Key"]["sk"]["S"] == sk {
            part["ConditionExpression"] = json!("attribute_not_exists(nothing)");
            part.as_object_mut().and_then(|part| part.remove("ExpressionAttributeValues"));
        }
    }
}

fn claim_uncounted(_: &str, request: &mut Value) {
    for part in became(request, "sending") {
        part["Item"]["tries"] = json!({ "N": "1" });
    }
}

fn claim_untraced(_: &str, request: &mut Value) {
    for part in became(request, "sending") {
        part["Item"]["trail"] = json!({ "L": [] });
    }
}

fn stamp_forgotten(_: &str, request: &mut Value) {
    remove_items(request, |kind, part| kind == "Update" && part["Key"]["sk"]["S"] == "stamp");
}

fn quiet_forgotten(_: &str, request: &mut Value) {
    for (_, part) in
        transaction_items(request).filter(|(_, part)| part["Item"]["sk"]["S"] == "preferences")
    {
        part["Item"].as_object_mut().and_then(|row| row.remove("doNotDisturb"));
    }
}

fn breaker_unseen(operation: &str, request: &mut Value) {
    if operation == "GetItem" && request["Key"]["sk"]["S"] == "breaker" {
        request["Key"]["pk"] = json!({ "S": "provider#none" });
    } else if operation == "BatchGetItem" {
        for table in
            request["RequestItems"].as_object_mut().into_iter().flat_map(|all| all.values_mut())
        {
            let keys = table["Keys"].as_array_mut().into_iter().flatten();
            // A call may not name a key twice, so each gets a row of its own.
            for (n, key) in keys.filter(|key| key["sk"]["S"] == "breaker").enumerate() {
                key["pk"] = json!({ "S": format!("provider#none-{n}") });
            }
        }
    }
}

fn pause_forgotten(_: &str, request: &mut Value) {
    for part in became(request, "pending") {
        if part["Item"]["why"]["M"]["rule"]["S"] == "backoff" {
            let attempts =
                part["Item"]["trail"]["L"].as_array().and_then(|attempts| attempts.last());
            let ended_at = attempts.map(|entry| entry["M"]["ended_at"].clone());
            part["Item"]["ready_at"] = ended_at.unwrap_or_default();
        }
    }
}

fn doubt_uncounted(_: &str, request: &mut Value) {
    for part in deliveries(request, false) {
        part["Item"]["uncertain"] = json!({ "N": "0" });
    }
}

fn text_repeated(_: &str, request: &mut Value) {
    for part in became(request, "unknown") {
        if part["Item"]["sk"]["S"] == "delivery#sms" {
            part["Item"]["status"] = json!({ "S": "pending" });
            part["Item"]["gsi2pk"] = json!({ "S": "pending#0" });
            part["Item"]["gsi2sk"] = json!({ "S": "0000000000000#0" });
        }
    }
}

fn refusal_repeated(_: &str, request: &mut Value) {
    for part in became(request, "failed") {
        if part["Item"]["class"]["S"] == "content" {
            part["Item"]["status"] = json!({ "S": "pending" });
            part["Item"]["gsi2pk"] = json!({ "S": "pending#0" });
        }
    }
}

fn withdrawal_forgotten(_: &str, request: &mut Value) {
    for part in became(request, "sending") {
        part["Item"].as_object_mut().and_then(|row| row.remove("withdrawn"));
    }
}

fn letter_unlisted(_: &str, request: &mut Value) {
    for part in became(request, "failed") {
        for name in ["gsi2pk", "gsi2sk"] {
            part["Item"].as_object_mut().and_then(|row| row.remove(name));
        }
    }
}

fn alarm_forgotten(operation: &str, request: &mut Value) {
    let body = request["MessageBody"].as_str().unwrap_or_default();
    if operation == "SendMessage" && body.contains("\"failedAt\"") {
        request["MessageBody"] = json!("{}");
    }
}

fn replay_unnamed(_: &str, request: &mut Value) {
    for part in became(request, "pending") {
        part["Item"].as_object_mut().and_then(|row| row.remove("replay"));
    }
}

fn reference_forgotten(_: &str, request: &mut Value) {
    remove_items(request, |_, part| begins(&part["Item"]["pk"], "ref#"));
}

fn trial_unguarded(operation: &str, request: &mut Value) {
    if operation == "PutItem" && request["Item"]["sk"]["S"] == "breaker" {
        remove_condition(request, &[":before"]);
    }
}

fn lost_senders_unseen(operation: &str, request: &mut Value) {
    blind(operation, request, "sending#");
}

fn lost_messages_unseen(operation: &str, request: &mut Value) {
    blind(operation, request, "pending#");
}

fn due_unseen(operation: &str, request: &mut Value) {
    blind(operation, request, "due#");
}

/// A query of that list finds nothing.
fn blind(operation: &str, request: &mut Value, list: &str) {
    let values = &mut request["ExpressionAttributeValues"];
    if operation == "Query" && begins(&values[":list"], list) {
        values[":list"] = json!({ "S": "nothing" });
    }
}
