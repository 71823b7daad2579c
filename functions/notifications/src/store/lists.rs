//! The lists that the sweep works through: pending, sending and due deliveries.

use domain::notifications::due::{DueBucket, SHARDS};
use domain::notifications::{Class, DeliveryId, Priority};
use domain::{Failure, Result, Timestamp};
use serde::Deserialize;

use super::{Notifications, rows};
use store::accounts::Page;
use store::ignore_lost_condition;
use store::row::{Item, ItemReader, broken, text};
use store::schema::{GSI2, GSI2_SK};

/// A delivery as an index lists it: maybe as it was a moment ago.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedDelivery {
    pub id: DeliveryId,
    pub priority: Priority,
    /// What the list is sorted by: when it may be sent, was claimed, or has failed.
    pub at: Timestamp,
    /// What kind of no it has met, if it has.
    pub class: Option<Class>,
}

impl Notifications {
    /// Over how many lists each kind of delivery is spread.
    pub const LISTS: u8 = SHARDS;

    /// Deliveries of a list that might have been sent since before `before`, oldest first, after the
    /// position `after`. Those that wait in a due-bucket are not among them.
    pub async fn pending(
        &self,
        list: u8,
        before: Timestamp,
        limit: i32,
        after: Option<&str>,
    ) -> Result<Page<ListedDelivery>> {
        self.query_list(&rows::pending_list(list), Some(before), limit, after).await
    }

    /// Deliveries of a list that were claimed before `before` and whose attempt has not ended, oldest
    /// first, after the position `after`.
    pub async fn sending(
        &self,
        list: u8,
        before: Timestamp,
        limit: i32,
        after: Option<&str>,
    ) -> Result<Page<ListedDelivery>> {
        self.query_list(&rows::sending_list(list), Some(before), limit, after).await
    }

    /// Deliveries in a bucket, by their time, after the position `after`.
    pub async fn due(
        &self,
        bucket: &DueBucket,
        limit: i32,
        after: Option<&str>,
    ) -> Result<Page<ListedDelivery>> {
        self.query_list(&rows::due_list(bucket), None, limit, after).await
    }

    /// Notes that a delivery's message is on its queue: from its bucket it goes to those that are
    /// pending, where it is found if the message gets lost. Repeating it changes nothing.
    pub async fn move_to_pending(&self, listed: &ListedDelivery) -> Result {
        let ListedDelivery { id, at, .. } = listed;
        let sent = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(rows::delivery_key(id)))
            .update_expression("SET gsi2pk = :pending")
            .condition_expression("gsi2pk = :due AND gsi2sk = :place")
            .expression_attribute_values(
                ":pending",
                text(rows::pending_list(rows::shard_of(id, SHARDS))),
            )
            .expression_attribute_values(
                ":due",
                text(rows::due_list(&DueBucket::for_delivery(*at, id))),
            )
            .expression_attribute_values(":place", text(rows::place_in_list(*at, id)))
            .send()
            .await;
        ignore_lost_condition("release a delivery", sent)
    }

    async fn query_list(
        &self,
        list: &str,
        before: Option<Timestamp>,
        limit: i32,
        after: Option<&str>,
    ) -> Result<Page<ListedDelivery>> {
        // A space comes before everything that a place could go on with, `~` after it.
        let first = after.map_or_else(|| "0".to_owned(), |after| format!("{after} "));
        let end = before.map_or_else(|| "~".to_owned(), rows::sort_time);
        if end < first {
            return Ok(Page { items: Vec::new(), next: None });
        }
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(GSI2)
            .key_condition_expression("gsi2pk = :list AND gsi2sk BETWEEN :first AND :end")
            .expression_attribute_values(":list", text(list))
            .expression_attribute_values(":first", text(first))
            .expression_attribute_values(":end", text(end))
            .limit(limit)
            .send()
            .await
            .map_err(|cause| Failure::new("read what has to be looked at", cause))?;
        let items = found.items().iter().map(read).collect::<Result<Vec<ListedDelivery>, _>>()?;
        let next = found.last_evaluated_key().and_then(|key| ItemReader(key).maybe_text(GSI2_SK));
        Ok(Page { items, next: next.map(str::to_owned) })
    }
}

fn read(item: &Item) -> Result<ListedDelivery> {
    #[derive(Deserialize)]
    struct IndexAttributes {
        priority: Priority,
        #[serde(default)]
        class: Option<Class>,
    }
    let IndexAttributes { priority, class } = rows::from_item(item)?;
    let at =
        rows::parse_sort_time(ItemReader(item).text(GSI2_SK)?).ok_or_else(|| broken(GSI2_SK))?;
    Ok(ListedDelivery { id: rows::delivery_id(item)?, priority, at, class })
}
