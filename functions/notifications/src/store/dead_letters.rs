//! Dead letters, newest first: of one channel or of all, of one class or of all.

use domain::notifications::{Channel, DeadLetter, DeadLetterFilter, DeliveryId, NotificationId};
use domain::{Failure, Result};

use super::rows::{self, DEAD_LISTS};
use super::{Notifications, to_record};
use store::accounts::Page;
use store::row::{Item, ItemReader, text};
use store::schema::{GSI2, GSI2_SK, PK};

/// Pages read of one list for one answer at most: a filter that matches little must not read all.
const PAGES: usize = 8;

/// Entries looked at for one page.
const FILTERED_PAGE: i32 = 250;

/// What was found in one list, and from where on nothing is known.
struct ListSlice {
    positions: Vec<String>,
    stopped_at: Option<String>,
}

impl Notifications {
    /// Up to `limit` dead letters before the position `after`, newest first. A page may be short, or
    /// even empty, and still have a next one: a filter is applied to what was read.
    pub async fn dead_letters(
        &self,
        filter: &DeadLetterFilter,
        limit: usize,
        after: Option<&str>,
    ) -> Result<Page<DeadLetter>> {
        let channels = match filter.channel {
            Some(channel) => vec![channel],
            None => Channel::ALL.to_vec(),
        };
        let mut positions = Vec::new();
        let mut horizon: Option<String> = None;
        for channel in channels {
            for list in 0..DEAD_LISTS {
                let list = rows::dead_list(channel, list);
                let list_slice = self.list_slice(&list, filter, limit, after).await?;
                positions.extend(list_slice.positions);
                horizon = horizon.max(list_slice.stopped_at);
            }
        }
        positions.sort_unstable_by(|a, b| b.cmp(a));
        // Below the horizon some list may have more that was not read.
        positions.retain(|position| horizon.as_ref().is_none_or(|horizon| position >= horizon));
        let cut = positions.len() > limit;
        positions.truncate(limit);
        let next = if cut { positions.last().cloned() } else { horizon };
        let items = self.read_dead_letters(&positions).await?;
        Ok(Page { items: items.into_iter().filter(|it| filter.matches(it)).collect(), next })
    }

    /// The letters at those places, in their order; what has ceased to be one is left out.
    async fn read_dead_letters(&self, positions: &[String]) -> Result<Vec<DeadLetter>> {
        let ids =
            positions.iter().filter_map(|position| DeliveryId::parse(position.split_once('#')?.1));
        let ids: Vec<DeliveryId> = ids.collect();
        let mut notifications: Vec<&NotificationId> =
            ids.iter().map(|id| &id.notification_id).collect();
        notifications.sort();
        notifications.dedup();
        let mut keys: Vec<Item> = ids.iter().map(rows::delivery_key).collect();
        keys.extend(notifications.into_iter().map(rows::notification_key));
        let found = self.get_all(keys, "read the dead letters").await?;
        let mut dead_letters = Vec::new();
        for id in &ids {
            let pk = rows::notification_pk(&id.notification_id);
            let its = |item: &&Item| ItemReader(item).maybe_text(PK) == Some(&pk);
            let rows: Vec<Item> = found.iter().filter(its).cloned().collect();
            let Some(record) = to_record(&rows)? else { continue };
            let delivery = record.deliveries.iter().find(|delivery| delivery.id == *id);
            dead_letters
                .extend(delivery.and_then(|it| DeadLetter::from_failed(&record.notification, it)));
        }
        Ok(dead_letters)
    }

    async fn list_slice(
        &self,
        list: &str,
        filter: &DeadLetterFilter,
        limit: usize,
        after: Option<&str>,
    ) -> Result<ListSlice> {
        let mut positions = Vec::new();
        let mut start: Option<Item> = None;
        for _ in 0..PAGES {
            let mut request = self
                .client
                .query()
                .table_name(&self.table)
                .index_name(GSI2)
                .key_condition_expression("gsi2pk = :list AND gsi2sk < :after")
                .expression_attribute_values(":list", text(list))
                .expression_attribute_values(":after", text(after.unwrap_or("~")))
                .set_exclusive_start_key(start)
                .scan_index_forward(false);
            request = match filter.class {
                None => request.limit(i32::try_from(limit + 1).unwrap_or(FILTERED_PAGE)),
                Some(class) => request
                    .filter_expression("#class = :class")
                    .expression_attribute_names("#class", "class")
                    .expression_attribute_values(":class", text(class.name()))
                    .limit(FILTERED_PAGE),
            };
            let found = request
                .send()
                .await
                .map_err(|cause| Failure::new("list the dead letters", cause))?;
            positions.extend(found.items().iter().filter_map(position));
            start = found.last_evaluated_key;
            if start.is_none() || positions.len() > limit {
                break;
            }
        }
        Ok(ListSlice { positions, stopped_at: start.as_ref().and_then(position) })
    }
}

fn position(item: &Item) -> Option<String> {
    ItemReader(item).maybe_text(GSI2_SK).map(str::to_owned)
}
