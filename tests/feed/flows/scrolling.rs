//! Scrolls: pinned to their first page, full, without duplicates and omissions.

use http::Method;
use serde_json::{Value, json};

use super::{People, texts};

#[tokio::test(start_paused = true)]
async fn a_ranked_scroll_is_not_moved_by_what_happens_meanwhile() {
    let people = People::called(&["ada", "bob", "cid"]).await;
    for author in ["ada", "cid"] {
        people.put("bob", "follow", author).await;
    }
    let mut ids = Vec::new();
    for n in 0..12 {
        let author = if n % 2 == 0 { "ada" } else { "cid" };
        ids.push(people.say(author, &n.to_string()).await);
    }
    people.lab.settle_doubled().await;
    let first = people.get("bob", "/api/v1/feed?limit=4").await;
    let mut shown = texts(&first);
    assert_eq!(first.body["hasMore"], true);
    // New posts come first in the next scroll, not in this one; what is deleted is left out and made up for.
    people.say("ada", "new").await;
    people.lab.settle_doubled().await;
    let gone = ids.iter().zip(0..).find(|(_, n)| !shown.contains(&n.to_string())).unwrap();
    let author = if gone.1 % 2 == 0 { "ada" } else { "cid" };
    assert_eq!(people.delete(author, gone.0).await.status, 204);
    let mut cursor = first.text("nextCursor").to_owned();
    loop {
        let page = people.get("bob", &format!("/api/v1/feed?limit=4&cursor={cursor}")).await;
        let more = texts(&page);
        let ended = page.body["nextCursor"].is_null();
        assert!(ended || more.len() == 4, "a page is full before the end");
        shown.extend(more);
        if ended {
            break;
        }
        cursor = page.text("nextCursor").to_owned();
    }
    let mut expected: Vec<String> =
        (0..12).filter(|n| *n != gone.1).map(|n| n.to_string()).collect();
    expected.sort_unstable();
    shown.sort_unstable();
    assert_eq!(shown, expected);
    let again = people.get("bob", "/api/v1/feed?limit=1").await;
    assert_eq!(texts(&again), ["new"], "what was shown before comes later");
}

#[tokio::test(start_paused = true)]
async fn cursors_are_for_those_who_were_given_them() {
    let people = People::called(&["ada", "bob", "cid"]).await;
    for who in ["bob", "cid"] {
        people.put(who, "follow", "ada").await;
    }
    for n in 0..3 {
        people.say("ada", &n.to_string()).await;
    }
    people.lab.settle_doubled().await;
    let page = people.get("bob", "/api/v1/feed?limit=1&order=latest").await;
    let cursor = page.text("nextCursor");
    for (who, query) in [
        ("cid", format!("cursor={cursor}")),
        ("bob", format!("cursor={cursor}&order=ranked")),
        ("bob", "cursor=AAAA".to_owned()),
        ("bob", "cursor=%20".to_owned()),
        ("bob", "limit=0".to_owned()),
        ("bob", "limit=51".to_owned()),
        ("bob", "order=best".to_owned()),
        ("bob", "page=2".to_owned()),
    ] {
        let refused = people.get(who, &format!("/api/v1/feed?{query}")).await;
        assert_eq!(refused.status, 422, "{query}: {}", refused.body);
        assert_eq!(refused.header("content-type"), "application/problem+json");
    }
    let next = people.get("bob", &format!("/api/v1/feed?limit=1&cursor={cursor}")).await;
    assert_eq!(texts(&next), ["1"]);
}

/// What the specification asks for: the reads do not grow with the follows.
#[tokio::test(start_paused = true)]
async fn the_reads_of_a_page_do_not_grow_with_the_follows() {
    let names: Vec<String> = (0..12).map(|n| format!("author-{n}")).collect();
    let mut all: Vec<&str> = names.iter().map(String::as_str).collect();
    all.push("bob");
    let people = People::called(&all).await;
    let mut calls = Vec::new();
    for some in names.chunks(4) {
        for author in some {
            people.put("bob", "follow", author).await;
            people.say(author, "hello").await;
        }
        people.lab.settle_doubled().await;
        // What was shown before is not noted again.
        people.latest("bob").await;
        people.lab.record_calls();
        let before = people.lab.cloud.faults.recorded_count();
        assert_eq!(people.get("bob", "/api/v1/feed").await.status, 200);
        let table = people.lab.table("FeedTable");
        let recorded = people.lab.cloud.faults.recorded().split_off(before);
        let ours =
            recorded.iter().filter(|call| String::from_utf8_lossy(&call.body).contains(&table));
        calls.push(ours.count());
    }
    assert_eq!(calls, [5, 5, 5], "reader, timeline, posts, ties, profiles with likes");
}

#[tokio::test(start_paused = true)]
async fn media_are_uploaded_first_and_shown_by_links() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    let body = json!({ "contentType": "image/png", "bytes": 3 });
    let made = people.call("ada", Method::POST, "/api/v1/media", &body).await.assert_status(201);
    let media = made.text("mediaId").to_owned();
    let post = json!({ "media": [media] });
    let early = people.call("ada", Method::POST, "/api/v1/posts", &post).await;
    assert_eq!(early.status, 422, "nothing is uploaded yet");
    assert!(made.text("uploadUrl").contains("X-Amz-Signature="));
    people.upload("ada", &media).await;
    let stolen = people.call("bob", Method::POST, "/api/v1/posts", &post).await;
    assert_eq!(stolen.status, 422, "another user's upload");
    let id = people.post("ada", post).await;
    people.lab.settle_doubled().await;
    let page = people.get("bob", "/api/v1/feed").await;
    let shown = &page.body["items"][0];
    assert_eq!((&shown["postId"], &shown["media"][0]["mediaId"]), (&json!(id), &json!(media)));
    let url = shown["media"][0]["url"].as_str().unwrap();
    assert!(url.contains(&format!("/media/ada/{media}?")) && url.contains("X-Amz-Signature="));
    for wrong in [
        json!({ "contentType": "text/html", "bytes": 3 }),
        json!({ "contentType": "image/png", "bytes": 0 }),
        json!({ "contentType": "image/png" }),
        Value::Null,
    ] {
        let refused = people.call("ada", Method::POST, "/api/v1/media", &wrong).await;
        assert!(matches!(refused.status.as_u16(), 400 | 422), "{wrong}: {}", refused.body);
    }
}
