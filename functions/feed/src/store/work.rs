//! Work that a message begins and that must not be forgotten with it.
//!
//! A row is written in the transaction that makes the work due, and goes when the work is done. It holds
//! the message, so that the sweep can say it again, and for work on an author's followers how they are
//! split and which ranges are done.

use aws_sdk_dynamodb::types::{AttributeValue, Delete, TransactWriteItem};
use domain::feed::Message;
use domain::feed::fan_out::{Progress, Range};
use domain::{Failure, Timestamp};

use super::wire::{Change, Stretch};
use super::{Feed, rows};
use store::row::{Item, Row, broken, instant, number, text};
use store::transaction;

/// Work that is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// What begins it.
    pub message: Message,
    pub since: Timestamp,
}

/// Work on an author's followers that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Underway {
    /// How far it is.
    pub progress: Progress,
    /// How many followers there were when it was split.
    pub followers: u64,
    /// Since when it is to be done.
    pub since: Timestamp,
}

impl Feed {
    /// Lists of work that is not done.
    pub const WORK_LISTS: u8 = rows::WORK_LISTS;

    /// The item that says that work is due.
    pub(super) fn begin(
        &self,
        message: &Message,
        now: Timestamp,
        action: &'static str,
    ) -> Result<TransactWriteItem, Failure> {
        let name = message.work().ok_or_else(|| Failure::new(action, "work without a name"))?;
        let json = serde_json::to_string(message).map_err(|cause| Failure::new(action, cause))?;
        let mut item = rows::work_key(&name);
        item.insert("message".to_owned(), text(json));
        item.insert("since".to_owned(), instant(now));
        self.same_row(item, action)
    }

    /// How far work on so many followers is, who are split into `ranges` if nobody has split them;
    /// `None` if it is done.
    pub async fn underway(
        &self,
        work: &str,
        followers: u64,
        ranges: u8,
    ) -> Result<Option<Underway>, Failure> {
        let change = Change::of(
            rows::work_key(work),
            "SET ranges = if_not_exists(ranges, :ranges), \
             followers = if_not_exists(followers, :followers)",
        );
        let change = change
            .given("attribute_exists(pk)")
            .with(":ranges", number(ranges))
            .with(":followers", number(followers));
        let found = self.change(change, "look how far work is").await?;
        found.as_ref().map(read_underway).transpose()
    }

    /// Notes that a range is done, and says how far the work is; `None` if it is done already.
    pub async fn range_done(&self, work: &str, range: Range) -> Result<Option<Underway>, Failure> {
        let change = Change::of(rows::work_key(work), "ADD done :range")
            .given("attribute_exists(ranges)")
            .with(":range", AttributeValue::Ss(vec![range.text()]));
        let found = self.change(change, "note that a range is done").await?;
        found.as_ref().map(read_underway).transpose()
    }

    /// Whether work is still to be done.
    pub async fn is_due(&self, work: &str) -> Result<bool, Failure> {
        Ok(self.get(rows::work_key(work), "look whether work is due").await?.is_some())
    }

    /// Notes that work is done.
    pub async fn done(&self, work: &str) -> Result<(), Failure> {
        self.client
            .delete_item()
            .table_name(&self.table)
            .set_key(Some(rows::work_key(work)))
            .send()
            .await
            .map_err(|cause| Failure::new("note that work is done", cause))?;
        Ok(())
    }

    /// The same in a transaction with what the work has led to.
    pub(super) fn ends(
        &self,
        work: &str,
        action: &'static str,
    ) -> Result<TransactWriteItem, Failure> {
        Delete::builder()
            .table_name(&self.table)
            .set_key(Some(rows::work_key(work)))
            .build()
            .map(transaction::delete)
            .map_err(|cause| Failure::new(action, cause))
    }

    /// Work of a list that is not done, after the name where the last look stopped; and where this
    /// one did, if there is more.
    pub async fn unfinished(
        &self,
        list: u8,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Unfinished>, Option<String>), Failure> {
        let stretch = Stretch {
            condition: "pk = :list AND sk > :after",
            values: vec![
                (":list", text(rows::work_pk(list))),
                (":after", text(after.unwrap_or(" "))),
            ],
            limit: Some(limit),
            ..Stretch::default()
        };
        let found = self.query(stretch, "list work that is not done").await?;
        let next = found.last().filter(|_| found.len() >= limit);
        let next = next.map(|item| Row(item).text("sk").map(str::to_owned)).transpose()?;
        let unfinished = |item: &Item| {
            let row = Row(item);
            let message = serde_json::from_str(row.text("message")?);
            let message = message.map_err(|_| broken("message"))?;
            Ok(Unfinished { message, since: row.instant("since")? })
        };
        Ok((found.iter().map(unfinished).collect::<Result<_, Failure>>()?, next))
    }
}

fn read_underway(item: &Item) -> Result<Underway, Failure> {
    let row = Row(item);
    let done = row.texts("done").iter().filter_map(|text| Range::parse(text)).collect();
    Ok(Underway {
        progress: Progress { ranges: row.number("ranges")?, done },
        followers: row.number("followers")?,
        since: row.instant("since")?,
    })
}
