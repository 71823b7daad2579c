//! Destinations that no link may lead to: refused when new, found by the sweep when old.

use serde_json::{Value, json};
use tests::{Lab, root_key};

use super::{
    SHORTEN, assert_names, assert_problem, code, delete, get, patch, plain, post, redirect_of,
    shorten, wait_out_cache,
};

const BLOCKLIST: &str = "/api/v1/blocklist";

#[tokio::test(start_paused = true)]
async fn an_entry_is_one_of_a_host_and_a_url_with_a_reason() {
    let lab = Lab::new();
    let host = json!({ "host": "Evil.Example", "reason": " Phishing. " });
    let added = post(&lab, BLOCKLIST, &root_key(), &host).await.assert_status(201);
    assert_eq!(
        added.body,
        json!({ "entry": "host:evil.example", "reason": "Phishing.", "addedBy": "root",
                "addedAt": "2026-03-01T12:00:00Z" })
    );
    let url = json!({ "url": "https://fine.example/bad?x=1", "reason": "Malware." });
    let page = post(&lab, BLOCKLIST, &root_key(), &url).await;
    assert!(page.text("entry").starts_with("url:"), "{}", page.body);
    let list = get(&lab, BLOCKLIST, &root_key()).await;
    assert_eq!(list.body["items"], json!([added.body, page.body]));
    for (body, field) in [
        (json!({ "reason": "x" }), "host"),
        (json!({ "host": "a.example", "url": "https://a.example", "reason": "x" }), "host"),
        (json!({ "host": "no host", "reason": "x" }), "host"),
        (json!({ "url": "no url", "reason": "x" }), "url"),
        (json!({ "host": "a.example", "reason": "" }), "reason"),
        (json!({ "host": "a.example" }), "reason"),
        (json!({ "host": "a.example", "reason": "x", "until": 1 }), "until"),
    ] {
        assert_names(&post(&lab, BLOCKLIST, &root_key(), &body).await, field, &body);
    }
    for _ in 0..2 {
        let one = format!("{BLOCKLIST}/host:evil.example");
        assert_eq!(delete(&lab, &one, &root_key()).await.status, 204);
    }
    let list = get(&lab, BLOCKLIST, &root_key()).await;
    assert_eq!(list.body["items"], json!([page.body]));
}

#[tokio::test(start_paused = true)]
async fn new_links_to_what_is_listed_are_refused_wherever_they_name_it() {
    let (lab, ada) = Lab::with_member().await;
    let link = code(&lab, &ada, &plain("https://fine.example/")).await;
    post(&lab, BLOCKLIST, &root_key(), &json!({ "host": "evil.example", "reason": "x" })).await;
    let url = json!({ "url": "https://fine.example/bad", "reason": "x" });
    post(&lab, BLOCKLIST, &root_key(), &url).await;
    let variant = |url: &str| json!({ "url": url, "weight": 1 });
    for body in [
        plain("https://evil.example/"),
        plain("http://EVIL.example.:8080/any"),
        plain("https://deep.sub.evil.example/"),
        plain("https://fine.example/bad"),
        json!({ "longUrl": "https://a.example/", "maxClicks": 1, "fallbackUrl": "https://evil.example" }),
        json!({ "longUrl": "https://a.example/",
                "variants": [variant("https://b.example"), variant("https://evil.example")] }),
    ] {
        for key in [ada.as_str(), ""] {
            assert_problem(&post(&lab, SHORTEN, key, &body).await, 403, "forbidden");
        }
    }
    for fine in
        ["https://notevil.example/", "https://fine.example/good", "https://example/evil.example"]
    {
        let answer = post(&lab, SHORTEN, &ada, &plain(fine)).await;
        assert_ne!(answer.status, 403, "{fine}");
    }
    let one = format!("/api/v1/url/{link}");
    let moved = patch(&lab, &one, &ada, 1, &plain("https://evil.example/")).await;
    assert_problem(&moved, 403, "forbidden");
    assert_eq!(get(&lab, &one, &ada).await.body["version"], 1);
    delete(&lab, &format!("{BLOCKLIST}/host:evil.example"), &root_key()).await;
    shorten(&lab, &ada, &plain("https://evil.example/")).await;
}

#[tokio::test(start_paused = true)]
async fn another_node_hears_of_an_entry_within_a_minute() {
    let (lab, ada) = Lab::with_member().await;
    shorten(&lab, &ada, &plain("https://evil.example/1")).await;
    // The entry is written behind this node's back.
    let links = links::store::Links::new(lab.aws().dynamodb(), lab.table("LinksTable"));
    let entry = links::store::BlocklistEntry {
        key: "host:evil.example".to_owned(),
        reason: "x".to_owned(),
        by: "root".to_owned(),
        at: domain::Timestamp::UNIX_EPOCH,
    };
    links.block_destination(&entry).await.unwrap();
    lab.advance_seconds(60);
    let refused = post(&lab, SHORTEN, &ada, &plain("https://evil.example/2")).await;
    assert_problem(&refused, 403, "forbidden");
}

#[tokio::test(start_paused = true)]
async fn the_sweep_blocks_what_leads_to_a_listed_destination() {
    let (lab, ada) = Lab::with_member().await;
    let bad = code(&lab, &ada, &plain("https://evil.example/")).await;
    let variant = |url: &str| json!({ "url": url, "weight": 1 });
    let split = json!({ "longUrl": "https://a.example/",
                        "variants": [variant("https://b.example"), variant("https://evil.example")] });
    let split = code(&lab, &ada, &split).await;
    let fine = code(&lab, &ada, &plain("https://fine.example/")).await;
    let entry = json!({ "host": "evil.example", "reason": "Phishing." });
    post(&lab, BLOCKLIST, &root_key(), &entry).await;
    lab.sweep().await;
    wait_out_cache(&lab);
    for (link, status) in [(&bad, 451), (&split, 451), (&fine, 302)] {
        assert_eq!(redirect_of(&lab, link).await.0, status);
    }
    let one = format!("/api/v1/url/{bad}");
    let seen = get(&lab, &one, &ada).await;
    assert_eq!((seen.text("state"), seen.text("blockReason")), ("blocked", "Phishing."));
    let version = seen.body["version"].clone();
    lab.sweep().await;
    assert_eq!(get(&lab, &one, &ada).await.body["version"], version, "blocked once");

    // As long as it is listed, the list has the last word.
    post(&lab, &format!("{one}/unblock"), &root_key(), &Value::Null).await;
    lab.sweep().await;
    assert_eq!(get(&lab, &one, &ada).await.text("state"), "blocked");
    delete(&lab, &format!("{BLOCKLIST}/host:evil.example"), &root_key()).await;
    post(&lab, &format!("{one}/unblock"), &root_key(), &Value::Null).await;
    lab.sweep().await;
    wait_out_cache(&lab);
    assert_eq!(redirect_of(&lab, &bad).await.0, 302);
}
