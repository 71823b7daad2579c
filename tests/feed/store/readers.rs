//! Readers: each change of a row only from the row that was read, and marks that come and go one by one.

use domain::accounts::UserId;
use domain::feed::{PostId, Reader, SocialAction};
use feed::store::{FeedStore, ReaderState};

use super::{at, changed, feed_in_lab, id, token, user};

async fn standing(store: &FeedStore, who: &str) -> ReaderState {
    store.reader_state(&user(who), at(0)).await.unwrap()
}

/// A reader whose first visit was at the beginning.
async fn arrived(store: &FeedStore, who: &str) -> ReaderState {
    let first = standing(store, who).await;
    assert!(!first.is_known);
    assert!(store.record_visit(&first, &first.reader, at(0)).await.unwrap());
    standing(store, who).await
}

/// The same reader, seen so much later.
fn later(reader: &Reader, second: i64) -> Reader {
    Reader { last_seen_at: at(second), ..reader.clone() }
}

#[tokio::test(start_paused = true)]
async fn a_first_visit_is_noted_once() {
    let (_lab, store) = feed_in_lab();
    let unknown = standing(&store, "bob").await;
    let first = arrived(&store, "bob").await;
    assert_eq!((first.is_known, first.reader.last_seen_at), (true, at(0)));
    assert_eq!((first.reader.floor, first.reader.epoch), (PostId::MIN, 0));
    // Another first visit that was read before that changes nothing.
    assert!(store.move_floor(&first.reader, id(5), 3, at(1)).await.unwrap());
    assert!(store.record_visit(&unknown, &unknown.reader, at(50)).await.unwrap());
    let met = standing(&store, "bob").await.reader;
    assert_eq!((met.last_seen_at, met.floor, met.epoch), (at(0), id(5), 3));
}

#[tokio::test(start_paused = true)]
async fn a_visit_is_noted_if_the_row_is_the_one_that_was_read() {
    let (_lab, store) = feed_in_lab();
    let before = arrived(&store, "bob").await;
    let back = Reader { floor: PostId::MAX, epoch: 1, ..later(&before.reader, 100) };
    assert!(store.record_visit(&before, &back, at(100)).await.unwrap());
    assert_eq!(standing(&store, "bob").await.reader, back);
    assert!(!store.record_visit(&before, &later(&before.reader, 101), at(101)).await.unwrap());
    assert_eq!(standing(&store, "bob").await.reader, back);
}

#[tokio::test(start_paused = true)]
async fn a_visit_is_not_recorded_over_other_changes() {
    let (_lab, store) = feed_in_lab();
    for (who, seen, floor, epoch) in [
        ("seen", at(1), PostId::MIN, 0),
        ("floor", at(0), id(1), 0),
        ("epoch", at(0), PostId::MIN, 1),
    ] {
        let before = arrived(&store, who).await;
        let other = Reader { last_seen_at: seen, floor, epoch, ..before.reader.clone() };
        assert!(store.record_visit(&before, &other, seen).await.unwrap());
        let late = Reader { floor: PostId::MAX, epoch: 1, ..later(&before.reader, 9) };
        assert!(!store.record_visit(&before, &late, at(9)).await.unwrap(), "{who}");
        assert_eq!(standing(&store, who).await.reader, other, "{who}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_floor_moves_only_from_the_floor_and_the_epoch_that_were_read() {
    let (_lab, store) = feed_in_lab();
    let before = arrived(&store, "bob").await.reader;
    assert!(store.move_floor(&before, id(3), 0, at(1)).await.unwrap());
    assert!(!store.move_floor(&before, id(9), 0, at(1)).await.unwrap(), "the floor has moved");
    let met = standing(&store, "bob").await.reader;
    assert_eq!((met.floor, met.epoch, met.last_seen_at), (id(3), 0, at(0)));
    assert!(store.move_floor(&met, id(3), 1, at(1)).await.unwrap());
    assert!(!store.move_floor(&met, id(9), 1, at(1)).await.unwrap(), "there was another return");
    let met = standing(&store, "bob").await.reader;
    assert_eq!((met.floor, met.epoch), (id(3), 1));
    assert!(!store.move_floor(&Reader::new(user("eve"), at(0)), id(1), 0, at(1)).await.unwrap());
    assert!(!standing(&store, "eve").await.is_known, "who was never here is not made up");
}

#[tokio::test(start_paused = true)]
async fn a_visit_leaves_floors_that_it_did_not_read_and_a_follow_leaves_visits() {
    let (_lab, store) = feed_in_lab();
    let before = arrived(&store, "bob").await.reader;
    assert!(store.move_floor(&before, id(3), 2, at(1)).await.unwrap());
    // A follow sets the last visit only on a new row.
    store
        .apply_action(&user("bob"), SocialAction::Follow, &user("ada"), at(70), token)
        .await
        .unwrap();
    let met = standing(&store, "bob").await;
    assert_eq!((met.reader.last_seen_at, met.following), (at(0), 1));
    assert_eq!((met.reader.floor, met.reader.epoch), (id(3), 2));
}

#[tokio::test(start_paused = true)]
async fn a_mark_goes_only_by_its_own_epoch() {
    let (_lab, store) = feed_in_lab();
    let (bob, ada, eve) = (user("bob"), user("ada"), user("eve"));
    let marks = async || standing(&store, "bob").await.reader.pull_marks;
    let mark = |who: &UserId, epoch| (who.clone(), epoch);
    for _ in 0..2 {
        store.add_pull_mark(&bob, &ada, 3).await.unwrap();
    }
    store.add_pull_mark(&bob, &eve, 1).await.unwrap();
    for _ in 0..2 {
        store.remove_pull_marks(&bob, &[mark(&ada, 1), mark(&ada, 4)]).await.unwrap();
        assert_eq!(marks().await, [mark(&ada, 3), mark(&eve, 1)].into());
    }
    // A later mark that comes meanwhile stays, and the latest is the one that counts.
    store.add_pull_mark(&bob, &ada, 5).await.unwrap();
    assert_eq!(marks().await[&ada], 5);
    for _ in 0..2 {
        store.remove_pull_marks(&bob, &[mark(&ada, 3)]).await.unwrap();
        assert_eq!(marks().await, [mark(&ada, 5), mark(&eve, 1)].into());
    }
    store.remove_pull_marks(&bob, &[]).await.unwrap();
    store.remove_pull_marks(&bob, &[mark(&ada, 5), mark(&eve, 1)]).await.unwrap();
    assert_eq!(marks().await, [].into());
    store.remove_pull_marks(&bob, &[mark(&ada, 5)]).await.unwrap();
    assert!(!standing(&store, "bob").await.is_known, "marks alone are no visit");
}

#[tokio::test(start_paused = true)]
async fn of_two_pages_that_were_shown_at_once_one_is_noted() {
    let (_lab, store) = feed_in_lab();
    for round in [10, 20] {
        let before = standing(&store, "bob").await;
        store.record_seen(&before, [id(round)]).await.unwrap();
        store.record_seen(&before, [id(round + 1)]).await.unwrap();
        let seen = standing(&store, "bob").await.seen;
        assert!(seen.contains(id(10)) && seen.contains(id(round)) && !seen.contains(id(round + 1)));
    }
    let before = standing(&store, "bob").await;
    store.record_seen(&before, [id(10)]).await.unwrap();
    assert_eq!(standing(&store, "bob").await, before, "what is known is not written again");
}

#[tokio::test(start_paused = true)]
async fn more_followers_than_fit_into_a_batch_are_all_looked_at() {
    let (_lab, store) = feed_in_lab();
    for n in 0..104 {
        arrived(&store, &format!("p{n}")).await;
    }
    changed(&store, "bob", SocialAction::Follow, "p0").await;
    store.add_pull_mark(&user("eve"), &user("ada"), 1).await.unwrap();
    let names: Vec<_> = (0..104).map(|n| format!("p{n}")).collect();
    let names = names.iter().map(String::as_str).chain(["bob", "eve", "unknown"]);
    let users: Vec<_> = names.map(user).collect();
    let presences = store.presence(&users).await.unwrap();
    assert_eq!(presences.len(), 105);
    assert!(presences.values().all(|one| one.last_seen_at == at(0) && one.connections.is_empty()));
    assert!(presences.contains_key(&user("bob")) && !presences.contains_key(&user("eve")));
}
