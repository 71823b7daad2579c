//! Job types, and how their licences are shared out.

use aws_sdk_dynamodb::types::{
    ConditionCheck, Put, ReturnConsumedCapacity, TransactWriteItem, Update,
};
use domain::Failure;
use domain::jobs::licence::{Licence, allot};
use domain::jobs::{JobType, Settings, TypeName, builtin, builtins};

use super::{Jobs, rows};
use crate::row::{Builder, Item, Row, instant, key, number, text};
use crate::tally;
use crate::transaction::{Transacted, check, put, transact, update};

const ACTION: &str = "write the job type";
const TYPES: &str = "types";

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// It is written.
    Saved,
    /// Someone else changed the type, or took a licence: look again.
    Moved,
}

impl Jobs {
    /// What was decided about a type, up to date, or what comes with the product.
    pub async fn kind(&self, name: &TypeName) -> Result<Option<JobType>, Failure> {
        let found = self.get(key(TYPES, name.as_str()), "read the job type").await?;
        match found {
            Some(item) => read_kind(&item).map(Some),
            None => Ok(builtin(name)),
        }
    }

    /// Every type, by name.
    pub async fn kinds(&self) -> Result<Vec<JobType>, Failure> {
        let mut kinds: Vec<JobType> = Vec::new();
        let mut start: Option<Item> = None;
        loop {
            let found = self
                .client
                .query()
                .table_name(&self.table)
                .key_condition_expression("pk = :types")
                .expression_attribute_values(":types", text(TYPES))
                .set_exclusive_start_key(start)
                .consistent_read(true)
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(|cause| Failure::new("read the job types", cause))?;
            tally::note(found.consumed_capacity());
            for item in found.items() {
                kinds.push(read_kind(item)?);
            }
            start = found.last_evaluated_key;
            if start.is_none() {
                break;
            }
        }
        let known = |name: &TypeName| kinds.iter().any(|kind| kind.name == *name);
        let ours = builtins().into_iter().filter_map(|name| TypeName::parse(name).ok());
        let missing: Vec<JobType> =
            ours.filter(|name| !known(name)).filter_map(|name| builtin(&name)).collect();
        kinds.extend(missing);
        kinds.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(kinds)
    }

    /// Replaces the version before `after` by it, and shares its licences out anew, given the rows as
    /// they were read.
    pub async fn save_kind(
        &self,
        after: &JobType,
        seen: &[Licence],
        token: &str,
    ) -> Result<Saved, Failure> {
        let condition = match after.version {
            1 => "attribute_not_exists(pk)",
            _ => "v = :before",
        };
        let mut new = Put::builder()
            .table_name(&self.table)
            .set_item(Some(kind_row(after)))
            .condition_expression(condition);
        if after.version > 1 {
            new = new.expression_attribute_values(":before", number(after.version - 1));
        }
        let new = new.build().map_err(|cause| Failure::new(ACTION, cause))?;
        self.share_out(put(new), after, seen, token).await
    }

    /// Shares the licences of a type out anew, because some are free that no row may give.
    pub async fn reallot(
        &self,
        kind: &JobType,
        seen: &[Licence],
        token: &str,
    ) -> Result<Saved, Failure> {
        let same = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(key(TYPES, kind.name.as_str())))
            .condition_expression(match kind.version {
                0 => "attribute_not_exists(pk)",
                _ => "v = :v",
            });
        let same = match kind.version {
            0 => same,
            version => same.expression_attribute_values(":v", number(version)),
        };
        let same = same.build().map_err(|cause| Failure::new(ACTION, cause))?;
        self.share_out(check(same), kind, seen, token).await
    }

    async fn share_out(
        &self,
        guard: TransactWriteItem,
        kind: &JobType,
        seen: &[Licence],
        token: &str,
    ) -> Result<Saved, Failure> {
        let Settings { max_concurrent, shards, .. } = kind.settings;
        let in_use: Vec<u32> = seen.iter().map(|row| row.in_use).collect();
        let mut items = vec![guard];
        for (row, max) in seen.iter().zip(allot(max_concurrent, shards, &in_use)) {
            items.push(self.allotment(kind, row, max, seen.len() > 1)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        Ok(if matches!(outcome, Transacted::Committed) { Saved::Saved } else { Saved::Moved })
    }

    /// A row's new maximum. Where there are several, none may have got holders since they were read;
    /// fewer do no harm.
    fn allotment(
        &self,
        kind: &JobType,
        row: &Licence,
        max: u32,
        shared: bool,
    ) -> Result<TransactWriteItem, Failure> {
        let mut change = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&rows::licence_pk(&kind.name, row.shard), "licence")))
            .update_expression("SET #max = :max, in_use = if_not_exists(in_use, :zero) ADD v :one")
            .expression_attribute_names("#max", "max")
            .expression_attribute_values(":max", number(max))
            .expression_attribute_values(":zero", number(0))
            .expression_attribute_values(":one", number(1));
        if shared {
            change = change
                .condition_expression("attribute_not_exists(in_use) OR in_use <= :seen")
                .expression_attribute_values(":seen", number(row.in_use));
        }
        change.build().map(update).map_err(|cause| Failure::new(ACTION, cause))
    }
}

fn kind_row(kind: &JobType) -> Item {
    let settings = kind.settings;
    Builder::keyed(TYPES, kind.name.as_str())
        .with("max_concurrent", number(settings.max_concurrent))
        .with("shards", number(settings.shards))
        .with("max_attempts", number(settings.retry.max_attempts))
        .with("backoff_seconds", number(settings.retry.backoff_seconds))
        .with("timeout_seconds", number(settings.timeout_seconds))
        .with("delivery", text(delivery_name(settings.delivery)))
        .with("aging_seconds", number(settings.aging_seconds))
        .with("widest", number(kind.widest))
        .with_some("updated_at", kind.updated_at.map(instant))
        .with("v", number(kind.version))
        .build()
}

fn read_kind(item: &Item) -> Result<JobType, Failure> {
    use domain::jobs::{Delivery, RetryPolicy};
    let row = Row(item);
    let name = TypeName::parse(row.text("sk")?)
        .map_err(|cause| Failure::new("read a stored row", cause))?;
    let settings = Settings {
        max_concurrent: row.number("max_concurrent")?,
        shards: row.number("shards")?,
        retry: RetryPolicy {
            max_attempts: row.number("max_attempts")?,
            backoff_seconds: row.number("backoff_seconds")?,
        },
        timeout_seconds: row.number("timeout_seconds")?,
        delivery: match row.text("delivery")? {
            "poll" => Delivery::Poll,
            _ => Delivery::Sqs,
        },
        aging_seconds: row.number("aging_seconds")?,
    };
    Ok(JobType {
        name,
        settings,
        updated_at: row.maybe_instant("updated_at"),
        widest: row.number("widest")?,
        version: row.number("v")?,
    })
}

const fn delivery_name(delivery: domain::jobs::Delivery) -> &'static str {
    match delivery {
        domain::jobs::Delivery::Sqs => "sqs",
        domain::jobs::Delivery::Poll => "poll",
    }
}
