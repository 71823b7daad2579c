//! Posts that are on their way, while they are deleted or those who would read them turn away.

use std::cell::Cell;

use futures::future::join_all;
use futures::join;
use http::Method;
use queues::NewMessage;
use serde_json::{Value, json};
use tests::Response;

use super::{People, READERS, SEEDS, late, places, texts};

/// Pages that each of several readers reads while something else happens.
const PAGES: usize = 8;

impl People {
    /// Sends every page of a fan-out once more that was sent to its queue; how many that are.
    fn repeat_pages(&self) -> usize {
        let mut repeated = 0;
        let name = self.lab.queue("FanOutQueue");
        let queues = self.lab.cloud.services.queues();
        for call in self.lab.cloud.faults.recorded() {
            let sent: Value = serde_json::from_slice(&call.body).unwrap_or_default();
            let entries = sent["Entries"].as_array().into_iter().flatten();
            for body in entries.filter_map(|entry| entry["MessageBody"].as_str()) {
                if body.contains("FanOutPage") {
                    let group = Some("ada".to_owned());
                    queues.send(&name, &NewMessage { group, ..NewMessage::text(body) }).unwrap();
                    repeated += 1;
                }
            }
        }
        repeated
    }
}

/// How many posts of an author are on a page.
fn by(page: &Response, author: &str) -> usize {
    let items = page.body["items"].as_array().unwrap().iter();
    items.filter(|item| item["author"]["userId"] == author).count()
}

#[tokio::test(start_paused = true)]
async fn a_post_that_is_deleted_while_it_is_on_its_way_comes_into_no_feed() {
    let (mut came_late, mut came_before, mut repeated) = (0, 0, 0);
    for seed in 0..SEEDS {
        let (people, id) = People::with_a_post(seed, &READERS).await;
        people.lab.cloud.faults.record(|_| true);
        let path = format!("posts/{id}");
        let deleted = Cell::new(false);
        let delete = async {
            late(seed * 2).await;
            people.done("ada", Method::DELETE, &path).await;
            deleted.set(true);
        };
        let reads = READERS.map(async |who| {
            for _ in 0..PAGES {
                let is_gone = deleted.get();
                let read = people.feed(who).await;
                assert!(!is_gone || read.is_empty(), "seed {seed}: {who} reads {read:?}");
            }
        });
        join!(delete, people.deliver(), join_all(reads));
        let tombstone = places(&people.lab, "deleted_at = :deleted")[0];
        let references = places(&people.lab, "PutRequest");
        came_late += references.iter().filter(|place| **place > tombstone).count();
        came_before += references.iter().filter(|place| **place < tombstone).count();
        people.lab.cloud.settle().await;
        // Pages that come again when everything is over find the tombstone.
        repeated += people.repeat_pages();
        people.lab.cloud.settle().await;
        people.lab.run_until_idle().await;
        for who in READERS {
            assert_eq!(people.feed(who).await, [""; 0], "seed {seed}: {who}");
            let found = people.call(who, Method::GET, &path, &Value::Null).await;
            assert_eq!(found.status, 404, "seed {seed}: {who}");
            assert_eq!(people.timeline(who).await, 0, "seed {seed}: {who} was shown nothing");
        }
    }
    assert!(
        came_late > 0 && came_before > 0 && repeated > 0,
        "{came_late} {came_before} {repeated}"
    );
}

#[tokio::test(start_paused = true)]
async fn no_page_that_begins_after_a_block_was_acknowledged_has_either_of_them() {
    let (mut before, mut after) = (0, 0);
    for seed in 0..SEEDS {
        let (people, _) = People::with_a_post(seed, &["bob"]).await;
        people.done("ada", Method::PUT, "users/bob/follow").await;
        people.lab.cloud.settle().await;
        people.lab.advance_seconds(1);
        for text in ["one", "two", "three"] {
            let made = people.call("bob", Method::POST, "posts", &json!({ "text": text })).await;
            assert_eq!(made.status, 201);
            people.say(text).await;
        }
        people.lab.cloud.settle().await;
        let blocked = Cell::new(false);
        let block = async {
            late(seed * 3).await;
            people.done("bob", Method::PUT, "users/ada/block").await;
            blocked.set(true);
        };
        // Each goes on with an old page, too: what a cursor carries is asked again.
        let paths = ["feed?limit=2", "feed?order=latest&limit=2"];
        let reads = [("ada", "bob"), ("bob", "ada")].map(async |(who, other)| {
            let mut seen = (0, 0);
            let mut cursor = Value::Null;
            for page in 0..PAGES {
                let mut path = paths[page / 2 % 2].to_owned();
                if let Some(next) = cursor.as_str().filter(|_| page % 2 == 1) {
                    path = format!("feed?limit=2&cursor={next}");
                }
                let is_blocked = blocked.get();
                let read = people.done(who, Method::GET, &path).await;
                cursor = read.body["nextCursor"].clone();
                if is_blocked {
                    assert_eq!(by(&read, other), 0, "seed {seed}: {who} {path}");
                    seen.1 += 1;
                } else {
                    seen.0 += by(&read, other);
                }
            }
            seen
        });
        let ((), seen) = join!(block, join_all(reads));
        before += seen.iter().map(|seen| seen.0).sum::<usize>();
        after += seen.iter().map(|seen| seen.1).sum::<usize>();
    }
    assert!(before > 0 && after > 0, "{before} {after}");
}

#[tokio::test(start_paused = true)]
async fn who_ceases_to_follow_while_a_post_is_on_its_way_does_not_read_it_and_the_others_do() {
    let (mut written, mut spared) = (0, 0);
    for seed in 0..SEEDS {
        let (people, _) = People::with_a_post(seed, &READERS).await;
        let left = Cell::new(false);
        let leave = async {
            late(seed * 3).await;
            people.done("dan", Method::DELETE, "users/ada/follow").await;
            left.set(true);
        };
        let reads = async {
            for _ in 0..PAGES {
                let is_gone = left.get();
                let read = people.feed("dan").await;
                assert!(!is_gone || read.is_empty(), "seed {seed}: {read:?}");
            }
        };
        join!(leave, people.deliver(), reads);
        people.lab.cloud.settle().await;
        match people.timeline("dan").await {
            0 => spared += 1,
            _ => written += 1,
        }
        assert_eq!(people.feed("dan").await, [""; 0], "seed {seed}");
        for who in READERS.into_iter().filter(|who| *who != "dan") {
            assert_eq!(people.feed(who).await, ["hello"], "seed {seed}: {who}");
        }
        assert_eq!(people.followers().await, (5, 5), "seed {seed}");
        // Who comes back reads it, once.
        people.done("dan", Method::PUT, "users/ada/follow").await;
        people.lab.cloud.settle().await;
        let again = people.done("dan", Method::GET, "feed?limit=50").await;
        assert_eq!(texts(&again), ["hello"], "seed {seed}");
    }
    assert!(written > 0 && spared > 0, "{written} {spared}");
}
