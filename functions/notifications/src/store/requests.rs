//! The few requests that everything here is made of.

use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::{Failure, Result};

use super::Notifications;
use store::items;
use store::row::{Item, text};
use store::transaction::put_version;

impl Notifications {
    pub(super) async fn get(&self, key: Item, action: &'static str) -> Result<Option<Item>> {
        items::get(&self.client, &self.table, key, action).await
    }

    pub(super) async fn get_all(&self, keys: Vec<Item>, action: &'static str) -> Result<Vec<Item>> {
        items::batch_get(&self.client, &self.table, keys, action).await
    }

    /// Reads a stretch of one partition, up to date and to its end.
    pub(super) async fn query_all(
        &self,
        action: &'static str,
        condition: &str,
        values: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<Vec<Item>> {
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
                .consistent_read(true);
            for (name, value) in &values {
                request = request.expression_attribute_values(*name, text(value));
            }
            let found = request.send().await.map_err(|cause| Failure::new(action, cause))?;
            items.extend(found.items.unwrap_or_default());
            start = found.last_evaluated_key;
            if start.is_none() {
                return Ok(items);
            }
        }
    }

    /// Writes a row if there is none yet.
    pub(super) fn new_row(&self, item: Item, action: &'static str) -> Result<TransactWriteItem> {
        self.next_row(item, 0, action)
    }

    /// Writes a row in the place of its version `before`; 0 means that there is none. A lost
    /// condition returns the row as it is.
    pub(super) fn next_row(
        &self,
        item: Item,
        before: u64,
        action: &'static str,
    ) -> Result<TransactWriteItem> {
        put_version(&self.table, item, before, action)
    }
}
