//! Where walks stopped. Losing a note only means walking a stretch again.

use aws_sdk_dynamodb::operation::update_item::UpdateItemOutput;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use domain::{Failure, Timestamp};

use super::Notifications;
use store::row::{Row, instant, key, text};
use store::settle::settle;

const SWEEP: &str = "sweep";
const DUE: &str = "due";

impl Notifications {
    /// Up to when every bucket was looked at, if any was.
    pub async fn swept_until(&self) -> Result<Option<Timestamp>, Failure> {
        let found = self.get(key(SWEEP, DUE), "read which buckets were looked at").await?;
        Ok(found.as_ref().and_then(|item| Row(item).maybe_instant("looked_until")))
    }

    /// Notes up to when every bucket was looked at. It only moves on; repeating it changes nothing.
    pub async fn save_swept_until(&self, until: Timestamp) -> Result<(), Failure> {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(SWEEP, DUE)))
            .update_expression("SET looked_until = :until")
            .condition_expression("attribute_not_exists(looked_until) OR looked_until < :until")
            .expression_attribute_values(":until", instant(until))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        settle("note which buckets were looked at", sent, UpdateItemOutput::consumed_capacity)
    }

    /// Where the walk through a list of pending deliveries goes on; from the start if nowhere.
    pub async fn pending_position(&self, list: u8) -> Result<Option<String>, Failure> {
        let found = self.get(key(SWEEP, &walk(list)), "read where the walk stopped").await?;
        let position = found.as_ref().and_then(|item| Row(item).maybe_text("stopped_at"));
        Ok(position.filter(|position| !position.is_empty()).map(str::to_owned))
    }

    /// Notes where it stopped; `None` at its end.
    pub async fn save_pending_position(
        &self,
        list: u8,
        position: Option<&str>,
    ) -> Result<(), Failure> {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(SWEEP, &walk(list))))
            .update_expression("SET stopped_at = :position")
            .expression_attribute_values(":position", text(position.unwrap_or_default()))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        settle("note where the walk stopped", sent, UpdateItemOutput::consumed_capacity)
    }
}

fn walk(list: u8) -> String {
    format!("pending#{list}")
}
