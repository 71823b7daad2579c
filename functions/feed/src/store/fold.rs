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
use domain::feed::counts::{KEPT_HOURS, Shard, Total, fold, hour_of, width};
use domain::feed::{Interaction, PostId, Privacy, trending};
use domain::{Failure, Timestamp};
use futures::{StreamExt, TryStreamExt, stream};

use super::engage::number_name;
use super::posts::Entry;
use super::wire::{Change, Stretch};
use super::{Feed, rows};
use store::row::{Item, Row, broken, number, text};
use store::schema::{GSI2, GSI2_PK, GSI2_SK};

const ACTION: &str = "add a post's counters up";

/// A post may change under our hands so often. Then somebody else is adding up.
const TRIES: usize = 4;

/// Counters that are taken off the list at the same time.
const AT_ONCE: usize = 8;

/// A counter with so many hours loses those that no total needs.
const MAX_HOURS: usize = 72;

/// A counter, as it was read.
struct Counter {
    key: Item,
    shard: Shard,
    acts: u64,
    is_listed: bool,
}

impl Feed {
    /// Lists of counters that are not added up, and of posts that are hot.
    pub const LISTS: u8 = rows::LISTS;

    /// Adds a post's counters up, because one of them moved. Where there are many they stay listed.
    pub async fn fold_moved(&self, post: PostId, now: Timestamp) -> Result<Option<Total>, Failure> {
        self.fold_and(post, now, |width| width == 1).await
    }

    /// Adds a post's counters up and takes them off the list; `None` if there is no such post. What changes
    /// meanwhile stays to be added up.
    pub async fn fold(&self, post: PostId, now: Timestamp) -> Result<Option<Total>, Failure> {
        self.fold_and(post, now, |_| true).await
    }

    async fn fold_and(
        &self,
        post: PostId,
        now: Timestamp,
        is_settled: impl Fn(u8) -> bool,
    ) -> Result<Option<Total>, Failure> {
        let mut total = None;
        for _ in 0..TRIES {
            let Some(item) = self.get(rows::post_key(post), ACTION).await? else { return Ok(None) };
            let entry = Entry::read(&item)?;
            let counters = self.counters(post, entry.width).await?;
            let sum = fold(counters.iter().map(|counter| &counter.shard), now);
            let written = self.total(&entry, item.contains_key(GSI2_PK), &sum, now).await?;
            total = Some(sum);
            if written {
                let settled = counters.iter().filter(|_| is_settled(entry.width));
                let settled: Vec<_> = settled.map(|it| self.settle_counter(it, now)).collect();
                stream::iter(settled).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
                break;
            }
        }
        Ok(total)
    }

    /// Posts whose counters are not added up, of a list, each once, after the place where the last look
    /// stopped; and where this one did, if there may be more.
    pub async fn dirty(
        &self,
        list: u8,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<PostId>, Option<String>), Failure> {
        let stretch = Stretch {
            index: Some(GSI2),
            condition: "gsi2pk = :list AND gsi2sk > :after",
            values: vec![
                (":list", text(rows::dirty_pk(list))),
                (":after", text(after.unwrap_or(" "))),
            ],
            limit: Some(limit),
            ..Stretch::default()
        };
        let found = self.query(stretch, "list counters that are not added up").await?;
        let next = found.last().filter(|_| found.len() >= limit);
        let next = next.map(|item| Row(item).text(GSI2_SK).map(str::to_owned)).transpose()?;
        let post = |item: &Item| {
            let name = Row(item).text(GSI2_SK)?.split_once('#').map(|(post, _)| post);
            name.and_then(PostId::parse).ok_or_else(|| broken(GSI2_SK))
        };
        let mut posts = found.iter().map(post).collect::<Result<Vec<_>, Failure>>()?;
        posts.dedup();
        Ok((posts, next))
    }

    async fn counters(&self, post: PostId, width: u8) -> Result<Vec<Counter>, Failure> {
        let keys = (0..width).map(|counter| rows::count_key(post, counter)).collect();
        let found = self.get_all(keys, "read a post's counters").await?;
        found.iter().map(read_counter).collect()
    }

    /// Writes a total; `false` if the post is not what it was.
    async fn total(
        &self,
        entry: &Entry,
        is_hot: bool,
        total: &Total,
        now: Timestamp,
    ) -> Result<bool, Failure> {
        const HEATS: &str = "SET counts = :counts, acts = :acts, people = :people, width = :width, \
                             gsi2pk = :hot, gsi2sk = :stands";
        const COOLS: &str = "SET counts = :counts, acts = :acts, people = :people, width = :width \
                             REMOVE gsi2pk, gsi2sk";
        const SAME: &str = "v = :version AND (attribute_not_exists(width) OR width <= :width) AND ";
        let post = &entry.post;
        let is_for_all = post.body.privacy == Privacy::Public && !post.is_gone();
        let stands = trending::standing(&total.people, now).filter(|_| is_for_all);
        if total.acts == entry.acts && is_hot == stands.is_some() {
            return Ok(true);
        }
        let acts = match entry.acts {
            0 => "(attribute_not_exists(acts) OR acts = :before)",
            _ => "acts = :before",
        };
        let counts = rows::plain(&total.counts)?;
        let change =
            Change::of(rows::post_key(post.id), if stands.is_some() { HEATS } else { COOLS })
                .given(format!("{SAME}{acts}"))
                .with(":version", number(post.version))
                .with(":before", number(entry.acts))
                .with(":acts", number(total.acts))
                .with(":width", number(entry.width.max(width(total.acts))))
                .with(":counts", AttributeValue::M(counts))
                .with(":people", people_value(&total.people));
        let change = match stands {
            Some(stands) => change
                .with(":hot", text(rows::hot_pk(rows::list_of(post.id))))
                .with(":stands", text(format!("{stands:012}#{}", post.id))),
            None => change,
        };
        Ok(self.change(change, ACTION).await?.is_some())
    }

    /// Takes a counter off the list, if it has what was read, and hours from it that no total needs.
    /// Whoever is at it has it added up again.
    async fn settle_counter(&self, counter: &Counter, now: Timestamp) -> Result<(), Failure> {
        let oldest = hour_of(now) - KEPT_HOURS;
        let hours = counter.shard.people.keys().filter(|hour| **hour <= oldest);
        let old: Vec<String> = match counter.shard.people.len() {
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

fn read_counter(item: &Item) -> Result<Counter, Failure> {
    let row = Row(item);
    let mut shard = Shard::default();
    for what in Interaction::ALL {
        let read = |back| row.maybe_number(number_name(what, back)).unwrap_or(0);
        shard.given[what as usize] = read(false);
        shard.taken[what as usize] = read(true);
    }
    for name in item.keys() {
        if let Some(hour) = name.strip_prefix('h').and_then(|hour| hour.parse().ok()) {
            shard.people.insert(hour, row.maybe_number(name).unwrap_or(0));
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

fn people_value(people: &BTreeMap<i64, u64>) -> AttributeValue {
    let people = people.iter().map(|(hour, people)| (hour.to_string(), number(people)));
    AttributeValue::M(people.collect())
}

/// Newcomers by the hour, as a post has them.
pub(super) fn read_people(item: &Item) -> BTreeMap<i64, u64> {
    let hours = item.get("people").and_then(|value| value.as_m().ok());
    let hours = hours.into_iter().flatten();
    let read = |(hour, people): (&String, &AttributeValue)| {
        Some((hour.parse().ok()?, people.as_n().ok()?.parse().ok()?))
    };
    hours.filter_map(read).collect()
}
