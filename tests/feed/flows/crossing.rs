//! Authors who become too popular to be pushed, and who cease to be: nothing is lost or doubled.

use super::People;

const SETTINGS: &str = r#"{"pullFrom":3,"pushBelow":2,"page":2,"kept":20,"recents":10}"#;
const READERS: [&str; 4] = ["bob", "cid", "dan", "eli"];

async fn famous() -> People {
    let people = People::with(&["ada", "bob", "cid", "dan", "eli"], SETTINGS).await;
    people.put("bob", "follow", "ada").await;
    people.lab.settle_doubled().await;
    people.say("ada", "pushed").await;
    people.lab.settle_doubled().await;
    for who in ["cid", "dan"] {
        people.put(who, "follow", "ada").await;
        people.lab.settle_doubled().await;
    }
    people
}

#[tokio::test(start_paused = true)]
async fn from_the_threshold_on_posts_are_pulled_and_no_timeline_is_written_to() {
    let people = famous().await;
    people.say("ada", "pulled").await;
    people.lab.settle_doubled().await;
    for who in &READERS[..3] {
        assert_eq!(people.latest(who).await, ["pulled", "pushed"], "{who}");
        let kept = people.timeline(who).await;
        assert_eq!(kept.len(), 1, "{who} has only what was pushed or brought when they followed");
    }
    // Who follows now pulls, too.
    people.put("eli", "follow", "ada").await;
    people.say("ada", "again").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("eli").await, ["again", "pulled", "pushed"]);
    let ranked = people.scroll("eli", "ranked", 2).await;
    assert_eq!(ranked.concat().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn falling_below_the_lower_threshold_pushes_again_and_loses_nothing() {
    let people = famous().await;
    people.say("ada", "pulled").await;
    people.lab.settle_doubled().await;
    people.undo("dan", "follow", "ada").await;
    people.lab.settle_doubled().await;
    people.say("ada", "still pulled").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.timeline("bob").await.len(), 1, "two followers are not fewer than two");
    people.undo("cid", "follow", "ada").await;
    people.lab.settle_doubled().await;
    people.say("ada", "pushed again").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.timeline("bob").await.len(), 2);
    let all = ["pushed again", "still pulled", "pulled", "pushed"];
    assert_eq!(people.latest("bob").await, all);
    people.put("cid", "follow", "ada").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("cid").await, all);
}

#[tokio::test(start_paused = true)]
async fn who_no_longer_follows_looks_at_nothing_of_theirs_and_who_follows_again_misses_nothing() {
    let people = famous().await;
    people.say("ada", "pulled").await;
    people.lab.settle_doubled().await;
    let marks = async || {
        let now = people.lab.now();
        let cid = domain::accounts::UserId::outside("cid");
        people.store().reader_state(&cid, now).await.unwrap().reader.pull_marks.len()
    };
    assert_eq!(marks().await, 1);
    people.undo("cid", "follow", "ada").await;
    assert_eq!(marks().await, 0);
    people.lab.settle_doubled().await;
    people.put("cid", "follow", "ada").await;
    people.say("ada", "again").await;
    people.lab.settle_doubled().await;
    assert_eq!(marks().await, 1);
    assert_eq!(people.latest("cid").await, ["again", "pulled", "pushed"]);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_post_of_a_pulled_author_is_gone_at_once() {
    let people = famous().await;
    let id = people.say("ada", "oops").await;
    people.lab.settle_doubled().await;
    assert_eq!(people.latest("bob").await, ["oops", "pushed"]);
    assert_eq!(people.delete("ada", &id).await.status, 204);
    assert_eq!(people.latest("bob").await, ["pushed"]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_message_of_a_crossing_is_made_up_for() {
    let people = People::with(&["ada", "bob", "cid", "dan"], SETTINGS).await;
    for who in &READERS[..3] {
        people.put(who, "follow", "ada").await;
        people.lose_messages();
    }
    people.say("ada", "one").await;
    people.lose_messages();
    people.lab.run_until_idle().await;
    people.say("ada", "two").await;
    people.lab.settle_doubled().await;
    for who in &READERS[..3] {
        assert_eq!(people.latest(who).await, ["two", "one"], "{who}");
        assert_eq!(people.timeline(who).await.len(), 1, "the second is pulled");
    }
}
