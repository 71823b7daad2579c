//! Transactions whose parts have names: a lost condition is found by its part, not by its position.

use aws_sdk_dynamodb::types::builders::{
    ConditionCheckBuilder, DeleteBuilder, PutBuilder, UpdateBuilder,
};
use aws_sdk_dynamodb::types::{ConditionCheck, Delete, Put, TransactWriteItem, Update};
use domain::{Failure, Result};

use super::row::item;
use super::{Condition, Expression, Key, Row, Table};
use crate::row::Item;
use crate::transaction::{self, Transacted, Tried, transact, try_transact};

/// Writes that all happen or none; `P` names them.
#[derive(Debug)]
pub struct Tx<'t, P> {
    table: &'t Table,
    action: &'static str,
    parts: Vec<(P, TransactWriteItem)>,
    /// Why a part could not be built; it fails the commit.
    build_failure: Option<Failure>,
}

/// How a transaction ended.
#[derive(Debug)]
pub enum TxOutcome<P> {
    /// Everything is written.
    Committed,
    /// Nothing is, because of these parts.
    ConditionFailed(FailedConditions<P>),
}

/// How a single try of a transaction ended.
#[derive(Debug)]
pub enum TryOutcome<P> {
    /// Committed, or refused by conditions.
    Ended(TxOutcome<P>),
    /// Nothing is written: other transactions held these parts.
    Conflicted(Vec<P>),
}

/// The parts whose conditions failed: one transaction can lose several at once.
#[derive(Debug)]
pub struct FailedConditions<P>(Vec<(usize, P, Item)>);

impl<P: Copy + PartialEq> FailedConditions<P> {
    /// Whether a part of that name is among them.
    pub fn has(&self, part: P) -> bool {
        self.at(part).is_some()
    }

    /// The row that a part's condition failed on; empty unless the condition returns it.
    pub fn at(&self, part: P) -> Option<&Item> {
        self.0.iter().find(|(_, lost, _)| *lost == part).map(|(_, _, item)| item)
    }
}

impl<'t, P> Tx<'t, P> {
    pub(super) const fn new(table: &'t Table, action: &'static str) -> Self {
        Self { table, action, parts: Vec::new(), build_failure: None }
    }

    /// Writes a row in the place of any other.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "a row is made for its put")]
    pub fn put(self, part: P, row: impl Row, condition: Condition) -> Self {
        let put = item(&row).and_then(|item| {
            let put = self.guard::<PutBuilder>(condition, "").set_item(Some(item)).build();
            put.map_err(|cause| Failure::new(self.action, cause))
        });
        self.item(part, put.map(transaction::put))
    }

    /// Changes a row.
    #[must_use]
    pub fn update(self, part: P, key: Key, change: &str, condition: Condition) -> Self {
        let update = self.guard::<UpdateBuilder>(condition, change).update_expression(change);
        let update = update.set_key(Some(key.item())).build();
        let update = update.map_err(|cause| Failure::new(self.action, cause));
        self.item(part, update.map(transaction::update))
    }

    /// Deletes a row.
    #[must_use]
    pub fn delete(self, part: P, key: Key, condition: Condition) -> Self {
        let delete = self.guard::<DeleteBuilder>(condition, "").set_key(Some(key.item())).build();
        let delete = delete.map_err(|cause| Failure::new(self.action, cause));
        self.item(part, delete.map(transaction::delete))
    }

    /// Writes nothing, and loses unless the condition holds.
    #[must_use]
    pub fn check(self, part: P, key: Key, condition: Condition) -> Self {
        let check = self.guard::<ConditionCheckBuilder>(condition, "");
        let check = check.set_key(Some(key.item())).build();
        let check = check.map_err(|cause| Failure::new(self.action, cause));
        self.item(part, check.map(transaction::check))
    }

    /// Adds an item that another store has made of its rows in this table.
    #[must_use]
    pub fn item(mut self, part: P, made: Result<TransactWriteItem>) -> Self {
        match made {
            Ok(item) => self.parts.push((part, item)),
            Err(failure) => self.build_failure = self.build_failure.or(Some(failure)),
        }
        self
    }

    fn guard<B: Guarded>(&self, condition: Condition, change: &str) -> B {
        B::guarded(&self.table.name, condition.into_expression(change))
    }
}

impl<P: Copy> Tx<'_, P> {
    /// Writes everything or nothing, and waits for other transactions to pass.
    ///
    /// `token` names the request: a retry whose first try was committed is recognised by DynamoDB and changes
    /// nothing. It must be new for each distinct request.
    pub async fn commit(&mut self, token: &str) -> Result<TxOutcome<P>> {
        let items = self.items()?;
        let ended = transact(&self.table.client, self.action, items, token).await?;
        Ok(self.ended(ended))
    }

    /// Tries once, without a token, and returns which parts other transactions held.
    pub async fn try_commit(&mut self) -> Result<TryOutcome<P>> {
        let items = self.items()?;
        Ok(match try_transact(&self.table.client, self.action, items).await? {
            Tried::Ended(ended) => TryOutcome::Ended(self.ended(ended)),
            Tried::Conflicted(places) => {
                let parts = places.into_iter().filter_map(|place| self.parts.get(place));
                TryOutcome::Conflicted(parts.map(|(part, _)| *part).collect())
            }
        })
    }

    /// The same without what was lost.
    #[must_use]
    pub fn without(mut self, lost: &FailedConditions<P>) -> Self {
        let is_lost = |place: usize| lost.0.iter().any(|(lost, ..)| *lost == place);
        let parts = self.parts.into_iter().enumerate();
        self.parts = parts.filter(|(place, _)| !is_lost(*place)).map(|(_, part)| part).collect();
        self
    }

    fn items(&mut self) -> Result<Vec<TransactWriteItem>> {
        match self.build_failure.take() {
            Some(failure) => Err(failure),
            None => Ok(self.parts.iter().map(|(_, item)| item.clone()).collect()),
        }
    }

    fn ended(&self, ended: Transacted) -> TxOutcome<P> {
        let Transacted::Refused(items) = ended else { return TxOutcome::Committed };
        let parts = self.parts.iter().map(|(part, _)| *part);
        let lost = items.into_iter().zip(parts).enumerate();
        TxOutcome::ConditionFailed(FailedConditions(
            lost.filter_map(|(place, (item, part))| Some((place, part, item?))).collect(),
        ))
    }
}

/// The SDK has one builder for each kind of part, and no trait over them.
trait Guarded {
    fn guarded(table: &str, expression: Expression) -> Self;
}

macro_rules! guarded {
    ($($kind:ident: $builder:ty),*) => {
        $(impl Guarded for $builder {
            fn guarded(table: &str, Expression { condition, names, values, on_failure }: Expression) -> Self {
                $kind::builder()
                    .table_name(table)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values_on_condition_check_failure(on_failure)
            }
        })*
    };
}

guarded!(
    Put: PutBuilder,
    Update: UpdateBuilder,
    Delete: DeleteBuilder,
    ConditionCheck: ConditionCheckBuilder
);
