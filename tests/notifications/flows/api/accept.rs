//! Accepting: once, also if repeated, and with the reason for what does not go out.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{ALL, accepted, lab_with_ada, log_length, put, reachable, read, send, tomorrow};

#[tokio::test(start_paused = true)]
async fn each_way_is_a_delivery_that_waits_for_its_time() {
    let lab = lab_with_ada().await;
    let id = accepted(&lab, &tomorrow("ada")).await;
    let found = read(&lab, &id).await;
    assert_eq!((&found["status"], &found["userId"]), (&json!("pending"), &json!("ada")));
    let endpoints: Vec<&Value> =
        found["deliveries"].as_array().unwrap().iter().map(|it| &it["way"]).collect();
    assert_eq!(endpoints, ["email", "sms"]);
    assert_eq!(found["deliveries"][0]["why"]["rule"], "scheduled");
    assert_eq!(found["content"]["sms"]["text"], "Your order is on its way.");
}

#[tokio::test(start_paused = true)]
async fn one_person_costs_one_transaction_and_one_publish() {
    let lab = lab_with_ada().await;
    let mut body = tomorrow("ada");
    body["sendAt"] = Value::Null;
    lab.record_calls();
    accepted(&lab, &body).await;
    let named = |what: &str| {
        let calls = lab.cloud.faults.recorded().into_iter();
        calls.filter(|call| String::from_utf8_lossy(&call.body).contains(what)).count()
    };
    assert_eq!(named("TransactItems"), 1);
    assert_eq!(named("Action=PublishBatch"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_hundred_calls_at_once_with_one_key_tell_once_and_get_one_answer() {
    let lab = lab_with_ada().await;
    let mut body = tomorrow("ada");
    body["idempotencyKey"] = json!("order-7");
    let calls = (0..100).map(|_| lab.post(ALL, &body));
    let answers = futures::future::join_all(calls).await;
    for answer in &answers {
        assert_eq!(answer.status, 202, "{}", answer.body);
        assert_eq!(answer.body, answers[0].body);
    }
    assert_eq!(log_length(&lab, "ada").await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_stands_for_one_body() {
    let lab = lab_with_ada().await;
    let call = |body: Value| {
        let call = lab.call(Method::POST, ALL).by(&root_key()).header("idempotency-key", "k");
        call.json(&body).send()
    };
    let first = call(tomorrow("ada")).await;
    let again = call(tomorrow("ada")).await;
    assert_eq!((again.status.as_u16(), &again.body), (202, &first.body));
    assert_eq!(again.header("idempotent-replayed"), "true");
    let mut other = tomorrow("ada");
    other["priority"] = json!("low");
    let refused = call(other).await;
    assert_eq!(
        (refused.status.as_u16(), refused.text("type")),
        (422, "/docs#idempotency-key-reused")
    );
    lab.advance_seconds(2 * 86_400);
    assert_eq!(call(tomorrow("ada")).await.status, 202, "forgotten after a day");
}

#[tokio::test(start_paused = true)]
async fn a_repeat_gets_the_first_answer_also_when_its_time_has_gone() {
    let lab = lab_with_ada().await;
    let mut body = tomorrow("ada");
    body["sendAt"] = Value::Null;
    body["expiresAt"] = json!("2026-03-01T12:01:00Z");
    body["idempotencyKey"] = json!("k");
    let first = lab.post(ALL, &body).await.assert_status(202);
    lab.advance_seconds(120);
    let again = lab.post(ALL, &body).await;
    assert_eq!((again.status.as_u16(), &again.body), (202, &first.body));
    body["idempotencyKey"] = json!("other");
    super::assert_names(&lab.post(ALL, &body).await, "expiresAt");
}

#[tokio::test(start_paused = true)]
async fn many_people_are_told_once_each() {
    let lab = Lab::new();
    let users: Vec<String> = (0..60).map(|n| format!("user-{n}")).collect();
    for user in &users {
        reachable(&lab, user).await;
    }
    let mut body = tomorrow("ada");
    body["userId"] = Value::Null;
    body["userIds"] = json!(users);
    body["idempotencyKey"] = json!("all");
    let first = lab.post(ALL, &body).await.assert_status(202);
    assert_eq!(first.body["notifications"].as_array().unwrap().len(), 60);
    let again = lab.post(ALL, &body).await;
    assert_eq!(again.body, first.body);
    for user in ["user-0", "user-59"] {
        assert_eq!(log_length(&lab, user).await, 1, "{user}");
    }
    body["category"] = json!("news");
    assert_eq!(lab.post(ALL, &body).await.status, 422);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_in_flight_is_a_conflict_with_a_time_to_wait() {
    use store::idempotency::IdempotentRequest;
    let lab = Lab::new();
    let mut body = tomorrow("ada");
    body["userId"] = Value::Null;
    body["userIds"] = json!(["ada", "bob"]);
    body["idempotencyKey"] = json!("slow");
    let text = body.to_string();
    let now = lab.now();
    let claim = IdempotentRequest {
        caller: "root",
        operation: "sendNotification",
        key: "slow",
        fingerprint: boundary::idempotency::fingerprint(ALL, text.as_bytes()),
        claimant: "other",
        deadline: domain::Timestamp::from_second(now.as_second() + 20).unwrap(),
    };
    super::table(&lab).idempotency().claim(&claim, now).await.unwrap();
    let waits = lab.post(ALL, &body).await.assert_status(409);
    assert!(!waits.header("retry-after").is_empty());
    lab.advance_seconds(21);
    assert_eq!(lab.post(ALL, &body).await.status, 202, "the other claim has expired");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_wanted_is_kept_with_the_reason() {
    let lab = lab_with_ada().await;
    let off = json!({ "categories": { "orders": { "email": false } } });
    put(&lab, "/api/v1/users/ada/preferences", &off).await;
    let by_preference = read(&lab, &accepted(&lab, &tomorrow("ada")).await).await;
    assert_eq!(by_preference["deliveries"].as_array().unwrap().len(), 1);
    assert_eq!(by_preference["deliveries"][0]["way"], "sms");
    let mut named = tomorrow("ada");
    named["channels"] = json!(["email"]);
    named["priority"] = json!("critical");
    let named = read(&lab, &accepted(&lab, &named).await).await;
    assert_eq!(named["status"], "suppressed", "no urgency passes an opt-out");
    let reason = &named["deliveries"][0]["why"];
    assert_eq!(reason["rule"], "opted-out", "{reason}");
    assert_eq!(reason["sentence"], "The person has switched off `orders` by email.");
    put(&lab, "/api/v1/users/ada/preferences", &json!({ "enabled": false })).await;
    let nothing = read(&lab, &accepted(&lab, &tomorrow("ada")).await).await;
    assert_eq!(nothing["status"], "suppressed");
    assert_eq!(nothing["deliveries"].as_array().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_has_no_address_is_unreachable_and_that_can_be_read() {
    let lab = Lab::new();
    let answer = lab.post(ALL, &tomorrow("stranger")).await.assert_status(202);
    assert_eq!(answer.body["notifications"][0]["status"], "unreachable");
    assert_eq!(log_length(&lab, "stranger").await, 1);
}

#[tokio::test(start_paused = true)]
async fn what_has_not_gone_out_is_taken_back() {
    let lab = lab_with_ada().await;
    let id = accepted(&lab, &tomorrow("ada")).await;
    let path = format!("{ALL}/{id}");
    for _ in 0..2 {
        let taken = send(&lab, Method::DELETE, &path, &root_key(), &Value::Null).await;
        assert_eq!((taken.status.as_u16(), taken.text("status")), (200, "cancelled"));
        assert_eq!(taken.body["deliveries"][0]["why"]["rule"], "cancelled");
    }
}
