//! What became of what was sent, counted by variant: each thing once for each delivery.
//!
//! A mark at the delivery and the count are one transaction, so that a repeat counts nothing. Counts
//! are spread over shards by delivery: an item takes a thousand writes a second, and transactions that
//! meet at one are in each other's way.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::Update;
use domain::notifications::engagement::Actor;
use domain::notifications::{DeliveryId, Rendering, TemplateId};
use domain::{Failure, Result, Timestamp};

use super::{Notifications, rows};
use store::row::{ItemReader, instant, key, number};
use store::schema::{EXPIRES, PK};
use store::transaction::{Transacted, transact, update};

const ACTION: &str = "count what became of a delivery";

/// With the most variants that there are, the results of a version are still one read.
const SHARDS: u8 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedEvent {
    /// It was handed to a provider.
    Sent,
    /// It arrived, as far as that can be told.
    Delivered,
    Opened(Actor),
    /// A link in it was followed.
    Clicked(Actor),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountOutcome {
    Counted,
    AlreadyCounted,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VariantResults {
    pub sent: u64,
    /// Arrived, as far as that can be told.
    pub delivered: u64,
    pub opened: u64,
    pub opened_by_machine: u64,
    pub clicked: u64,
    pub clicked_by_machine: u64,
}

impl CountedEvent {
    const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Delivered => "delivered",
            Self::Opened(Actor::Person) => "opened",
            Self::Opened(Actor::Machine) => "opened_by_machine",
            Self::Clicked(Actor::Person) => "clicked",
            Self::Clicked(Actor::Machine) => "clicked_by_machine",
        }
    }
}

impl Notifications {
    /// Counts something about a delivery, unless it was counted before.
    pub async fn count(
        &self,
        id: &DeliveryId,
        rendering: &Rendering,
        what: CountedEvent,
        now: Timestamp,
        token: &str,
    ) -> Result<CountOutcome> {
        let Rendering { template, version, variant, .. } = rendering;
        let shard = rows::shard_of(id, SHARDS);
        let counter = counter_pk(template, *version, variant.as_deref(), shard);
        let marker_sk = format!("counted#{}", id.endpoint.name());
        let mark = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&rows::notification_pk(&id.notification_id), &marker_sk)))
            .update_expression("SET #what = :now, #expires = :expires")
            .condition_expression("attribute_not_exists(#what)")
            .expression_attribute_names("#what", what.name())
            .expression_attribute_names("#expires", EXPIRES)
            .expression_attribute_values(":now", instant(now))
            .expression_attribute_values(
                ":expires",
                number(now.as_second() + rows::RETENTION_SECONDS),
            )
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let more = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&counter, "counts")))
            .update_expression("ADD #what :one")
            .expression_attribute_names("#what", what.name())
            .expression_attribute_values(":one", number(1))
            .build()
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let items = vec![update(mark), update(more)];
        Ok(match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => CountOutcome::Counted,
            Transacted::Refused(_) => CountOutcome::AlreadyCounted,
        })
    }

    /// The results of a version's variants, in their order; `None` is the only one of a version
    /// without a test.
    pub async fn results(
        &self,
        template: &TemplateId,
        version: u32,
        variants: &[Option<&str>],
    ) -> Result<Vec<VariantResults>> {
        let mut places = BTreeMap::new();
        for (index, variant) in variants.iter().enumerate() {
            for shard in 0..SHARDS {
                places.insert(counter_pk(template, version, *variant, shard), index);
            }
        }
        let keys = places.keys().map(|pk| key(pk, "counts")).collect();
        let mut results = vec![VariantResults::default(); variants.len()];
        for item in self.get_all(keys, "read the results").await? {
            let row = ItemReader(&item);
            let Some(index) = places.get(row.text(PK)?) else { continue };
            let Some(result) = results.get_mut(*index) else { continue };
            let of = |what: CountedEvent| row.maybe_number::<u64>(what.name()).unwrap_or(0);
            result.sent += of(CountedEvent::Sent);
            result.delivered += of(CountedEvent::Delivered);
            result.opened += of(CountedEvent::Opened(Actor::Person));
            result.opened_by_machine += of(CountedEvent::Opened(Actor::Machine));
            result.clicked += of(CountedEvent::Clicked(Actor::Person));
            result.clicked_by_machine += of(CountedEvent::Clicked(Actor::Machine));
        }
        Ok(results)
    }
}

fn counter_pk(template: &TemplateId, version: u32, variant: Option<&str>, shard: u8) -> String {
    // No variant's name is empty.
    let variant = variant.unwrap_or_default();
    format!("counts#{}#{version}#{variant}#{shard}", template.as_str())
}
