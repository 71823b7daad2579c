//! Subscriptions of queues to topics.

use rusqlite::{OptionalExtension, Row, params};

use crate::engine::Tx;
use crate::error::{Code, Refused, Result};
use crate::names;
use crate::settings::Attributes;

/// A subscription of a queue to a topic.
#[derive(Debug)]
pub(crate) struct Subscription {
    pub(crate) arn: String,
    pub(crate) topic: String,
    pub(crate) endpoint: String,
    pub(crate) attributes: Attributes,
}

const COLUMNS: &str = "arn, topic, endpoint, attributes";

impl Tx<'_> {
    /// The subscription with this ARN, or the refusal that SNS answers with.
    pub(crate) fn subscription(&self, arn: &str) -> Result<Subscription> {
        let row = self
            .sql
            .prepare_cached(&format!("SELECT {COLUMNS} FROM subscriptions WHERE arn = ?1"))?
            .query_row([arn], read)
            .optional()?;
        let missing = || Refused::new(Code::SubscriptionNotFound, "Subscription does not exist");
        parse(row.ok_or_else(missing)?)
    }

    /// The subscription of this endpoint to this topic, if there is one.
    pub(crate) fn find_subscription(
        &self,
        topic: &str,
        endpoint: &str,
    ) -> Result<Option<Subscription>> {
        let row = self
            .sql
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM subscriptions WHERE topic = ?1 AND endpoint = ?2"
            ))?
            .query_row([topic, endpoint], read)
            .optional()?;
        row.map(parse).transpose()
    }

    /// The subscriptions to one topic or to all, oldest first.
    pub(crate) fn subscriptions(&self, topic: Option<&str>) -> Result<Vec<Subscription>> {
        let mut select = self.sql.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM subscriptions WHERE ?1 IS NULL OR topic = ?1 ORDER BY rowid"
        ))?;
        let rows = select.query_map([topic], read)?.collect::<Result<Vec<_>, _>>()?;
        rows.into_iter().map(parse).collect()
    }

    /// Subscribes the endpoint and gives the subscription's ARN.
    pub(crate) fn add_subscription(
        &self,
        topic: &str,
        endpoint: &str,
        attributes: &Attributes,
    ) -> Result<String> {
        let arn = format!("{}:{}", names::topic_arn(topic), self.uuid()?);
        self.sql
            .prepare_cached(
                "INSERT INTO subscriptions (arn, topic, endpoint, attributes)
                 VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![arn, topic, endpoint, serde_json::to_string(attributes)?])?;
        Ok(arn)
    }

    /// Gives the subscription these attributes and no others.
    pub(crate) fn replace_subscription_attributes(
        &self,
        arn: &str,
        attributes: &Attributes,
    ) -> Result {
        self.sql
            .prepare_cached("UPDATE subscriptions SET attributes = ?2 WHERE arn = ?1")?
            .execute(params![arn, serde_json::to_string(attributes)?])?;
        Ok(())
    }

    /// Removes the subscription, if it is there.
    pub(crate) fn remove_subscription(&self, arn: &str) -> Result {
        self.sql.prepare_cached("DELETE FROM subscriptions WHERE arn = ?1")?.execute([arn])?;
        Ok(())
    }
}

type Columns = (String, String, String, String);

fn read(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn parse((arn, topic, endpoint, attributes): Columns) -> Result<Subscription> {
    let attributes = serde_json::from_str(&attributes)?;
    Ok(Subscription { arn, topic, endpoint, attributes })
}
