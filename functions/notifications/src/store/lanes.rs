//! A provider's slots: a lease is one write whose condition is the domain's, and whose answer says
//! which slots they are.
//!
//! The SDK may repeat a write whose answer was lost. Then the slots of the first are lost, because nobody
//! knows of them, and no slot is given twice: the row only grows.

use std::collections::HashMap;

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure};
use domain::Failure;
use domain::notifications::ProviderName;
use domain::notifications::rate::{Lanes, Lease, Move, Slots};

use super::{Notifications, rows};
use store::row::{Item, Row, number};

const LANES: &str = "lanes";

/// Each number has an attribute of its own, so that a condition can name it.
const NEXT: &str = "next_us";
const USED: [&str; 3] = ["used_critical_us", "used_normal_us", "used_low_us"];

/// What came of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leased {
    /// These slots are ours.
    Ours {
        slots: Slots,
        /// The row after that: what the next lease may be planned from.
        lanes: Lanes,
    },
    /// There is too little left; this is the row.
    Refused(Lanes),
}

impl Notifications {
    /// Reads which slots of a provider are taken, up to date.
    pub async fn lanes(&self, provider: &ProviderName) -> Result<Lanes, Failure> {
        let found = self.get(rows::provider_key(provider, LANES), "read the lanes").await?;
        Ok(found.as_ref().map(read).unwrap_or_default())
    }

    /// Takes slots, if the row lies within the lease's bounds.
    pub async fn lease(&self, provider: &ProviderName, lease: &Lease) -> Result<Leased, Failure> {
        let mut said = Said::default();
        said.add(NEXT, lease.next);
        if let Some((level, used)) = lease.used {
            let name =
                USED.get(level).ok_or_else(|| Failure::new("lease slots", "no such class"))?;
            said.add(name, used);
        }
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(rows::provider_key(provider, LANES)))
            .update_expression(format!("SET {}", said.changes.join(", ")))
            .condition_expression(said.conditions.join(" AND "))
            .set_expression_attribute_values(Some(said.values))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match sent {
            Ok(done) => {
                let lanes = done.attributes().map(read).unwrap_or_default();
                Ok(Leased::Ours { slots: lease.slots(&lanes), lanes })
            }
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(lost)) => {
                    Ok(Leased::Refused(lost.item().map(read).unwrap_or_default()))
                }
                _ => Err(Failure::new("lease slots", error)),
            },
        }
    }
}

/// A lease as DynamoDB says it.
#[derive(Default)]
struct Said {
    changes: Vec<String>,
    conditions: Vec<String>,
    values: HashMap<String, AttributeValue>,
}

impl Said {
    fn add(&mut self, name: &str, change: Move) {
        let mut value = |role: &str, us: i64| {
            self.values.insert(format!(":{name}_{role}"), number(us));
        };
        match change {
            Move::On { by_us, from_us, to_us } => {
                value("by", by_us);
                value("from", from_us);
                value("to", to_us);
                self.changes.push(format!("{name} = {name} + :{name}_by"));
                self.conditions.push(format!("{name} BETWEEN :{name}_from AND :{name}_to"));
            }
            Move::Anew { below_us, be_us } => {
                value("below", below_us);
                value("be", be_us);
                self.changes.push(format!("{name} = :{name}_be"));
                self.conditions
                    .push(format!("(attribute_not_exists({name}) OR {name} < :{name}_below)"));
            }
        }
    }
}

/// A number that is not there yet is 0.
fn read(item: &Item) -> Lanes {
    let number = |name| Row(item).maybe_number(name).unwrap_or_default();
    Lanes { next_us: number(NEXT), used_us: USED.map(number) }
}
