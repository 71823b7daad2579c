//! Topics: created, changed, found and removed.

use rusqlite::{OptionalExtension, params};

use crate::engine::Tx;
use crate::error::{Code, Refused, Result};
use crate::names;
use crate::settings::Attributes;

impl Tx<'_> {
    /// The attributes of the topic of that name, if there is one.
    pub(crate) fn find_topic(&self, name: &str) -> Result<Option<Attributes>> {
        let text: Option<String> = self
            .sql
            .prepare_cached("SELECT attributes FROM topics WHERE name = ?1")?
            .query_row([name], |row| row.get(0))
            .optional()?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// The name and the attributes of the topic with this ARN.
    pub(crate) fn topic<'a>(&self, arn: &'a str) -> Result<(&'a str, Attributes)> {
        let name = names::topic_in_arn(arn).ok_or_else(|| {
            Refused::new(Code::InvalidTopicParameter, "Invalid parameter: TopicArn")
        })?;
        let topic = self.find_topic(name)?;
        let attributes =
            topic.ok_or_else(|| Refused::new(Code::TopicNotFound, "Topic does not exist"))?;
        Ok((name, attributes))
    }

    /// Creates the topic, or gives the one that exists these attributes.
    pub(crate) fn put_topic(&self, name: &str, attributes: &Attributes) -> Result {
        names::check_topic_name(name)?;
        self.sql
            .prepare_cached(
                "INSERT INTO topics (name, attributes) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET attributes = excluded.attributes",
            )?
            .execute(params![name, serde_json::to_string(attributes)?])?;
        Ok(())
    }

    /// Removes the topic and its subscriptions.
    pub(crate) fn delete_topic(&self, name: &str) -> Result {
        self.sql.prepare_cached("DELETE FROM topics WHERE name = ?1")?.execute([name])?;
        Ok(())
    }

    /// The names of all topics, in order.
    pub(crate) fn topic_names(&self) -> Result<Vec<String>> {
        let mut select = self.sql.prepare_cached("SELECT name FROM topics ORDER BY name")?;
        Ok(select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}
