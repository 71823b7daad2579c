//! One post for 9,999 followers, and one of an author with more.

use std::time::{Duration, Instant};

use domain::accounts::UserId;
use domain::feed::PostId;
use feed::store::FeedStore;
use serde_json::{Value, json};

use super::seed::{Seeder, float, person};
use crate::cold::target;
use crate::links::{Client, LocalCloud, Log};
use crate::table::{Table, Verdict, grouped};
use crate::{Result, block_on};

/// One less than makes an author pulled.
const FOLLOWERS: usize = 9_999;
const COUNTED: usize = 999;
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) fn measure() -> Result<Vec<Table>> {
    let mut table = Table::new("From one post to many timelines", "bar");
    block_on(async {
        time(&mut table).await?;
        count(&mut table).await?;
        Ok(vec![table])
    })
}

async fn time(table: &mut Table) -> Result {
    let server = LocalCloud::start(None, None)?;
    let mut client = Client::connect(&server.api).await?;
    let seed = Seeder::of(&server).await?;
    let fans = followed(&seed, FOLLOWERS).await?;
    let (post, took) = fan_out(&seed, &mut client).await?;
    let seconds = took.as_secs_f64();
    let quick = Verdict::Speed(took < Duration::from_secs(5));
    table.row("9,999 followers have it", format!("{seconds:.2} s"), "≤ 5 s", quick);
    let rate = format!("{:.0} a second", float(FOLLOWERS) / seconds);
    table.row("timeline writes", rate, "", Verdict::Note);
    let there = all_have(&seed.feed, &fans, post).await?;
    let all = Verdict::Correct(there == FOLLOWERS as u64);
    table.row("of them have it", grouped(there), "all", all);
    Ok(())
}

/// How much is written, as the functions' log has it.
async fn count(table: &mut Table) -> Result {
    let folder = target()?.join("bench/data");
    let server = LocalCloud::start(Some(&folder), None)?;
    let mut client = Client::connect(&server.api).await?;
    let seed = Seeder::of(&server).await?;
    followed(&seed, COUNTED).await?;
    let log = Log::open(&folder.join("functions.log"));
    fan_out(&seed, &mut client).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let pushed = written(&log)?;
    let exact = Verdict::Counted(pushed == COUNTED as u64);
    table.row("timeline writes for 999 followers", grouped(pushed), "1 each", exact);
    seed.raise(&UserId::outside("root")).await?;
    fan_out(&seed, &mut client).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let pulled = written(&log)? - pushed;
    let none = Verdict::Counted(pulled == 0);
    table.row("timeline writes of a celebrity's post", grouped(pulled), "0", none);
    Ok(())
}

async fn followed(seed: &Seeder, count: usize) -> Result<Vec<UserId>> {
    let fans: Vec<UserId> = (0..count).map(|n| person("fan", n)).collect();
    seed.follow(&fans, &[UserId::outside("root")]).await?;
    Ok(fans)
}

/// Writes a post and waits until no work is left.
async fn fan_out(seed: &Seeder, client: &mut Client) -> Result<(PostId, Duration)> {
    let started = Instant::now();
    let body = json!({ "text": "hello" });
    let made = client.call(("POST", "/api/v1/posts"), &[], Some(&body), true).await?;
    let made: Value = serde_json::from_slice(made.body())?;
    let id = made["postId"].as_str().and_then(PostId::parse).ok_or("no post")?;
    while started.elapsed() < PATIENCE {
        if left(&seed.feed).await? == 0 {
            return Ok((id, started.elapsed()));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Err("the fan-out did not end".into())
}

async fn left(feed: &FeedStore) -> Result<usize> {
    let mut left = 0;
    for list in 0..FeedStore::WORK_LISTS {
        left += feed.pending_work(list, None, 10).await?.0.len();
    }
    Ok(left)
}

fn written(log: &Log) -> Result<u64> {
    let lines = log.rest(|line| line["Operation"] == "fanOut")?;
    Ok(lines.iter().filter_map(|line| line["TimelineWrites"].as_f64()).map(whole).sum())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
fn whole(count: f64) -> u64 {
    count as u64
}

async fn all_have(feed: &FeedStore, fans: &[UserId], post: PostId) -> Result<u64> {
    let mut have = 0;
    for delivery in fans {
        let newest = feed.timeline(delivery, PostId::MAX, 1).await?;
        have += u64::from(newest.iter().any(|(reference, _)| reference.post_id == post));
    }
    Ok(have)
}
