//! What is hot: lists that folds keep, and snapshots of them.

use std::collections::BTreeMap;

use domain::feed::PostId;
use domain::feed::trending::{MAX_TRENDING, SNAPSHOT_SECONDS, Snapshot, cold_below};
use domain::{Failure, Timestamp};

use super::fold::read_people;
use super::wire::{Change, Stretch};
use super::{Feed, rows};
use store::row::{Item, Row, broken, key, number, text};
use store::schema::{EXPIRES, GSI2, GSI2_SK};

const SNAPSHOTS: &str = "trending";

impl Feed {
    /// The hottest posts of a list, with the people who came to each by the hour. It may lag behind.
    pub async fn hottest(&self, list: u8) -> Result<Vec<(PostId, BTreeMap<i64, u64>)>, Failure> {
        let stretch = Stretch {
            index: Some(GSI2),
            condition: "gsi2pk = :hot",
            values: vec![(":hot", text(rows::hot_pk(list)))],
            descending: true,
            limit: Some(MAX_TRENDING),
        };
        let found = self.query(stretch, "read what is hot").await?;
        found.iter().map(|item| Ok((hot_post(item)?, read_people(item)))).collect()
    }

    /// Takes posts that have no heat left off a list, at most `limit`; how many there were.
    pub async fn cool(&self, list: u8, now: Timestamp, limit: usize) -> Result<usize, Failure> {
        let stretch = Stretch {
            index: Some(GSI2),
            condition: "gsi2pk = :hot AND gsi2sk < :cold",
            values: vec![
                (":hot", text(rows::hot_pk(list))),
                (":cold", text(format!("{:012}", cold_below(now)))),
            ],
            limit: Some(limit),
            ..Stretch::default()
        };
        let found = self.query(stretch, "read what is cold").await?;
        for item in &found {
            let change = Change::of(rows::post_key(hot_post(item)?), "REMOVE gsi2pk, gsi2sk")
                .given("gsi2sk = :stands")
                .with(":stands", text(Row(item).text(GSI2_SK)?));
            self.change(change, "take what is cold off the list").await?;
        }
        Ok(found.len())
    }

    /// Keeps a snapshot; `false` if there is one of its minute.
    pub async fn keep_snapshot(&self, snapshot: &Snapshot) -> Result<bool, Failure> {
        let mut item = rows::plain(snapshot)?;
        item.extend(snapshot_key(snapshot.minute));
        let expires = (snapshot.minute + 1) * 60 + SNAPSHOT_SECONDS;
        item.insert(EXPIRES.to_owned(), number(expires));
        self.write_new(item, "keep what is hot").await
    }

    /// The snapshot of a minute, or the newest; `None` if there is none.
    pub async fn snapshot(&self, minute: Option<i64>) -> Result<Option<Snapshot>, Failure> {
        const ACTION: &str = "read what was hot";
        let found = if let Some(minute) = minute {
            self.get(snapshot_key(minute), ACTION).await?
        } else {
            let stretch = Stretch {
                condition: "pk = :snapshots",
                values: vec![(":snapshots", text(SNAPSHOTS))],
                descending: true,
                limit: Some(1),
                ..Stretch::default()
            };
            self.query(stretch, ACTION).await?.pop()
        };
        found.as_ref().map(rows::read).transpose()
    }
}

fn snapshot_key(minute: i64) -> Item {
    key(SNAPSHOTS, &format!("{minute:012}"))
}

fn hot_post(item: &Item) -> Result<PostId, Failure> {
    let name = Row(item).text(GSI2_SK)?.split_once('#').map(|(_, post)| post);
    name.and_then(PostId::parse).ok_or_else(|| broken(GSI2_SK))
}
