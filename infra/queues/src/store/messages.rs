//! Messages in a queue: put in, counted, hidden, removed.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rusqlite::params;

use crate::engine::Tx;
use crate::error::{Code, Refused, Result};
use crate::message::NewMessage;
use crate::store::queues::Queue;

/// How many messages a queue holds, by what can be done with them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueDepth {
    /// Can be received now.
    pub visible: usize,
    /// Received, and neither deleted nor visible again.
    pub in_flight: usize,
    /// Not yet received, and not yet visible.
    pub delayed: usize,
}

/// Whether a receipt handle still stood for its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptStatus {
    /// It did, and the call had its effect.
    Current,
    /// The message was received again, deleted or expired since; nothing was changed.
    Stale,
}

/// A receipt handle taken apart: the message's row and the receipt of one receive.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    pub(crate) seq: i64,
    pub(crate) nonce: String,
}

impl Receipt {
    /// The text that consumers see. It names the queue so that it fits no other.
    pub(crate) fn handle(&self, queue: &Queue) -> String {
        let Self { seq, nonce } = self;
        URL_SAFE_NO_PAD.encode(format!("{} {seq} {nonce}", queue.name))
    }

    /// Reads a handle that this queue gave out.
    pub(crate) fn read(handle: &str, queue: &Queue) -> Result<Self, Refused> {
        let read = || {
            let text = String::from_utf8(URL_SAFE_NO_PAD.decode(handle).ok()?).ok()?;
            let mut parts = text.split(' ');
            let is_ours = parts.next() == Some(queue.name.as_str());
            let seq = parts.next()?.parse().ok()?;
            let nonce = parts.next()?.to_owned();
            (is_ours && parts.next().is_none()).then_some(Self { seq, nonce })
        };
        read().ok_or_else(|| {
            let message =
                format!("The input receipt handle \"{handle}\" is not a valid receipt handle.");
            Refused::new(Code::ReceiptHandleIsInvalid, message)
        })
    }
}

impl Tx<'_> {
    /// Puts a message into the queue and gives its id. The message has been checked.
    pub(crate) fn enqueue(&self, queue: &Queue, message: &NewMessage) -> Result<String> {
        let id = self.uuid()?;
        let delay_ms =
            message.delay.map_or(queue.settings.delay_ms, |seconds| i64::from(seconds) * 1_000);
        let attributes = if message.attributes.is_empty() {
            None
        } else {
            Some(serde_json::to_string(&message.attributes)?)
        };
        self.sql
            .prepare_cached(
                "INSERT INTO messages
                    (queue, id, sent_at, visible_at, group_id, trace_header, attributes, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                queue.key,
                id,
                self.now,
                self.now + delay_ms,
                message.group,
                message.trace_header,
                attributes,
                message.body
            ])?;
        self.notify_on_commit();
        Ok(id)
    }

    /// Deletes the message if this is its newest receipt.
    pub(crate) fn delete_message(&self, queue: &Queue, handle: &str) -> Result<ReceiptStatus> {
        let Receipt { seq, nonce } = Receipt::read(handle, queue)?;
        let deleted = self
            .sql
            .prepare_cached("DELETE FROM messages WHERE seq = ?1 AND queue = ?2 AND receipt = ?3")?
            .execute(params![seq, queue.key, nonce])?;
        Ok(if deleted == 1 { ReceiptStatus::Current } else { ReceiptStatus::Stale })
    }

    /// Makes the message visible so many milliseconds from now, if this is its newest receipt and
    /// no other consumer can receive it already.
    pub(crate) fn hide_message(
        &self,
        queue: &Queue,
        handle: &str,
        ms: i64,
    ) -> Result<ReceiptStatus> {
        let Receipt { seq, nonce } = Receipt::read(handle, queue)?;
        let changed = self
            .sql
            .prepare_cached(
                "UPDATE messages SET visible_at = ?4
                 WHERE seq = ?1 AND queue = ?2 AND receipt = ?3 AND visible_at > ?5",
            )?
            .execute(params![seq, queue.key, nonce, self.now + ms, self.now])?;
        self.notify_on_commit();
        Ok(if changed == 1 { ReceiptStatus::Current } else { ReceiptStatus::Stale })
    }

    /// Removes what has been in the queue for longer than the queue keeps messages.
    pub(crate) fn expire(&self, queue: &Queue) -> Result {
        self.sql
            .prepare_cached("DELETE FROM messages WHERE queue = ?1 AND sent_at <= ?2")?
            .execute([queue.key, self.now - queue.settings.retention_ms])?;
        Ok(())
    }

    /// Removes every message of the queue, those in flight included.
    pub(crate) fn purge(&self, queue: &Queue) -> Result {
        self.sql.prepare_cached("DELETE FROM messages WHERE queue = ?1")?.execute([queue.key])?;
        Ok(())
    }

    /// Counts the queue's messages.
    pub(crate) fn depth(&self, queue: &Queue) -> Result<QueueDepth> {
        self.expire(queue)?;
        let depth = self
            .sql
            .prepare_cached(
                "SELECT count(*) FILTER (WHERE visible_at <= ?2),
                        count(*) FILTER (WHERE visible_at > ?2 AND receipt IS NOT NULL),
                        count(*) FILTER (WHERE visible_at > ?2 AND receipt IS NULL)
                 FROM messages WHERE queue = ?1",
            )?
            .query_row([queue.key, self.now], |row| {
                let (visible, in_flight, delayed) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(QueueDepth { visible, in_flight, delayed })
            })?;
        Ok(depth)
    }

    /// The earliest moment at which a message is or becomes visible.
    pub(crate) fn next_visible_at(&self, queue: &Queue) -> Result<Option<i64>> {
        self.expire(queue)?;
        let next = self
            .sql
            .prepare_cached("SELECT min(visible_at) FROM messages WHERE queue = ?1")?
            .query_row([queue.key], |row| row.get(0))?;
        Ok(next)
    }
}
