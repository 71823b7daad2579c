//! A provider's slots: a lease is one write whose condition is the domain's, and whose answer says
//! which slots they are.
//!
//! The SDK may repeat a write whose answer was lost. Then the slots of the first are unused, and
//! no slot is given twice: the row only grows.

use std::collections::HashMap;

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure};
use domain::notifications::ProviderName;
use domain::notifications::rate::{CounterChange, Lease, SlotCounters, Slots};
use domain::{Failure, Result};

use super::{Notifications, rows};
use store::row::{Item, ItemReader, number};

const COUNTERS: &str = "lanes";

/// Each number has an attribute of its own, so that a condition can name it.
const NEXT: &str = "next_us";
const USED: [&str; 3] = ["used_critical_us", "used_normal_us", "used_low_us"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseOutcome {
    Granted {
        slots: Slots,
        /// The row after that: what the next lease may be planned from.
        counters: SlotCounters,
    },
    /// There is too little left; this is the row.
    Refused(SlotCounters),
}

impl Notifications {
    /// Reads which slots of a provider are taken, up to date.
    pub async fn slot_counters(&self, provider: &ProviderName) -> Result<SlotCounters> {
        let found = self.get(rows::provider_key(provider, COUNTERS), "read the lanes").await?;
        Ok(found.as_ref().map(read).unwrap_or_default())
    }

    /// Takes slots, if the row lies within the lease's bounds.
    pub async fn lease(&self, provider: &ProviderName, lease: &Lease) -> Result<LeaseOutcome> {
        let mut expression = LeaseExpression::default();
        expression.add(NEXT, lease.next);
        if let Some((level, used)) = lease.used {
            let name =
                USED.get(level).ok_or_else(|| Failure::new("lease slots", "no such class"))?;
            expression.add(name, used);
        }
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(rows::provider_key(provider, COUNTERS)))
            .update_expression(format!("SET {}", expression.changes.join(", ")))
            .condition_expression(expression.conditions.join(" AND "))
            .set_expression_attribute_values(Some(expression.values))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match sent {
            Ok(done) => {
                let counters = done.attributes().map(read).unwrap_or_default();
                Ok(LeaseOutcome::Granted { slots: lease.slots(&counters), counters })
            }
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(lost)) => {
                    Ok(LeaseOutcome::Refused(lost.item().map(read).unwrap_or_default()))
                }
                _ => Err(Failure::new("lease slots", error)),
            },
        }
    }
}

/// A lease as DynamoDB says it.
#[derive(Default)]
struct LeaseExpression {
    changes: Vec<String>,
    conditions: Vec<String>,
    values: HashMap<String, AttributeValue>,
}

impl LeaseExpression {
    fn add(&mut self, name: &str, change: CounterChange) {
        let mut value = |role: &str, us: i64| {
            self.values.insert(format!(":{name}_{role}"), number(us));
        };
        match change {
            CounterChange::Advance { by_us, from_us, to_us } => {
                value("by", by_us);
                value("from", from_us);
                value("to", to_us);
                self.changes.push(format!("{name} = {name} + :{name}_by"));
                self.conditions.push(format!("{name} BETWEEN :{name}_from AND :{name}_to"));
            }
            CounterChange::Reset { below_us, set_us } => {
                value("below", below_us);
                value("be", set_us);
                self.changes.push(format!("{name} = :{name}_be"));
                self.conditions
                    .push(format!("(attribute_not_exists({name}) OR {name} < :{name}_below)"));
            }
        }
    }
}

/// A number that is not there yet is 0.
fn read(item: &Item) -> SlotCounters {
    let number = |name| ItemReader(item).maybe_number(name).unwrap_or_default();
    SlotCounters { next_us: number(NEXT), used_us: USED.map(number) }
}
