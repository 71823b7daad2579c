//! Following, blocking and muting: effective at once, although timelines still refer to posts.

use http::Method;
use serde_json::{Value, json};

use super::{People, texts};

#[tokio::test(start_paused = true)]
async fn who_begins_to_follow_sees_what_was_said_before() {
    let people = People::called(&["ada", "bob"]).await;
    people.say("ada", "one").await;
    people.say("ada", "two").await;
    people.put("bob", "follow", "ada").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("bob").await, ["two", "one"]);
    people.undo("bob", "follow", "ada").await;
    assert_eq!(people.latest("bob").await, Vec::<String>::new(), "at once");
    people.say("ada", "three").await;
    people.lab.settle_doubled().await;
    people.put("bob", "follow", "ada").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("bob").await, ["three", "two", "one"]);
}

/// Hundreds of posts that are not shown cost nothing.
#[tokio::test(start_paused = true)]
async fn the_posts_of_a_muted_user_are_not_searched_for_one_to_show() {
    let people = People::with(&["ada", "bob"], r#"{"recents":3,"kept":5}"#).await;
    people.put("bob", "follow", "ada").await;
    for n in 0..60 {
        people.say("ada", &format!("post {n}")).await;
    }
    people.lab.settle_doubled().await;
    people.put("bob", "mute", "ada").await;
    let faults = &people.lab.cloud.faults;
    faults.record(|call| call.operation == "Query" || call.operation == "BatchGetItem");
    for path in ["/api/v1/users/ada/posts?limit=2", "/api/v1/feed?limit=2"] {
        let before = faults.recorded().len();
        assert_eq!(texts(&people.get("bob", path).await), Vec::<String>::new());
        let reads = faults.recorded().len() - before;
        assert!(reads <= 16, "{path}: {reads} reads");
    }
    people.undo("bob", "mute", "ada").await;
    assert_eq!(people.latest("bob").await.len(), 50);
}

/// A user of another issuer is named by it.
#[tokio::test(start_paused = true)]
async fn a_user_of_another_issuer_is_followed_by_their_whole_name() {
    let people = People::called(&["bob"]).await;
    let grace = domain::accounts::UserId::outside("oidc|auth0|42");
    let now = people.lab.now();
    let state = people.store().reader_state(&grace, now).await.unwrap();
    people.store().record_visit(&state, &state.reader, now).await.unwrap();
    people.put("bob", "follow", "oidc%7Cauth0%7C42").await;
    let following = people.get("bob", "/api/v1/users/bob/following").await;
    assert_eq!(following.body["items"][0]["userId"], "oidc|auth0|42");
    people.put("bob", "block", "oidc%7Cauth0%7C42").await;
    let unknown = format!("/api/v1/users/oidc%7C{}/follow", "x".repeat(300));
    assert_eq!(people.call("bob", Method::PUT, &unknown, &Value::Null).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn a_block_hides_each_from_the_other_and_ends_both_follows() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    people.put("ada", "follow", "bob").await;
    let id = people.say("ada", "hello").await;
    people.lab.settle_doubled().await;
    people.put("ada", "block", "bob").await;
    assert_eq!(people.latest("bob").await, Vec::<String>::new());
    let post = format!("/api/v1/posts/{id}");
    for path in [post.as_str(), "/api/v1/users/ada/posts", "/api/v1/users/ada/followers"] {
        assert_eq!(people.get("bob", path).await.status, 404, "{path}");
    }
    // To a blocked user it is as if the other did not exist.
    let follow = |who: &'static str, whom: &'static str| {
        let path = format!("/api/v1/users/{whom}/follow");
        let people = &people;
        async move { people.call(who, Method::PUT, &path, &Value::Null).await }
    };
    let blocked = follow("bob", "ada").await;
    let unknown = follow("bob", "zoe").await;
    assert_eq!((blocked.status, unknown.status), (unknown.status, blocked.status));
    assert_eq!(blocked.body["detail"], unknown.body["detail"]);
    assert_eq!(follow("ada", "bob").await.status, 409, "unblock them first");
    people.undo("ada", "block", "bob").await;
    assert_eq!(people.latest("bob").await, Vec::<String>::new(), "an unblock restores no follow");
    people.put("bob", "follow", "ada").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("bob").await, ["hello"]);
}

#[tokio::test(start_paused = true)]
async fn who_is_muted_is_left_out_of_lists_and_not_told() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    let id = people.say("ada", "hello").await;
    people.lab.settle_doubled().await;
    people.put("bob", "mute", "ada").await;
    assert_eq!(people.latest("bob").await, Vec::<String>::new());
    assert_eq!(people.get("bob", &format!("/api/v1/posts/{id}")).await.status, 200);
    let mine = people.call("ada", Method::PUT, "/api/v1/users/bob/follow", &Value::Null).await;
    assert_eq!(mine.body["followsYou"], true);
    assert_eq!(mine.body["mutes"], false, "what they do about me is not my business");
    people.undo("bob", "mute", "ada").await;
    assert_eq!(people.latest("bob").await, ["hello"]);
}

#[tokio::test(start_paused = true)]
async fn acts_may_be_repeated_and_change_nothing() {
    let people = People::called(&["ada", "bob"]).await;
    for act in ["follow", "mute", "block"] {
        for method in [Method::PUT, Method::DELETE] {
            let path = format!("/api/v1/users/ada/{act}");
            let first = people.call("bob", method.clone(), &path, &Value::Null).await;
            let again = people.call("bob", method.clone(), &path, &Value::Null).await;
            assert_eq!((first.status.as_u16(), &first.body), (200, &again.body), "{method} {act}");
        }
    }
    people.lab.settle_doubled().await;
    let listed = people.get("bob", "/api/v1/users/ada/followers").await;
    assert_eq!(listed.body["items"], json!([]));
    let self_follow =
        people.call("bob", Method::PUT, "/api/v1/users/bob/follow", &Value::Null).await;
    assert_eq!(self_follow.status, 422);
}

#[tokio::test(start_paused = true)]
async fn lists_of_people_come_in_full_pages_without_those_who_block() {
    let names = ["ada", "bob", "cid", "dan", "eli", "fay"];
    let people = People::called(&names).await;
    for who in &names[1..] {
        people.put(who, "follow", "ada").await;
        people.put("bob", "follow", if *who == "bob" { "ada" } else { who }).await;
    }
    people.put("eli", "block", "bob").await;
    let ids = |page: &tests::Response| -> Vec<String> {
        let items = page.body["items"].as_array().unwrap().iter();
        items.map(|item| item["userId"].as_str().unwrap().to_owned()).collect()
    };
    for (list, mut expected) in [
        ("ada/followers", vec!["bob", "cid", "dan", "fay"]),
        ("bob/following", vec!["ada", "cid", "dan", "fay"]),
    ] {
        let first = people.get("bob", &format!("/api/v1/users/{list}?limit=3")).await;
        let cursor = first.text("nextCursor").to_owned();
        let path = format!("/api/v1/users/{list}?limit=3&cursor={cursor}");
        let second = people.get("bob", &path).await;
        assert_eq!((ids(&first).len(), ids(&second).len()), (3, 1), "{list}");
        assert_eq!(second.body["nextCursor"], Value::Null);
        let mut all = [ids(&first), ids(&second)].concat();
        all.sort_unstable();
        expected.sort_unstable();
        assert_eq!(all, expected, "{list}");
    }
    people.get("bob", "/api/v1/users/ada/followers?cursor=x").await.assert_status(422);
}

#[tokio::test(start_paused = true)]
async fn a_profile_list_is_full_before_its_end() {
    let people = People::with(&["ada", "bob"], r#"{"recents":5}"#).await;
    for n in 0..12 {
        let privacy = if n % 3 == 0 { "PRIVATE" } else { "PUBLIC" };
        people.post("ada", json!({ "text": n.to_string(), "privacy": privacy })).await;
    }
    let mut found = Vec::new();
    let mut path = "/api/v1/users/ada/posts?limit=3".to_owned();
    loop {
        let page = people.get("bob", &path).await;
        found.push(texts(&page));
        let Some(next) = page.body["nextCursor"].as_str() else { break };
        path = format!("/api/v1/users/ada/posts?limit=3&cursor={next}");
    }
    assert_eq!(found, [vec!["11", "10", "8"], vec!["7", "5", "4"], vec!["2", "1"]]);
}
