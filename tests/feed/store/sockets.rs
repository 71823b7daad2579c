//! Who is connected, to whom they listen, and what they missed.

mod missed;

use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::{Act, PostId};
use feed::store::Feed;
use feed::store::{Acted, Listener};
use tests::Lab;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_772_366_400 + second).unwrap()
}

fn feed(lab: &Lab) -> Feed {
    Feed::new(lab.aws().dynamodb(), lab.table("FeedTable"))
}

/// A name that no other write of the test has.
fn token() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("write-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn person(name: &str) -> UserId {
    UserId::outside(name)
}

fn listener(who: &str, connection: &str) -> Listener {
    Listener { who: person(who), connection: connection.to_owned() }
}

async fn act(feed: &Feed, who: &str, act: Act, whom: &str) {
    let acted = feed.act(&person(who), act, &person(whom), at(0), token).await.unwrap();
    assert!(matches!(acted, Acted::Changed(..)), "{acted:?}");
}

/// The connections that somebody's row names, in order.
async fn connections(feed: &Feed, who: &str) -> Vec<String> {
    let mut found = feed.visitors([&person(who)]).await.unwrap();
    let mut found = found.remove(&person(who)).map(|it| it.connections).unwrap_or_default();
    found.sort();
    found
}

async fn audience(feed: &Feed, author: &str) -> Vec<Listener> {
    feed.audience(&person(author), None, 100, at(1)).await.unwrap().listeners
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_known_by_its_reader_its_name_and_whom_it_pulls() {
    let lab = Lab::new();
    let feed = feed(&lab);
    let (ada, first) = (person("ada"), listener("ada", "c1="));
    assert_eq!(feed.owner("c1=").await.unwrap(), None);
    for author in ["cleo", "dora"] {
        feed.mark(&ada, &person(author), 2).await.unwrap();
    }
    // A handshake that is repeated changes nothing.
    for _ in 0..2 {
        assert!(feed.connect(&first, at(0)).await.unwrap().is_empty());
    }
    assert_eq!(feed.owner("c1=").await.unwrap().unwrap().who, ada);
    assert_eq!(connections(&feed, "ada").await, ["c1="]);
    for author in ["cleo", "dora"] {
        assert_eq!(audience(&feed, author).await, slice::from_ref(&first), "{author}");
    }
    let standing = feed.standing(&ada, at(9)).await.unwrap();
    assert!(standing.is_known);
    assert_eq!((standing.reader.seen_at, standing.reader.floor), (at(0), PostId::MIN));
    // Who was here before stays as they were.
    feed.connect(&listener("ada", "c2="), at(50)).await.unwrap();
    assert_eq!(feed.standing(&ada, at(60)).await.unwrap().reader, standing.reader);
    assert_eq!(connections(&feed, "ada").await, ["c1=", "c2="]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_of_a_connection_that_is_gone_but_the_others() {
    let lab = Lab::new();
    let feed = feed(&lab);
    feed.mark(&person("ada"), &person("cleo"), 2).await.unwrap();
    let (gone, stays) = (listener("ada", "c1="), listener("ada", "c2="));
    for one in [&gone, &stays] {
        feed.connect(one, at(0)).await.unwrap();
    }
    for _ in 0..2 {
        feed.disconnect(&gone).await.unwrap();
        assert_eq!(feed.owner("c1=").await.unwrap(), None);
        assert_eq!(connections(&feed, "ada").await, ["c2="]);
        assert_eq!(audience(&feed, "cleo").await, slice::from_ref(&stays));
    }
    // Somebody who was never here is not made up.
    feed.disconnect(&listener("bob", "c3=")).await.unwrap();
    assert!(feed.visitors([&person("bob")]).await.unwrap().is_empty());
    feed.disconnect(&stays).await.unwrap();
    assert_eq!(connections(&feed, "ada").await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_oldest_connection_gives_way_to_one_too_many() {
    let lab = Lab::new();
    let feed = feed(&lab);
    feed.mark(&person("ada"), &person("cleo"), 2).await.unwrap();
    let named = |n: usize| listener("ada", &format!("c{n:02}="));
    let most = Feed::MAX_CONNECTIONS;
    for n in 0..most {
        // The later a name, the older the connection.
        let when = at(100 - i64::try_from(n).unwrap());
        assert!(feed.connect(&named(n), when).await.unwrap().is_empty());
    }
    // Who is among them needs no room.
    assert!(feed.connect(&named(3), at(97)).await.unwrap().is_empty());
    let oldest = named(most - 1);
    let gave_way = feed.connect(&named(most), at(101)).await.unwrap();
    assert_eq!(gave_way, slice::from_ref(&oldest.connection));
    assert_eq!(connections(&feed, "ada").await.len(), most);
    assert!(!connections(&feed, "ada").await.contains(&oldest.connection));
    assert_eq!(feed.owner(&oldest.connection).await.unwrap(), None);
    assert_eq!(audience(&feed, "cleo").await.len(), most);
    assert!(!audience(&feed, "cleo").await.contains(&oldest));
    // Others have their own.
    assert!(feed.connect(&listener("bob", "b="), at(101)).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn many_who_connect_at_once_are_never_too_many() {
    let lab = Lab::new();
    let feed = feed(&lab);
    let most = Feed::MAX_CONNECTIONS;
    for n in 0..most {
        feed.connect(&listener("ada", &format!("a{n:02}=")), at(0)).await.unwrap();
    }
    let late: Vec<_> = (0..3).map(|n| listener("ada", &format!("b{n}="))).collect();
    futures::future::join_all(late.iter().map(|one| feed.connect(one, at(9)))).await;
    let left = connections(&feed, "ada").await;
    assert!(left.len() <= most, "{left:?}");
    assert!(late.iter().all(|one| left.contains(&one.connection)), "{left:?}");
}

#[tokio::test(start_paused = true)]
async fn an_audience_is_read_page_by_page_without_those_who_have_expired() {
    let lab = Lab::new();
    let feed = feed(&lab);
    let cleo = person("cleo");
    let of = |second: i64| (0..3).map(move |n| listener("ada", &format!("{second}-{n}=")));
    feed.listen(&cleo, of(0), at(0)).await.unwrap();
    feed.listen(&cleo, of(60), at(60)).await.unwrap();
    let (mut after, mut found, mut pages) = (None, Vec::new(), 0);
    loop {
        let page = feed.audience(&cleo, after.as_deref(), 2, at(61)).await.unwrap();
        found.extend(page.listeners);
        pages += 1;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((found.len(), pages), (6, 4));
    let later = feed.audience(&cleo, None, 100, at(3 * 3_600)).await.unwrap();
    assert_eq!(later.listeners, of(60).collect::<Vec<_>>());
    let page = feed.audience(&cleo, None, 2, at(3 * 3_600)).await.unwrap();
    assert_eq!((page.listeners.len(), page.next.as_deref()), (0, Some("0-1=")));
}
