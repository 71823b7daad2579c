//! Queries: rows of one partition, a page at a time.

use aws_sdk_dynamodb::operation::query::QueryOutput;
use aws_sdk_dynamodb::types::{AttributeValue, Select};
use domain::{Failure, Result};
use serde::de::DeserializeOwned;

use super::condition::{named, names};
use super::{IntoAttribute, Table, read};
use crate::row::Item;

/// A query, and how far it has come. Placeholders keep their names on the wire. Rows of the table are read up to
/// date; an index may be a moment behind.
#[derive(Debug, Clone)]
pub struct Query<'t> {
    table: &'t Table,
    action: &'static str,
    index: Option<&'static str>,
    keys: String,
    filters: Vec<&'static str>,
    values: Vec<(&'static str, AttributeValue)>,
    limit: Option<i32>,
    backwards: bool,
    last_key: Option<Item>,
    is_done: bool,
}

impl<'t> Query<'t> {
    pub(super) const fn new(table: &'t Table, action: &'static str, keys: String) -> Self {
        Self {
            table,
            action,
            index: None,
            keys,
            filters: Vec::new(),
            values: Vec::new(),
            limit: None,
            backwards: false,
            last_key: None,
            is_done: false,
        }
    }

    /// Reads an index.
    #[must_use]
    pub const fn index(mut self, index: &'static str) -> Self {
        self.index = Some(index);
        self
    }

    /// With what the placeholder `name` stands for.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl IntoAttribute) -> Self {
        self.values.push((name, value.attribute()));
        self
    }

    /// Leaves out rows that are read and do not fit; all filters have to.
    #[must_use]
    pub fn filter(mut self, expression: &'static str) -> Self {
        self.filters.push(expression);
        self
    }

    /// Reads at most so many rows a page.
    #[must_use]
    pub const fn limit(mut self, rows: i32) -> Self {
        self.limit = Some(rows);
        self
    }

    /// In descending order.
    #[must_use]
    pub const fn backwards(mut self) -> Self {
        self.backwards = true;
        self
    }

    /// The next page, which may be empty; `None` after the last one.
    pub async fn next_page(&mut self) -> Result<Option<Vec<Item>>> {
        if self.is_done {
            return Ok(None);
        }
        let found = self.send(None).await?;
        self.last_key = found.last_evaluated_key;
        self.is_done = self.last_key.is_none();
        Ok(Some(found.items.unwrap_or_default()))
    }

    /// The next page as values, empty after the last one.
    pub async fn page<T: DeserializeOwned>(&mut self) -> Result<Vec<T>> {
        self.next_page().await?.unwrap_or_default().into_iter().map(read).collect()
    }

    /// All rows that are left, as values.
    pub async fn all<T: DeserializeOwned>(mut self) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        while let Some(items) = self.next_page().await? {
            for item in items {
                rows.push(read(item)?);
            }
        }
        Ok(rows)
    }

    /// The `LastEvaluatedKey` of the last page, if there may be more.
    pub const fn last_key(&self) -> Option<&Item> {
        self.last_key.as_ref()
    }

    /// How many rows there are, in one page.
    pub async fn count(&self) -> Result<u64> {
        let found = self.send(Some(Select::Count)).await?;
        Ok(u64::try_from(found.count()).unwrap_or(0))
    }

    async fn send(&self, select: Option<Select>) -> Result<QueryOutput> {
        let filter = self.filters.join(" AND ");
        let request = self.table.client.query().table_name(&self.table.name);
        let found = request
            .set_index_name(self.index.map(str::to_owned))
            .key_condition_expression(&self.keys)
            .set_expression_attribute_names(names([self.keys.as_str(), &filter]))
            .set_filter_expression((!filter.is_empty()).then_some(filter))
            .set_expression_attribute_values(named(self.values.clone()))
            .set_limit(self.limit)
            .set_scan_index_forward(self.backwards.then_some(false))
            .set_consistent_read(self.index.is_none().then_some(true))
            .set_exclusive_start_key(self.last_key.clone())
            .set_select(select)
            .send()
            .await
            .map_err(|cause| Failure::new(self.action, cause))?;
        Ok(found)
    }
}
