//! Notifications: accepted once, claimed only as the user's preferences allow, every decision recorded.
//!
//! Rows, all under the table's one key schema:
//! `n#N / notification` (never changed), `n#N / delivery#W` (one for each way it goes),
//! `n#N / counted#W` (what was counted of it), `user#U / preferences`, `/ contacts`, `/ read` (up to
//! where they have read) and `/ stamp` (the versions of the first two, in one small row),
//! `template#T / template`, `template#T / version#V` (never changed), `counts#T#V#X#S / counts` (results
//! of variant X, shard S), `address#A / suppression`, `provider#P / breaker` and `/ counters`,
//! `ref#P#R / delivery` (what provider P calls R), `once#…` (answers to repeated calls) and `sweep / …`
//! (where the last walk stopped).
//!
//! `gsi1` lists what is a user's: `user#U`, their log by time, and `waiting#U`, the deliveries to them
//! that have not ended. `gsi2` has what `sweep-notifications` or an operator works through: `pending#S` by the time
//! from which it may be sent, `due#B` where that is more than a quarter of an hour away, `sending#S` by
//! the time of the claim, `dead#C#S` by the time of the failure. Both carry just enough to read on.
//!
//! What it costs, in calls to the store (units for rows of up to 1 KB; reads are up to date):
//!
//! | operation | calls | units |
//! |---|---|---|
//! | [`accept`](Notifications::accept) | 1 transaction | 2 for the answer, 3 for the notification, 4 a delivery |
//! | [`load`](Notifications::load), everything that a decision needs | 1 batch, 2 without a hint of whose it is | 4 |
//! | [`claim`](Notifications::claim) | 1 transaction | 6, and 2 in the index |
//! | [`record`](Notifications::record) | 1 transaction | 2, 2 for the reference, and 1 or 2 in the indexes |
//! | [`apply`](Notifications::apply) | 1 read, 1 transaction | 1 + 2, and what changes in the indexes |
//! | [`apply_from`](Notifications::apply_from), after a look | 1 transaction | 2, and the same |
//! | [`lease`](Notifications::lease), for many messages | 1 write | 1 |
//! | [`count`](Notifications::count) | 1 transaction | 4 |
//!
//! What waits for a person could have been rows of their own (4 units a delivery: 2 to write, 2 to
//! delete, in transactions that have to hold them) or found by reading the whole log; in the index they
//! cost 2 units, and no change between `pending` and `sending` touches them. An index may be a moment
//! behind: what it does not show yet, the claim stops.

mod accept;
mod apply;
mod breakers;
mod claim;
mod counts;
mod dead_letters;
mod lists;
mod log;
mod recipients;
mod references;
mod requests;
mod rows;
mod slots;
mod suppressions;
mod sweep_positions;
mod templates;

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use boundary::{Host, Misconfigured};
use domain::Result;
use domain::accounts::UserId;
use domain::notifications::{
    Delivery, DeliveryId, Notification, NotificationId, TemplateId, TemplateVersion,
};
use parking_lot::Mutex;

use store::Idempotency;
use store::row::{Item, ItemReader, key};
use store::schema::SK;
use store::schema::{Projection, Schema};

pub use accept::{AcceptOutcome, Acceptance, BatchAccepted};
pub use apply::ApplyOutcome;
pub use breakers::TrialOutcome;
pub use claim::{AttemptClaim, ClaimOutcome};
pub use counts::{CountOutcome, CountedEvent, VariantResults};
pub use lists::ListedDelivery;
pub use recipients::{DropOutcome, Recipient, SaveOutcome};
pub use slots::LeaseOutcome;
pub use suppressions::SuppressOutcome;
pub use templates::PublishOutcome;

/// Notifications, their deliveries, people, templates and providers. The indexes carry
/// just the attributes that their readers need.
pub const TABLE: Schema = Schema {
    logical_id: "NotificationsTable",
    variable: "NOTIFICATIONS_TABLE",
    indexes: &[Projection::Include(&["ways"]), Projection::Include(&["priority", "class"])],
    expiring: true,
};

type VersionCache = HashMap<(TemplateId, u32), Arc<TemplateVersion>>;

#[derive(Debug, Clone)]
pub struct Notifications {
    client: Client,
    table: String,
    idempotency: Idempotency,
    /// Versions of templates never change, so each is read once.
    versions: Arc<Mutex<VersionCache>>,
}

/// A notification and everything that becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationRecord {
    pub notification: Notification,
    /// One for each way, by way.
    pub deliveries: Vec<Delivery>,
}

/// Everything that is stored and that a decision about a delivery depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverySnapshot {
    pub notification: Notification,
    pub delivery: Delivery,
    /// What its person wants, and where they are.
    pub recipient: Recipient,
}

impl Notifications {
    /// Works on the table that `NOTIFICATIONS_TABLE` names.
    pub fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let table = host.vars.required(TABLE.variable)?;
        Ok(Self::new(host.aws.dynamodb(), table))
    }

    /// Works on `table`.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        let table = table.into();
        let idempotency = Idempotency::new(client.clone(), &table);
        Self { client, table, idempotency, versions: Arc::default() }
    }

    /// The idempotency rows that live in the same table.
    pub const fn idempotency(&self) -> &Idempotency {
        &self.idempotency
    }

    /// Reads a notification with its deliveries, up to date.
    pub async fn find(&self, id: &NotificationId) -> Result<Option<NotificationRecord>> {
        let condition = "pk = :pk AND sk BETWEEN :delivery AND :notification";
        let values = [
            (":pk", rows::notification_pk(id)),
            (":delivery", rows::DELIVERY.to_owned()),
            (":notification", rows::NOTIFICATION.to_owned()),
        ];
        let items = self.query_all("read the notification", condition, values).await?;
        to_record(&items)
    }

    /// Reads a delivery, up to date.
    pub async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>> {
        let found = self.get(rows::delivery_key(id), "read the delivery").await?;
        found.as_ref().map(rows::from_item).transpose()
    }

    /// Reads deliveries, a hundred in a call, in any order; what is not there is left out. None may be
    /// named twice.
    pub async fn deliveries(
        &self,
        ids: impl IntoIterator<Item = &DeliveryId>,
    ) -> Result<Vec<Delivery>> {
        let keys = ids.into_iter().map(rows::delivery_key).collect();
        self.get_all(keys, "read deliveries").await?.iter().map(rows::from_item).collect()
    }

    /// Reads everything that a decision about a delivery depends on, up to date. `hint` is who it may
    /// be for, if a message says so: if it is right, all is read at once.
    pub async fn load(
        &self,
        id: &DeliveryId,
        hint: Option<&UserId>,
    ) -> Result<Option<DeliverySnapshot>> {
        let mut keys = vec![rows::notification_key(&id.notification_id), rows::delivery_key(id)];
        if let Some(user) = hint {
            let pk = rows::user_pk(user);
            keys.extend([rows::PREFERENCES, rows::CONTACTS].map(|sk| key(&pk, sk)));
        }
        let items = self.get_all(keys, "read the delivery").await?;
        let at = |sk: &str| items.iter().find(|item| ItemReader(item).maybe_text(SK) == Some(sk));
        let delivery_sk = format!("{}{}", rows::DELIVERY, id.endpoint.name());
        let (Some(notification), Some(delivery)) = (at(rows::NOTIFICATION), at(&delivery_sk))
        else {
            return Ok(None);
        };
        let notification: Notification = rows::from_item(notification)?;
        let delivery = rows::from_item(delivery)?;
        let recipient = match hint {
            Some(user) if *user == notification.user => Recipient::read(&items)?,
            _ => self.recipient(&notification.user).await?,
        };
        Ok(Some(DeliverySnapshot { notification, delivery, recipient }))
    }
}

/// The notification among some rows of one, with its deliveries.
fn to_record(items: &[Item]) -> Result<Option<NotificationRecord>> {
    let (mut notification, mut deliveries) = (None, Vec::new());
    for item in items {
        if ItemReader(item).maybe_text(SK) == Some(rows::NOTIFICATION) {
            notification = Some(rows::from_item(item)?);
        } else {
            deliveries.push(rows::from_item::<Delivery>(item)?);
        }
    }
    deliveries.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(notification.map(|notification| NotificationRecord { notification, deliveries }))
}
