//! Counters: the domain's guarded writes as DynamoDB says them.

use std::collections::HashMap;

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use domain::limits::Quota;
use domain::limits::counter::{
    Comparison, CounterRow, CounterWrite, Field, FieldUpdate, WriteCondition,
};
use domain::limits::ledger::DebitOutcome;
use domain::{Failure, Result, Timestamp, hex};
use sha2::{Digest, Sha256};

use super::Limits;
use crate::row::{self, Item, bytes, key, number};
use crate::schema::EXPIRES;
use crate::transaction::{Transacted, transact_once, update};

const ACTION: &str = "debit a shared counter";
const LOG: &str = "log";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterKey {
    pk: String,
    expires_after: i64,
}

impl CounterKey {
    /// The row of one shard of `rule` for `entity`, whose name does not show in it.
    pub fn new(rule: &str, quota: &Quota, entity: &str, shard: u8) -> Self {
        let entity = hex(&Sha256::digest(entity.as_bytes())[..12]);
        Self {
            pk: format!("count#{rule}#{}#{entity}#{shard}", quota.algorithm_key()),
            // Two windows matter; the row is not needed afterwards.
            expires_after: 3 * quota.window_ms / 1_000 + 3_600,
        }
    }
}

impl Limits {
    pub async fn write(
        &self,
        at: &CounterKey,
        write: &CounterWrite,
        now: Timestamp,
    ) -> Result<DebitOutcome> {
        let expressions = Expressions::of(at, write, now);
        let sent = self
            .single_try
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(&at.pk, "row")))
            .update_expression(expressions.update)
            .condition_expression(expressions.condition)
            .set_expression_attribute_names(Some(expressions.names))
            .set_expression_attribute_values(Some(expressions.values))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match sent {
            Ok(done) => {
                Ok(DebitOutcome::Committed(done.attributes().map(read).unwrap_or_default()))
            }
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(lost)) => {
                    Ok(DebitOutcome::ConditionFailed(lost.item().map(read)))
                }
                Some(UpdateItemError::TransactionConflictException(_)) => Ok(DebitOutcome::Skipped),
                _ => Err(Failure::new(ACTION, error)),
            },
        }
    }

    /// Tries several writes, all or none.
    pub async fn write_together(
        &self,
        writes: &[(CounterKey, &CounterWrite)],
        now: Timestamp,
    ) -> Result<Vec<DebitOutcome>> {
        let items = writes.iter().map(|(at, write)| self.part(at, write, now));
        let items: Vec<TransactWriteItem> = items.collect::<Result<_>>()?;
        Ok(match transact_once(&self.single_try, ACTION, items).await? {
            Some(Transacted::Committed) => {
                writes.iter().map(|_| DebitOutcome::CommittedUnseen).collect()
            }
            Some(Transacted::Refused(rows)) => {
                rows.iter().map(Option::as_ref).map(outcome).collect()
            }
            None => writes.iter().map(|_| DebitOutcome::Skipped).collect(),
        })
    }

    pub async fn counter(&self, at: &CounterKey) -> Result<Option<CounterRow>> {
        let found = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(key(&at.pk, "row")))
            .send()
            .await
            .map_err(|error| Failure::new("read a shared counter", error))?;
        Ok(found.item().map(read))
    }

    fn part(
        &self,
        at: &CounterKey,
        write: &CounterWrite,
        now: Timestamp,
    ) -> Result<TransactWriteItem> {
        let expressions = Expressions::of(at, write, now);
        let part = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&at.pk, "row")))
            .update_expression(expressions.update)
            .condition_expression(expressions.condition)
            .set_expression_attribute_names(Some(expressions.names))
            .set_expression_attribute_values(Some(expressions.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build();
        Ok(update(part.map_err(|error| Failure::new(ACTION, error))?))
    }
}

/// A write in the words of an expression.
struct Expressions {
    update: String,
    condition: String,
    names: HashMap<String, String>,
    values: Item,
}

impl Expressions {
    fn of(at: &CounterKey, write: &CounterWrite, now: Timestamp) -> Self {
        let mut expressions = Self {
            update: String::new(),
            condition: String::new(),
            names: HashMap::new(),
            values: HashMap::new(),
        };
        let (mut set, mut add) = (Vec::new(), Vec::new());
        for (field, change) in &write.updates {
            let name = expressions.name(*field);
            match change {
                FieldUpdate::Set(value) => {
                    set.push(format!("{name} = {}", expressions.number(*value)));
                }
                FieldUpdate::Add(more) => add.push(format!("{name} {}", expressions.number(*more))),
                FieldUpdate::SetFrom(other, more) => {
                    let other = expressions.name(*other);
                    set.push(format!("{name} = {other} + {}", expressions.number(*more)));
                }
            }
        }
        if let Some(log) = &write.log {
            let log: Vec<u8> = log.iter().flat_map(|at| at.to_be_bytes()).collect();
            expressions.names.insert("#log".to_owned(), LOG.to_owned());
            set.push(format!("#log = {}", expressions.value(bytes(&log))));
        }
        expressions.names.insert("#expires".to_owned(), EXPIRES.to_owned());
        let expires = now.as_second().saturating_add(at.expires_after);
        set.push(format!("#expires = {}", expressions.number(expires.into())));
        let add = if add.is_empty() { String::new() } else { format!(" ADD {}", add.join(", ")) };
        expressions.update = format!("SET {}{add}", set.join(", "));
        expressions.condition = match &write.condition {
            WriteCondition::Absent => "attribute_not_exists(pk)".to_owned(),
            WriteCondition::Present(tests) => expressions.tests(tests),
            WriteCondition::AbsentOr(tests) => {
                format!("attribute_not_exists(pk) OR ({})", expressions.tests(tests))
            }
        };
        expressions
    }

    fn tests(&mut self, tests: &[(Field, Comparison, i128)]) -> String {
        let tests = tests.iter().map(|(field, is, value)| {
            let sign = match is {
                Comparison::Equals => "=",
                Comparison::AtMost => "<=",
                Comparison::AtLeast => ">=",
            };
            format!("{} {sign} {}", self.name(*field), self.number(*value))
        });
        tests.collect::<Vec<_>>().join(" AND ")
    }

    fn name(&mut self, field: Field) -> String {
        let alias = format!("#{}", attribute(field));
        self.names.insert(alias.clone(), attribute(field).to_owned());
        alias
    }

    fn number(&mut self, value: i128) -> String {
        self.value(number(value))
    }

    fn value(&mut self, value: AttributeValue) -> String {
        let alias = format!(":v{}", self.values.len());
        self.values.insert(alias.clone(), value);
        alias
    }
}

const FIELDS: [Field; 6] =
    [Field::Window, Field::Used, Field::Before, Field::Leases, Field::LeasesBefore, Field::FullAt];

const fn attribute(field: Field) -> &'static str {
    match field {
        Field::Window => "window",
        Field::Used => "used",
        Field::Before => "before",
        Field::Leases => "leases",
        Field::LeasesBefore => "leases_before",
        Field::FullAt => "full_at",
    }
}

fn outcome(refused: Option<&Item>) -> DebitOutcome {
    match refused {
        None => DebitOutcome::Skipped,
        Some(item) => DebitOutcome::ConditionFailed((!item.is_empty()).then(|| read(item))),
    }
}

/// What is not there counts as zero, as it does for the domain.
fn read(item: &Item) -> CounterRow {
    let mut counter = CounterRow::default();
    for field in FIELDS {
        if let Some(value) = row::ItemReader(item).maybe_number(attribute(field)) {
            counter.set(field, value);
        }
    }
    let log = item.get(LOG).and_then(|value| value.as_b().ok());
    let times = log.map(AsRef::as_ref).unwrap_or_default().chunks_exact(8);
    counter.log = times.filter_map(|at| Some(i64::from_be_bytes(at.try_into().ok()?))).collect();
    counter
}
