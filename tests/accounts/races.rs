//! Many callers, one winner.

use std::collections::BTreeSet;

use futures::future::join_all;
use http::Method;
use serde_json::json;
use tests::{Lab, root_key};

const ALL: &str = "/api/v1/accounts";

#[tokio::test(start_paused = true)]
async fn of_a_hundred_who_want_a_user_id_one_gets_it() {
    let lab = Lab::new();
    let bodies: Vec<_> =
        (0..100).map(|n| json!({ "userId": "ada", "name": format!("n{n}") })).collect();
    let answers = join_all(bodies.iter().map(|body| lab.post(ALL, body))).await;
    let winners: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert_eq!(winners.len(), 1);
    assert!(answers.iter().all(|answer| answer.status == 201 || answer.status == 409));
    assert_eq!(lab.get("/api/v1/accounts/ada").await.text("name"), winners[0].text("name"));
}

#[tokio::test(start_paused = true)]
async fn a_hundred_repeats_of_one_request_make_one_account() {
    let lab = Lab::new();
    let body = json!({ "name": "Ada" });
    let answers = join_all((0..100).map(|_| {
        let call = lab.call(Method::POST, ALL).by(&root_key());
        call.header("idempotency-key", "one").json(&body).send()
    }))
    .await;
    let made: BTreeSet<_> = answers
        .iter()
        .filter(|answer| answer.status == 201)
        .map(|answer| answer.text("userId").to_owned())
        .collect();
    assert_eq!(made.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!((answer.status.as_u16(), answer.text("type")), (409, "/docs#in-progress"));
        assert!(answer.header("retry-after").parse::<u32>().unwrap() >= 1);
    }
    assert_eq!(lab.get(ALL).await.body["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn of_fifty_changes_to_one_version_one_is_made() {
    let lab = Lab::new();
    lab.post(ALL, &json!({ "userId": "ada", "name": "Ada" })).await;
    let answers = join_all((0..50).map(|n| {
        lab.call(Method::PATCH, "/api/v1/accounts/ada")
            .by(&root_key())
            .header("if-match", "\"1\"")
            .json(&json!({ "name": format!("n{n}") }))
            .send()
    }))
    .await;
    let winners: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(winners.len(), 1);
    let account = lab.get("/api/v1/accounts/ada").await;
    assert_eq!(
        (account.text("name"), &account.body["version"]),
        (winners[0].text("name"), &json!(2))
    );
}

#[tokio::test(start_paused = true)]
async fn admins_who_remove_each_other_leave_one() {
    for round in 0..20 {
        let lab = Lab::with(tests::Setup { seed: round, ..tests::Setup::default() });
        for admin in ["ann", "bob", "cyd"] {
            lab.user(admin, &["admin"]).await;
        }
        let removals = join_all(["ann", "bob", "cyd"].map(|admin| {
            lab.call(Method::DELETE, &format!("{ALL}/{admin}")).by(&root_key()).send()
        }))
        .await;
        let removed = removals.iter().filter(|answer| answer.status == 204).count();
        let refused = removals.iter().filter(|answer| answer.status == 409).count();
        assert_eq!((removed, refused), (2, 1), "round {round}");
    }
}
