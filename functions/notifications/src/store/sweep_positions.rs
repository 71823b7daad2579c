//! Where walks stopped. Losing a note only means walking a stretch again.

use domain::{Result, Timestamp};

use super::Notifications;
use store::ignore_lost_condition;
use store::row::{ItemReader, instant, key, text};

const SWEEP: &str = "sweep";
const DUE: &str = "due";

impl Notifications {
    /// Up to when every bucket was looked at, if any was.
    pub async fn swept_until(&self) -> Result<Option<Timestamp>> {
        let found = self.get(key(SWEEP, DUE), "read which buckets were looked at").await?;
        Ok(found.as_ref().and_then(|item| ItemReader(item).maybe_instant("looked_until")))
    }

    /// Notes up to when every bucket was looked at. It only moves on; repeating it changes nothing.
    pub async fn save_swept_until(&self, until: Timestamp) -> Result {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(SWEEP, DUE)))
            .update_expression("SET looked_until = :until")
            .condition_expression("attribute_not_exists(looked_until) OR looked_until < :until")
            .expression_attribute_values(":until", instant(until))
            .send()
            .await;
        ignore_lost_condition("note which buckets were looked at", sent)
    }

    /// Where the walk through a list of pending deliveries goes on; from the start if nowhere.
    pub async fn pending_position(&self, list: u8) -> Result<Option<String>> {
        let found = self.get(key(SWEEP, &walk(list)), "read where the walk stopped").await?;
        let position = found.as_ref().and_then(|item| ItemReader(item).maybe_text("stopped_at"));
        Ok(position.filter(|position| !position.is_empty()).map(str::to_owned))
    }

    /// Notes where it stopped; `None` at its end.
    pub async fn save_pending_position(&self, list: u8, position: Option<&str>) -> Result {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(SWEEP, &walk(list))))
            .update_expression("SET stopped_at = :position")
            .expression_attribute_values(":position", text(position.unwrap_or_default()))
            .send()
            .await;
        ignore_lost_condition("note where the walk stopped", sent)
    }
}

fn walk(list: u8) -> String {
    format!("pending#{list}")
}
