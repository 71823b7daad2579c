//! Adding a post's counters up.
//!
//! The post is read before its counters, and the total is written if the post's acts are still those that
//! were read. Counters only grow, so a total that was written from earlier reads is contained in later ones:
//! equal acts mean equal numbers, and no total loses what another one had. A counter leaves the list of
//! those that are to be added up after that, if it still has the acts that went into the total. Where there are
//! many counters only the sweep takes them off: a post that is liked all the time would move its counters on
//! and off the list with each fold.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::feed::counts::{
    CounterShard, PostTotals, RETAINED_HOURS, hour_of, shard_count, sum_shards,
};
use domain::feed::{Interaction, PostId, Privacy, trending};
use domain::{Failure, Result, Timestamp};
use futures::{StreamExt, TryStreamExt, stream};

use super::engagement::counter_attribute;
use super::posts::StoredPost;
use super::requests::{RangeQuery, RowUpdate};
use super::{FeedStore, rows};
use store::row::{Item, ItemReader, broken, number, text};
use store::schema::{GSI2, GSI2_PK, GSI2_SK};

const ACTION: &str = "add a post's counters up";

/// Tries when the post changes meanwhile. Then another instance is adding up.
const TRIES: usize = 4;

/// Counters that are taken off the list at the same time.
const AT_ONCE: usize = 8;

/// A counter with so many hours loses those that no total needs.
const MAX_HOURS: usize = 72;

struct Counter {
    key: Item,
    shard: CounterShard,
    acts: u64,
    is_listed: bool,
}

impl FeedStore {
    /// Lists of counters that are not added up, and of trending posts.
    pub const COUNT_LISTS: u8 = rows::COUNT_LISTS;

    /// Adds a post's counters up, because one of them moved. Where there are many they stay listed.
    pub async fn aggregate_changed(
        &self,
        post: PostId,
        now: Timestamp,
    ) -> Result<Option<PostTotals>> {
        self.aggregate_and_settle(post, now, |shard_count| shard_count == 1).await
    }

    /// Adds a post's counters up and takes them off the list; `None` if there is no such post. What changes
    /// meanwhile stays to be added up.
    pub async fn aggregate(&self, post: PostId, now: Timestamp) -> Result<Option<PostTotals>> {
        self.aggregate_and_settle(post, now, |_| true).await
    }

    async fn aggregate_and_settle(
        &self,
        post: PostId,
        now: Timestamp,
        is_settled: impl Fn(u8) -> bool,
    ) -> Result<Option<PostTotals>> {
        let mut total = None;
        for _ in 0..TRIES {
            let Some(item) = self.get(rows::post_key(post), ACTION).await? else { return Ok(None) };
            let entry = StoredPost::read(&item)?;
            let counters = self.counters(post, entry.shard_count).await?;
            let sum = sum_shards(counters.iter().map(|counter| &counter.shard), now);
            let written = self.total(&entry, item.contains_key(GSI2_PK), &sum, now).await?;
            total = Some(sum);
            if written {
                let settled = counters.iter().filter(|_| is_settled(entry.shard_count));
                let settled: Vec<_> = settled.map(|it| self.settle_counter(it, now)).collect();
                stream::iter(settled).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
                break;
            }
        }
        Ok(total)
    }

    /// Posts whose counters are not added up, of a list, each once, after the place where the last look
    /// stopped; and where this one did, if there may be more.
    pub async fn pending_aggregations(
        &self,
        list: u8,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<PostId>, Option<String>)> {
        let range = RangeQuery {
            index: Some(GSI2),
            condition: "gsi2pk = :list AND gsi2sk > :after",
            values: vec![
                (":list", text(rows::dirty_pk(list))),
                (":after", text(after.unwrap_or(" "))),
            ],
            limit: Some(limit),
            ..RangeQuery::default()
        };
        let found = self.query(range, "list counters that are not added up").await?;
        let next = found.last().filter(|_| found.len() >= limit);
        let next =
            next.map(|item| ItemReader(item).text(GSI2_SK).map(str::to_owned)).transpose()?;
        let post = |item: &Item| {
            let name = ItemReader(item).text(GSI2_SK)?.split_once('#').map(|(post, _)| post);
            name.and_then(PostId::parse).ok_or_else(|| broken(GSI2_SK))
        };
        let mut posts = found.iter().map(post).collect::<Result<Vec<_>>>()?;
        posts.dedup();
        Ok((posts, next))
    }

    async fn counters(&self, post: PostId, shard_count: u8) -> Result<Vec<Counter>> {
        let keys = (0..shard_count).map(|counter| rows::count_key(post, counter)).collect();
        let found = self.get_all(keys, "read a post's counters").await?;
        found.iter().map(read_counter).collect()
    }

    /// Writes a total; `false` if the post is not what it was.
    async fn total(
        &self,
        entry: &StoredPost,
        is_hot: bool,
        total: &PostTotals,
        now: Timestamp,
    ) -> Result<bool> {
        const HEATS: &str = "SET counts = :counts, acts = :acts, people = :people, width = :width, \
                             gsi2pk = :hot, gsi2sk = :stands";
        const COOLS: &str = "SET counts = :counts, acts = :acts, people = :people, width = :width \
                             REMOVE gsi2pk, gsi2sk";
        const SAME: &str = "v = :version AND (attribute_not_exists(width) OR width <= :width) AND ";
        let post = &entry.post;
        let is_for_all = post.body.privacy == Privacy::Public && !post.is_gone();
        let stands = trending::rank_key(&total.hourly_users, now).filter(|_| is_for_all);
        if total.acts == entry.acts && is_hot == stands.is_some() {
            return Ok(true);
        }
        let acts = match entry.acts {
            0 => "(attribute_not_exists(acts) OR acts = :before)",
            _ => "acts = :before",
        };
        let counts = rows::to_item(&total.counts)?;
        let update =
            RowUpdate::new(rows::post_key(post.id), if stands.is_some() { HEATS } else { COOLS })
                .condition(format!("{SAME}{acts}"))
                .value(":version", number(post.version))
                .value(":before", number(entry.acts))
                .value(":acts", number(total.acts))
                .value(":width", number(entry.shard_count.max(shard_count(total.acts))))
                .value(":counts", AttributeValue::M(counts))
                .value(":people", hourly_users_value(&total.hourly_users));
        let update = match stands {
            Some(stands) => update
                .value(":hot", text(rows::hot_pk(rows::list_of(post.id))))
                .value(":stands", text(format!("{stands:012}#{}", post.id))),
            None => update,
        };
        Ok(self.update(update, ACTION).await?.is_some())
    }

    /// Takes a counter off the list, if it has what was read, and hours from it that no total needs.
    async fn settle_counter(&self, counter: &Counter, now: Timestamp) -> Result {
        let oldest = hour_of(now) - RETAINED_HOURS;
        let hours = counter.shard.hourly_users.keys().filter(|hour| **hour <= oldest);
        let old: Vec<String> = match counter.shard.hourly_users.len() {
            0..=MAX_HOURS => Vec::new(),
            _ => hours.map(|hour| format!(", h{hour}")).collect(),
        };
        if !counter.is_listed && old.is_empty() {
            return Ok(());
        }
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(counter.key.clone()))
            .update_expression(format!("REMOVE gsi2pk, gsi2sk{}", old.concat()))
            .condition_expression("acts = :acts")
            .expression_attribute_values(":acts", number(counter.acts))
            .send()
            .await;
        let lost = |error: &UpdateItemError| {
            error.is_conditional_check_failed_exception()
                || error.is_transaction_conflict_exception()
        };
        match sent {
            Err(error) if !error.as_service_error().is_some_and(lost) => {
                Err(Failure::new("take a counter off the list", error))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

fn read_counter(item: &Item) -> Result<Counter> {
    let row = ItemReader(item);
    let mut shard = CounterShard::default();
    for what in Interaction::ALL {
        let read = |back| row.maybe_number(counter_attribute(what, back)).unwrap_or(0);
        shard.added[what as usize] = read(false);
        shard.removed[what as usize] = read(true);
    }
    for name in item.keys() {
        if let Some(hour) = name.strip_prefix('h').and_then(|hour| hour.parse().ok()) {
            shard.hourly_users.insert(hour, row.maybe_number(name).unwrap_or(0));
        }
    }
    let key = item.iter().filter(|(name, _)| matches!(name.as_str(), "pk" | "sk"));
    Ok(Counter {
        key: key.map(|(name, value)| (name.clone(), value.clone())).collect(),
        shard,
        acts: row.number("acts")?,
        is_listed: item.contains_key(GSI2_PK),
    })
}

fn hourly_users_value(people: &BTreeMap<i64, u64>) -> AttributeValue {
    let people = people.iter().map(|(hour, people)| (hour.to_string(), number(people)));
    AttributeValue::M(people.collect())
}

/// Newcomers by the hour, as a post has them.
pub(super) fn read_hourly_users(item: &Item) -> BTreeMap<i64, u64> {
    let hours = item.get("people").and_then(|value| value.as_m().ok());
    let hours = hours.into_iter().flatten();
    let read = |(hour, people): (&String, &AttributeValue)| {
        Some((hour.parse().ok()?, people.as_n().ok()?.parse().ok()?))
    };
    hours.filter_map(read).collect()
}
