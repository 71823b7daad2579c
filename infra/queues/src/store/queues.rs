//! Queues: created, changed, found and removed.

use rusqlite::{OptionalExtension, Row, params};

use crate::engine::Tx;
use crate::error::{Code, Refused, Result, refuse};
use crate::names;
use crate::settings::{self, Attributes, RedriveAllow, Settings};

/// A queue as it is stored.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) key: i64,
    pub(crate) name: String,
    pub(crate) attributes: Attributes,
    pub(crate) settings: Settings,
    pub(crate) created_at: i64,
    pub(crate) modified_at: i64,
}

/// The outcome of `CreateQueue`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Creation {
    Created,
    Existed,
    /// There is one of that name, and it differs in this attribute.
    Differs(String),
}

impl Tx<'_> {
    /// The queue of that name, if there is one.
    pub(crate) fn find_queue(&self, name: &str) -> Result<Option<Queue>> {
        let row = self
            .sql
            .prepare_cached(
                "SELECT id, name, attributes, created_at, modified_at FROM queues WHERE name = ?1",
            )?
            .query_row([name], read)
            .optional()?;
        row.map(QueueRow::into_queue).transpose()
    }

    /// The queue of that name, or the refusal that SQS answers with.
    pub(crate) fn queue(&self, name: &str) -> Result<Queue> {
        self.find_queue(name)?.ok_or_else(|| {
            let message = "The specified queue does not exist.";
            Refused::new(Code::QueueDoesNotExist, message).into()
        })
    }

    /// All queues, by name.
    pub(crate) fn queues(&self) -> Result<Vec<Queue>> {
        let mut select = self.sql.prepare_cached(
            "SELECT id, name, attributes, created_at, modified_at FROM queues ORDER BY name",
        )?;
        let rows = select.query_map([], read)?.collect::<Result<Vec<_>, _>>()?;
        rows.into_iter().map(QueueRow::into_queue).collect()
    }

    /// Creates the queue unless there is one of that name.
    pub(crate) fn create_queue(&self, name: &str, attributes: &Attributes) -> Result<Creation> {
        names::check_queue_name(name)?;
        self.check_attributes(name, attributes)?;
        if let Some(queue) = self.find_queue(name)? {
            let present = settings::effective(&queue.attributes);
            let differs = attributes.iter().find(|(key, value)| present.get(*key) != Some(*value));
            return Ok(differs.map_or(Creation::Existed, |(key, _)| Creation::Differs(key.clone())));
        }
        self.sql
            .prepare_cached(
                "INSERT INTO queues (name, attributes, created_at, modified_at)
                 VALUES (?1, ?2, ?3, ?3)",
            )?
            .execute(params![name, without_empty(attributes)?, self.now])?;
        Ok(Creation::Created)
    }

    /// Gives the queue these attributes and no others.
    pub(crate) fn replace_attributes(&self, queue: &Queue, attributes: &Attributes) -> Result {
        self.check_attributes(&queue.name, attributes)?;
        self.sql
            .prepare_cached("UPDATE queues SET attributes = ?2, modified_at = ?3 WHERE id = ?1")?
            .execute(params![queue.key, without_empty(attributes)?, self.now])?;
        // A shorter delay or a new dead letter queue can concern waiting consumers.
        self.notify_on_commit();
        Ok(())
    }

    /// Removes the queue and its messages.
    pub(crate) fn delete_queue(&self, queue: &Queue) -> Result {
        self.sql.prepare_cached("DELETE FROM queues WHERE id = ?1")?.execute([queue.key])?;
        // A consumer that waits for its messages learns that the queue is gone.
        self.notify_on_commit();
        Ok(())
    }

    /// The tags of the queue.
    pub(crate) fn tags(&self, queue: &Queue) -> Result<Attributes> {
        let text: String = self
            .sql
            .prepare_cached("SELECT tags FROM queues WHERE id = ?1")?
            .query_row([queue.key], |row| row.get(0))?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Gives the queue these tags and no others.
    pub(crate) fn replace_tags(&self, queue: &Queue, tags: &Attributes) -> Result {
        self.sql
            .prepare_cached("UPDATE queues SET tags = ?2 WHERE id = ?1")?
            .execute(params![queue.key, serde_json::to_string(tags)?])?;
        Ok(())
    }

    /// The names of the queues whose dead letters go to this queue.
    pub(crate) fn dead_letter_sources(&self, name: &str) -> Result<Vec<String>> {
        let is_source =
            |queue: &Queue| queue.settings.redrive.as_ref().is_some_and(|to| to.target == name);
        Ok(self.queues()?.into_iter().filter(is_source).map(|queue| queue.name).collect())
    }

    /// Checks the attributes by themselves and against the dead letter queue they name.
    fn check_attributes(&self, name: &str, attributes: &Attributes) -> Result {
        settings::check(attributes)?;
        let Some(redrive) = Settings::from_attributes(attributes).redrive else {
            return Ok(());
        };
        let Some(target) = self.find_queue(&redrive.target)? else {
            let message = "Value for parameter RedrivePolicy is invalid. Reason: Dead letter \
                           target does not exist.";
            return Ok(refuse(Code::InvalidParameterValue, message)?);
        };
        let allow =
            target.attributes.get("RedriveAllowPolicy").map(|text| RedriveAllow::read(text));
        if allow.transpose()?.is_none_or(|policy| policy.allows(&names::queue_arn(name))) {
            return Ok(());
        }
        let message = "Value for parameter RedrivePolicy is invalid. Reason: The dead letter \
                       target's RedriveAllowPolicy does not allow this queue.";
        Ok(refuse(Code::InvalidParameterValue, message)?)
    }
}

/// The attributes as they are stored: an empty text takes an attribute away.
fn without_empty(attributes: &Attributes) -> Result<String> {
    let set: Attributes = attributes
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Ok(serde_json::to_string(&set)?)
}

/// The columns of a queue, before the JSON in them is read.
struct QueueRow {
    key: i64,
    name: String,
    attributes: String,
    created_at: i64,
    modified_at: i64,
}

impl QueueRow {
    fn into_queue(self) -> Result<Queue> {
        let Self { key, name, attributes, created_at, modified_at } = self;
        let attributes: Attributes = serde_json::from_str(&attributes)?;
        let settings = Settings::from_attributes(&attributes);
        Ok(Queue { key, name, attributes, settings, created_at, modified_at })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<QueueRow> {
    Ok(QueueRow {
        key: row.get(0)?,
        name: row.get(1)?,
        attributes: row.get(2)?,
        created_at: row.get(3)?,
        modified_at: row.get(4)?,
    })
}
