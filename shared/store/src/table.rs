//! A table as the stores of systems work on it: rows by their keys, conditions, transactions, queries.
//!
//! Expressions stay literal text: they are the rules. A name such as `#max` in one is the attribute `max`,
//! and a value such as `:limit` is bound by [`Condition::with`] or by the query.

mod condition;
mod query;
mod row;
mod sweep_walk;
mod tx;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::ReturnValue;
use domain::{Failure, Result};
use serde::de::DeserializeOwned;

use crate::Idempotency;
use crate::ignore_lost_condition;
use crate::items;
use crate::row::Item;

use condition::Expression;
pub use condition::{ABSENT, ALWAYS, Condition, IntoAttribute, PRESENT, given};
pub use query::Query;
pub use row::{IndexKeys, Key, Row, plain, read, text_of};
pub use sweep_walk::SweepWalk;
pub use tx::{FailedConditions, TryOutcome, Tx, TxOutcome};

/// A table of one system.
#[derive(Debug, Clone)]
pub struct Table {
    client: Client,
    name: String,
}

/// How an update of one row ended.
#[derive(Debug)]
pub enum Updated {
    /// The row as it is now.
    Done(Item),
    /// The condition failed; the row that is there, if there is one.
    ConditionFailed(Option<Item>),
}

impl Table {
    /// Works on the table of that name.
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self { client, name: name.into() }
    }

    /// The rows of this table that remember requests.
    pub fn idempotency(&self) -> Idempotency {
        Idempotency::new(self.client.clone(), &self.name)
    }

    /// Reads one row, up to date.
    pub async fn get<T: DeserializeOwned>(
        &self,
        key: Key,
        action: &'static str,
    ) -> Result<Option<T>> {
        self.item(key, action).await?.map(read).transpose()
    }

    async fn item(&self, key: Key, action: &'static str) -> Result<Option<Item>> {
        items::get(&self.client, &self.name, key.item(), action).await
    }

    /// Reads rows, up to date and in no order; those that do not exist are left out.
    pub async fn get_all<T: DeserializeOwned>(
        &self,
        keys: impl IntoIterator<Item = Key>,
        action: &'static str,
    ) -> Result<Vec<T>> {
        let keys = keys.into_iter().map(Key::item).collect();
        let found = items::batch_get(&self.client, &self.name, keys, action).await?;
        found.into_iter().map(read).collect()
    }

    /// Rows of one partition, of the table or of one of its indexes.
    pub fn query(&self, action: &'static str, keys: impl Into<String>) -> Query<'_> {
        Query::new(self, action, keys.into())
    }

    /// A transaction, still empty.
    pub fn tx<P>(&self, action: &'static str) -> Tx<'_, P> {
        Tx::new(self, action)
    }

    /// Changes one row, where a lost condition means that there was nothing left to do.
    pub async fn update(
        &self,
        key: Key,
        change: &str,
        condition: Condition,
        action: &'static str,
    ) -> Result {
        let sent = self.updating(key, change, condition).send().await;
        ignore_lost_condition(action, sent)
    }

    /// Changes one row and returns it as it is now, or the row that its condition failed on.
    pub async fn update_returning(
        &self,
        key: Key,
        change: &str,
        condition: Condition,
        action: &'static str,
    ) -> Result<Updated> {
        let request = self.updating(key, change, condition.returning_old());
        match request.return_values(ReturnValue::AllNew).send().await {
            Ok(done) => Ok(Updated::Done(done.attributes.unwrap_or_default())),
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(lost)) => {
                    Ok(Updated::ConditionFailed(lost.item().cloned()))
                }
                _ => Err(Failure::new(action, error)),
            },
        }
    }

    /// Deletes one row, where a lost condition means that there was nothing left to do.
    pub async fn delete(&self, key: Key, condition: Condition, action: &'static str) -> Result {
        let Expression { condition, names, values, on_failure } = condition.into_expression("");
        let request = self.client.delete_item().table_name(&self.name).set_key(Some(key.item()));
        let sent = request
            .set_condition_expression(condition)
            .set_expression_attribute_names(names)
            .set_expression_attribute_values(values)
            .set_return_values_on_condition_check_failure(on_failure)
            .send()
            .await;
        ignore_lost_condition(action, sent)
    }

    fn updating(&self, key: Key, change: &str, condition: Condition) -> UpdateItemFluentBuilder {
        let Expression { condition, names, values, on_failure } = condition.into_expression(change);
        let request = self.client.update_item().table_name(&self.name).set_key(Some(key.item()));
        request
            .update_expression(change)
            .set_condition_expression(condition)
            .set_expression_attribute_names(names)
            .set_expression_attribute_values(values)
            .set_return_values_on_condition_check_failure(on_failure)
    }
}
