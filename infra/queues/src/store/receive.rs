//! Receiving: who is next, who has been received too often, and what the consumer is handed.

use std::collections::BTreeMap;

use rusqlite::{Params, Row, params};

use crate::digest;
use crate::engine::Work;
use crate::error::Error;
use crate::message::Message;
use crate::names;
use crate::store::messages::Receipt;
use crate::store::queues::Queue;

/// A group is noisy from this many messages in flight on, provided that they are also at least a
/// tenth of all grouped messages in flight. SQS does not say where it draws the line.
const NOISY_FROM: i64 = 10;

const COLUMNS: &str = "seq, id, sent_at, received + received_before, first_received_at, group_id, \
                       trace_header, source, attributes, body";

impl Work<'_> {
    /// Hands out up to `most` visible messages and hides them for so many milliseconds.
    pub(crate) fn receive(
        &self,
        queue: &Queue,
        most: usize,
        hidden_ms: i64,
    ) -> Result<Vec<Message>, Error> {
        self.expire(queue)?;
        self.bury_exhausted(queue)?;
        let picked = self.pick(queue, i64::try_from(most).unwrap_or(i64::MAX))?;
        picked.into_iter().map(|waiting| self.lend(queue, waiting, hidden_ms)).collect()
    }

    /// Moves messages that were received as often as the redrive policy allows to the dead
    /// letters, with their id, age and attributes. Without a dead letter queue to go to they stay:
    /// nothing is lost because somebody deleted that queue.
    fn bury_exhausted(&self, queue: &Queue) -> Result<(), Error> {
        let Some(redrive) = &queue.settings.redrive else {
            return Ok(());
        };
        let Some(target) = self.find_queue(&redrive.target)? else {
            return Ok(());
        };
        let buried = self
            .tx
            .prepare_cached(
                "UPDATE messages
                 SET queue = ?4, source = ?5, visible_at = ?3, receipt = NULL,
                     received_before = received_before + received, received = 0
                 WHERE queue = ?1 AND received > 0 AND received >= ?2 AND visible_at <= ?3",
            )?
            .execute(params![
                queue.key,
                redrive.most_receives,
                self.now,
                target.key,
                names::queue_arn(&queue.name)
            ])?;
        if buried > 0 {
            self.ring_when_done();
        }
        Ok(())
    }

    /// The messages that are next: the longest visible first, except that messages of noisy groups
    /// wait until no others are left.
    fn pick(&self, queue: &Queue, most: i64) -> Result<Vec<Waiting>, Error> {
        let noisy = self.noisy_groups(queue)?;
        if noisy.is_empty() {
            return self.waiting("", params![queue.key, self.now, most]);
        }
        let noisy = serde_json::to_string(&noisy)?;
        let quiet = "AND (group_id IS NULL OR group_id NOT IN (SELECT value FROM json_each(?4)))";
        let loud = "AND group_id IN (SELECT value FROM json_each(?4))";
        let mut picked = self.waiting(quiet, params![queue.key, self.now, most, noisy])?;
        let rest = most - i64::try_from(picked.len()).unwrap_or(most);
        if rest > 0 {
            picked.extend(self.waiting(loud, params![queue.key, self.now, rest, noisy])?);
        }
        Ok(picked)
    }

    fn waiting(&self, condition: &str, params: impl Params) -> Result<Vec<Waiting>, Error> {
        let mut select = self.tx.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM messages WHERE queue = ?1 AND visible_at <= ?2 {condition}
             ORDER BY visible_at, seq LIMIT ?3"
        ))?;
        Ok(select.query_map(params, read)?.collect::<Result<_, _>>()?)
    }

    /// The groups that have many messages in flight. The index is named because it is empty for
    /// queues without groups, which the planner cannot know.
    fn noisy_groups(&self, queue: &Queue) -> Result<Vec<String>, Error> {
        let mut select = self.tx.prepare_cached(
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
    fn lend(&self, queue: &Queue, waiting: Waiting, hidden_ms: i64) -> Result<Message, Error> {
        let receipt = Receipt { seq: waiting.seq, nonce: self.nonce()? };
        let first_received_at = waiting.first_received_at.unwrap_or(self.now);
        self.tx
            .prepare_cached(
                "UPDATE messages SET receipt = ?2, visible_at = ?3, first_received_at = ?4,
                    received = received + 1 WHERE seq = ?1",
            )?
            .execute(params![
                waiting.seq,
                receipt.nonce,
                self.now + hidden_ms,
                first_received_at
            ])?;
        let attributes = system_attributes(&waiting, first_received_at);
        let message_attributes = match &waiting.attributes {
            Some(text) => serde_json::from_str(text)?,
            None => BTreeMap::new(),
        };
        Ok(Message {
            receipt_handle: receipt.handle(queue),
            md5: digest::of_body(&waiting.body),
            id: waiting.id,
            body: waiting.body,
            attributes,
            message_attributes,
        })
    }
}

/// A message that can be received.
struct Waiting {
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

fn read(row: &Row<'_>) -> rusqlite::Result<Waiting> {
    Ok(Waiting {
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

fn system_attributes(waiting: &Waiting, first_received_at: i64) -> BTreeMap<String, String> {
    let always = [
        ("ApproximateFirstReceiveTimestamp", first_received_at.to_string()),
        ("ApproximateReceiveCount", (waiting.received + 1).to_string()),
        ("SenderId", names::ACCOUNT.to_owned()),
        ("SentTimestamp", waiting.sent_at.to_string()),
    ];
    let sometimes = [
        ("AWSTraceHeader", &waiting.trace_header),
        ("DeadLetterQueueSourceArn", &waiting.source),
        ("MessageGroupId", &waiting.group),
    ];
    let present = sometimes.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
    always.into_iter().chain(present).map(|(name, value)| (name.to_owned(), value)).collect()
}
