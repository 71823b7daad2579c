//! Clicks, counted once: a batch's marker and its counts are one transaction.
//!
//! The marker is a row under the batch's id that must not exist yet. A batch that is delivered again,
//! by the queue, a retry or after a crash between any two calls, meets that row and changes nothing.
//! Visitors are kept apart from the counts: adding the same ones again changes nothing by itself.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use domain::links::Code;
use domain::links::counts::{ClickCounts, LinkDay, attributes};
use domain::links::hyper_log_log::HyperLogLog;
use domain::{Failure, Result, Timestamp};

use super::{Links, rows};
use store::ignore_lost_condition;
use store::row::{Builder, ItemReader, bytes, instant, key, number};
use store::schema::EXPIRES;
use store::transaction::{Transacted, put, transact, update};

/// A transaction holds 100 items: the marker and two rows for each link and day.
const MAX_LINK_DAYS: usize = 49;

/// Longer than a message can wait: 4 days in its queue, 14 in the dead letters.
const BATCH_TTL_SECONDS: i64 = 30 * 24 * 3600;

/// Days stay for 25 months.
const DAY_TTL_SECONDS: i64 = 760 * 24 * 3600;

/// From so many clicks on one link in one batch, its rows are spread over shards.
const HOT_CLICKS: u64 = 5;
const SHARDS: u64 = 16;

/// Attempts to merge visitors while other instances do the same.
const MAX_ATTEMPTS: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountOutcome {
    Counted,
    AlreadyCounted,
}

impl Links {
    /// Counts the batch of that id, in parts that fit a transaction, each of them once.
    pub async fn count(
        &self,
        batch: &str,
        counts: &BTreeMap<LinkDay, ClickCounts>,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<CountOutcome> {
        const ACTION: &str = "count the clicks";
        let counts: Vec<_> = counts.iter().collect();
        let mut counted = CountOutcome::AlreadyCounted;
        for (part, counts) in counts.chunks(MAX_LINK_DAYS).enumerate() {
            let mut items = vec![self.put_marker(batch, part, now)?];
            // A batch over midnight has two days of one link, and a transaction takes a row once.
            let mut totals: BTreeMap<(String, u64), ClickCounts> = BTreeMap::new();
            for (link_day, counts) in counts {
                let shard = shard_of(batch, counts);
                items.push(self.day_update(link_day, counts, shard)?);
                totals.entry((pk(link_day), shard)).or_default().merge(counts);
            }
            for ((pk, shard), counts) in totals {
                items.push(self.add_counters(
                    &pk,
                    &format!("total#{shard:02}"),
                    &counts.totals(),
                    None,
                )?);
            }
            match transact(&self.client, ACTION, items, &token()).await? {
                Transacted::Committed => counted = CountOutcome::Counted,
                Transacted::Refused(_) => {}
            }
        }
        Ok(counted)
    }

    /// The referrers that the day's row of this batch's shard names already.
    pub async fn known_referrers(
        &self,
        batch: &str,
        link_day: &LinkDay,
        counts: &ClickCounts,
    ) -> Result<BTreeSet<String>> {
        let shard = shard_of(batch, counts);
        let found = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(key(&pk(link_day), &day_sk(&link_day.day, shard))))
            .send()
            .await
            .map_err(|cause| Failure::new("read the day's counts", cause))?;
        let names = found.item().into_iter().flat_map(|item| item.keys());
        Ok(names.filter_map(|name| name.strip_prefix("r#")).map(str::to_owned).collect())
    }

    /// Adds visitors to the day's `HyperLogLog`; those in it already change nothing.
    pub async fn add_visitors(&self, link_day: &LinkDay, visitors: &[u64]) -> Result {
        for _ in 0..MAX_ATTEMPTS {
            let (mut sketch, version) = self.read_day_sketch(link_day).await?;
            let mut changed = false;
            for &visitor in visitors {
                changed |= sketch.add(visitor);
            }
            if !changed || self.put_sketch(link_day, &sketch, version).await? {
                return Ok(());
            }
        }
        Err(Failure::new("add the visitors", "other instances kept adding at the same time"))
    }

    /// Marks a link whose clicks are used up, if it is not marked yet.
    pub async fn mark_spent(
        &self,
        domain: &str,
        code: &Code,
        max_clicks: u64,
        now: Timestamp,
    ) -> Result {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(rows::link_key(domain, code)))
            .update_expression("SET spent_at = :now, updated_at = :now, v = v + :one")
            .condition_expression("attribute_not_exists(spent_at) AND max_clicks = :max")
            .expression_attribute_values(":now", instant(now))
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":max", number(max_clicks))
            .send()
            .await;
        ignore_lost_condition("mark the link as spent", sent)
    }

    fn put_marker(&self, batch: &str, part: usize, now: Timestamp) -> Result<TransactWriteItem> {
        let row = Builder::keyed(&format!("batch#{batch}"), &part.to_string())
            .with("counted_at", instant(now))
            .with(EXPIRES, number(now.as_second() + BATCH_TTL_SECONDS));
        let marker = Put::builder()
            .table_name(&self.table)
            .set_item(Some(row.build()))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map_err(|cause| Failure::new("mark the batch as counted", cause))?;
        Ok(put(marker))
    }

    fn day_update(
        &self,
        link_day: &LinkDay,
        counts: &ClickCounts,
        shard: u64,
    ) -> Result<TransactWriteItem> {
        let expires = link_day.start_second() + DAY_TTL_SECONDS;
        let sk = day_sk(&link_day.day, shard);
        self.add_counters(&pk(link_day), &sk, &attributes(counts), Some(expires))
    }

    /// Adds to counters, whose names may hold anything and so travel as placeholders.
    fn add_counters(
        &self,
        pk: &str,
        sk: &str,
        counters: &[(String, u64)],
        expires: Option<i64>,
    ) -> Result<TransactWriteItem> {
        let mut change = Update::builder().table_name(&self.table).set_key(Some(key(pk, sk)));
        let mut added = Vec::with_capacity(counters.len());
        for (index, (name, count)) in counters.iter().enumerate() {
            added.push(format!("#n{index} :n{index}"));
            change = change
                .expression_attribute_names(format!("#n{index}"), name)
                .expression_attribute_values(format!(":n{index}"), number(count));
        }
        let mut expression = format!("ADD {}", added.join(", "));
        if let Some(expires) = expires {
            expression.push_str(" SET #expires = :expires");
            change = change
                .expression_attribute_names("#expires", EXPIRES)
                .expression_attribute_values(":expires", number(expires));
        }
        let change = change
            .update_expression(expression)
            .build()
            .map_err(|cause| Failure::new("add to the counts", cause))?;
        Ok(update(change))
    }

    async fn read_day_sketch(&self, link_day: &LinkDay) -> Result<(HyperLogLog, Option<u64>)> {
        let found = self
            .get(key(&pk(link_day), &visitors_sk(&link_day.day)), "read the day's visitors")
            .await?;
        match found.as_ref() {
            None => Ok((HyperLogLog::new(), None)),
            Some(item) => {
                Ok((super::statistics::read_sketch(item)?, Some(ItemReader(item).number("v")?)))
            }
        }
    }

    /// False when another instance was faster.
    async fn put_sketch(
        &self,
        link_day: &LinkDay,
        sketch: &HyperLogLog,
        version: Option<u64>,
    ) -> Result<bool> {
        let condition = match version {
            None => "attribute_not_exists(pk)",
            Some(_) => "v = :before",
        };
        let mut request = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(&pk(link_day), &visitors_sk(&link_day.day))))
            .update_expression("SET sketch = :sketch, v = :next, #expires = :expires")
            .condition_expression(condition)
            .expression_attribute_names("#expires", EXPIRES)
            .expression_attribute_values(":sketch", bytes(&sketch.to_bytes()))
            .expression_attribute_values(":next", number(version.unwrap_or(0) + 1))
            .expression_attribute_values(
                ":expires",
                number(link_day.start_second() + DAY_TTL_SECONDS),
            );
        if let Some(version) = version {
            request = request.expression_attribute_values(":before", number(version));
        }
        match request.send().await {
            Ok(_) => Ok(true),
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(false),
                _ => Err(Failure::new("keep the day's visitors", error)),
            },
        }
    }
}

fn pk(link_day: &LinkDay) -> String {
    rows::clicks_pk(&link_day.domain, &link_day.code)
}

pub(super) fn day_sk(day: &str, shard: u64) -> String {
    format!("day#{day}#{shard:02}")
}

pub(super) fn visitors_sk(day: &str) -> String {
    format!("visitors#{day}")
}

/// Few clicks go to one row; many mean that other instances have clicks on the same link too, so that
/// the batch's id chooses among several rows.
fn shard_of(batch: &str, counts: &ClickCounts) -> u64 {
    let seen = counts.clicks + counts.bots + counts.previews;
    if seen < HOT_CLICKS {
        return 0;
    }
    let hash = batch.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 32) % SHARDS
}
