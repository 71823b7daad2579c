//! What became of what was sent, counted by variant: each thing once for each delivery.
//!
//! A mark at the delivery and the count are one transaction, so that a repeat counts nothing. Counts
//! are spread over shards by delivery: an item takes a thousand writes a second, and transactions that
//! meet at one are in each other's way.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::Update;
use domain::notifications::engagement::Who;
use domain::notifications::{DeliveryId, Rendering, TemplateId};
use domain::{Failure, Timestamp};

use super::{Notifications, rows};
use store::row::{Row, instant, key, number};
use store::schema::{EXPIRES, PK};
use store::transaction::{Transacted, transact, update};

const ACTION: &str = "count what became of a delivery";

/// With the most variants that there are, the results of a version are still one read.
const SHARDS: u8 = 8;

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// It was handed to a provider.
    Sent,
    /// It arrived, as far as that can be told.
    Delivered,
    /// It was opened.
    Opened(Who),
    /// A link in it was followed.
    Clicked(Who),
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// It is counted.
    Counted,
    /// It was counted before.
    Before,
}

/// The results of one variant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Results {
    /// Handed to a provider.
    pub sent: u64,
    /// Arrived, as far as that can be told.
    pub delivered: u64,
    /// Opened by somebody.
    pub opened: u64,
    /// Opened by a program.
    pub opened_by_machine: u64,
    /// Followed by somebody.
    pub clicked: u64,
    /// Followed by a program.
    pub clicked_by_machine: u64,
}

impl What {
    const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Delivered => "delivered",
            Self::Opened(Who::Person) => "opened",
            Self::Opened(Who::Machine) => "opened_by_machine",
            Self::Clicked(Who::Person) => "clicked",
            Self::Clicked(Who::Machine) => "clicked_by_machine",
        }
    }
}

impl Notifications {
    /// Counts something about a delivery, unless it was counted before.
    pub async fn count(
        &self,
        id: &DeliveryId,
        rendering: &Rendering,
        what: What,
        now: Timestamp,
        token: &str,
    ) -> Result<Counted, Failure> {
        let Rendering { template, version, variant, .. } = rendering;
        let shard = rows::lot(id, SHARDS);
        let counter = counter_pk(template, *version, variant.as_deref(), shard);
        let marker_sk = format!("counted#{}", id.way.name());
        let mark = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&rows::notification_pk(&id.notification_id), &marker_sk)))
            .update_expression("SET #what = :now, #expires = :expires")
            .condition_expression("attribute_not_exists(#what)")
            .expression_attribute_names("#what", what.name())
            .expression_attribute_names("#expires", EXPIRES)
            .expression_attribute_values(":now", instant(now))
            .expression_attribute_values(":expires", number(now.as_second() + rows::KEPT_SECONDS))
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
            Transacted::Committed => Counted::Counted,
            Transacted::Refused(_) => Counted::Before,
        })
    }

    /// The results of a version's variants, in their order; `None` is the only one of a version
    /// without a test.
    pub async fn results(
        &self,
        template: &TemplateId,
        version: u32,
        variants: &[Option<&str>],
    ) -> Result<Vec<Results>, Failure> {
        let mut places = BTreeMap::new();
        for (index, variant) in variants.iter().enumerate() {
            for shard in 0..SHARDS {
                places.insert(counter_pk(template, version, *variant, shard), index);
            }
        }
        let keys = places.keys().map(|pk| key(pk, "counts")).collect();
        let mut results = vec![Results::default(); variants.len()];
        for item in self.get_all(keys, "read the results").await? {
            let row = Row(&item);
            let Some(index) = places.get(row.text(PK)?) else { continue };
            let Some(result) = results.get_mut(*index) else { continue };
            let of = |what: What| row.maybe_number::<u64>(what.name()).unwrap_or(0);
            result.sent += of(What::Sent);
            result.delivered += of(What::Delivered);
            result.opened += of(What::Opened(Who::Person));
            result.opened_by_machine += of(What::Opened(Who::Machine));
            result.clicked += of(What::Clicked(Who::Person));
            result.clicked_by_machine += of(What::Clicked(Who::Machine));
        }
        Ok(results)
    }
}

fn counter_pk(template: &TemplateId, version: u32, variant: Option<&str>, shard: u8) -> String {
    // No variant's name is empty.
    let variant = variant.unwrap_or_default();
    format!("counts#{}#{version}#{variant}#{shard}", template.as_str())
}
