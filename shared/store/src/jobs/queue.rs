//! What someone has to look at: jobs that may run, that wait, or whose end is not told.

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::operation::update_item::UpdateItemOutput;
use aws_sdk_dynamodb::types::{ReturnConsumedCapacity, Select};
use domain::jobs::{Job, JobId, Priority, TypeName};
use domain::{Failure, Timestamp};

use super::Jobs;
use super::rows::{self, LISTS};
use crate::row::{Row, key, text};
use crate::schema::GSI2;
use crate::settle::settle;
use crate::tally;

impl Jobs {
    /// The first `limit` jobs of a type and priority that may run at `now`, oldest first. An index may
    /// be a moment behind: whoever assigns one of them names the version it has here.
    pub async fn ready(
        &self,
        kind: &TypeName,
        priority: Priority,
        now: Timestamp,
        limit: i32,
    ) -> Result<Vec<Job>, Failure> {
        let found = self
            .until(&rows::queue_of(kind, priority), now)
            .limit(limit)
            .send()
            .await
            .map_err(|cause| Failure::new("read the queue", cause))?;
        tally::note(found.consumed_capacity());
        found.items().iter().map(rows::read_job).collect()
    }

    /// How many jobs of a type and priority became ready until `until`, counted up to `most`.
    pub async fn count_ready(
        &self,
        kind: &TypeName,
        priority: Priority,
        until: Timestamp,
        most: i32,
    ) -> Result<u64, Failure> {
        let found = self
            .until(&rows::queue_of(kind, priority), until)
            .select(Select::Count)
            .limit(most)
            .send()
            .await
            .map_err(|cause| Failure::new("count the queue", cause))?;
        tally::note(found.consumed_capacity());
        Ok(u64::try_from(found.count()).unwrap_or(0))
    }

    /// Jobs that ended before `before` and whose end was not told to everyone, oldest first.
    pub async fn unsettled(&self, before: Timestamp, limit: i32) -> Result<Vec<JobId>, Failure> {
        let mut ids = Vec::new();
        for list in 0..LISTS {
            let found = self
                .until(&format!("ended#{list}"), before)
                .limit(limit)
                .send()
                .await
                .map_err(|cause| Failure::new("read which ends are untold", cause))?;
            tally::note(found.consumed_capacity());
            ids.extend(found.items().iter().filter_map(rows::own_id));
        }
        Ok(ids)
    }

    /// Up to `limit` waiting jobs of each list after `after`, oldest first.
    pub async fn waiting(
        &self,
        list: u8,
        after: Option<&str>,
        limit: i32,
    ) -> Result<(Vec<Job>, Option<String>), Failure> {
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(GSI2)
            .key_condition_expression("gsi2pk = :list AND gsi2sk > :after")
            .expression_attribute_values(":list", text(format!("waiting#{list}")))
            .expression_attribute_values(":after", text(after.unwrap_or("0")))
            .limit(limit)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|cause| Failure::new("read who waits", cause))?;
        tally::note(found.consumed_capacity());
        let jobs = found.items().iter().map(rows::read_job).collect::<Result<Vec<Job>, _>>()?;
        let next = found.last_evaluated_key().and_then(|key| Row(key).maybe_text("gsi2sk"));
        Ok((jobs, next.map(str::to_owned)))
    }

    /// How many lists [`Jobs::waiting`] has.
    pub const WAITING_LISTS: u8 = LISTS;

    /// Where the walk through those who wait goes on.
    pub async fn waiting_position(&self) -> Result<Option<String>, Failure> {
        let found = self.get(key("sweep", "waiting"), "read where the walk stopped").await?;
        let position = found.as_ref().and_then(|item| Row(item).maybe_text("stopped_at"));
        Ok(position.map(str::to_owned))
    }

    /// Notes where it stopped. Losing a note only means walking a stretch again.
    pub async fn note_waiting(&self, position: &str) -> Result<(), Failure> {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key("sweep", "waiting")))
            .update_expression("SET stopped_at = :position")
            .expression_attribute_values(":position", text(position))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        settle("note where the walk stopped", sent, UpdateItemOutput::consumed_capacity)
    }

    fn until(&self, list: &str, until: Timestamp) -> QueryFluentBuilder {
        self.client
            .query()
            .table_name(&self.table)
            .index_name(GSI2)
            .key_condition_expression("gsi2pk = :list AND gsi2sk < :until")
            .expression_attribute_values(":list", text(list))
            // `~` comes after the `#` that follows every time.
            .expression_attribute_values(":until", text(format!("{}~", rows::moment(until))))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
    }
}
