//! Notifications as rows: their keys, their places in the indexes, and how long they are kept.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::accounts::UserId;
use domain::notifications::due::{DueBucket, SHARDS, Schedule, schedule};
use domain::notifications::{
    Address, Channel, Delivery, DeliveryId, Endpoint, Notification, NotificationId, ProviderName,
    Status, Suppression, TemplateId,
};
use domain::{Failure, Result, Timestamp, hex};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use store::row::{Builder, Item, ItemReader, broken, key, number, text};
use store::schema::{EXPIRES, GSI1_PK, GSI1_SK, GSI2_PK, GSI2_SK};

const DAY_SECONDS: i64 = 86_400;

/// How long what has ended is kept.
pub(super) const RETENTION_SECONDS: i64 = 90 * DAY_SECONDS;

/// How long a provider's id of a message leads to its delivery.
const REFERENCE_SECONDS: i64 = 30 * DAY_SECONDS;

/// Over how many lists the dead letters of a channel are spread: a list takes 1,000 writes a second.
pub(super) const DEAD_LISTS: u8 = 4;

pub(super) const NOTIFICATION: &str = "notification";
pub(super) const DELIVERY: &str = "delivery#";
pub(super) const PREFERENCES: &str = "preferences";
pub(super) const CONTACTS: &str = "contacts";
pub(super) const STAMP: &str = "stamp";
pub(super) const READ: &str = "read";

pub(super) fn notification_pk(id: &NotificationId) -> String {
    format!("n#{}", id.as_str())
}

pub(super) fn notification_key(id: &NotificationId) -> Item {
    key(&notification_pk(id), NOTIFICATION)
}

pub(super) fn delivery_key(id: &DeliveryId) -> Item {
    key(&notification_pk(&id.notification_id), &format!("{DELIVERY}{}", id.endpoint.name()))
}

pub(super) fn user_pk(user: &UserId) -> String {
    format!("user#{}", user.as_str())
}

pub(super) fn template_pk(id: &TemplateId) -> String {
    format!("template#{}", id.as_str())
}

pub(super) fn version_sk(number: u32) -> String {
    format!("version#{number:08}")
}

pub(super) fn suppression_key(address: &Address) -> Item {
    key(&format!("address#{}", Suppression::key(address)), "suppression")
}

pub(super) fn provider_key(provider: &ProviderName, sk: &str) -> Item {
    key(&format!("provider#{}", provider.as_str()), sk)
}

/// The longest name of a provider's that fits into a key as it is.
const MAX_REFERENCE_LENGTH: usize = 1_024;

pub(super) fn reference_key(provider: &ProviderName, reference: &str) -> Item {
    let provider = provider.as_str();
    if reference.len() <= MAX_REFERENCE_LENGTH {
        return key(&format!("ref#{provider}#{reference}"), "delivery");
    }
    let digest = hex(&Sha256::digest(reference.as_bytes()));
    key(&format!("ref#{provider}#sha256#{digest}"), "delivery")
}

/// What a provider's id of a message leads to.
pub(super) fn reference(
    provider: &ProviderName,
    reference: &str,
    id: &DeliveryId,
    now: Timestamp,
) -> Item {
    let mut item = reference_key(provider, reference);
    item.insert("leads_to".to_owned(), text(id.key()));
    item.insert(EXPIRES.to_owned(), number(now.as_second() + REFERENCE_SECONDS));
    item
}

pub(super) fn log_list(user: &UserId) -> String {
    user_pk(user)
}

pub(super) fn waiting_list(user: &UserId) -> String {
    format!("waiting#{}", user.as_str())
}

pub(super) fn pending_list(shard: u8) -> String {
    format!("pending#{shard}")
}

pub(super) fn sending_list(shard: u8) -> String {
    format!("sending#{shard}")
}

pub(super) fn due_list(bucket: &DueBucket) -> String {
    format!("due#{}", bucket.name())
}

pub(super) fn dead_list(channel: Channel, list: u8) -> String {
    format!("dead#{}#{list}", channel.name())
}

/// Which of `lists` a delivery is on.
pub(super) fn shard_of(id: &DeliveryId, lists: u8) -> u8 {
    u8::try_from(id.stable_hash() % u64::from(lists)).unwrap_or(0)
}

/// A time that sorts as text; what follows it in a key sorts after everything before it.
pub(super) fn sort_time(at: Timestamp) -> String {
    format!("{:013}", at.as_millisecond().max(0))
}

/// The time that such a text begins with.
pub(super) fn parse_sort_time(text: &str) -> Option<Timestamp> {
    let (at, _) = text.split_once('#')?;
    Timestamp::from_millisecond(at.parse().ok()?).ok()
}

/// A notification with its place in the person's log. It outlives its deliveries by a month, unless one
/// of them is replayed: see [`expires_at_seconds`].
pub(super) fn notification(notification: &Notification, deliveries: &[Delivery]) -> Result<Item> {
    let Notification { id, user, created_at, send_at, .. } = notification;
    let mut item = to_item(notification)?;
    item.extend(notification_key(id));
    item.insert(GSI1_PK.to_owned(), text(log_list(user)));
    item.insert(GSI1_SK.to_owned(), text(format!("{}#{}", sort_time(*created_at), id.as_str())));
    if !deliveries.is_empty() {
        let endpoints = deliveries.iter().map(|delivery| delivery.id.endpoint.name()).collect();
        item.insert("ways".to_owned(), AttributeValue::Ss(endpoints));
    }
    let begins = send_at.map_or(*created_at, |at| at.max(*created_at));
    item.insert(EXPIRES.to_owned(), number(expires_at_seconds(begins)));
    Ok(item)
}

/// Until when a notification is kept whose deliveries begin, or begin anew, at `begins`.
pub(super) fn expires_at_seconds(begins: Timestamp) -> i64 {
    begins.as_second().saturating_add(RETENTION_SECONDS + 30 * DAY_SECONDS)
}

/// A delivery with its places in the indexes, as written at `now`: with what waits for its user until
/// it ends, and in the list of its status while it is pending, sending or failed.
pub(super) fn delivery(delivery: &Delivery, now: Timestamp) -> Result<Item> {
    let id = &delivery.id;
    let mut item = to_item(delivery)?;
    item.extend(delivery_key(id));
    if !delivery.status.is_final() {
        item.insert(GSI1_PK.to_owned(), text(waiting_list(&delivery.user)));
        item.insert(GSI1_SK.to_owned(), text(id.key()));
    }
    let shard = shard_of(id, SHARDS);
    let ended_at = delivery.ended_at.unwrap_or(now);
    let listed = match delivery.status {
        Status::Pending => Some(match schedule(delivery.ready_at, now) {
            Schedule::Bucket => {
                (due_list(&DueBucket::for_delivery(delivery.ready_at, id)), delivery.ready_at)
            }
            Schedule::Queue { .. } => (pending_list(shard), delivery.ready_at),
        }),
        Status::Sending => Some((sending_list(shard), delivery.claimed_at.unwrap_or(now))),
        Status::Failed => Some((dead_list(delivery.channel(), shard_of(id, DEAD_LISTS)), ended_at)),
        Status::Delivered | Status::Suppressed | Status::Cancelled | Status::Unknown => None,
    };
    if let Some((list, at)) = listed {
        item.insert(GSI2_PK.to_owned(), text(list));
        item.insert(GSI2_SK.to_owned(), text(place_in_list(at, id)));
    }
    if delivery.status.is_final() {
        item.insert(EXPIRES.to_owned(), number(ended_at.as_second() + RETENTION_SECONDS));
    }
    Ok(item)
}

/// Where a delivery stands in a list by time.
pub(super) fn place_in_list(at: Timestamp, id: &DeliveryId) -> String {
    format!("{}#{}", sort_time(at), id.key())
}

/// The attributes of a value, by their names in the domain.
pub(super) fn to_item(value: &impl Serialize) -> Result<Item> {
    serde_dynamo::to_item(value).map_err(|cause| Failure::new("write a row", cause))
}

pub(super) fn to_keyed_item(pk: &str, sk: &str, value: &impl Serialize) -> Result<Item> {
    let mut item = Builder::keyed(pk, sk).build();
    item.extend(to_item(value)?);
    Ok(item)
}

/// The value that a row holds.
pub(super) fn from_item<T: DeserializeOwned>(item: &Item) -> Result<T> {
    serde_dynamo::from_item(item.clone()).map_err(|cause| Failure::new("read a stored row", cause))
}

/// The delivery that a row of one names by its key.
pub(super) fn delivery_id(item: &Item) -> Result<DeliveryId> {
    let row = ItemReader(item);
    let notification = row.text("pk")?.strip_prefix("n#").and_then(NotificationId::parse);
    let endpoint = row.text("sk")?.strip_prefix(DELIVERY).and_then(Endpoint::parse);
    match (notification, endpoint) {
        (Some(notification_id), Some(endpoint)) => Ok(DeliveryId { notification_id, endpoint }),
        _ => Err(broken("pk")),
    }
}
