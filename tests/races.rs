//! Many callers, one winner.

mod feed;
mod notifications;

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

#[tokio::test(start_paused = true)]
async fn a_hundred_cold_nodes_never_share_an_id() {
    let lab = Lab::new();
    let answers = join_all(
        (0..100).map(|_| lab.call(Method::POST, "/api/v1/ids?count=50").by(&root_key()).send()),
    )
    .await;
    let mut seen = BTreeSet::new();
    for answer in answers {
        assert_eq!(answer.status, 200, "{}", answer.body);
        for id in answer.body["ids"].as_array().unwrap() {
            assert!(seen.insert(id.as_str().unwrap().to_owned()));
        }
    }
    assert_eq!(seen.len(), 5_000);
}

const SHORTEN: &str = "/api/v1/shorten";

#[tokio::test(start_paused = true)]
async fn of_a_hundred_who_want_an_alias_one_gets_it() {
    let lab = Lab::new();
    let mut keys = vec![root_key()];
    for user in ["ada", "bob", "cyd"] {
        keys.push(lab.user(user, &["member"]).await);
    }
    let answers = join_all((0..100).map(|n| {
        let url = format!("https://example.org/{n}");
        let body = json!({ "longUrl": url, "customAlias": "wanted" });
        lab.call(Method::POST, SHORTEN).by(&keys[n % keys.len()]).json(&body).send()
    }))
    .await;
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((count(201), count(409)), (1, 99));
    let winner = answers.iter().find(|answer| answer.status == 201).unwrap();
    let visitor = lab.call(Method::GET, "/wanted").send().await;
    assert_eq!(visitor.header("location"), winner.text("longUrl"));
}

#[tokio::test(start_paused = true)]
async fn fifty_who_shorten_one_destination_with_one_key_get_one_link() {
    let lab = Lab::new();
    let ada = lab.user("ada", &["member"]).await;
    let body = json!({ "longUrl": "https://example.org/" });
    let round = || async {
        let call = || lab.call(Method::POST, SHORTEN).by(&ada).json(&body).send();
        let answers = join_all((0..50).map(|_| call())).await;
        let new = answers.iter().filter(|answer| answer.status == 201).count();
        let had = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!((new, had), (1, 49));
        let codes: BTreeSet<_> = answers.iter().map(|it| it.text("shortCode").to_owned()).collect();
        assert_eq!(codes.len(), 1);
        codes
    };
    let first = round().await;
    let code = first.iter().next().unwrap();
    let gone = lab.call(Method::DELETE, &format!("/api/v1/url/{code}")).by(&ada).send().await;
    assert_eq!(gone.status, 204);
    assert_ne!(round().await, first, "what was deleted is replaced, and once");
    let list = lab.call(Method::GET, "/api/v1/urls").by(&ada).send().await;
    assert_eq!(list.body["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn of_fifty_edits_of_one_version_of_a_link_one_is_made() {
    let lab = Lab::new();
    let body = json!({ "longUrl": "https://example.org/", "customAlias": "mine" });
    lab.post(SHORTEN, &body).await;
    let answers = join_all((0..50).map(|n| {
        lab.call(Method::PATCH, "/api/v1/url/mine")
            .by(&root_key())
            .header("if-match", "\"1\"")
            .json(&json!({ "longUrl": format!("https://example.org/{n}") }))
            .send()
    }))
    .await;
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((count(200), count(412)), (1, 49));
    let winner = answers.iter().find(|answer| answer.status == 200).unwrap();
    let link = lab.get("/api/v1/url/mine").await;
    assert_eq!((link.text("longUrl"), &link.body["version"]), (winner.text("longUrl"), &json!(2)));
}

#[tokio::test(start_paused = true)]
async fn a_hundred_cold_nodes_never_make_the_same_code() {
    let lab = Lab::new();
    let answers = join_all((0..100).map(|n| {
        let source = std::net::IpAddr::from([198, 51, 100, n]);
        let call = lab.call(Method::POST, SHORTEN).coming_from(source);
        call.json(&json!({ "longUrl": "https://example.org/" })).send()
    }))
    .await;
    assert!(answers.iter().all(|answer| answer.status == 201));
    let codes: BTreeSet<_> = answers.iter().map(|answer| answer.text("shortCode")).collect();
    assert_eq!(codes.len(), 100);
}

#[tokio::test(start_paused = true)]
async fn of_a_hundred_and_fifty_at_once_from_one_address_a_hundred_are_let_in() {
    let lab = Lab::new();
    let call = || lab.call(Method::POST, SHORTEN).json(&json!({ "longUrl": "https://a.example/" }));
    let answers = join_all((0..150).map(|_| call().send())).await;
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((count(201), count(429)), (100, 50));
}

#[tokio::test(start_paused = true)]
async fn fifty_repeats_of_one_shortening_make_one_link() {
    let lab = Lab::new();
    let body = json!({ "longUrl": "https://example.org/", "reuse": false });
    let answers = join_all((0..50).map(|_| {
        let call = lab.call(Method::POST, SHORTEN).by(&root_key());
        call.header("idempotency-key", "one").json(&body).send()
    }))
    .await;
    let made: BTreeSet<_> = answers
        .iter()
        .filter(|answer| answer.status == 201)
        .map(|answer| answer.text("shortCode").to_owned())
        .collect();
    assert_eq!(made.len(), 1);
    assert!(answers.iter().all(|answer| answer.status == 201 || answer.status == 409));
    assert_eq!(lab.get("/api/v1/urls").await.body["items"].as_array().unwrap().len(), 1);
}
