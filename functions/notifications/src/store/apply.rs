//! Read, decide, write: until the delivery stands still long enough.

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use domain::notifications::{
    Delivery, DeliveryId, Event, Refusal, SendOutcome, Status, Step, transition,
};
use domain::{Failure, Timestamp};

use super::{Notifications, rows};
use store::row::{Item, number};
use store::schema::EXPIRES;
use store::transaction::{Transacted, put, transact, update};

const ACTION: &str = "write a delivery's change";

/// How often a delivery may change under our hands before we give up.
const TRIES: usize = 8;

/// What came of an event.
#[derive(Debug, PartialEq, Eq)]
pub enum Applied {
    /// It changed the delivery.
    Changed {
        /// The delivery as it was.
        before: Box<Delivery>,
        /// The delivery as it is.
        after: Box<Delivery>,
    },
    /// There was nothing to do; this is the delivery.
    Stays(Box<Delivery>),
    /// It can't be; this is the delivery.
    Refused(Refusal, Box<Delivery>),
    /// There is no such delivery.
    Unknown,
}

/// What came of a write.
enum Committed {
    Done,
    /// The delivery is not what it was; this is what it was meanwhile.
    Moved(Option<Box<Delivery>>),
    /// The notification is not kept any more.
    Forgotten,
}

impl Notifications {
    /// Lets `event` happen to a delivery. `token` makes a new name for each write.
    pub async fn apply(
        &self,
        id: &DeliveryId,
        event: &Event,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<Applied, Failure> {
        self.change(None, id, event, now, token).await
    }

    /// The same, starting from the delivery as it was just read: no read, unless it has changed since.
    pub async fn apply_from(
        &self,
        known: &Delivery,
        event: &Event,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<Applied, Failure> {
        self.change(Some(known.clone()), &known.id, event, now, token).await
    }

    /// Writes down what a provider made of an attempt, starting from the delivery as its claim left
    /// it. Where the provider has a name for the parcel, that leads to the delivery from the same
    /// moment on.
    pub async fn record(
        &self,
        claimed: &Delivery,
        handed: &SendOutcome,
        jitter: u64,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<Applied, Failure> {
        let event = Event::Handed { attempt: claimed.attempt, handed: handed.clone(), jitter };
        self.apply_from(claimed, &event, now, token).await
    }

    async fn change(
        &self,
        known: Option<Delivery>,
        id: &DeliveryId,
        event: &Event,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<Applied, Failure> {
        let mut known = known.map(Box::new);
        for _ in 0..TRIES {
            let before = match known.take() {
                Some(before) => before,
                None => match self.delivery(id).await? {
                    Some(found) => Box::new(found),
                    None => return Ok(Applied::Unknown),
                },
            };
            let after = match transition(&before, event, now) {
                Step::Stay => return Ok(Applied::Stays(before)),
                Step::Refuse(refusal) => return Ok(Applied::Refused(refusal, before)),
                Step::Become(after) => after,
            };
            match self.commit(&before, &after, event, now, &token()).await? {
                Committed::Done => return Ok(Applied::Changed { before, after }),
                Committed::Moved(met) => known = met,
                Committed::Forgotten => return Ok(Applied::Unknown),
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
    ) -> Result<Committed, Failure> {
        let row = rows::delivery(after, now)?;
        let mut items = vec![self.next_row(row, before.version, ACTION)?];
        if let Some(row) = reference_row(after, event, now) {
            items.push(self.reference_item(row)?);
        }
        let revived = before.status.is_final() && after.status == Status::Pending;
        let kept = items.len();
        if revived {
            items.push(self.keep_longer(after, now)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        if matches!(outcome, Transacted::Committed) {
            return Ok(Committed::Done);
        }
        match outcome.refused(0) {
            Some(met) if met.is_empty() => Ok(Committed::Moved(None)),
            Some(met) => Ok(Committed::Moved(Some(Box::new(rows::read(met)?)))),
            None if revived && outcome.refused(kept).is_some() => Ok(Committed::Forgotten),
            None => Ok(Committed::Moved(None)),
        }
    }

    /// Writing it twice writes the same. Where a provider uses a name again, the latest has it.
    fn reference_item(&self, row: Item) -> Result<TransactWriteItem, Failure> {
        Put::builder()
            .table_name(&self.table)
            .set_item(Some(row))
            .build()
            .map(put)
            .map_err(|cause| Failure::new(ACTION, cause))
    }

    /// What is sent again needs its notification again.
    fn keep_longer(&self, after: &Delivery, now: Timestamp) -> Result<TransactWriteItem, Failure> {
        Update::builder()
            .table_name(&self.table)
            .set_key(Some(rows::notification_key(&after.id.notification_id)))
            .update_expression("SET #expires = :until")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_names("#expires", EXPIRES)
            .expression_attribute_values(":until", number(rows::kept_until(now)))
            .build()
            .map(update)
            .map_err(|cause| Failure::new(ACTION, cause))
    }
}

/// What leads from a provider's name for a parcel to its delivery, if the event brings one.
fn reference_row(after: &Delivery, event: &Event, now: Timestamp) -> Option<Item> {
    let Event::Handed { attempt, handed: SendOutcome::Accepted { reference }, .. } = event else {
        return None;
    };
    let tried = after.trail.iter().find(|tried| tried.number == *attempt)?;
    Some(rows::reference(&tried.provider, reference.as_deref()?, &after.id, now))
}
