//! Many callers, one winner.

use std::collections::BTreeSet;

use futures::future::join_all;
use http::Method;
use serde_json::json;
use tests::{Lab, root_key};

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
    let (lab, ada) = Lab::with_member().await;
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
        let call = lab.call(Method::POST, SHORTEN).from_ip(source);
        call.json(&json!({ "longUrl": "https://example.org/" })).send()
    }))
    .await;
    assert!(answers.iter().all(|answer| answer.status == 201));
    let codes: BTreeSet<_> = answers.iter().map(|answer| answer.text("shortCode")).collect();
    assert_eq!(codes.len(), 100);
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
