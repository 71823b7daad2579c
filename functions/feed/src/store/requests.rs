//! DynamoDB requests that all modules of the store share.

use std::borrow::Cow;
use std::collections::HashMap;

use aws_sdk_dynamodb::types::{
    AttributeValue, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use domain::{Failure, Result};

use futures::{StreamExt, TryStreamExt, stream};

use super::FeedStore;
use store::items;
use store::row::Item;
use store::transaction::{self, put, put_version};

/// Rows of one call, and calls at a time.
const BATCH: usize = 100;
const AT_ONCE: usize = 8;

/// A query of a key range, in the table or an index.
#[derive(Debug, Default)]
pub(super) struct RangeQuery<'a> {
    /// The index; the table itself if there is none.
    pub(super) index: Option<&'static str>,
    pub(super) condition: &'a str,
    pub(super) values: Vec<(&'static str, AttributeValue)>,
    pub(super) descending: bool,
    pub(super) limit: Option<usize>,
}

/// An `UpdateItem`, alone or in a transaction.
pub(super) struct RowUpdate {
    key: Item,
    expression: Cow<'static, str>,
    condition: Option<String>,
    values: HashMap<String, AttributeValue>,
}

impl RowUpdate {
    pub(super) fn new(key: Item, expression: impl Into<Cow<'static, str>>) -> Self {
        let expression = expression.into();
        Self { key, expression, condition: None, values: HashMap::new() }
    }

    pub(super) fn condition(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    pub(super) fn value(mut self, name: &str, value: AttributeValue) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }
}

impl FeedStore {
    pub(super) async fn get(&self, key: Item, action: &'static str) -> Result<Option<Item>> {
        items::get(&self.client, &self.table, key, action).await
    }

    /// Reads rows by key, up to date, a hundred in a call and some calls at a time: a reader may follow
    /// thousands.
    pub(super) async fn get_all(&self, keys: Vec<Item>, action: &'static str) -> Result<Vec<Item>> {
        let calls: Vec<_> = keys
            .chunks(BATCH)
            .map(|some| items::batch_get(&self.client, &self.table, some.to_vec(), action))
            .collect();
        stream::iter(calls).buffer_unordered(AT_ONCE).try_concat().await
    }

    /// Reads a stretch, up to date unless it is of an index, to its limit or its end.
    pub(super) async fn query(
        &self,
        range: RangeQuery<'_>,
        action: &'static str,
    ) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        let mut start: Option<Item> = None;
        loop {
            let left = range.limit.map(|limit| limit - items.len());
            let mut request = self
                .client
                .query()
                .table_name(&self.table)
                .set_index_name(range.index.map(str::to_owned))
                .key_condition_expression(range.condition)
                .set_exclusive_start_key(start)
                .scan_index_forward(!range.descending)
                .set_limit(left.map(|left| i32::try_from(left).unwrap_or(i32::MAX)))
                .consistent_read(range.index.is_none());
            for (name, value) in &range.values {
                request = request.expression_attribute_values(*name, value.clone());
            }
            let found = request.send().await.map_err(|cause| Failure::new(action, cause))?;
            items.extend(found.items.unwrap_or_default());
            start = found.last_evaluated_key;
            let full = range.limit.is_some_and(|limit| items.len() >= limit);
            if start.is_none() || full {
                return Ok(items);
            }
        }
    }

    /// Writes a row by itself, if there is none; `false` if there is.
    pub(super) async fn insert(&self, item: Item, action: &'static str) -> Result<bool> {
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
    pub(super) async fn update(
        &self,
        update: RowUpdate,
        action: &'static str,
    ) -> Result<Option<Item>> {
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(update.key))
            .update_expression(update.expression)
            .set_condition_expression(update.condition)
            .set_expression_attribute_values((!update.values.is_empty()).then_some(update.values))
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
    pub(super) fn update_item(
        &self,
        update: RowUpdate,
        action: &'static str,
    ) -> Result<TransactWriteItem> {
        Update::builder()
            .table_name(&self.table)
            .set_key(Some(update.key))
            .update_expression(update.expression)
            .set_condition_expression(update.condition)
            .set_expression_attribute_values((!update.values.is_empty()).then_some(update.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
            .map(transaction::update)
            .map_err(|cause| Failure::new(action, cause))
    }

    /// Writes a row unconditionally: only for rows whose content follows from their key.
    pub(super) fn put_item(&self, item: Item, action: &'static str) -> Result<TransactWriteItem> {
        let row = Put::builder().table_name(&self.table).set_item(Some(item));
        row.build().map(put).map_err(|cause| Failure::new(action, cause))
    }

    /// Writes a row in the place of its version `before`; 0 means that there is none. A lost
    /// condition returns the row that stands there.
    pub(super) fn put_version(
        &self,
        item: Item,
        before: u64,
        action: &'static str,
    ) -> Result<TransactWriteItem> {
        put_version(&self.table, item, before, action)
    }
}
