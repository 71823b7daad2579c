//! Who holds a licence, and whether the rows count right.

use aws_sdk_dynamodb::operation::update_item::UpdateItemOutput;
use aws_sdk_dynamodb::types::{ConditionCheck, ReturnConsumedCapacity};
use domain::jobs::licence::Licence;
use domain::jobs::{JobId, JobType, TypeName};
use domain::{Failure, Timestamp};

use super::{Jobs, rows};
use crate::row::{Item, Row, key, number, text};
use crate::settle::settle;
use crate::tally;
use crate::transaction::{check, transact};

/// One who holds a licence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The job.
    pub job: JobId,
    /// When it is worth looking whether its worker is silent or too slow.
    pub due_at: Option<Timestamp>,
}

/// A row and who really holds a licence of it, at one and the same moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The row.
    pub licence: Licence,
    /// Holders.
    pub holders: Vec<Holder>,
}

impl Jobs {
    /// The rows of a type's licences, up to date. A row that is not there yet has the whole limit if it
    /// is the only one, and otherwise nothing until the licences are shared out.
    pub async fn licences(&self, kind: &JobType) -> Result<Vec<Licence>, Failure> {
        let width = kind.widest.max(kind.settings.shards);
        let shards = 0..width;
        let keys = shards.clone().map(|shard| key(&rows::licence_pk(&kind.name, shard), "licence"));
        let found = self.get_all(keys.collect(), "read the licences").await?;
        let unused = if width == 1 { kind.settings.max_concurrent } else { 0 };
        shards
            .map(|shard| {
                let pk = rows::licence_pk(&kind.name, shard);
                let is_it = |item: &&Item| Row(item).maybe_text("pk") == Some(&pk);
                match found.iter().find(is_it) {
                    Some(item) => read_licence(item, shard),
                    None => Ok(Licence { shard, in_use: 0, max: unused, version: 0 }),
                }
            })
            .collect()
    }

    /// Who holds a licence of one row, up to date, up to `most`.
    pub async fn holders(
        &self,
        kind: &TypeName,
        shard: u8,
        most: usize,
    ) -> Result<Vec<Holder>, Failure> {
        let mut holders = Vec::new();
        let mut start: Option<Item> = None;
        loop {
            let found = self
                .client
                .query()
                .table_name(&self.table)
                .key_condition_expression("pk = :pk AND begins_with(sk, :holder)")
                .expression_attribute_values(":pk", text(rows::licence_pk(kind, shard)))
                .expression_attribute_values(":holder", text("holder#"))
                .limit(i32::try_from(most.min(1_000)).unwrap_or(1_000))
                .set_exclusive_start_key(start)
                .consistent_read(true)
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(|cause| Failure::new("read who holds a licence", cause))?;
            tally::note(found.consumed_capacity());
            holders.extend(found.items().iter().filter_map(read_holder));
            start = found.last_evaluated_key;
            if start.is_none() || holders.len() >= most {
                return Ok(holders);
            }
        }
    }

    /// A row with its holders, if nobody came or went while they were read.
    pub async fn recount(&self, kind: &TypeName, shard: u8) -> Result<Option<Counted>, Failure> {
        let before = self.licence(kind, shard).await?;
        let holders = self.holders(kind, shard, usize::MAX).await?;
        let after = self.licence(kind, shard).await?;
        Ok((before == after).then_some(after).flatten().map(|licence| Counted { licence, holders }))
    }

    /// Makes a row count what was counted, if nobody came or went since.
    pub async fn correct(&self, kind: &TypeName, counted: &Counted) -> Result<(), Failure> {
        let shard = counted.licence.shard;
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key(&rows::licence_pk(kind, shard), "licence")))
            .update_expression("SET in_use = :counted ADD v :one")
            .condition_expression("v = :seen")
            .expression_attribute_values(":counted", number(counted.holders.len()))
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":seen", number(counted.licence.version))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        settle("correct a licence count", sent, UpdateItemOutput::consumed_capacity)
    }

    /// Takes a licence from a holder whose job does not hold one, if that is still so.
    pub async fn evict(
        &self,
        kind: &TypeName,
        shard: u8,
        holder: &JobId,
        token: &str,
    ) -> Result<(), Failure> {
        const ACTION: &str = "take a licence back";
        let idle = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(rows::job_key(holder)))
            .condition_expression("attribute_not_exists(#shard) OR #shard <> :shard")
            .expression_attribute_names("#shard", "shard")
            .expression_attribute_values(":shard", number(shard))
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let mut items = vec![check(idle)];
        items.extend(self.give_licence(kind, shard, holder)?);
        transact(&self.client, ACTION, items, token).await.map(|_| ())
    }

    async fn licence(&self, kind: &TypeName, shard: u8) -> Result<Option<Licence>, Failure> {
        let key = key(&rows::licence_pk(kind, shard), "licence");
        let found = self.get(key, "read a licence row").await?;
        found.as_ref().map(|item| read_licence(item, shard)).transpose()
    }
}

fn read_licence(item: &Item, shard: u8) -> Result<Licence, Failure> {
    let row = Row(item);
    Ok(Licence {
        shard,
        in_use: row.number("in_use")?,
        max: row.number("max")?,
        version: row.number("v")?,
    })
}

fn read_holder(item: &Item) -> Option<Holder> {
    let job = rows::id_of(item, "sk", "holder#")?;
    let due_at = Row(item).maybe_text("due").and_then(|at| at.parse().ok());
    Some(Holder { job, due_at })
}
