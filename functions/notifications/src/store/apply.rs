//! Read, decide, write: until the delivery stands still long enough.

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use domain::notifications::{
    Delivery, DeliveryId, Event, IllegalTransition, SendOutcome, Status, Transition, transition,
};
use domain::{Failure, Result, Timestamp};

use super::{Notifications, rows};
use store::row::{Item, number};
use store::schema::EXPIRES;
use store::transaction::{Transacted, put, transact, update};

const ACTION: &str = "write a delivery's change";

/// How often a delivery may change under our hands before we give up.
const TRIES: usize = 8;

#[derive(Debug, PartialEq, Eq)]
pub enum ApplyOutcome {
    Changed {
        before: Box<Delivery>,
        after: Box<Delivery>,
    },
    /// There was nothing to do; this is the delivery.
    Unchanged(Box<Delivery>),
    /// It can't be; this is the delivery.
    Illegal(IllegalTransition, Box<Delivery>),
    NotFound,
}

enum CommitOutcome {
    Written,
    /// The delivery is not what it was; this is what it was meanwhile.
    Conflict(Option<Box<Delivery>>),
    /// The notification is not kept any more.
    Expired,
}

impl Notifications {
    /// Lets `event` happen to a delivery. `token` makes a new name for each write.
    pub async fn apply(
        &self,
        id: &DeliveryId,
        event: &Event,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<ApplyOutcome> {
        self.change(None, id, event, now, token).await
    }

    /// The same, starting from the delivery as it was just read: no read, unless it has changed since.
    pub async fn apply_from(
        &self,
        known: &Delivery,
        event: &Event,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<ApplyOutcome> {
        self.change(Some(known.clone()), &known.id, event, now, token).await
    }

    /// Writes down what a provider made of an attempt, starting from the delivery as its claim left
    /// it. Where the provider has a name for the message, that leads to the delivery from the same
    /// moment on.
    pub async fn record(
        &self,
        claimed: &Delivery,
        outcome: &SendOutcome,
        jitter: u64,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<ApplyOutcome> {
        let event = Event::Sent { attempt: claimed.attempt, outcome: outcome.clone(), jitter };
        self.apply_from(claimed, &event, now, token).await
    }

    async fn change(
        &self,
        known: Option<Delivery>,
        id: &DeliveryId,
        event: &Event,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<ApplyOutcome> {
        let mut known = known.map(Box::new);
        for _ in 0..TRIES {
            let before = match known.take() {
                Some(before) => before,
                None => match self.delivery(id).await? {
                    Some(found) => Box::new(found),
                    None => return Ok(ApplyOutcome::NotFound),
                },
            };
            let after = match transition(&before, event, now) {
                Transition::Unchanged => return Ok(ApplyOutcome::Unchanged(before)),
                Transition::Illegal(refusal) => return Ok(ApplyOutcome::Illegal(refusal, before)),
                Transition::Changed(after) => after,
            };
            match self.commit(&before, &after, event, now, &token()).await? {
                CommitOutcome::Written => return Ok(ApplyOutcome::Changed { before, after }),
                CommitOutcome::Conflict(current) => known = current,
                CommitOutcome::Expired => return Ok(ApplyOutcome::NotFound),
            }
        }
        Err(Failure::new("change the delivery", "it keeps changing"))
    }

    async fn commit(
        &self,
        before: &Delivery,
        after: &Delivery,
        event: &Event,
        now: Timestamp,
        token: &str,
    ) -> Result<CommitOutcome> {
        let row = rows::delivery(after, now)?;
        let mut items = vec![self.next_row(row, before.version, ACTION)?];
        if let Some(row) = reference_row(after, event, now) {
            items.push(self.reference_item(row)?);
        }
        let revived = before.status.is_final() && after.status == Status::Pending;
        let kept = items.len();
        if revived {
            items.push(self.extend_expiry(after, now)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        if matches!(outcome, Transacted::Committed) {
            return Ok(CommitOutcome::Written);
        }
        match outcome.refused(0) {
            Some(current) if current.is_empty() => Ok(CommitOutcome::Conflict(None)),
            Some(current) => Ok(CommitOutcome::Conflict(Some(Box::new(rows::from_item(current)?)))),
            None if revived && outcome.refused(kept).is_some() => Ok(CommitOutcome::Expired),
            None => Ok(CommitOutcome::Conflict(None)),
        }
    }

    /// Writing it twice writes the same. Where a provider uses a name again, the latest has it.
    fn reference_item(&self, row: Item) -> Result<TransactWriteItem> {
        Put::builder()
            .table_name(&self.table)
            .set_item(Some(row))
            .build()
            .map(put)
            .map_err(|cause| Failure::new(ACTION, cause))
    }

    /// What is sent again needs its notification again.
    fn extend_expiry(&self, after: &Delivery, now: Timestamp) -> Result<TransactWriteItem> {
        Update::builder()
            .table_name(&self.table)
            .set_key(Some(rows::notification_key(&after.id.notification_id)))
            .update_expression("SET #expires = :until")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_names("#expires", EXPIRES)
            .expression_attribute_values(":until", number(rows::expires_at_seconds(now)))
            .build()
            .map(update)
            .map_err(|cause| Failure::new(ACTION, cause))
    }
}

/// What leads from a provider's id of a message to its delivery, if the event brings one.
fn reference_row(after: &Delivery, event: &Event, now: Timestamp) -> Option<Item> {
    let Event::Sent { attempt, outcome: SendOutcome::Accepted { reference }, .. } = event else {
        return None;
    };
    let tried = after.attempts.iter().find(|tried| tried.number == *attempt)?;
    Some(rows::reference(&tried.provider, reference.as_deref()?, &after.id, now))
}
