//! Accepting: the notification, its deliveries and the answer kept for a repeat, in one transaction.
//!
//! For many people it is as many transactions as it takes, each with whole notifications. Ids that are
//! derived from the call make a repeat, also after a crash, write what is missing and nothing else.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use domain::notifications::{Delivery, Notification, NotificationId};
use domain::{Result, Timestamp};

use super::{Notifications, rows};
use store::Idempotency;
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use store::row::Item;
use store::transaction::{Transacted, transact};

const ACTION: &str = "accept the notification";

const MAX_ROWS: usize = 100;

/// Bytes that one transaction takes, with some left for what they are wrapped in.
const MAX_BYTES: usize = 3_500_000;

#[derive(Debug, Clone, Copy)]
pub struct Acceptance<'a> {
    pub notification: &'a Notification,
    /// One for each way it goes.
    pub deliveries: &'a [Delivery],
}

#[derive(Debug, PartialEq, Eq)]
pub enum AcceptOutcome {
    Created,
    /// The call was made before: its answer, or why there is none.
    Repeated(Claim),
    /// It was there already: a call that is too old to be remembered, or one that was cut off.
    Existing,
}

/// What came of a part of many.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BatchAccepted {
    pub created: Vec<NotificationId>,
    /// These were there already. If the call that wrote them was cut off before it published, the
    /// sweep finds them among the pending.
    pub existing: Vec<NotificationId>,
}

impl Notifications {
    /// Writes a new notification, all of it or nothing. `once` is what a repeat of the call is told.
    pub async fn accept(
        &self,
        wanted: Acceptance<'_>,
        once: Option<(&IdempotentRequest<'_>, &StoredResponse)>,
        now: Timestamp,
        token: &str,
    ) -> Result<AcceptOutcome> {
        let mut items = Vec::new();
        for row in all_rows(&wanted, now)? {
            items.push(self.new_row(row, ACTION)?);
        }
        let once_at = items.len();
        if let Some((request, answer)) = once {
            items.push(self.idempotency.claim_with_response(request, answer, now)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        if matches!(outcome, Transacted::Committed) {
            return Ok(AcceptOutcome::Created);
        }
        match (once, outcome.refused(once_at)) {
            (Some((request, _)), Some(current)) => {
                Ok(AcceptOutcome::Repeated(Idempotency::read_claim(current, request)?))
            }
            _ => Ok(AcceptOutcome::Existing),
        }
    }

    /// Writes several new notifications, each of them wholly or not at all; those that are there
    /// already stay as they are. `token` makes a new name for each transaction.
    pub async fn accept_batch(
        &self,
        wanted: &[Acceptance<'_>],
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<BatchAccepted> {
        let mut accepted = BatchAccepted::default();
        let mut group: Vec<(&NotificationId, Vec<Item>)> = Vec::new();
        let (mut count, mut bytes) = (0, 0);
        for accept in wanted {
            let rows = all_rows(accept, now)?;
            let byte_size: usize = rows.iter().map(byte_size).sum();
            if count + rows.len() > MAX_ROWS || bytes + byte_size > MAX_BYTES {
                self.write_transaction(std::mem::take(&mut group), &mut accepted, &token).await?;
                (count, bytes) = (0, 0);
            }
            count += rows.len();
            bytes += byte_size;
            group.push((&accept.notification.id, rows));
        }
        self.write_transaction(group, &mut accepted, &token).await?;
        Ok(accepted)
    }

    /// One transaction; those that are in the way of it are left out of the next.
    async fn write_transaction(
        &self,
        mut group: Vec<(&NotificationId, Vec<Item>)>,
        accepted: &mut BatchAccepted,
        token: &impl Fn() -> String,
    ) -> Result {
        while !group.is_empty() {
            let rows = group.iter().flat_map(|(_, rows)| rows.iter().cloned());
            let items: Vec<TransactWriteItem> =
                rows.map(|row| self.new_row(row, ACTION)).collect::<Result<_, _>>()?;
            let outcome = transact(&self.client, ACTION, items, &token()).await?;
            if matches!(outcome, Transacted::Committed) {
                accepted.created.extend(group.into_iter().map(|(id, _)| id.clone()));
                return Ok(());
            }
            let mut first = 0;
            group.retain(|(id, rows)| {
                let mine = first..first + rows.len();
                first = mine.end;
                let is_there = mine.into_iter().any(|index| outcome.refused(index).is_some());
                if is_there {
                    accepted.existing.push((*id).clone());
                }
                !is_there
            });
        }
        Ok(())
    }
}

/// The notification's row first, then those of its deliveries.
fn all_rows(accept: &Acceptance<'_>, now: Timestamp) -> Result<Vec<Item>> {
    let mut all = vec![rows::notification(accept.notification, accept.deliveries)?];
    for delivery in accept.deliveries {
        all.push(rows::delivery(delivery, now)?);
    }
    Ok(all)
}

/// About how many bytes a row takes.
fn byte_size(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_byte_size(value)).sum()
}

fn value_byte_size(value: &AttributeValue) -> usize {
    if let Ok(text) = value.as_s() {
        text.len() + 3
    } else if let Ok(texts) = value.as_ss() {
        texts.iter().map(|text| text.len() + 3).sum()
    } else if let Ok(values) = value.as_l() {
        values.iter().map(|value| value_byte_size(value) + 1).sum()
    } else if let Ok(entries) = value.as_m() {
        byte_size(entries) + 3 * entries.len()
    } else {
        // Numbers and switches.
        24
    }
}
