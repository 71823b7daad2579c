//! The few requests that everything here is made of.

use std::borrow::Cow;
use std::collections::HashMap;

use aws_sdk_dynamodb::types::{
    AttributeValue, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use domain::Failure;

use futures::{StreamExt, TryStreamExt, stream};

use super::Feed;
use store::items;
use store::row::Item;
use store::transaction::{put, put_version, update};

/// Rows of one call, and calls at a time.
const BATCH: usize = 100;
const AT_ONCE: usize = 8;

/// Which stretch of a partition, or of an index.
#[derive(Debug, Default)]
pub(super) struct Stretch<'a> {
    /// The index; the table itself if there is none.
    pub(super) index: Option<&'static str>,
    pub(super) condition: &'a str,
    pub(super) values: Vec<(&'static str, AttributeValue)>,
    pub(super) descending: bool,
    pub(super) limit: Option<usize>,
}

/// An update that is being written.
pub(super) struct Change {
    key: Item,
    expression: Cow<'static, str>,
    condition: Option<String>,
    values: HashMap<String, AttributeValue>,
}

impl Change {
    pub(super) fn of(key: Item, expression: impl Into<Cow<'static, str>>) -> Self {
        let expression = expression.into();
        Self { key, expression, condition: None, values: HashMap::new() }
    }

    pub(super) fn given(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    pub(super) fn with(mut self, name: &str, value: AttributeValue) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }
}

impl Feed {
    pub(super) async fn get(
        &self,
        key: Item,
        action: &'static str,
    ) -> Result<Option<Item>, Failure> {
        items::get(&self.client, &self.table, key, action).await
    }

    /// Reads rows by key, up to date, a hundred in a call and some calls at a time: somebody may follow
    /// thousands.
    pub(super) async fn get_all(
        &self,
        keys: Vec<Item>,
        action: &'static str,
    ) -> Result<Vec<Item>, Failure> {
        let calls: Vec<_> = keys
            .chunks(BATCH)
            .map(|some| items::batch_get(&self.client, &self.table, some.to_vec(), action))
            .collect();
        stream::iter(calls).buffer_unordered(AT_ONCE).try_concat().await
    }

    /// Reads a stretch, up to date unless it is of an index, to its limit or its end.
    pub(super) async fn query(
        &self,
        stretch: Stretch<'_>,
        action: &'static str,
    ) -> Result<Vec<Item>, Failure> {
        let mut items = Vec::new();
        let mut start: Option<Item> = None;
        loop {
            let left = stretch.limit.map(|limit| limit - items.len());
            let mut request = self
                .client
                .query()
                .table_name(&self.table)
                .set_index_name(stretch.index.map(str::to_owned))
                .key_condition_expression(stretch.condition)
                .set_exclusive_start_key(start)
                .scan_index_forward(!stretch.descending)
                .set_limit(left.map(|left| i32::try_from(left).unwrap_or(i32::MAX)))
                .consistent_read(stretch.index.is_none());
            for (name, value) in &stretch.values {
                request = request.expression_attribute_values(*name, value.clone());
            }
            let found = request.send().await.map_err(|cause| Failure::new(action, cause))?;
            items.extend(found.items.unwrap_or_default());
            start = found.last_evaluated_key;
            let full = stretch.limit.is_some_and(|limit| items.len() >= limit);
            if start.is_none() || full {
                return Ok(items);
            }
        }
    }

    /// Writes a row by itself, if there is none; `false` if there is.
    pub(super) async fn write_new(
        &self,
        item: Item,
        action: &'static str,
    ) -> Result<bool, Failure> {
        let sent = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(pk)")
            .send()
            .await;
        match sent {
            Ok(_) => Ok(true),
            Err(error) => match error.as_service_error() {
                Some(lost) if lost.is_conditional_check_failed_exception() => Ok(false),
                _ => Err(Failure::new(action, error)),
            },
        }
    }

    /// Makes a change by itself; what stands there afterwards, or `None` if its condition is lost.
    pub(super) async fn change(
        &self,
        change: Change,
        action: &'static str,
    ) -> Result<Option<Item>, Failure> {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(change.key))
            .update_expression(change.expression)
            .set_condition_expression(change.condition)
            .set_expression_attribute_values((!change.values.is_empty()).then_some(change.values))
            .return_values(aws_sdk_dynamodb::types::ReturnValue::AllNew)
            .send()
            .await;
        match sent {
            Ok(done) => Ok(Some(done.attributes.unwrap_or_default())),
            Err(error) => match error.as_service_error() {
                Some(lost) if lost.is_conditional_check_failed_exception() => Ok(None),
                _ => Err(Failure::new(action, error)),
            },
        }
    }

    /// The same as a part of a transaction.
    pub(super) fn changing(
        &self,
        change: Change,
        action: &'static str,
    ) -> Result<TransactWriteItem, Failure> {
        Update::builder()
            .table_name(&self.table)
            .set_key(Some(change.key))
            .update_expression(change.expression)
            .set_condition_expression(change.condition)
            .set_expression_attribute_values((!change.values.is_empty()).then_some(change.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
            .map(update)
            .map_err(|cause| Failure::new(action, cause))
    }

    /// Writes a row whatever is there: only for rows that are the same whoever writes them.
    pub(super) fn same_row(
        &self,
        item: Item,
        action: &'static str,
    ) -> Result<TransactWriteItem, Failure> {
        let row = Put::builder().table_name(&self.table).set_item(Some(item));
        row.build().map(put).map_err(|cause| Failure::new(action, cause))
    }

    /// Writes a row in the place of its version `before`; 0 means that there is none. Whoever loses is
    /// told what stands there.
    pub(super) fn next_row(
        &self,
        item: Item,
        before: u64,
        action: &'static str,
    ) -> Result<TransactWriteItem, Failure> {
        put_version(&self.table, item, before, action)
    }
}
