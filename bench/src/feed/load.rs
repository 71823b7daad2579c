//! Reading the feed of a user who follows 2,000 others, 50 of them too popular to be pushed; and writing.

use std::time::{Duration, Instant};

use domain::Timestamp;
use domain::accounts::UserId;
use serde_json::{Value, json};

use super::seed::{Seeder, person};
use crate::links::{Client, LocalCloud};
use crate::operation_meter::show;
use crate::table::{Table, Verdict};
use crate::{Result, block_on};

pub(crate) const FOLLOWS: usize = 2_000;
pub(crate) const CELEBRITIES: usize = 50;
const READS: usize = 300;
const WRITES: usize = 300;

pub(crate) fn measure() -> Result<Vec<Table>> {
    let server = LocalCloud::start(None, None)?;
    let mut table = Table::new("Through the local HTTP API, everything on two cores", "bar");
    block_on(async {
        let mut client = Client::connect(&server.api).await?;
        unlimit(&mut client).await?;
        let seed = Seeder::of(&server).await?;
        let reader = UserId::outside("root");
        follow_many(&seed, &reader, FOLLOWS, CELEBRITIES).await?;
        let first = read(&mut client, "/api/v1/feed", READS).await?;
        let bar = Duration::from_millis(200);
        show(&mut table, "read a page, following 2,000 with 50 celebrities", &first, bar);
        let pages = scroll(&mut client, 10).await?;
        show(&mut table, "the pages after it", &pages, bar);
        let mut took = Vec::with_capacity(WRITES);
        for n in 0..WRITES {
            let body = json!({ "text": format!("post {n}") });
            let started = Instant::now();
            client.call(("POST", "/api/v1/posts"), &[], Some(&body), true).await?;
            took.push(started.elapsed());
        }
        show(&mut table, "a post accepted", &took, Duration::from_millis(500));
        let back = returning(&seed, &mut client, &reader).await?;
        let said = format!("{:.0} ms", back.as_secs_f64() * 1e3);
        let kept = Verdict::Speed(back < Duration::from_secs(2));
        table.row("the first page after a month away", said, "< 2 s", kept);
        Ok(vec![table])
    })
}

/// The bench may ask more often than anybody else.
pub(crate) async fn unlimit(client: &mut Client) -> Result {
    let rule = json!({
        "resources": ["/api/v1"], "dimension": "user", "limit": 10_000_000, "windowSeconds": 60,
    });
    client.call(("PUT", "/admin/ratelimits/user-minute"), &[], Some(&rule), true).await?;
    // Nodes hear of it within five seconds.
    tokio::time::sleep(Duration::from_secs(6)).await;
    Ok(())
}

/// Makes a reader follow many authors with a post each, some of whom are pulled.
pub(crate) async fn follow_many(
    seed: &Seeder,
    reader: &UserId,
    follows: usize,
    celebrities: usize,
) -> Result {
    let famous: Vec<UserId> = (0..celebrities).map(|n| person("star", n)).collect();
    seed.follow(&[person("fan", 0)], &famous).await?;
    for star in &famous {
        seed.raise(star).await?;
    }
    let others: Vec<UserId> = (0..follows - celebrities).map(|n| person("friend", n)).collect();
    seed.follow(std::slice::from_ref(reader), &others).await?;
    seed.follow(std::slice::from_ref(reader), &famous).await?;
    let mut references = Vec::new();
    let mut ago = 1_000;
    for author in famous.iter().chain(&others) {
        ago += 37_000;
        references.extend(seed.post(author, ago).await?.map(|it| (reader.clone(), it)));
    }
    references.sort_unstable_by_key(|(_, reference)| reference.post_id);
    let newest = references.split_off(references.len().saturating_sub(1_000));
    let floor = newest.first().map(|(_, reference)| reference.post_id);
    seed.feed.add_references(newest, super::seed::now()).await?;
    let state = seed.feed.reader_state(reader, super::seed::now()).await?.reader;
    if let Some(floor) = floor {
        // As if it had been trimmed some time ago.
        seed.feed.move_floor(&state, floor, state.epoch, Timestamp::UNIX_EPOCH).await?;
    }
    Ok(())
}

async fn read(client: &mut Client, path: &str, times: usize) -> Result<Vec<Duration>> {
    let mut took = Vec::with_capacity(times);
    for _ in 0..times {
        let started = Instant::now();
        let page = client.call(("GET", path), &[], None, true).await?;
        took.push(started.elapsed());
        let page: Value = serde_json::from_slice(page.body())?;
        if page["items"].as_array().map(Vec::len) != Some(20) {
            return Err("a page is not full".into());
        }
    }
    Ok(took)
}

/// Some scrolls to the end of what the timeline has.
async fn scroll(client: &mut Client, times: usize) -> Result<Vec<Duration>> {
    let mut took = Vec::new();
    for _ in 0..times {
        let mut path = "/api/v1/feed".to_owned();
        for _ in 0..20 {
            let started = Instant::now();
            let page = client.call(("GET", &path), &[], None, true).await?;
            took.push(started.elapsed());
            let page: Value = serde_json::from_slice(page.body())?;
            let Some(next) = page["nextCursor"].as_str() else { break };
            path = format!("/api/v1/feed?cursor={next}");
        }
    }
    Ok(took)
}

/// How long the first page takes for a reader who was away and whose timeline is void.
async fn returning(seed: &Seeder, client: &mut Client, reader: &UserId) -> Result<Duration> {
    let before = seed.feed.reader_state(reader, super::seed::now()).await?.reader;
    let none = domain::feed::PostId::MAX;
    seed.feed.move_floor(&before, none, before.epoch + 1, super::seed::now()).await?;
    let started = Instant::now();
    client.call(("GET", "/api/v1/feed"), &[], None, true).await?;
    Ok(started.elapsed())
}
