//! Receiving: the order of messages, redrive to dead letters, and fairness between groups.

use std::collections::BTreeMap;

use rusqlite::{Params, Row, params};

use crate::digest;
use crate::engine::Tx;
use crate::error::Result;
use crate::message::Message;
use crate::names;
use crate::store::messages::Receipt;
use crate::store::queues::Queue;

/// A group is noisy from this many messages in flight on, provided that they are also at least a
/// tenth of all grouped messages in flight. SQS does not say where it draws the line.
const NOISY_FROM: i64 = 10;

const COLUMNS: &str = "seq, id, sent_at, received + received_before, first_received_at, group_id, \
                       trace_header, source, attributes, body";

impl Tx<'_> {
    /// Hands out up to `max` visible messages and hides them for so many milliseconds.
    pub(crate) fn receive(
        &self,
        queue: &Queue,
        max: usize,
        hidden_ms: i64,
    ) -> Result<Vec<Message>> {
        self.expire(queue)?;
        self.redrive_exhausted(queue)?;
        let selected = self.select(queue, i64::try_from(max).unwrap_or(i64::MAX))?;
        selected.into_iter().map(|row| self.mark_received(queue, row, hidden_ms)).collect()
    }

    /// Moves messages that were received as often as the redrive policy allows to the dead
    /// letters, with their id, age and attributes. Without a dead letter queue to go to they stay:
    /// nothing is lost because that queue was deleted.
    fn redrive_exhausted(&self, queue: &Queue) -> Result {
        let Some(redrive) = &queue.settings.redrive else {
            return Ok(());
        };
        let Some(target) = self.find_queue(&redrive.target)? else {
            return Ok(());
        };
        let redriven = self
            .sql
            .prepare_cached(
                "UPDATE messages
                 SET queue = ?4, source = ?5, visible_at = ?3, receipt = NULL,
                     received_before = received_before + received, received = 0
                 WHERE queue = ?1 AND received > 0 AND received >= ?2 AND visible_at <= ?3",
            )?
            .execute(params![
                queue.key,
                redrive.max_receive_count,
                self.now,
                target.key,
                names::queue_arn(&queue.name)
            ])?;
        if redriven > 0 {
            self.notify_on_commit();
        }
        Ok(())
    }

    /// The messages that are next: the longest visible first, except that messages of noisy groups
    /// wait until no others are left.
    fn select(&self, queue: &Queue, max: i64) -> Result<Vec<MessageRow>> {
        let noisy = self.noisy_groups(queue)?;
        if noisy.is_empty() {
            return self.visible("", params![queue.key, self.now, max]);
        }
        let noisy = serde_json::to_string(&noisy)?;
        let quiet = "AND (group_id IS NULL OR group_id NOT IN (SELECT value FROM json_each(?4)))";
        let loud = "AND group_id IN (SELECT value FROM json_each(?4))";
        let mut selected = self.visible(quiet, params![queue.key, self.now, max, noisy])?;
        let rest = max - i64::try_from(selected.len()).unwrap_or(max);
        if rest > 0 {
            selected.extend(self.visible(loud, params![queue.key, self.now, rest, noisy])?);
        }
        Ok(selected)
    }

    fn visible(&self, condition: &str, params: impl Params) -> Result<Vec<MessageRow>> {
        let mut select = self.sql.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM messages WHERE queue = ?1 AND visible_at <= ?2 {condition}
             ORDER BY visible_at, seq LIMIT ?3"
        ))?;
        Ok(select.query_map(params, read)?.collect::<Result<_, _>>()?)
    }

    /// The groups that have many messages in flight. The index is named because it is empty for
    /// queues without groups, which the planner cannot know.
    fn noisy_groups(&self, queue: &Queue) -> Result<Vec<String>> {
        let mut select = self.sql.prepare_cached(
            "SELECT group_id, count(*) FROM messages INDEXED BY groups_in_flight
             WHERE queue = ?1 AND group_id IS NOT NULL AND receipt IS NOT NULL AND visible_at > ?2
             GROUP BY group_id",
        )?;
        let busy: Vec<(String, i64)> = select
            .query_map([queue.key, self.now], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        let all: i64 = busy.iter().map(|(_, count)| count).sum();
        let is_noisy = |count: i64| count >= NOISY_FROM && count * 10 >= all;
        Ok(busy.into_iter().filter(|(_, count)| is_noisy(*count)).map(|(group, _)| group).collect())
    }

    /// Marks the message as received and makes it what the consumer gets.
    fn mark_received(&self, queue: &Queue, row: MessageRow, hidden_ms: i64) -> Result<Message> {
        let receipt = Receipt { seq: row.seq, nonce: self.nonce()? };
        let first_received_at = row.first_received_at.unwrap_or(self.now);
        self.sql
            .prepare_cached(
                "UPDATE messages SET receipt = ?2, visible_at = ?3, first_received_at = ?4,
                    received = received + 1 WHERE seq = ?1",
            )?
            .execute(params![row.seq, receipt.nonce, self.now + hidden_ms, first_received_at])?;
        let attributes = system_attributes(&row, first_received_at);
        let message_attributes = match &row.attributes {
            Some(text) => serde_json::from_str(text)?,
            None => BTreeMap::new(),
        };
        Ok(Message {
            receipt_handle: receipt.handle(queue),
            md5: digest::of_body(&row.body),
            id: row.id,
            body: row.body,
            attributes,
            message_attributes,
        })
    }
}

/// A message that can be received.
struct MessageRow {
    seq: i64,
    id: String,
    sent_at: i64,
    received: i64,
    first_received_at: Option<i64>,
    group: Option<String>,
    trace_header: Option<String>,
    source: Option<String>,
    attributes: Option<String>,
    body: String,
}

fn read(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    Ok(MessageRow {
        seq: row.get(0)?,
        id: row.get(1)?,
        sent_at: row.get(2)?,
        received: row.get(3)?,
        first_received_at: row.get(4)?,
        group: row.get(5)?,
        trace_header: row.get(6)?,
        source: row.get(7)?,
        attributes: row.get(8)?,
        body: row.get(9)?,
    })
}

fn system_attributes(row: &MessageRow, first_received_at: i64) -> BTreeMap<String, String> {
    let always = [
        ("ApproximateFirstReceiveTimestamp", first_received_at.to_string()),
        ("ApproximateReceiveCount", (row.received + 1).to_string()),
        ("SenderId", names::ACCOUNT.to_owned()),
        ("SentTimestamp", row.sent_at.to_string()),
    ];
    let sometimes = [
        ("AWSTraceHeader", &row.trace_header),
        ("DeadLetterQueueSourceArn", &row.source),
        ("MessageGroupId", &row.group),
    ];
    let present = sometimes.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
    always.into_iter().chain(present).map(|(name, value)| (name.to_owned(), value)).collect()
}
