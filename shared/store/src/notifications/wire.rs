//! The few requests that everything here is made of.

use aws_sdk_dynamodb::types::{
    KeysAndAttributes, Put, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem,
};
use domain::Failure;

use super::Notifications;
use crate::row::{Item, number, text};
use crate::schema::PK;
use crate::tally;
use crate::transaction::put;

impl Notifications {
    pub(super) async fn get(
        &self,
        key: Item,
        action: &'static str,
    ) -> Result<Option<Item>, Failure> {
        let found = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(key))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|cause| Failure::new(action, cause))?;
        tally::note(found.consumed_capacity());
        Ok(found.item)
    }

    /// Reads rows by key, a hundred at a time, until the store has answered for all of them.
    pub(super) async fn get_all(
        &self,
        keys: Vec<Item>,
        action: &'static str,
    ) -> Result<Vec<Item>, Failure> {
        let mut items = Vec::new();
        let mut left = keys;
        while !left.is_empty() {
            let now: Vec<Item> = left.drain(..left.len().min(100)).collect();
            let asked = KeysAndAttributes::builder()
                .set_keys(Some(now))
                .consistent_read(true)
                .build()
                .map_err(|cause| Failure::new(action, cause))?;
            let found = self
                .client
                .batch_get_item()
                .request_items(&self.table, asked)
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(|cause| Failure::new(action, cause))?;
            tally::note(found.consumed_capacity());
            let mut answered = found.responses.unwrap_or_default();
            items.extend(answered.remove(&self.table).unwrap_or_default());
            let mut unanswered = found.unprocessed_keys.unwrap_or_default();
            left.extend(unanswered.remove(&self.table).map(|asked| asked.keys).unwrap_or_default());
        }
        Ok(items.into_iter().filter(|item| item.contains_key(PK)).collect())
    }

    /// Reads a stretch of one partition, up to date and to its end.
    pub(super) async fn query_all(
        &self,
        action: &'static str,
        condition: &str,
        values: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<Vec<Item>, Failure> {
        let values: Vec<_> = values.into_iter().collect();
        let mut items = Vec::new();
        let mut start: Option<Item> = None;
        loop {
            let mut request = self
                .client
                .query()
                .table_name(&self.table)
                .key_condition_expression(condition)
                .set_exclusive_start_key(start)
                .consistent_read(true)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            for (name, value) in &values {
                request = request.expression_attribute_values(*name, text(value));
            }
            let found = request.send().await.map_err(|cause| Failure::new(action, cause))?;
            tally::note(found.consumed_capacity());
            items.extend(found.items.unwrap_or_default());
            start = found.last_evaluated_key;
            if start.is_none() {
                return Ok(items);
            }
        }
    }

    /// Writes a row if there is none yet.
    pub(super) fn new_row(
        &self,
        item: Item,
        action: &'static str,
    ) -> Result<TransactWriteItem, Failure> {
        self.next_row(item, 0, action)
    }

    /// Writes a row in the place of its version `before`; 0 means that there is none. Whoever loses is
    /// told what stands there.
    pub(super) fn next_row(
        &self,
        item: Item,
        before: u64,
        action: &'static str,
    ) -> Result<TransactWriteItem, Failure> {
        let row = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let row = match before {
            0 => row.condition_expression("attribute_not_exists(pk)"),
            before => row
                .condition_expression("v = :before")
                .expression_attribute_values(":before", number(before)),
        };
        row.build().map(put).map_err(|cause| Failure::new(action, cause))
    }
}
