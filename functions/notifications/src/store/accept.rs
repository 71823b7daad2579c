//! Accepting: the notification, its deliveries and the answer kept for a repeat, in one transaction.
//!
//! For many people it is as many transactions as it takes, each with whole notifications. Ids that are
//! derived from the call make a repeat, also after a crash, write what is missing and nothing else.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use domain::notifications::{Delivery, Notification, NotificationId};
use domain::{Failure, Timestamp};

use super::{Notifications, rows};
use store::Idempotency;
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use store::row::Item;
use store::transaction::{Transacted, transact};

const ACTION: &str = "accept the notification";

/// Rows that one transaction takes.
const MAX_ROWS: usize = 100;

/// Bytes that one transaction takes, with some left for what they are wrapped in.
const MAX_BYTES: usize = 3_500_000;

/// A notification to write.
#[derive(Debug, Clone, Copy)]
pub struct Accept<'a> {
    pub notification: &'a Notification,
    /// One for each way it goes.
    pub deliveries: &'a [Delivery],
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It is there.
    Created,
    /// The call was made before: its answer, or why there is none.
    Before(Claim),
    /// It was there already: a call that is too old to be remembered, or one that was cut off.
    There,
}

/// What came of a part of many.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// These are there now.
    pub created: Vec<NotificationId>,
    /// These were there already. If the call that wrote them was cut off before it told anybody, the
    /// sweep finds them among the pending.
    pub there: Vec<NotificationId>,
}

impl Notifications {
    /// Writes a new notification, all of it or nothing. `once` is what a repeat of the call is told.
    pub async fn accept(
        &self,
        wanted: Accept<'_>,
        once: Option<(&IdempotentRequest<'_>, &StoredResponse)>,
        now: Timestamp,
        token: &str,
    ) -> Result<Accepted, Failure> {
        let mut items = Vec::new();
        for row in all_rows(&wanted, now)? {
            items.push(self.new_row(row, ACTION)?);
        }
        let once_at = items.len();
        if let Some((request, answer)) = once {
            items.push(self.once.claim_with_response(request, answer, now)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        if matches!(outcome, Transacted::Committed) {
            return Ok(Accepted::Created);
        }
        match (once, outcome.refused(once_at)) {
            (Some((request, _)), Some(met)) => {
                Ok(Accepted::Before(Idempotency::read_claim(met, request)?))
            }
            _ => Ok(Accepted::There),
        }
    }

    /// Writes several new notifications, each of them wholly or not at all; those that are there
    /// already stay as they are. `token` makes a new name for each transaction.
    pub async fn accept_part(
        &self,
        wanted: &[Accept<'_>],
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<Part, Failure> {
        let mut part = Part::default();
        let mut group: Vec<(&NotificationId, Vec<Item>)> = Vec::new();
        let (mut count, mut bytes) = (0, 0);
        for accept in wanted {
            let rows = all_rows(accept, now)?;
            let weight: usize = rows.iter().map(weight).sum();
            if count + rows.len() > MAX_ROWS || bytes + weight > MAX_BYTES {
                self.write_group(std::mem::take(&mut group), &mut part, &token).await?;
                (count, bytes) = (0, 0);
            }
            count += rows.len();
            bytes += weight;
            group.push((&accept.notification.id, rows));
        }
        self.write_group(group, &mut part, &token).await?;
        Ok(part)
    }

    /// One transaction; those who are in the way of it are left out of the next.
    async fn write_group(
        &self,
        mut group: Vec<(&NotificationId, Vec<Item>)>,
        part: &mut Part,
        token: &impl Fn() -> String,
    ) -> Result<(), Failure> {
        while !group.is_empty() {
            let rows = group.iter().flat_map(|(_, rows)| rows.iter().cloned());
            let items: Vec<TransactWriteItem> =
                rows.map(|row| self.new_row(row, ACTION)).collect::<Result<_, _>>()?;
            let outcome = transact(&self.client, ACTION, items, &token()).await?;
            if matches!(outcome, Transacted::Committed) {
                part.created.extend(group.into_iter().map(|(id, _)| id.clone()));
                return Ok(());
            }
            let mut first = 0;
            group.retain(|(id, rows)| {
                let mine = first..first + rows.len();
                first = mine.end;
                let is_there = mine.into_iter().any(|index| outcome.refused(index).is_some());
                if is_there {
                    part.there.push((*id).clone());
                }
                !is_there
            });
        }
        Ok(())
    }
}

/// The notification's row first, then those of its deliveries.
fn all_rows(accept: &Accept<'_>, now: Timestamp) -> Result<Vec<Item>, Failure> {
    let mut all = vec![rows::notification(accept.notification, accept.deliveries)?];
    for delivery in accept.deliveries {
        all.push(rows::delivery(delivery, now)?);
    }
    Ok(all)
}

/// About how many bytes a row takes.
fn weight(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_weight(value)).sum()
}

fn value_weight(value: &AttributeValue) -> usize {
    if let Ok(text) = value.as_s() {
        text.len() + 3
    } else if let Ok(texts) = value.as_ss() {
        texts.iter().map(|text| text.len() + 3).sum()
    } else if let Ok(values) = value.as_l() {
        values.iter().map(|value| value_weight(value) + 1).sum()
    } else if let Ok(entries) = value.as_m() {
        weight(entries) + 3 * entries.len()
    } else {
        // Numbers and switches.
        24
    }
}
