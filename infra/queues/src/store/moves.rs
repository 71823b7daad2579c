//! Moving dead letters back to where they came from, or to another queue.

use rusqlite::params;

use crate::engine::Tx;
use crate::error::Result;
use crate::names;
use crate::store::queues::Queue;

/// A move that was asked for. Moves are done by the time the call returns.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) source: String,
    pub(crate) destination: Option<String>,
    pub(crate) started_at: i64,
    pub(crate) found: i64,
    pub(crate) moved: i64,
}

impl Tx<'_> {
    /// Moves every visible message of `source` to `destination`, or, without one, back to the
    /// queue it was a dead letter of. A message whose origin is unknown stays. Gives the handle of
    /// the move.
    pub(crate) fn move_messages(
        &self,
        source: &Queue,
        destination: Option<&Queue>,
    ) -> Result<String> {
        self.expire(source)?;
        let waiting = self.movable(source)?;
        let mut moved = 0_i64;
        for (seq, origin) in &waiting {
            let origin = match destination {
                Some(_) => None,
                None => self.origin(origin.as_deref())?,
            };
            if let Some(target) = destination.or(origin.as_ref()) {
                self.redrive(*seq, target)?;
                moved += 1;
            }
        }
        let handle = self.uuid()?;
        let destination = destination.map(|queue| names::queue_arn(&queue.name));
        let found = i64::try_from(waiting.len()).unwrap_or(i64::MAX);
        let arn = names::queue_arn(&source.name);
        self.sql
            .prepare_cached(
                "INSERT INTO moves (handle, source, destination, started_at, found, moved)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![handle, arn, destination, self.now, found, moved])?;
        self.notify_on_commit();
        Ok(handle)
    }

    /// The latest moves out of this queue, newest first.
    pub(crate) fn moves(&self, source_arn: &str, max: i64) -> Result<Vec<Move>> {
        let mut select = self.sql.prepare_cached(
            "SELECT source, destination, started_at, found, moved FROM moves
             WHERE source = ?1 ORDER BY started_at DESC, rowid DESC LIMIT ?2",
        )?;
        let moves = select.query_map(params![source_arn, max], |row| {
            Ok(Move {
                source: row.get(0)?,
                destination: row.get(1)?,
                started_at: row.get(2)?,
                found: row.get(3)?,
                moved: row.get(4)?,
            })
        })?;
        Ok(moves.collect::<Result<_, _>>()?)
    }

    fn movable(&self, source: &Queue) -> Result<Vec<(i64, Option<String>)>> {
        let mut select = self.sql.prepare_cached(
            "SELECT seq, source FROM messages WHERE queue = ?1 AND visible_at <= ?2
             ORDER BY visible_at, seq",
        )?;
        let rows =
            select.query_map([source.key, self.now], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn origin(&self, arn: Option<&str>) -> Result<Option<Queue>> {
        match arn.and_then(names::queue_in_arn) {
            Some(name) => self.find_queue(name),
            None => Ok(None),
        }
    }

    /// A redriven message counts as a new one: another id, another age, no receives.
    fn redrive(&self, seq: i64, target: &Queue) -> Result {
        self.sql
            .prepare_cached(
                "UPDATE messages
                 SET queue = ?2, id = ?3, sent_at = ?4, visible_at = ?4, receipt = NULL,
                     source = NULL, received = 0, received_before = 0, first_received_at = NULL
                 WHERE seq = ?1",
            )?
            .execute(params![seq, target.key, self.uuid()?, self.now])?;
        Ok(())
    }
}
