//! Who is connected, to whom they listen, and what they missed.

mod missed_posts;

use std::slice;

use domain::feed::{PostId, SocialAction};
use feed::store::{ActionOutcome, FeedStore, ReaderConnection};

use super::{at, feed_in_lab, token, user as person};

fn listener(who: &str, connection: &str) -> ReaderConnection {
    ReaderConnection { reader: person(who), connection: connection.to_owned() }
}

async fn act(feed: &FeedStore, who: &str, act: SocialAction, whom: &str) {
    let acted = feed.apply_action(&person(who), act, &person(whom), at(0), token).await.unwrap();
    assert!(matches!(acted, ActionOutcome::Changed(..)), "{acted:?}");
}

/// The connections on a reader's row, in order.
async fn connections(feed: &FeedStore, who: &str) -> Vec<String> {
    let mut found = feed.presence([&person(who)]).await.unwrap();
    let mut found = found.remove(&person(who)).map(|it| it.connections).unwrap_or_default();
    found.sort();
    found
}

async fn audience(feed: &FeedStore, author: &str) -> Vec<ReaderConnection> {
    feed.audience(&person(author), None, 100, at(1)).await.unwrap().connections
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_known_by_its_reader_its_name_and_whom_it_pulls() {
    let (_lab, feed) = feed_in_lab();
    let (ada, first) = (person("ada"), listener("ada", "c1="));
    assert_eq!(feed.connection_owner("c1=").await.unwrap(), None);
    for author in ["cleo", "dora"] {
        feed.add_pull_mark(&ada, &person(author), 2).await.unwrap();
    }
    // A handshake that is repeated changes nothing.
    for _ in 0..2 {
        assert!(feed.add_connection(&first, at(0)).await.unwrap().is_empty());
    }
    assert_eq!(feed.connection_owner("c1=").await.unwrap().unwrap().reader, ada);
    assert_eq!(connections(&feed, "ada").await, ["c1="]);
    for author in ["cleo", "dora"] {
        assert_eq!(audience(&feed, author).await, slice::from_ref(&first), "{author}");
    }
    let state = feed.reader_state(&ada, at(9)).await.unwrap();
    assert!(state.is_known);
    assert_eq!((state.reader.last_seen_at, state.reader.floor), (at(0), PostId::MIN));
    // Who was here before stays as they were.
    feed.add_connection(&listener("ada", "c2="), at(50)).await.unwrap();
    assert_eq!(feed.reader_state(&ada, at(60)).await.unwrap().reader, state.reader);
    assert_eq!(connections(&feed, "ada").await, ["c1=", "c2="]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_of_a_connection_that_is_gone_but_the_others() {
    let (_lab, feed) = feed_in_lab();
    feed.add_pull_mark(&person("ada"), &person("cleo"), 2).await.unwrap();
    let (gone, stays) = (listener("ada", "c1="), listener("ada", "c2="));
    for one in [&gone, &stays] {
        feed.add_connection(one, at(0)).await.unwrap();
    }
    for _ in 0..2 {
        feed.remove_connection(&gone).await.unwrap();
        assert_eq!(feed.connection_owner("c1=").await.unwrap(), None);
        assert_eq!(connections(&feed, "ada").await, ["c2="]);
        assert_eq!(audience(&feed, "cleo").await, slice::from_ref(&stays));
    }
    // No row is made for an unknown reader.
    feed.remove_connection(&listener("bob", "c3=")).await.unwrap();
    assert!(feed.presence([&person("bob")]).await.unwrap().is_empty());
    feed.remove_connection(&stays).await.unwrap();
    assert_eq!(connections(&feed, "ada").await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_oldest_connection_gives_way_to_one_too_many() {
    let (_lab, feed) = feed_in_lab();
    feed.add_pull_mark(&person("ada"), &person("cleo"), 2).await.unwrap();
    let named = |n: usize| listener("ada", &format!("c{n:02}="));
    let most = FeedStore::MAX_CONNECTIONS;
    for n in 0..most {
        // The later a name, the older the connection.
        let when = at(100 - i64::try_from(n).unwrap());
        assert!(feed.add_connection(&named(n), when).await.unwrap().is_empty());
    }
    // Who is among them needs no room.
    assert!(feed.add_connection(&named(3), at(97)).await.unwrap().is_empty());
    let oldest = named(most - 1);
    let evicted = feed.add_connection(&named(most), at(101)).await.unwrap();
    assert_eq!(evicted, slice::from_ref(&oldest.connection));
    assert_eq!(connections(&feed, "ada").await.len(), most);
    assert!(!connections(&feed, "ada").await.contains(&oldest.connection));
    assert_eq!(feed.connection_owner(&oldest.connection).await.unwrap(), None);
    assert_eq!(audience(&feed, "cleo").await.len(), most);
    assert!(!audience(&feed, "cleo").await.contains(&oldest));
    // Others have their own.
    assert!(feed.add_connection(&listener("bob", "b="), at(101)).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn many_who_connect_at_once_are_never_too_many() {
    let (_lab, feed) = feed_in_lab();
    let most = FeedStore::MAX_CONNECTIONS;
    for n in 0..most {
        feed.add_connection(&listener("ada", &format!("a{n:02}=")), at(0)).await.unwrap();
    }
    let late: Vec<_> = (0..3).map(|n| listener("ada", &format!("b{n}="))).collect();
    futures::future::join_all(late.iter().map(|one| feed.add_connection(one, at(9)))).await;
    let left = connections(&feed, "ada").await;
    assert!(left.len() <= most, "{left:?}");
    assert!(late.iter().all(|one| left.contains(&one.connection)), "{left:?}");
}

#[tokio::test(start_paused = true)]
async fn an_audience_is_read_page_by_page_without_those_who_have_expired() {
    let (_lab, feed) = feed_in_lab();
    let cleo = person("cleo");
    let of = |second: i64| (0..3).map(move |n| listener("ada", &format!("{second}-{n}=")));
    feed.add_to_audience(&cleo, of(0), at(0)).await.unwrap();
    feed.add_to_audience(&cleo, of(60), at(60)).await.unwrap();
    let (mut after, mut found, mut pages) = (None, Vec::new(), 0);
    loop {
        let page = feed.audience(&cleo, after.as_deref(), 2, at(61)).await.unwrap();
        found.extend(page.connections);
        pages += 1;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((found.len(), pages), (6, 4));
    let later = feed.audience(&cleo, None, 100, at(3 * 3_600)).await.unwrap();
    assert_eq!(later.connections, of(60).collect::<Vec<_>>());
    let page = feed.audience(&cleo, None, 2, at(3 * 3_600)).await.unwrap();
    assert_eq!((page.connections.len(), page.next.as_deref()), (0, Some("0-1=")));
}
