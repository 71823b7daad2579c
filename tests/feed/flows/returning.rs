//! Who was away for a week: no writes meanwhile, and a feed that is right from the first page on.

use serde_json::json;

use super::People;

const DAY: i64 = 86_400;

async fn kept(people: &People, who: &str) -> usize {
    people.timeline(who).await.len()
}

#[tokio::test(start_paused = true)]
async fn who_is_away_gets_no_writes_and_misses_nothing() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    people.say("ada", "before").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("bob").await, ["before"]);
    people.lab.advance_seconds(8 * DAY);
    people.say("ada", "meanwhile").await;
    people.lab.settle_doubled().await;
    assert_eq!(kept(&people, "bob").await, 1, "nothing is written for a reader who is away");
    // Nothing is rebuilt yet: the first page comes from the author.
    assert_eq!(people.latest("bob").await, ["meanwhile", "before"]);
    people.lab.settle_doubled().await;
    assert_eq!(kept(&people, "bob").await, 2, "the timeline is rebuilt");
    people.say("ada", "after").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("bob").await, ["after", "meanwhile", "before"]);
    assert_eq!(kept(&people, "bob").await, 3);
}

#[tokio::test(start_paused = true)]
async fn a_rebuild_that_is_lost_is_asked_for_by_the_next_page() {
    let people = People::called(&["ada", "bob"]).await;
    people.put("bob", "follow", "ada").await;
    people.lab.settle_doubled().await;
    people.lab.advance_seconds(8 * DAY);
    people.say("ada", "hello").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("bob").await, ["hello"]);
    people.lose_messages();
    people.lab.settle_doubled().await;
    assert_eq!(kept(&people, "bob").await, 0);
    assert_eq!(people.latest("bob").await, ["hello"]);
    people.lab.settle_doubled().await;
    assert_eq!(kept(&people, "bob").await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_long_timeline_is_trimmed_and_below_it_posts_are_pulled() {
    let settings = json!({ "kept": 10, "recents": 4, "gathered": 10 }).to_string();
    let people = People::with(&["ada", "bob", "cid"], &settings).await;
    for author in ["ada", "cid"] {
        people.put("bob", "follow", author).await;
    }
    people.lab.settle_doubled().await;
    let mut expected = Vec::new();
    for n in 0..20 {
        let author = if n % 4 == 0 { "cid" } else { "ada" };
        expected.insert(0, n.to_string());
        people.say(author, &n.to_string()).await;
        people.lab.settle_doubled().await;
    }
    assert_eq!(kept(&people, "bob").await, 20);
    // A visit is noted every six hours, and then the timeline is looked after.
    people.lab.advance_seconds(7 * 3_600);
    assert_eq!(people.latest("bob").await, expected);
    people.lab.settle_doubled().await;
    assert_eq!(kept(&people, "bob").await, 10);
    for limit in [3, 7] {
        let pages = people.scroll("bob", "latest", limit).await;
        assert!(pages[..pages.len() - 1].iter().all(|page| page.len() == limit));
        assert_eq!(pages.concat(), expected, "{limit} a page");
    }
}
