//! Dead letters, newest first: of one channel or of all, of one class or of all.

use domain::Failure;
use domain::notifications::{Channel, DeadLetter, DeliveryId, LetterFilter, NotificationId};

use super::rows::{self, DEAD_LISTS};
use super::{Notifications, told};
use store::accounts::Page;
use store::row::{Item, Row, text};
use store::schema::{GSI2, GSI2_SK, PK};

/// Pages read of one list for one answer at most: a filter that matches little must not read all.
const PAGES: usize = 8;

/// Entries looked at for one page.
const LOOKED_AT: i32 = 250;

/// What was found in one list, and from where on nothing is known.
struct Stretch {
    places: Vec<String>,
    stopped_at: Option<String>,
}

impl Notifications {
    /// Up to `limit` dead letters before the position `after`, newest first. A page may be short, or
    /// even empty, and still have a next one: a filter is applied to what was read.
    pub async fn dead_letters(
        &self,
        filter: &LetterFilter,
        limit: usize,
        after: Option<&str>,
    ) -> Result<Page<DeadLetter>, Failure> {
        let channels = match filter.channel {
            Some(channel) => vec![channel],
            None => Channel::ALL.to_vec(),
        };
        let mut places = Vec::new();
        let mut horizon: Option<String> = None;
        for channel in channels {
            for list in 0..DEAD_LISTS {
                let list = rows::dead_list(channel, list);
                let stretch = self.stretch(&list, filter, limit, after).await?;
                places.extend(stretch.places);
                horizon = horizon.max(stretch.stopped_at);
            }
        }
        places.sort_unstable_by(|a, b| b.cmp(a));
        // Below the horizon some list may have more that was not read.
        places.retain(|place| horizon.as_ref().is_none_or(|horizon| place >= horizon));
        let cut = places.len() > limit;
        places.truncate(limit);
        let next = if cut { places.last().cloned() } else { horizon };
        let items = self.letters(&places).await?;
        Ok(Page { items: items.into_iter().filter(|it| filter.takes(it)).collect(), next })
    }

    /// The letters at those places, in their order; what has ceased to be one is left out.
    async fn letters(&self, places: &[String]) -> Result<Vec<DeadLetter>, Failure> {
        let ids = places.iter().filter_map(|place| DeliveryId::parse(place.split_once('#')?.1));
        let ids: Vec<DeliveryId> = ids.collect();
        let mut notifications: Vec<&NotificationId> =
            ids.iter().map(|id| &id.notification_id).collect();
        notifications.sort();
        notifications.dedup();
        let mut keys: Vec<Item> = ids.iter().map(rows::delivery_key).collect();
        keys.extend(notifications.into_iter().map(rows::notification_key));
        let found = self.get_all(keys, "read the dead letters").await?;
        let mut letters = Vec::new();
        for id in &ids {
            let pk = rows::notification_pk(&id.notification_id);
            let its = |item: &&Item| Row(item).maybe_text(PK) == Some(&pk);
            let rows: Vec<Item> = found.iter().filter(its).cloned().collect();
            let Some(told) = told(&rows)? else { continue };
            let delivery = told.deliveries.iter().find(|delivery| delivery.id == *id);
            letters.extend(delivery.and_then(|it| DeadLetter::of(&told.notification, it)));
        }
        Ok(letters)
    }

    async fn stretch(
        &self,
        list: &str,
        filter: &LetterFilter,
        limit: usize,
        after: Option<&str>,
    ) -> Result<Stretch, Failure> {
        let mut places = Vec::new();
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
                None => request.limit(i32::try_from(limit + 1).unwrap_or(LOOKED_AT)),
                Some(class) => request
                    .filter_expression("#class = :class")
                    .expression_attribute_names("#class", "class")
                    .expression_attribute_values(":class", text(class.name()))
                    .limit(LOOKED_AT),
            };
            let found = request
                .send()
                .await
                .map_err(|cause| Failure::new("list the dead letters", cause))?;
            places.extend(found.items().iter().filter_map(place));
            start = found.last_evaluated_key;
            if start.is_none() || places.len() > limit {
                break;
            }
        }
        Ok(Stretch { places, stopped_at: start.as_ref().and_then(place) })
    }
}

fn place(item: &Item) -> Option<String> {
    Row(item).maybe_text(GSI2_SK).map(str::to_owned)
}
