//! Pending work: a transactional outbox, so that a lost message loses no work.
//!
//! A row is written in the transaction that makes the work due, and goes when the work is done. It holds
//! the message, so that the sweep can send it again, and for work on an author's followers how they are
//! split and which ranges are done.

use aws_sdk_dynamodb::types::{AttributeValue, Delete, TransactWriteItem};
use domain::feed::FeedMessage;
use domain::feed::fan_out::{FanOutProgress, SlotRange};
use domain::{Failure, Result, Timestamp};

use super::requests::{RangeQuery, RowUpdate};
use super::{FeedStore, rows};
use store::row::{Item, ItemReader, broken, instant, number, text};
use store::transaction;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingWork {
    pub message: FeedMessage,
    pub since: Timestamp,
}

/// Work on an author's followers that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanOutState {
    pub progress: FanOutProgress,
    /// How many followers there were when it was split.
    pub followers: u64,
    /// Since when it is to be done.
    pub since: Timestamp,
}

impl FeedStore {
    /// Lists of work that is not done.
    pub const WORK_LISTS: u8 = rows::WORK_LISTS;

    /// The item that says that work is due.
    pub(super) fn pending_item(
        &self,
        message: &FeedMessage,
        now: Timestamp,
        action: &'static str,
    ) -> Result<TransactWriteItem> {
        let name = message.work_id().ok_or_else(|| Failure::new(action, "work without a name"))?;
        let json = serde_json::to_string(message).map_err(|cause| Failure::new(action, cause))?;
        let mut item = rows::work_key(&name);
        item.insert("message".to_owned(), text(json));
        item.insert("since".to_owned(), instant(now));
        self.put_item(item, action)
    }

    /// How far work on so many followers is, who are split into `ranges` unless they are split already;
    /// `None` if it is done.
    pub async fn start_fan_out(
        &self,
        work: &str,
        followers: u64,
        ranges: u8,
    ) -> Result<Option<FanOutState>> {
        let update = RowUpdate::new(
            rows::work_key(work),
            "SET ranges = if_not_exists(ranges, :ranges), \
             followers = if_not_exists(followers, :followers)",
        );
        let update = update
            .condition("attribute_exists(pk)")
            .value(":ranges", number(ranges))
            .value(":followers", number(followers));
        let found = self.update(update, "start a fan-out").await?;
        found.as_ref().map(read_fan_out_state).transpose()
    }

    /// Notes that a range is done, and says how far the work is; `None` if it is done already.
    pub async fn complete_range(
        &self,
        work: &str,
        range: SlotRange,
    ) -> Result<Option<FanOutState>> {
        let update = RowUpdate::new(rows::work_key(work), "ADD done :range")
            .condition("attribute_exists(ranges)")
            .value(":range", AttributeValue::Ss(vec![range.text()]));
        let found = self.update(update, "complete a range").await?;
        found.as_ref().map(read_fan_out_state).transpose()
    }

    /// Whether work is still to be done.
    pub async fn is_pending(&self, work: &str) -> Result<bool> {
        Ok(self.get(rows::work_key(work), "read pending work").await?.is_some())
    }

    pub async fn complete_work(&self, work: &str) -> Result {
        self.client
            .delete_item()
            .table_name(&self.table)
            .set_key(Some(rows::work_key(work)))
            .send()
            .await
            .map_err(|cause| Failure::new("complete work", cause))?;
        Ok(())
    }

    /// The same in a transaction with what the work has led to.
    pub(super) fn completion_item(
        &self,
        work: &str,
        action: &'static str,
    ) -> Result<TransactWriteItem> {
        Delete::builder()
            .table_name(&self.table)
            .set_key(Some(rows::work_key(work)))
            .build()
            .map(transaction::delete)
            .map_err(|cause| Failure::new(action, cause))
    }

    /// Work of a list that is not done, after the name where the last look stopped; and where this
    /// one did, if there is more.
    pub async fn pending_work(
        &self,
        list: u8,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<PendingWork>, Option<String>)> {
        let range = RangeQuery {
            condition: "pk = :list AND sk > :after",
            values: vec![
                (":list", text(rows::work_pk(list))),
                (":after", text(after.unwrap_or(" "))),
            ],
            limit: Some(limit),
            ..RangeQuery::default()
        };
        let found = self.query(range, "list pending work").await?;
        let next = found.last().filter(|_| found.len() >= limit);
        let next = next.map(|item| ItemReader(item).text("sk").map(str::to_owned)).transpose()?;
        let unfinished = |item: &Item| {
            let row = ItemReader(item);
            let message = serde_json::from_str(row.text("message")?);
            let message = message.map_err(|_| broken("message"))?;
            Ok(PendingWork { message, since: row.instant("since")? })
        };
        Ok((found.iter().map(unfinished).collect::<Result<_>>()?, next))
    }
}

fn read_fan_out_state(item: &Item) -> Result<FanOutState> {
    let row = ItemReader(item);
    let done = row.texts("done").iter().filter_map(|text| SlotRange::parse(text)).collect();
    Ok(FanOutState {
        progress: FanOutProgress { ranges: row.number("ranges")?, done },
        followers: row.number("followers")?,
        since: row.instant("since")?,
    })
}
