//! From a post to timelines: doubled, late and lost messages, and pages that retry alone.

use http::Method;
use serde_json::json;

use super::People;

#[tokio::test(start_paused = true)]
async fn a_message_that_is_lost_is_said_again_by_the_sweep() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    people.lab.settle_doubled().await;
    people.say("ada", "hello").await;
    people.lose_messages();
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("bob").await, Vec::<String>::new());
    people.lab.run_until_idle().await;
    assert_eq!(people.latest("bob").await, ["hello"]);
}

#[tokio::test(start_paused = true)]
async fn a_late_fan_out_brings_back_nothing() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    people.lab.settle_doubled().await;
    let id = people.say("ada", "oops").await;
    assert_eq!(people.delete("ada", &id).await.status, 204);
    // Both messages arrive only now, and again.
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("bob").await, Vec::<String>::new());
    assert_eq!(people.timeline("bob").await.len(), 0);
    // A reference that came all the same is hidden, and goes with the next page.
    people.refer("bob", &id, "ada").await;
    assert_eq!(people.latest("bob").await, Vec::<String>::new());
    assert_eq!(people.timeline("bob").await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_takes_references_out_of_timelines_within_a_minute() {
    let people = People::called(&["ada", "bob", "cid"]).await;
    for who in ["bob", "cid"] {
        people.put(who, "follow", "ada").await;
    }
    let id = people.say("ada", "oops").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.timeline("bob").await.len(), 1);
    assert_eq!(people.delete("ada", &id).await.status, 204);
    people.lab.settle_doubled().await;
    for who in ["bob", "cid"] {
        assert_eq!(people.timeline(who).await.len(), 0, "{who}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_the_topic_does_not_take_is_followed_all_the_same() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    let id = people.say("ada", "oops").await;
    people.lab.settle_doubled().await;
    let faults = &people.lab.cloud.faults;
    faults.hang(Some(|call| call.operation == "Publish"));
    assert_eq!(people.delete("ada", &id).await.status, 204);
    faults.hang(None);
    // No sweep comes by.
    people.lab.settle_doubled().await;
    assert_eq!((people.timeline("bob").await.len(), people.unfinished().await), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_fails_is_repeated_alone() {
    let names = ["ada", "bob", "cid", "dan", "eli", "fay", "gus"];
    let people = People::with(&names, &json!({ "page": 2 }).to_string()).await;
    for who in &names[1..] {
        people.put(who, "follow", "ada").await;
    }
    people.lab.settle_doubled().await;
    let faults = &people.lab.cloud.faults;
    faults.hang(Some(|call| {
        call.operation == "BatchWriteItem" && String::from_utf8_lossy(&call.body).contains("#eli\"")
    }));
    people.say("ada", "hello").await;
    people.lab.cloud.settle().await;
    let mut before = Vec::new();
    for who in &names[1..] {
        if !people.timeline(who).await.is_empty() {
            before.push(*who);
        }
    }
    assert!(!before.is_empty() && !before.contains(&"eli"), "{before:?}");
    faults.hang(None);
    faults.record(|call| call.operation == "BatchWriteItem");
    // The message is seen again; no sweep comes by.
    people.lab.advance_seconds(366);
    people.lab.cloud.settle().await;
    let written: Vec<String> = faults
        .recorded()
        .iter()
        .map(|call| String::from_utf8_lossy(&call.body).into_owned())
        .collect();
    let left = names.len() - 1 - before.len();
    assert_eq!(written.len(), left.div_ceil(2), "a call for each page that was left");
    for who in before {
        let row = format!("#{who}\"");
        assert!(!written.iter().any(|body| body.contains(&row)), "{who} is written to again");
    }
    for who in &names[1..] {
        assert_eq!(people.latest(who).await, ["hello"], "{who}");
    }
    assert_eq!(people.unfinished().await, 0);
}

#[tokio::test(start_paused = true)]
async fn pages_and_crossings_leave_no_work_behind() {
    let settings = json!({ "page": 2, "pullFrom": 4, "pushBelow": 3 }).to_string();
    let names = ["ada", "bob", "cid", "dan", "eli"];
    let people = People::with(&names, &settings).await;
    for who in &names[1..4] {
        people.put(who, "follow", "ada").await;
        people.lab.settle_doubled().await;
    }
    people.say("ada", "one").await;
    people.lab.settle_doubled().await;
    people.put("eli", "follow", "ada").await;
    people.lab.settle_doubled().await;
    let two = people.say("ada", "two").await;
    people.lab.settle_doubled().await;
    let path = format!("/api/v1/posts/{two}");
    people.call("ada", Method::PATCH, &path, &json!({ "text": "2" })).await.assert_status(200);
    people.lab.settle_doubled().await;
    for who in &names[1..] {
        assert_eq!(people.latest(who).await, ["2", "one"], "{who}");
    }
    assert_eq!(people.unfinished().await, 0);
}
