//! Id leases: one row a shard, one conditional write a lease.
//!
//! The conditions are the domain's [`LeaseCondition`]s word for word. A lost condition returns the row that
//! stands there, which is how a retried write recognises its own earlier success.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure;
use domain::ids::{ClaimOutcome, LeaseClaim, LeaseCondition, LeaseRow, MachineShard, RequestId};
use domain::{Failure, Result};

use crate::row::{Item, ItemReader, broken, key, number, text};

const ACTION: &str = "lease a lane of ids";

/// The table of shards.
#[derive(Debug, Clone)]
pub struct IdLeases {
    client: Client,
    table: String,
}

impl IdLeases {
    /// Works on `table`.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into() }
    }

    /// Writes `claim` if its condition still holds, and says whose the shard is then.
    pub async fn claim(&self, claim: LeaseClaim) -> Result<ClaimOutcome> {
        let row = *claim.row();
        let (condition, bound_ms) = match claim.condition() {
            LeaseCondition::EndedBy(from_ms) => {
                ("attribute_not_exists(pk) OR ended_at <= :bound", from_ms)
            }
            LeaseCondition::EndsAt(end_ms) => ("ended_at = :bound", end_ms),
        };
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(&format!("lane#{}", row.shard.number()), "lease")))
            .update_expression("SET ended_at = :end, holder = :holder, lane = :lane")
            .condition_expression(condition)
            .expression_attribute_values(":bound", number(bound_ms))
            .expression_attribute_values(":end", number(row.ended_at_ms))
            .expression_attribute_values(":holder", text(row.holder.to_string()))
            .expression_attribute_values(":lane", number(row.shard.number()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match sent {
            Ok(_) => Ok(ClaimOutcome::Held(claim.granted())),
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(lost)) => {
                    let found = lost.item().map(read).transpose()?;
                    Ok(claim.resolve(found.as_ref()))
                }
                _ => Err(Failure::new(ACTION, error)),
            },
        }
    }
}

fn read(item: &Item) -> Result<LeaseRow> {
    let row = ItemReader(item);
    Ok(LeaseRow {
        shard: MachineShard::new(row.number("lane")?).ok_or_else(|| broken("lane"))?,
        ended_at_ms: row.number("ended_at")?,
        holder: RequestId::parse(row.text("holder")?).ok_or_else(|| broken("holder"))?,
    })
}
