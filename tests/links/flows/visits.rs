//! What visitors see of a link that its owner limits, and what a `HEAD` gets.

use http::Method;
use serde_json::{Value, json};
use tests::Lab;

use super::{
    CHROME, assert_problem, code, delete, get, patch, plain, post, redirect_of, shorten, to, visit,
    wait_out_cache,
};

#[tokio::test(start_paused = true)]
async fn an_expired_link_is_gone_and_an_unknown_one_was_never_there() {
    let (lab, ada) = Lab::with_member().await;
    let body = json!({ "longUrl": "https://example.org/", "expiresAt": "2026-03-01T12:00:30Z" });
    let link = code(&lab, &ada, &body).await;
    lab.advance_seconds(29);
    assert_eq!(redirect_of(&lab, &link).await, to("https://example.org/"));
    lab.advance_seconds(1);
    assert_problem(&visit(&lab, &link).await, 410, "gone");
    assert_problem(&visit(&lab, "unknown").await, 404, "not-found");
    let one = format!("/api/v1/url/{link}");
    assert_eq!(get(&lab, &one, &ada).await.text("state"), "expired");
    // A word about it does not bring it back; more time does.
    let noted = patch(&lab, &one, &ada, 1, &json!({ "note": "over" })).await;
    assert_eq!((noted.status.as_u16(), noted.text("state")), (200, "expired"));
    let longer = json!({ "expiresAt": "2026-03-01T13:00:00Z" });
    assert_eq!(patch(&lab, &one, &ada, 2, &longer).await.text("state"), "live");
    wait_out_cache(&lab);
    assert_eq!(redirect_of(&lab, &link).await, to("https://example.org/"));
}

#[tokio::test(start_paused = true)]
async fn an_edit_a_deletion_and_a_block_are_seen_within_five_seconds_on_a_warm_node() {
    let (lab, ada) = Lab::with_member().await;
    let link = code(&lab, &ada, &plain("https://example.org/1")).await;
    let one = format!("/api/v1/url/{link}");
    assert_eq!(redirect_of(&lab, &link).await, to("https://example.org/1"));
    patch(&lab, &one, &ada, 1, &plain("https://example.org/2")).await;
    assert_eq!(redirect_of(&lab, &link).await, to("https://example.org/1"), "the memory is used");
    lab.clock.advance_ms(4_999);
    assert_eq!(redirect_of(&lab, &link).await, to("https://example.org/2"));
    post(&lab, &format!("{one}/block"), &tests::root_key(), &json!({ "reason": "x" })).await;
    lab.clock.advance_ms(4_999);
    assert_eq!(redirect_of(&lab, &link).await.0, 451);
    post(&lab, &format!("{one}/unblock"), &tests::root_key(), &Value::Null).await;
    lab.clock.advance_ms(4_999);
    assert_eq!(redirect_of(&lab, &link).await.0, 302);
    delete(&lab, &one, &ada).await;
    lab.clock.advance_ms(4_999);
    assert_eq!(redirect_of(&lab, &link).await.0, 404);
    // That there is none is remembered no longer than that there is one.
    let again = json!({ "longUrl": "https://example.org/", "customAlias": "later" });
    assert_eq!(redirect_of(&lab, "later").await.0, 404);
    shorten(&lab, &ada, &again).await;
    lab.clock.advance_ms(4_999);
    assert_eq!(redirect_of(&lab, "later").await.0, 302);
}

#[tokio::test(start_paused = true)]
async fn a_head_is_a_get_without_a_body_and_is_never_counted() {
    let (lab, ada) = Lab::with_member().await;
    let live = code(&lab, &ada, &plain("https://example.org/")).await;
    let soon = json!({ "longUrl": "https://example.org/", "expiresAt": "2026-03-01T12:00:01Z" });
    let expired = code(&lab, &ada, &soon).await;
    let bad = json!({ "longUrl": "https://example.org/", "customAlias": "bad" });
    shorten(&lab, &ada, &bad).await;
    post(&lab, "/api/v1/url/bad/block", &tests::root_key(), &json!({ "reason": "x" })).await;
    lab.advance_seconds(1);
    for (name, status) in
        [(live.as_str(), 302), (&expired, 410), ("bad", 451), ("unknown", 404), ("bad+", 451)]
    {
        let call = |method| lab.call(method, &format!("/{name}")).header("user-agent", CHROME);
        let (get, head) = (call(Method::GET).send().await, call(Method::HEAD).send().await);
        assert_eq!((get.status.as_u16(), head.status), (status, get.status), "{name}");
        let mut headers = (get.headers.clone(), head.headers.clone());
        for name in ["content-length", "traceparent"] {
            headers.0.remove(name);
            headers.1.remove(name);
        }
        assert_eq!(headers.0, headers.1, "{name}");
        assert!(head.bytes.is_empty());
    }
    for _ in 0..3 {
        lab.call(Method::HEAD, &format!("/{live}")).header("user-agent", CHROME).send().await;
    }
    lab.run_until_idle().await;
    let read = get(&lab, &format!("/api/v1/url/{live}"), &ada).await;
    assert_eq!((&read.body["clicks"], &read.body["bots"]), (&json!(1), &json!(0)));
}

#[tokio::test(start_paused = true)]
async fn a_link_with_so_many_clicks_is_spent_after_them() {
    let (lab, ada) = Lab::with_member().await;
    let body = json!({ "longUrl": "https://example.org/", "maxClicks": 3 });
    let alone = code(&lab, &ada, &body).await;
    let mut body = body;
    body["fallbackUrl"] = json!("https://example.org/over");
    body["redirect"] = json!(301);
    let followed = code(&lab, &ada, &body).await;
    for _ in 0..3 {
        assert_eq!(redirect_of(&lab, &alone).await.0, 302);
        assert_eq!(redirect_of(&lab, &followed).await, (301, "https://example.org/".to_owned()));
        // Robots and looks before the click use nothing up.
        lab.call(Method::GET, &format!("/{alone}")).header("user-agent", "curl/8").send().await;
        lab.call(Method::HEAD, &format!("/{alone}")).header("user-agent", CHROME).send().await;
        lab.advance_seconds(6);
        lab.cloud.settle().await;
    }
    // What a node holds back goes out when it ends.
    lab.cloud.functions.retire(std::time::Duration::ZERO).await;
    lab.cloud.settle().await;
    wait_out_cache(&lab);
    assert_problem(&visit(&lab, &alone).await, 410, "gone");
    assert_eq!(redirect_of(&lab, &followed).await, to("https://example.org/over"));
    let one = format!("/api/v1/url/{alone}");
    let read = get(&lab, &one, &ada).await;
    assert_eq!((read.text("state"), &read.body["clicks"]), ("spent", &json!(3)));
    let more = json!({ "maxClicks": 4 });
    let version = read.body["version"].as_u64().unwrap();
    assert_eq!(patch(&lab, &one, &ada, version, &more).await.text("state"), "live");
    wait_out_cache(&lab);
    assert_eq!(redirect_of(&lab, &alone).await.0, 302);
}

#[tokio::test(start_paused = true)]
async fn a_link_is_spent_once_more_when_the_message_comes_twice() {
    let (lab, ada) = Lab::with_member().await;
    let body = json!({ "longUrl": "https://example.org/", "maxClicks": 2 });
    let link = code(&lab, &ada, &body).await;
    visit(&lab, &link).await;
    super::analytics::deliver_twice(&lab).await;
    assert_eq!(get(&lab, &format!("/api/v1/url/{link}"), &ada).await.text("state"), "live");
    wait_out_cache(&lab);
    assert_eq!(redirect_of(&lab, &link).await.0, 302, "one click is left");
}
