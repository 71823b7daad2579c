//! Dead letters: found by what they are, and sent again once, at a pace.

use std::collections::BTreeSet;

use domain::notifications::Class;
use http::Method;
use serde_json::{Value, json};
use tests::scripted_providers::{ScriptedOutcome, ScriptedProviders};
use tests::{Lab, Response};

use super::{ALL, put, send, with_providers};

const DEAD_LETTERS: &str = "/api/v1/dead-letters";
const REPLAY: &str = "/api/v1/dead-letters/replay";

/// So many users whose mails are refused for their content, and some who opted out of text messages.
async fn failed(mails: usize, texts: usize) -> (Lab, ScriptedProviders) {
    let (lab, providers) = with_providers();
    providers.script_always("mail", ScriptedOutcome::refuse(Class::Content));
    providers.script_always("text", ScriptedOutcome::refuse(Class::OptedOut));
    for (channel, count) in [("email", mails), ("sms", texts)] {
        if count == 0 {
            continue;
        }
        let mut users = Vec::new();
        for n in 0..count {
            let user = format!("{channel}-{n}");
            let contacts = json!({ "email": format!("{user}@example.org"), "phone": phone(n) });
            put(&lab, &format!("/api/v1/users/{user}/contacts"), &contacts).await;
            users.push(user);
        }
        let contents =
            json!({ "email": { "subject": "Hi", "text": "Hi" }, "sms": { "text": "Hi" } });
        let body = json!({
            "userIds": users, "category": "orders", "channels": [channel], "content": contents,
        });
        lab.post(ALL, &body).await.assert_status(202);
        lab.advance_seconds(1);
        lab.cloud.settle().await;
    }
    (lab, providers)
}

fn phone(n: usize) -> String {
    format!("+346001234{n:02}")
}

async fn listed(lab: &Lab, query: &str) -> Vec<Value> {
    let page = lab.get(&format!("{DEAD_LETTERS}?{query}")).await;
    assert_eq!(page.status, 200, "{query}: {}", page.body);
    page.body["items"].as_array().unwrap().clone()
}

fn names(answer: &Response, member: &str) -> BTreeSet<String> {
    let names = answer.body[member].as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn letters_are_found_by_channel_and_class_with_what_was_tried_and_what_can_be_done() {
    let (lab, _) = failed(4, 2).await;
    for (query, count) in [
        ("", 6),
        ("channel=email", 4),
        ("channel=push", 0),
        ("class=opted-out", 2),
        ("channel=sms&class=opted-out", 2),
        ("channel=email&class=opted-out", 0),
    ] {
        assert_eq!(listed(&lab, query).await.len(), count, "{query}");
    }
    let dead_letter = &listed(&lab, "channel=email&limit=1").await[0];
    assert_eq!(
        (&dead_letter["class"], &dead_letter["channel"]),
        (&json!("content"), &json!("email"))
    );
    assert_eq!(dead_letter["why"]["rule"], "given-up", "{dead_letter}");
    assert_eq!(dead_letter["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(dead_letter["remedy"], "write another text, and send that");
    assert!(!dead_letter.to_string().contains("example.org"), "a letter names no address");
}

#[tokio::test(start_paused = true)]
async fn pages_follow_each_other_the_newest_first_and_miss_nothing() {
    let (lab, _) = failed(4, 3).await;
    for filter in ["", "channel=email&", "class=opted-out&"] {
        let all: Vec<Value> = listed(&lab, &format!("{filter}limit=100")).await;
        let mut paged = Vec::new();
        let mut query = format!("{filter}limit=2");
        loop {
            let page = lab.get(&format!("{DEAD_LETTERS}?{query}")).await;
            assert!(page.body["items"].as_array().unwrap().len() <= 2);
            paged.extend(page.body["items"].as_array().unwrap().clone());
            let Some(cursor) = page.body["nextCursor"].as_str() else { break };
            query = format!("{filter}limit=2&cursor={cursor}");
        }
        assert_eq!(paged, all, "{filter}");
        let times: Vec<&str> = all.iter().map(|it| it["failedAt"].as_str().unwrap()).collect();
        assert!(times.is_sorted_by(|one, next| one >= next), "{times:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_says_what_would_move_and_moves_nothing() {
    let (lab, providers) = failed(3, 1).await;
    let handed = providers.sends().len();
    let before = listed(&lab, "").await;
    let dry = json!({ "name": "r", "channel": "email", "dryRun": true });
    for _ in 0..2 {
        let would = lab.post(REPLAY, &dry).await;
        assert_eq!((&would.body["dryRun"], names(&would, "replayed").len()), (&json!(true), 3));
    }
    lab.run_until_idle().await;
    assert_eq!((listed(&lab, "").await, providers.sends().len()), (before, handed));
}

#[tokio::test(start_paused = true)]
async fn a_replay_sends_each_letter_again_and_once_however_often_it_is_repeated() {
    let (lab, providers) = failed(3, 1).await;
    providers.accept_all();
    let handed = providers.sends().len();
    let ids: Vec<Value> =
        listed(&lab, "channel=email").await.iter().map(|it| it["deliveryId"].clone()).collect();
    let body = json!({ "name": "monday", "deliveryIds": ids });
    let first = lab.post(REPLAY, &body).await;
    assert_eq!((first.status.as_u16(), names(&first, "replayed").len()), (200, 3));
    let again = lab.post(REPLAY, &body).await;
    assert_eq!(names(&again, "replayed").len(), 0, "{}", again.body);
    assert_eq!(names(&again, "skipped"), names(&first, "replayed"));
    lab.run_until_idle().await;
    assert_eq!(providers.sends().len(), handed + 3);
    assert_eq!(listed(&lab, "channel=email").await.len(), 0);
    assert_eq!(listed(&lab, "channel=sms").await.len(), 1, "no other is touched");
    let key = names(&first, "replayed").into_iter().next().unwrap();
    let found = lab.get(&format!("{ALL}/{}", key.split_once('.').unwrap().0)).await;
    assert_eq!(found.text("status"), "delivered", "{}", found.body);
    assert_eq!(found.body["deliveries"][0]["attempts"].as_array().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_fails_again_is_a_letter_again_and_moves_by_another_replay_only() {
    let (lab, providers) = failed(1, 0).await;
    let replay = |name: &'static str| {
        let lab = &lab;
        async move { lab.post(REPLAY, &json!({ "name": name, "channel": "email" })).await }
    };
    assert_eq!(names(&replay("one").await, "replayed").len(), 1);
    lab.run_until_idle().await;
    assert_eq!(listed(&lab, "").await.len(), 1);
    let again = replay("one").await;
    assert_eq!((names(&again, "replayed").len(), names(&again, "skipped").len()), (0, 1));
    providers.accept_all();
    assert_eq!(names(&replay("two").await, "replayed").len(), 1);
    lab.run_until_idle().await;
    assert_eq!(listed(&lab, "").await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn each_dead_letter_counts_as_a_call_against_the_rate_limit() {
    let (lab, providers) = failed(25, 0).await;
    let key = lab.user("shop", &["notifier"]).await;
    let rule = json!({
        "resources": [REPLAY], "dimension": "user", "limit": 60, "windowSeconds": 60,
        "algorithm": "fixed-window",
    });
    put(&lab, "/admin/ratelimits/replays", &rule).await;
    lab.cloud.functions.quiesce().await;
    lab.advance_seconds(6);
    let dry = json!({ "name": "r", "dryRun": true });
    for _ in 0..2 {
        assert_eq!(send(&lab, Method::POST, REPLAY, &key, &dry).await.status, 200);
    }
    let refused = send(&lab, Method::POST, REPLAY, &key, &dry).await.assert_status(429);
    let wait: i64 = refused.header("retry-after").parse().unwrap();
    providers.accept_all();
    let real = json!({ "name": "r" });
    assert_eq!(send(&lab, Method::POST, REPLAY, &key, &real).await.status, 429);
    assert_eq!(listed(&lab, "").await.len(), 25, "what is refused moves nothing");
    assert!((1..=60).contains(&wait), "{wait}");
    lab.advance_seconds(wait);
    let moved = send(&lab, Method::POST, REPLAY, &key, &real).await;
    assert_eq!((moved.status.as_u16(), names(&moved, "replayed").len()), (200, 25));
}
