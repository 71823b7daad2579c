//! Trending posts: lists that aggregation keeps, and snapshots of them.

use std::collections::BTreeMap;

use domain::feed::PostId;
use domain::feed::trending::{MAX_TRENDING, SNAPSHOT_SECONDS, TrendingSnapshot, min_rank_key};
use domain::{Result, Timestamp};

use super::requests::{RangeQuery, RowUpdate};
use super::totals::read_hourly_users;
use super::{FeedStore, rows};
use store::row::{Item, ItemReader, broken, key, number, text};
use store::schema::{EXPIRES, GSI2, GSI2_SK};

const SNAPSHOTS: &str = "trending";

impl FeedStore {
    /// A list's posts with the highest scores, each with its new users by the hour. It may lag behind.
    pub async fn top_trending(&self, list: u8) -> Result<Vec<(PostId, BTreeMap<i64, u64>)>> {
        let range = RangeQuery {
            index: Some(GSI2),
            condition: "gsi2pk = :hot",
            values: vec![(":hot", text(rows::hot_pk(list)))],
            descending: true,
            limit: Some(MAX_TRENDING),
        };
        let found = self.query(range, "read trending posts").await?;
        found.iter().map(|item| Ok((trending_post(item)?, read_hourly_users(item)))).collect()
    }

    /// Takes posts without a score off a list, at most `limit`; how many there were.
    pub async fn remove_cold(&self, list: u8, now: Timestamp, limit: usize) -> Result<usize> {
        let range = RangeQuery {
            index: Some(GSI2),
            condition: "gsi2pk = :hot AND gsi2sk < :cold",
            values: vec![
                (":hot", text(rows::hot_pk(list))),
                (":cold", text(format!("{:012}", min_rank_key(now)))),
            ],
            limit: Some(limit),
            ..RangeQuery::default()
        };
        let found = self.query(range, "read posts without a score").await?;
        for item in &found {
            let update =
                RowUpdate::new(rows::post_key(trending_post(item)?), "REMOVE gsi2pk, gsi2sk")
                    .condition("gsi2sk = :stands")
                    .value(":stands", text(ItemReader(item).text(GSI2_SK)?));
            self.update(update, "take a post off the trending list").await?;
        }
        Ok(found.len())
    }

    /// Keeps a snapshot; `false` if there is one of its minute.
    pub async fn save_snapshot(&self, snapshot: &TrendingSnapshot) -> Result<bool> {
        let mut item = rows::to_item(snapshot)?;
        item.extend(snapshot_key(snapshot.minute));
        let expires = (snapshot.minute + 1) * 60 + SNAPSHOT_SECONDS;
        item.insert(EXPIRES.to_owned(), number(expires));
        self.insert(item, "store the snapshot").await
    }

    /// The snapshot of a minute, or the newest; `None` if there is none.
    pub async fn snapshot(&self, minute: Option<i64>) -> Result<Option<TrendingSnapshot>> {
        const ACTION: &str = "read the snapshot";
        let found = if let Some(minute) = minute {
            self.get(snapshot_key(minute), ACTION).await?
        } else {
            let range = RangeQuery {
                condition: "pk = :snapshots",
                values: vec![(":snapshots", text(SNAPSHOTS))],
                descending: true,
                limit: Some(1),
                ..RangeQuery::default()
            };
            self.query(range, ACTION).await?.pop()
        };
        found.as_ref().map(rows::from_item).transpose()
    }
}

fn snapshot_key(minute: i64) -> Item {
    key(SNAPSHOTS, &format!("{minute:012}"))
}

fn trending_post(item: &Item) -> Result<PostId> {
    let name = ItemReader(item).text(GSI2_SK)?.split_once('#').map(|(_, post)| post);
    name.and_then(PostId::parse).ok_or_else(|| broken(GSI2_SK))
}
