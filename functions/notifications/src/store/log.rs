//! A user's log, newest first, and the deliveries that wait for them.

use aws_sdk_dynamodb::operation::query::QueryOutput;
use domain::accounts::UserId;
use domain::notifications::{DeliveryId, Endpoint, NotificationId};
use domain::{Failure, Result};

use super::{NotificationRecord, Notifications, rows, to_record};
use store::accounts::Page;
use store::row::{Item, ItemReader, text};
use store::schema::{GSI1, GSI1_SK, PK};

impl Notifications {
    /// Up to `limit` of a person's notifications before the position `after`, newest first, each with
    /// its deliveries.
    pub async fn log(
        &self,
        user: &UserId,
        limit: i32,
        after: Option<&str>,
    ) -> Result<Page<NotificationRecord>> {
        let before = after.unwrap_or("~");
        let found = self.query_user_index(&rows::log_list(user), "<", before, limit).await?;
        let ids: Vec<NotificationId> = found.items().iter().filter_map(logged).collect();
        let mut keys = Vec::new();
        for (item, id) in found.items().iter().zip(&ids) {
            keys.push(rows::notification_key(id));
            let endpoints = ItemReader(item)
                .texts("ways")
                .iter()
                .filter_map(|endpoint| Endpoint::parse(endpoint));
            let mine = |endpoint| DeliveryId { notification_id: id.clone(), endpoint };
            keys.extend(endpoints.map(|endpoint| rows::delivery_key(&mine(endpoint))));
        }
        let all = self.get_all(keys, "read the log").await?;
        let mut items = Vec::new();
        for id in &ids {
            let pk = rows::notification_pk(id);
            let its = |item: &&Item| ItemReader(item).maybe_text(PK) == Some(&pk);
            let mine: Vec<Item> = all.iter().filter(its).cloned().collect();
            items.extend(to_record(&mine)?);
        }
        Ok(Page { items, next: position(&found) })
    }

    /// Up to `limit` deliveries to a person that have not ended, after the position `after`, in no
    /// order that means anything. One that was accepted this moment may be missing.
    pub async fn waiting_for(
        &self,
        user: &UserId,
        limit: i32,
        after: Option<&str>,
    ) -> Result<Page<DeliveryId>> {
        let list = rows::waiting_list(user);
        let found = self.query_user_index(&list, ">", after.unwrap_or("0"), limit).await?;
        let items = found.items().iter().map(rows::delivery_id).collect::<Result<Vec<_>, _>>()?;
        Ok(Page { items, next: position(&found) })
    }

    async fn query_user_index(
        &self,
        list: &str,
        direction: &str,
        from: &str,
        limit: i32,
    ) -> Result<QueryOutput> {
        let found = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(GSI1)
            .key_condition_expression(format!("gsi1pk = :list AND gsi1sk {direction} :from"))
            .expression_attribute_values(":list", text(list))
            .expression_attribute_values(":from", text(from))
            .scan_index_forward(direction == ">")
            .limit(limit)
            .send()
            .await
            .map_err(|cause| Failure::new("read a user's notifications", cause))?;
        Ok(found)
    }
}

fn logged(item: &Item) -> Option<NotificationId> {
    NotificationId::parse(ItemReader(item).maybe_text(PK)?.strip_prefix("n#")?)
}

fn position(found: &QueryOutput) -> Option<String> {
    let key = found.last_evaluated_key()?;
    ItemReader(key).maybe_text(GSI1_SK).map(str::to_owned)
}
